#!/bin/sh
# One turn of learning on this machine, with the commands a user types: self-play with the starting weights, a
# fit, a match of the new weights against the old under SPRT, the promotion, the push to the workers, the
# export, and a report. `make demo` runs it. Everything started here is stopped at the end, Ctrl-C included.
#
#   KROO_DEMO_PAIRS=N       pairs of self-play (default 2000)
#   KROO_DEMO_NODES=N       nodes a move (default 500)
#   KROO_DIR=D              folder of the private cluster (default var)
#   KROO_DEMO_WORKERS=N     workers (default: one per core)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
PATH=$root/build:$PATH
pairs=${KROO_DEMO_PAIRS:-2000}
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
match=$(kroo match "$new" starting --sprt --elo0 0 --elo1 10 --max-pairs 4000 --nodes "$nodes" \
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
rounded='def r($d): if . == null then "-" else (. * pow(10; $d) | round) / pow(10; $d) end;'
cat <<EOF

================================ Kroo: one turn of learning ================================

self-play        experiment $selfplay: $games games in $((played_ms / 1000)).$((played_ms % 1000 / 100)) s, $((games * 1000 / played_ms)) games per second on $workers workers
EOF
value "$rounded"'"fit              \(.positions + .validation_positions) positions of \(.games) games, \(.seconds_reading + .seconds_fitting | r(1)) s
validation loss  \(.loss_before | r(5)) before, \(.loss_after | r(5)) after: \(.loss_difference | r(5)) with standard error \(.loss_se | r(5)), by game"' "$answers/fit"
value "$rounded"'"match            experiment \(.experiment): the new weights against the starting weights
pairs            \(.counts | join(", "))  (\(.count_order))
pentanomial      \(.pentanomial | join(", "))  (\(.pentanomial_order))
Elo              \(.estimate.elo | r(1)), 95 % interval from \(.estimate.elo_lo | r(1)) to \(.estimate.elo_hi | r(1)) (plain estimate: biased after a sequential test)\(.estimate.unbiased | if . then "; median-unbiased \(.elo | r(1)) [\(.elo_lo | r(1)), \(.elo_hi | r(1))]" else "" end)
LLR              \(.sprt.llr | r(3)) in [\(.sprt.lower | r(3)), \(.sprt.upper | r(3))], \(.sprt.model) model, elo0 \(.sprt.elo0), elo1 \(.sprt.elo1)
verdict          \(.verdict.verdict) after \(.verdict.pairs) pairs"' "$answers/match"
cat <<EOF
weights          sha256 $new
exported         ${exported:-not: only an accepted match promotes}

Which first move scores how (South moves first; random openings of self-play):
EOF
query -c "select first_move, games, south_wins, draws, north_wins, south_score from first_move_score where experiment_id = $selfplay order by first_move"
echo "How games end:"
query -c "select reason, games, share, mean_plies from endings_by_reason where experiment_id = $selfplay order by games desc"
echo "How long they are, in plies:"
query -c "select games, shortest, tenth, median, mean, ninetieth, longest from game_length where experiment_id = $selfplay"
echo "Every stored game replayed, every counter recomputed:"
kroo verify "$selfplay" 2>/dev/null
kroo verify "$match" 2>/dev/null
echo "Took $(($(date +%s) - started_s)) s. \`kroo up\` starts the same cluster for daily use."
