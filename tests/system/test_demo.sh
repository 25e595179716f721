#!/usr/bin/env bash
# `make demo` in small: the report is there, nothing that it started still runs, it works again, Ctrl-C stops it cleanly.
. "$(dirname "$0")/lib.sh"

export KROO_DIR=$dir KROO_DEMO_PAIRS=1000 KROO_DEMO_NODES=200 KROO_DEMO_WORKERS=2
demo() { sh "$root/deploy/demo.sh" >"$work/$1" 2>"$work/$1.progress" </dev/null; }
running() { pgrep -f -- "$dir/" || { [ -e "$dir/postgres/data/postmaster.pid" ] && echo postgres; }; }
said() { grep -Eq -- "$2" "$work/$1"; }

ok "the demo ends well" demo first
for line in '^self-play .*2000 games in .* games per second' '^validation loss +0\.[0-9]+ before, 0\.[0-9]+ after' \
    '^pentanomial +[0-9]+, [0-9]+, [0-9]+, [0-9]+, [0-9]+ ' '^Elo .*95 % interval from -?[0-9.]+ to .*median-unbiased -?[0-9.]+ \[-?[0-9.]+, -?[0-9.]+\]$' \
    '^LLR .*normalized model' '^verdict +accepted after' '^exported .*champion' 'south_score' ' majority ' ' median '; do
    ok "its report has: $line" said first "$line"
done
is "no difference is found" "$(grep -c '^no differences' "$work/first")" 2
is "the exported file is what was promoted" "$(sha256sum "$dir/export/champion.bin" | cut -d' ' -f1)" \
    "$(sed -n 's/^weights *sha256 //p' "$work/first")"
ok "progress is told in plain lines off a terminal" grep -Eq '^experiment 1 +100%' "$work/first.progress"
is "nothing that it started still runs" "$(running)" ""

ok "it works again" demo second
is "and gives weights that play the same match" "$(grep -E '^(pairs|Elo|LLR|verdict) ' "$work/second")" "$(grep -E '^(pairs|Elo|LLR|verdict) ' "$work/first")"

# Ctrl-C reaches the whole foreground group, as from a terminal.
KROO_DEMO_PAIRS=100000 setsid env --default-signal=INT sh "$root/deploy/demo.sh" >"$work/third" 2>&1 </dev/null &
demo=$!
playing() { "$kroo" ls --dir "$dir" --json 2>/dev/null | jq -e 'any(.planned == 100000 and .pairs > 10)'; }
ok "a long demo plays" wait_until 60 playing
kill -INT -- "-$demo"
wait "$demo"
is "Ctrl-C ends it with the usual status" "$?" 130
is "and nothing that it started still runs" "$(running)" ""
done_testing
