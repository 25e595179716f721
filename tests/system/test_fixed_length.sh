#!/usr/bin/env bash
# A fixed number of pairs is exactly that: with workers killed at random, and with more workers than pairs.
. "$(dirname "$0")/lib.sh"
export KROO_TERM_MS=1500 KROO_PROGRESS_MS=200

finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
exactly() { # PAIRS
    is "exactly $1 pairs are counted" \
        "$(sql "select c.prefix_pairs, c.wins + c.draws + c.losses, v.verdict, v.counted_pairs from experiment_counter c join verdict v using (experiment_id) where c.experiment_id = $id")" \
        "$1|$((2 * $1))|undecided|$1"
    is "and no game more is stored" \
        "$(sql "select count(*), count(distinct (pair_no, leg)), max(pair_no) from game where experiment_id = $id")" \
        "$((2 * $1))|$((2 * $1))|$(($1 - 1))"
    ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
}
declare -A herd
start() { # NUMBER: on its own state folder, whatever is in it
    kroo-worker --endpoint "$endpoint" --name "w-$1" --slots 1 --state "$work/w-$1" --drain-ms 1000 2>>"$work/w-$1.log" &
    herd[$1]=$!
}

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")

# --- workers killed at random ---
id=$("$kroo" match starting starting --dir "$dir" --nodes-a 5000 --nodes-b 4000 --pairs 151 --seed 9 2>/dev/null)
for number in 0 1 2 3; do start $number; done
RANDOM=1
kills=0
stored=0
more() { [ "$(sql "select games_stored > $stored from experiment_counter where experiment_id = $id")" = t ] || finished; }
while ! finished && [ $kills -lt 40 ]; do
    wait_until 20 more || break
    stored=$(sql "select games_stored + 8 from experiment_counter where experiment_id = $id")
    victim=$((RANDOM % 4))
    kill -9 "${herd[$victim]}" && wait "${herd[$victim]}" 2>/dev/null
    start $victim
    kills=$((kills + 1))
done
ok "it ends though workers were killed ($kills times)" wait_until 60 finished
ok "they were" test $kills -ge 3
exactly 151
for number in 0 1 2 3; do kill -TERM "${herd[$number]}"; done
wait

# --- one pair for twenty workers ---
for number in $(seq 20); do start "$number"; done
present() { [ "$("$kroo" status --dir "$dir" --json | jq '.workers | length')" -ge 20 ]; }
ok "twenty workers wait" wait_until 30 present
id=$("$kroo" match starting starting --dir "$dir" --nodes-a 500 --nodes-b 300 --pairs 1 --seed 10 2>/dev/null)
ok "one pair is played" wait_until 30 finished
exactly 1
is "by one of them, on one lease of its own (another only if that one lapsed)" \
    "$(sql "select count(*) filter (where attempt = 1), (select count(distinct session_id) from game g where g.experiment_id = $id) from lease where experiment_id = $id")" '1|1'
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 7 --nodes 200 --seed 11)
ok "seven pairs are played" wait_until 30 finished
exactly 7
for number in $(seq 20); do kill -TERM "${herd[$number]}"; done
wait
is "all leave in order" "$(grep -l 'status=0' "$work"/w-*.log | wc -l)" 21
done_testing
