#!/bin/sh
# Prints the help of a program and of everything below it, each headed by a line `@@ NAME...`: what the man pages and
# the completions are made of, so that they say what --help says.
#   deploy/manual/walk.sh FOLDER PROGRAM
set -eu
folder=$1 program=$2
export ARGP_HELP_FMT=rmargin=9999 LC_ALL=C

# The words below a group: those of its list, or those that its usage lines begin with.
words() {
    awk -v name="$1" '
        NR == 1 && / (COMMAND|\[TOOL)/ { list = 1 }
        list && /^  [a-z][a-z-]*( [A-Z]+)?  +[^ ]/ { print $1 }
        !list && (NR == 1 || /^       /) && index($0, name " ") {
            split(substr($0, index($0, name " ") + length(name) + 1), word, " ")
            if (word[1] ~ /^[a-z]+$/) found[++count] = word[1]
        }
        END { if (count > 1) for (i = 1; i <= count; i++) print found[i] }'
}

visit() { # NAME...
    help=$("$folder/$1" $(printf '%s ' "$@" | cut -s -d' ' -f2-) --help </dev/null)
    printf '@@ %s\n%s\n' "$*" "$help"
    for word in $(printf '%s\n' "$help" | words "$*"); do
        [ $# -gt 3 ] || (visit "$@" "$word")
    done
}
visit "$program"
