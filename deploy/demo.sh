#!/bin/sh
# One turn of learning on this machine, with the commands a user types: self-play with the starting weights, a
# fit, a match of the new weights against the old under SPRT, the promotion, the push to the workers, the
# export, and a report. `make demo` runs it. Everything started here is stopped at the end, Ctrl-C included.
#
#   KROO_DEMO_PAIRS=N       pairs of self-play (default 1600)
#   KROO_DEMO_NODES=N       nodes a move (default 500)
#   KROO_DIR=D              folder of the private cluster (default var)
#   KROO_DEMO_WORKERS=N     workers (default: one per core)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
PATH=$root/build:$PATH
pairs=${KROO_DEMO_PAIRS:-1600}
nodes=${KROO_DEMO_NODES:-500}
dir=${KROO_DIR:-var}
workers=${KROO_DEMO_WORKERS:-$(nproc)}
seed=1 # of the demo's games: the same turn every time
export KROO_DIR="$dir"
unset KROO_CONFIG KROO_DATABASE KROO_ENDPOINT 2>/dev/null || :

stop() {
    status=$?
    trap '' INT TERM
    trap - EXIT
    if [ -n "${ours:-}" ]; then
        [ "$status" -eq 0 ] || echo "demo: stopping what was started ..." >&2
        kroo down >/dev/null || status=1
    fi
    [ -z "${answers:-}" ] || rm -rf "$answers"
    exit "$status"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n== %s\n' "$*"; }
value() { jq -r "$1" "$2"; }
query() { kroo sql -X -P pager=off -P footer=off "$@"; }

answers=$(mktemp -d)
started_s=$(date +%s)

if kroo status >/dev/null 2>&1; then
    say "using the cluster that runs in $dir"
else
    say "starting a private cluster in $dir: PostgreSQL, a coordinator, $workers workers"
    ours=yes
    kroo up --workers "$workers" >/dev/null
fi

say "1. self-play with the starting weights: $pairs pairs, $nodes nodes a move"
played_ms=$(date +%s%3N)
selfplay=$(kroo selfplay --weights starting --pairs "$pairs" --nodes "$nodes" --seed "$seed" --note demo)
kroo watch "$selfplay" >/dev/null
played_ms=$(($(date +%s%3N) - played_ms))

say "2. fit of new weights to these games"
kroo-train fit --games "$selfplay" --parent starting --seed "$seed" --json >"$answers/fit"
new=$(value .sha256 "$answers/fit")

say "3. match: new against starting weights, SPRT"
match=$(kroo match "$new" starting --sprt --elo0 0 --elo1 50 --max-pairs 4000 --nodes "$nodes" \
    --seed "$seed" --note demo)
kroo watch "$match" >/dev/null
kroo show "$match" --json >"$answers/match"
verdict=$(value '.verdict.verdict // ""' "$answers/match")

exported=
if [ "$verdict" = accepted ]; then
    say "4. promotion, push to the workers, export"
    kroo weights promote "$new" --experiment "$match" --reason "demo"
    mkdir -p "$dir/export"
    for format in bin json; do
        kroo weights export "$new" --format "$format" --force --out "$dir/export/champion.$format"
    done
    exported="$dir/export/champion.bin and champion.json"
else
    say "4. no promotion: the verdict is ${verdict:-missing}"
fi

games=$((2 * pairs))
cat <<EOF

================================ Kroo: one turn of learning ================================

self-play        experiment $selfplay: $games games in $((played_ms / 1000)).$((played_ms % 1000 / 100)) s, $((games * 1000 / played_ms)) games per second on $workers workers
fit              $(value '"\(.positions) positions of \(.games) games"' "$answers/fit")
validation loss  $(value '"\(.loss_before) before, \(.loss_after) after (difference's standard error \(.loss_se))"' "$answers/fit")
match            experiment $match, new against starting weights
EOF
value '"pentanomial      \(.pentanomial | join(", "))   (pairs: \(.order))
Elo              \(.elo) with 95 % interval [\(.elo_lo), \(.elo_hi)]; biased after an SPRT
LLR              \(.llr) of [\(.lower), \(.upper)], \(.sprt.model) model, bounds [\(.sprt.elo0), \(.sprt.elo1)]
verdict          \(.verdict.verdict) after \(.verdict.counted_pairs) pairs"' "$answers/match"
cat <<EOF
weights          $new
exported to      ${exported:-nowhere}

First move of the players after the opening, and how South scores with it:
EOF
query -c "select first_move, games, south_score from first_move_score where experiment_id = $selfplay order by games desc, first_move limit 6"
echo "How games end:"
query -c "select reason, games, share from endings_by_reason where experiment_id = $selfplay order by games desc"
echo "How long they are, in plies:"
query -c "select * from game_length where experiment_id = $selfplay"
echo "Checked: $(kroo verify "$selfplay" && kroo verify "$match")"
echo "Took $(($(date +%s) - started_s)) s. \`kroo up\` starts the same cluster for daily use."
