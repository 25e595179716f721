#!/usr/bin/env bash
# How long every shipped query, and every view asked about one experiment, takes on many games. Makes a private cluster
# in a temporary folder, fills it with random games straight from the rules engine (build/bench/generate), and takes it
# away at the end. Both experiments, self-play and a match, still run and have the longest rest that is not rolled up.
#
#   tests/bench/database.sh [GAMES]     default 1000000; ten million take 12 GB and, on two cores, about half an hour
#   KROO_BUILD=D  CLUSTER_TMP=D         where the programs are, and where the database goes
#   CLUSTER_OPTIONS='-c fsync=on'       as a database that keeps its word
set -eu -o pipefail
cd "$(dirname "$0")/../.."
build=${KROO_BUILD:-build} games=${1:-1000000}
segment=32768
pairs=$(((games / 4 / segment) * segment + segment - 1)) # of each of the two experiments
. tests/cluster.sh
CLUSTER_OPTIONS="-c fsync=off -c wal_level=minimal -c max_wal_senders=0 -c shared_buffers=1GB -c max_wal_size=8GB
    -c maintenance_work_mem=512MB -c checkpoint_timeout=30min ${CLUSTER_OPTIONS:-}"
trap cluster_stop EXIT
trap 'exit 130' INT TERM HUP
cluster_start
export PGHOST=$cluster_directory PGUSER=kroo PGDATABASE=kroo PGOPTIONS='-c client_min_messages=warning -c search_path=kroo,public'
export KROO_DATABASE="host=$cluster_directory user=kroo dbname=kroo"
db() { psql -qXAt -v ON_ERROR_STOP=1 "$@"; }
now_ms() { date +%s%3N; }
psql -qX postgres -c 'create database kroo'
"$build/kroo" migrate >/dev/null
db <tests/sql/fixture.psql >/dev/null
db -c "select tests.t_experiment('selfplay', false, 1000000000), tests.t_experiment('match', true, 1000000000)" >/dev/null
db -c "insert into session (id, peer, name, engine_build, slots) select n, 'local', 'worker-' || n, 'kroo-engine 1 test', 1
    from generate_series(1, 32) n" -c "insert into lease (id, experiment_id, first_pair, pair_count, attempt, session_id,
    state, ended_at) select e * 1000000 + n, e, n * 64, 64, 1, (n + 1) % 32 + 1, 'done', now()
    from generate_series(1, 2) e, generate_series(0, $pairs / 64) n"

began=$(now_ms)
columns=$("$build/bench/generate" columns)
for experiment in 1 2; do
    "$build/bench/generate" $experiment $experiment 6 0 "$pairs" | db -c "copy game ($columns) from stdin" &
done
wait
printf '%s games in %s s\n' $((4 * pairs)) $((($(now_ms) - began) / 1000))
began=$(now_ms)
for experiment in 1 2; do
    db -c "update experiment_counter c set games_stored = r.games_stored, prefix_pairs = r.prefix_pairs, ll = r.ll,
        ld = r.ld, dd = r.dd, wl = r.wl, dw = r.dw, ww = r.ww, wins = r.wins, draws = r.draws, losses = r.losses
        from counters_recompute($experiment) r where c.experiment_id = $experiment" \
        -c "select session_rollup_refill($experiment, 0, $pairs / rollup_segment_pairs())" \
        -c "select capture_forget($experiment, n) from generate_series(0, ($pairs - 1) / rollup_segment_pairs()) n" >/dev/null &
done
wait
printf 'counted and rolled up in %s s\n' $((($(now_ms) - began) / 1000))
began=$(now_ms)
"$build/kroo" migrate >/dev/null
printf 'captures counted in %s s\n' $((($(now_ms) - began) / 1000))
db -c "insert into training_run (state, started_at, rules, kind, seed, threads, core_type, blas, trainer_build,
    weights_sha256, lambda, ridge, manifest, games, positions, rows_merged) select 'finished', now(), 'site', 'table', 1, 1,
    'core', 'blas', 'kroo-train 1 test', sha256, 0.4, 0, '[{\"experiment\": 1, \"first_pair\": 1000, \"pair_count\": $((pairs - 2000))},
    {\"experiment\": 2, \"first_pair\": 0, \"pair_count\": 100000}]', 1000, 1000, 1000 from weights where number = 2" \
    -c "update weights w set training_run_id = t.id from training_run t where t.weights_sha256 = w.sha256"
vacuumdb -q --analyze -j 2 kroo
printf '%s games: %s of tables, %s of roll-ups\n' "$(db -c 'select sum(games_stored) from experiment_counter')" \
    "$(db -c "select pg_size_pretty(sum(pg_total_relation_size(oid))) from pg_class where relname ~ '^game_[0-9]+$'")" \
    "$(db -c "select pg_size_pretty(sum(pg_total_relation_size(oid))) from pg_class where relname ~ '_rollup$' and relkind = 'r'")"

# timed NAME COMMAND...: of three runs the first and the median, in milliseconds, and the load of the machine.
timed() {
    local label=$1 times=
    shift
    for _ in 1 2 3; do
        began=$(now_ms)
        "$@" >/dev/null || label="$label FAILED"
        times="$times $(($(now_ms) - began))"
    done
    set -- $times
    printf '%-44s %8s %8s   load %s\n' "$label" "$1" "$(printf '%s\n' $times | sort -n | sed -n 2p)" "$(cut -d' ' -f1 /proc/loadavg)"
}
printf '%-44s %8s %8s\n' 'milliseconds' first median
query() { "$build/kroo" query "$@" --timeout 600 --format csv; }
opening=$(db -c "select left(moves, 6) from game where experiment_id = 1 and pair_no = 77 and leg = 0")
while read -r name; do
    case $name in
    openings) for prefix in '' "${opening:0:1}" "${opening:0:3}" "${opening:0:4}" "${opening:0:6}"; do
        timed "openings 1 $prefix" query openings 1 $prefix
    done ;;
    lineage) timed 'lineage 2' query lineage 2 ;;
    *) if query "$name" >/dev/null 2>&1; then timed "$name" query "$name"; else
        for experiment in 1 2; do
            query "$name" $experiment >/dev/null 2>&1 && timed "$name $experiment" query "$name" $experiment
        done || :
    fi ;;
    esac
done < <("$build/kroo" query --list --json | jq -r '.[].name')
for view in first_move_score endings_by_reason game_length game_length_histogram opening_count opening_score \
    opening_pair_count opening_pairs pair_score session_game_count captures_by_ply; do
    timed "view $view, the match" db -c "select * from $view where experiment_id = 2"
    timed "view $view, everything" db -c "select * from $view"
done
for view in experiment_progress experiment_verdict worker_health worker_session tournament_score lifetime; do
    timed "view $view" db -c "select * from $view"
done
timed 'a list of counted games, 1000 pairs' db -c "select * from game_counted where experiment_id = 2 and pair_no between 500000 and 500999"
