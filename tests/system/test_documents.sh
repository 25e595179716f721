#!/usr/bin/env bash
# What the documents say is so: every block of commands fenced as `sh` in README.md and the other documents runs, in order,
# in one folder with a private cluster under var/; every command and option that is only mentioned exists; every file
# and link leads somewhere. Blocks that a test cannot run (other machines, packages) are fenced as `text`.
. "$(dirname "$0")/lib.sh"
dir=$work/var
ln -s "$root/weights" "$work/weights" # as seen from a checkout
# README.md comes first: what it makes is there for the others. (sql/SCHEMA.md is generated out of the schema.)
documents=${*:-README.md $(cd "$root" && ls -- *.md */*.md */*/README.md | grep -vxE 'README.md|sql/SCHEMA.md')}
block_s=120 # a document's block takes no longer

# `make TARGET` is only asked whether it could: building and testing inside a test is no use.
real_make=$(command -v make)
mkdir "$work/bin"
cat >"$work/bin/make" <<END
#!/bin/sh
unset MAKEFLAGS MAKELEVEL MFLAGS
exec "$real_make" --no-print-directory -n -C "$root" MAKE=: "\$@" >/dev/null
END
chmod +x "$work/bin/make"
PATH=$work/bin:$PATH

# blocks DOCUMENT LANGUAGE: its blocks as files $work/blocks/LINE, where the first command stands.
blocks() {
    rm -rf "$work/blocks"
    mkdir "$work/blocks"
    awk -v fence='```'"$2" -v folder="$work/blocks/" '
        inside && /^```/ { close(file); inside = 0; next }
        inside { print > file; next }
        /^```/ { inside = 1; file = $0 == fence ? sprintf("%s%05d", folder, NR + 1) : "/dev/null" }
    ' "$root/$1"
    ls "$work/blocks"
}
runs() { # FILE
    (cd "$work" && timeout "$block_s" bash -eu -o pipefail "$1") >"$work/said" 2>&1 </dev/null && return
    tail -n 20 "$work/said" | sed 's/^/# /'
    return 1
}
# mentions DOCUMENT: commands between backticks, and those of blocks that are not run, one a line.
mentions() {
    grep -oE '`kroo(-(coordinator|worker|engine|train))? [^`]+`' "$root/$1" | tr -d '`'
    for block in $(blocks "$1" text); do
        sed -e ':join' -e '/\\$/ { N; s/\\\n//; b join' -e '}' "$work/blocks/$block" |
            grep -oE "(^|[\"' ])kroo(-[a-z]+)? .*" | sed 's/^[^k]*//'
    done
}
# is_known PROGRAM WORD...: its help knows the subcommand and every option. Capitals stand for something.
is_known() {
    program=$1 help=("$1")
    shift
    for word in "$@"; do
        word=${word%%|*}
        [[ $word =~ ^[a-z]+$ ]] || break
        [[ ${help[*]} =~ ^[a-z-]+(\ weights|\ key|\ engine|\ tables|\ book|\ loop|\ tournament|\ preset|\ pool)?$ ]] || break
        help+=("$word")
    done
    case $program in kroo-worker | kroo-coordinator) help=("$program") ;; esac
    "${help[@]}" --help </dev/null >"$work/said" 2>&1 || { echo "# ${help[*]} --help fails" && return 1; }
    for word in "$@"; do
        [[ $word =~ ^(--[a-z0-9-]+) && $word != --version ]] || continue
        grep -qE -- "(^|[^a-z-])${BASH_REMATCH[1]}([^a-z-]|$)" "$work/said" && continue
        echo "# ${help[*]} has no $word"
        return 1
    done
}
all_known() { # DOCUMENT
    mentions "$1" | sort -u >"$work/mentions"
    unknown=0
    while read -r -a words; do
        is_known "${words[@]}" || unknown=$((unknown + 1))
    done <"$work/mentions"
    [ "$unknown" -eq 0 ]
}
# Files named between backticks are seen from the root, links from the document. Capitals stand for something.
leads_somewhere() { # DOCUMENT
    {
        grep -oE '`(tests|deploy|engine|proto|sql|eval|worker|coordinator)/[A-Za-z0-9_./-]+`' "$root/$1" | tr -d '`' |
            grep -vE '(/|_)[A-Z]{4,}' | sed "s|^|$root/|"
        grep -oE '\]\([^)#: ]+' "$root/$1" | sed "s|^..|$(dirname "$root/$1")/|"
    } >"$work/paths"
    absent=0
    while read -r path; do
        [ -e "$path" ] || { echo "# there is no ${path#"$root"/}" && absent=1; }
    done <"$work/paths"
    [ "$absent" -eq 0 ]
}

for document in $documents; do
    for block in $(blocks "$document" sh); do
        [ "$document" = README.md ] || "$kroo" up --dir "$dir" --workers 1 >/dev/null
        ok "$document, line $((10#$block)): $(head -n 1 "$work/blocks/$block")" runs "$work/blocks/$block"
    done
    ok "$document mentions only commands and options that exist" all_known "$document"
    ok "$document names only files that exist" leads_somewhere "$document"
    is "$document fences commands as sh or text" "$(grep -cE '^```(bash|shell|console|zsh)' "$root/$document")" 0
    is "$document closes every fence" $(($(grep -c '^```' "$root/$document") % 2)) 0
done
ok "README.md has commands that run" test -n "$(blocks README.md sh)"
for table in "$root"/deploy/*.csv; do
    ok "the picture of ${table##*/} is drawn from it (make plots)" \
        cmp <(awk -F, -f "$root/tests/bench/plot.awk" "$table") "${table%.csv}.svg"
done
done_testing
