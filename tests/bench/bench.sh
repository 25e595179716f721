#!/usr/bin/env bash
# `make bench`: what this machine does, one table on the terminal and all of it in build/bench.json. Real programs and
# a private cluster in a temporary folder; everything is stopped at exit. Figures are for reading and comparing:
# nothing here fails because something is slow, only because it does not work.
#
#   KROO_BUILD=D            where the programs are (default build); the JSON goes there too
#   KROO_BENCH_PAIRS=N      pairs delivered by the synthetic workers (default 100000)
#   KROO_BENCH_GAMES=N      pairs of self-play a core (default 300)
#   KROO_BENCH_DEEP=1       perft to depth 14 as well, with its count checked (some 15 seconds more); endgame tables of
#                           awari to 24 seeds against the published counts (minutes, 3 GB of memory and 2.5 of disk) and
#                           of site to 15 and 18
. "$(dirname "$0")/../system/lib.sh"
set -e -o pipefail
shopt -s inherit_errexit
load=$build/bench/load
cores=$(nproc)
load_pairs=${KROO_BENCH_PAIRS:-100000}
core_pairs=${KROO_BENCH_GAMES:-300}
load_workers=8 load_batch=64
export KROO_DIR=$dir
trap 'failed=$?; set +e; (exit "$failed"); cleanup' EXIT

say() { printf '%-44s %14s  %s\n' "$1" "$2" "$3"; }
# figure NAME VALUE UNIT [JSON]: a line of the table and an entry of the file; JSON holds the details.
figure() {
    say "$1" "$(printf %.0f "$2" | sed ':again; s/\B[0-9]\{3\}\>/,&/; t again')" "$3"
    jq -nc --arg name "$1" --argjson value "$2" --arg unit "$3" --argjson detail "${4:-{\}}" \
        '{name: $name, value: $value, unit: $unit} + $detail' >>"$work/figures"
}
# best RUNS KEY COMMAND...: of so many runs that print JSON, the last line of the one with the largest KEY.
best() {
    runs=$1 key=$2
    shift 2
    for run in $(seq "$runs"); do
        "$@" | tail -n 1
    done | jq -sc "max_by($key)"
}
seconds_of() { # COMMAND...: how long it takes
    began_ns=$(date +%s%N)
    "$@" >"$work/said" 2>&1
    echo $((($(date +%s%N) - began_ns) / 1000)) | jq '. / 1000000'
}

machine() {
    model=$(sed -n '/^model name/ { s/^[^:]*: //p; q }' /proc/cpuinfo)
    jq -n --arg cpu "${model:-unknown}" --arg architecture "$(uname -m)" --argjson cores "$cores" \
        --argjson memory_mib "$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" \
        --arg system "$(uname -sr)" --arg postgresql "$(psql --version)" --arg engine "$(kroo-engine --version)" \
        --arg commit "$(git -C "$root" rev-parse --short HEAD 2>/dev/null || :)" --arg at "$(date -u +%FT%TZ)" \
        --argjson load_before "$(cut -d' ' -f1 /proc/loadavg)" \
        '{cpu: $cpu, architecture: $architecture, cores: $cores, memory_mib: $memory_mib, system: $system,
          postgresql: $postgresql, engine: $engine, commit: $commit, at: $at, load_before: $load_before}'
}

# Perft, moves made and plies replayed under every rule set; the processor time of one thread.
rules_figures() {
    kroo-engine speed --depth 10 --rounds 9 --json >"$work/speed"
    while read -r said; do
        measure=$(jq -r .measure <<<"$said")
        case $measure in
        perft) unit="nodes/s, one core" name="perft 10" ;;
        evaluate-*) unit="positions/s, one core" name="evaluation, ${measure#evaluate-}" ;;
        make) unit="moves/s, one core" name="moves made" ;;
        *) unit="plies/s, one core" name="replay, ${measure#replay-} games" ;;
        esac
        figure "$name, $(jq -r .rules <<<"$said")" "$(jq .per_second <<<"$said")" "$unit" "$said"
    done <"$work/speed"
}
deep_figures() {
    said=$(kroo-engine perft 14 --json | tail -n 1)
    expected=$(jq '.start_position.S0[] | select(.depth == 14) | .nodes' "$root/tests/vectors/rules/perft-rule-sets.json")
    if [ "$(jq .nodes <<<"$said")" -ne "$expected" ]; then
        echo "bench: perft 14 counts wrong: $said" >&2
        return 1
    fi
    figure "perft 14, site" "$(jq '.nodes / .seconds' <<<"$said")" "nodes/s, one core" "$said"
}
# Time of 50 positions to a depth, and the positions of tests/vectors/ whose best move is certified.
search_figures() {
    kroo-engine bench --depth 17 --json >"$work/depths"
    jq -c '.depths[]' "$work/depths" | while read -r said; do
        figure "depth $(jq .depth <<<"$said"), median of 50 positions" "$(jq '.median_seconds * 1e6' <<<"$said")" \
            microseconds "$said"
    done
    said=$(kroo-engine bench --positions "$root/tests/vectors/certified-best-moves.jsonl" --json)
    figure "certified best moves, 100,000 nodes" "$(jq '.solved[-1].positions' <<<"$said")" "found of 200" "$said"
}
# built RULES SEEDS: makes $work/tables with all cores.
built() {
    seconds=$(seconds_of kroo-engine tables build --rules "$1" --seeds "$2" --threads "$cores" --out "$work/tables")
    boards=$((($(stat -c %s "$work/tables") - 640) / 2))
    figure "tables, $1 to $2 seeds" "$(jq -n "$boards / $seconds")" "boards/s, $cores threads, to the file" \
        "{\"boards\":$boards,\"seconds\":$seconds,\"threads\":$cores}"
}
# Every layer of awari against the counts published in 2002.
as_published() {
    kroo-engine tables stat "$work/tables" --json >"$work/stat"
    jq -en --slurpfile built "$work/stat" --slurpfile published "$root/tests/vectors/tables/awari-published-2002.json" '
        def counts: with_entries(select(.value != 0));
        [$built[0].layers[] | {seeds, values}]
        == [$published[0].tables[] | select(.n <= $built[0].seeds) | {seeds: .n, values: (.value_counts | counts)}]' \
        >/dev/null || { echo "bench: the tables of awari are not the published ones" >&2; return 1; }
}
tables_figures() {
    built awari 18
    as_published
    built site 12
    said=$(kroo-engine perfect --tables "$work/tables" --positions 2000 --nodes 1000 --json)
    figure "perfect, site to 12 seeds, 1,000 nodes" "$(jq '1e4 * .kept' <<<"$said")" "of 10,000 moves keep the value" "$said"
}
deep_tables_figures() {
    built awari 24
    as_published
    built site 15
    built site 18
}
engine_figures() {
    rules_figures
    [ -z "${KROO_BENCH_DEEP:-}" ] || deep_figures
    search_figures
    tables_figures
    [ -z "${KROO_BENCH_DEEP:-}" ] || deep_tables_figures
    said=$(best 3 .nodes_per_second kroo-engine bench --json)
    figure "search" "$(jq .nodes_per_second <<<"$said")" "nodes/s, one core; signature $(jq -r .signature <<<"$said")" "$said"
}

# played WORKERS PAIRS: games a second of self-play at 1,000 nodes a move, from the order to the last commit.
played() {
    kroo up --workers "$1" >/dev/null
    id=$(kroo selfplay --weights starting --pairs "$2" --nodes 1000 --seed 1)
    kroo watch "$id" >/dev/null 2>&1
    kroo show "$id" --json | jq -c '{experiment, games: .games_stored, seconds, per_second: (.games_stored / .seconds)}'
}
selfplay_figures() {
    for workers in $(printf '%s\n' 1 "$cores" | sort -nu); do
        said=$(played "$workers" $((workers * core_pairs)))
        figure "self-play, 1,000 nodes a move, cores: $workers" "$(jq .per_second <<<"$said")" games/s "$said"
    done
}

# Random games need no thinking: what limits is replay, commit and acknowledgement.
delivered() { # OPTION...
    id=$(kroo selfplay --weights starting --pairs "$load_pairs" --nodes 1000 --seed 1 "$@")
    said=$("$load" "$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")" $load_workers $load_batch)
    if [ "$(jq .games <<<"$said")" -ne $((2 * load_pairs)) ]; then
        echo "bench: games are missing: $said" >&2
        return 1
    fi
}
cluster_figures() {
    kroo up --workers 0 >/dev/null
    delivered --no-scores
    figure "committed, no scores" "$(jq .games_per_second <<<"$said")" "games/s, $load_workers synthetic workers" "$said"
    delivered
    figure "committed, with scores" "$(jq .games_per_second <<<"$said")" "games/s, $load_workers synthetic workers" "$said"
    seconds=$(seconds_of kroo verify "$id")
    figure "kroo verify" "$(jq -n "2 * $load_pairs / $seconds")" "games/s replayed and compared" \
        "{\"games\":$((2 * load_pairs)),\"seconds\":$seconds}"
}

trainer_figures() {
    kroo up --workers "$cores" >/dev/null
    id=$(kroo selfplay --weights starting --pairs 3000 --nodes 60 --seed 1)
    kroo watch "$id" >/dev/null 2>&1
    said=$(best 3 '.positions_read / .seconds_reading' kroo-train fit --games "$id" --parent starting --force --no-store \
        --quiet --json | jq -c '{games, positions_read, positions, distinct_positions, seconds_reading, seconds_fitting,
            threads, core}')
    figure "kroo-train reading" "$(jq '.positions_read / .seconds_reading' <<<"$said")" "positions/s from the database" "$said"
    figure "kroo-train, the whole fit" "$(jq '.positions_read / (.seconds_reading + .seconds_fitting)' <<<"$said")" \
        "positions/s" "$said"
}

# Lines `name value unit` of build/bench/trainer.
trainer_part() { # COMMAND...
    "$build/bench/trainer" "$@" | while read -r name value unit; do
        case $unit in
        "") ;; # the core type's name
        GFLOP/s) figure "$name" "$(jq -n "$value * 1000")" "MFLOP/s, one core" ;;
        *) figure "$name" "$(jq -n "$value")" "$unit" ;;
        esac
    done
}
trainer_parts() {
    trainer_part data 100000
    trainer_part blas
    for threads in $(printf '%s\n' 1 "$cores" | sort -nu); do
        trainer_part newton 2000000 "$threads"
        trainer_part net 2000000 "$threads"
    done
    trainer_part dense 500000 1
}

machine >"$work/machine"
jq -r '"\(.cpu), \(.cores) cores; \(.engine); load before: \(.load_before)"' "$work/machine"
say measure value unit
engine_figures
selfplay_figures
cluster_figures
trainer_figures
trainer_parts
jq -n --slurpfile machine "$work/machine" --slurpfile figures "$work/figures" \
    '{machine: $machine[0], figures: $figures}' >"$build/bench.json.new"
mv "$build/bench.json.new" "$build/bench.json"
echo "written to $build/bench.json"
