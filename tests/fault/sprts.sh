#!/usr/bin/env bash
# The statistics under fault: many small sequential tests through coordinator, database and synthetic workers whose games
# player a wins by chance, while acknowledgements are lost, connections cut, the coordinator killed and the database's
# connections broken. Half of the tests are played at elo0, half at elo1: what is accepted must be alpha and 1 - beta
# within the bounds of a binomial (99.9 %), every pair counted once, and a sample verified from the games.
#
#   tests/fault/sprts.sh [TESTS [SEED]]        make sprts TESTS=2000 SEED=7
. "$(dirname "$0")/../system/lib.sh"
tests_wanted=${1:-2000}
seed=${2:-$(($(date +%s) % 1000000))}
half=$((tests_wanted / 2))
elo1=60 alpha=0.05 beta=0.05
export KROO_DIR=$dir KROO_TERM_MS=4000 KROO_PROGRESS_MS=500
load=$build/bench/load
trap 'kill $faults $load_pids $proxy 2>/dev/null; cleanup' EXIT
faults='' load_pids='' proxy=''

coordinator_pid() { pgrep -f -- "kroo-coordinator --config $dir/kroo.conf"; }
# A fault every few seconds until it is killed; the moment is chance, not a condition.
harm() {
    RANDOM=$seed
    while :; do
        read -r -t "$((1 + RANDOM % 4)).$((RANDOM % 10))" -u 9
        case $((RANDOM % 6)) in
        0) kill -9 "$(coordinator_pid)" 2>/dev/null ;;
        1) kill -USR1 "$proxy" ;;
        2) sql "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'kroo-coordinator'" >/dev/null 2>&1 ;;
        esac
        "$kroo" up --workers 0 >/dev/null 2>&1
        echo "fault" >>"$work/faults"
    done
}
left() { sql "select count(*) from experiment where state = 'running'"; }
# played FIRST SCORE: `half` tests of which player a wins each game with this chance.
played() {
    for number in $(seq "$1" $(($1 + half - 1))); do
        until "$kroo" match starting starting --nodes-a 100 --nodes-b 120 --sprt --model logistic --elo0 0 --elo1 $elo1 \
            --alpha $alpha --beta $beta --batch 4 --max-pairs 20000 --audit 0 --seed $((seed + number)) \
            --key "sprt-$number" >/dev/null 2>&1; do
            read -r -t 0.2 -u 9
        done
    done
    while [ "$(left 2>/dev/null || echo 1)" -gt 0 ]; do
        "$load" "ipc://$work/sick.sock" 8 8 --pairs 32 --same --score "$2" --name "$1-$RANDOM" >>"$work/played" 2>>"$work/load.log"
    done
}
# within NAME ACCEPTED CHANCE: as a binomial would have it, 3.3 standard deviations.
within() {
    ok "$1: $2 of $half accepted, chance $3" jq -en --argjson k "$2" --argjson n "$half" --argjson p "$3" \
        '($k - $n * $p) * ($k - $n * $p) <= 3.3 * 3.3 * ($n * $p * (1 - $p)) + 1'
}
accepted() { # FIRST
    sql "select count(*) from verdict v join experiment e on e.id = v.experiment_id where v.verdict = 'accepted'
         and e.seed between $((seed + $1)) and $((seed + $1 + half - 1))"
}

echo "# seed $seed"
ok "a private cluster without workers" "$kroo" up --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
"$build/tests/system/proxy" "$work/sick.sock" "${endpoint#ipc://}" 40 >"$work/losses" 2>&1 &
proxy=$!
wait_until 10 test -S "$work/sick.sock"
harm &
faults=$!
played 0 0.5
played "$half" "$(jq -n "1 / (1 + pow(10; -$elo1 / 400))")"
kill $faults
wait $faults 2>/dev/null
"$kroo" up --workers 0 >/dev/null 2>&1
is "every test has its verdict" "$(sql "select count(*) from verdict where verdict in ('accepted', 'rejected')")" $((2 * half))
within "at elo0" "$(accepted 0)" $alpha
within "at elo1" "$(accepted "$half")" "$(jq -n "1 - $beta")"
is "every game is there once" "$(sql "select count(*) = count(distinct (experiment_id, pair_no, leg)) from game")" t
is "the counters are those of the games" "$(sql "select count(*) from experiment e, lateral verify_counters(e.id) v
    where v.recorded is distinct from v.recomputed")" 0
for id in $(sql "select id from experiment order by md5(id::text) limit 10"); do
    ok "experiment $id is verified" "$kroo" verify "$id"
done
echo "# pairs counted, mean: $(sql "select round(avg(counted_pairs)) from verdict"); faults $(wc -l <"$work/faults"), answers lost \
$(wc -l <"$work/losses"), sessions $(sql "select count(*) from session")"
done_testing
