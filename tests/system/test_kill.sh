#!/usr/bin/env bash
# Promise 2: kill -9 of the coordinator, of a worker and of PostgreSQL in the middle of self-play; afterwards
# every pair is there once and `kroo verify` finds no difference.
. "$(dirname "$0")/lib.sh"

pairs=500
stored() { sql "select games_stored from experiment_counter where experiment_id = $id"; }
stored_above() { [ "$(stored)" -gt "$1" ]; }
state() { sql "select state from experiment where id = $id"; }
is_finished() { [ "$(state)" = finished ]; }

ok "a private cluster starts with two workers" "$kroo" up --dir "$dir" --workers 2
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs $pairs --nodes 3000 --seed 5)
ok "games arrive" wait_until 30 stored_above 0

kill -9 "$(pid_of worker-1)"
ok "a worker killed: it starts again on the same spool" "$kroo" up --dir "$dir" --workers 2
before=$(stored)
ok "games go on arriving" wait_until 30 stored_above "$before"

kill -9 "$(pid_of coordinator)"
ok "the coordinator killed: another takes up where it was" "$kroo" up --dir "$dir" --workers 2
before=$(stored)
ok "games go on arriving" wait_until 60 stored_above "$before"

kill -9 "$(postgres_pid)"
ok "PostgreSQL killed: it starts again" "$kroo" up --dir "$dir" --workers 2
ok "and everything reconnects and finishes" wait_until 180 is_finished

is "every pair is there once, with both legs" \
    "$(sql "select count(*), count(distinct (pair_no, leg)), count(distinct pair_no), min(pair_no), max(pair_no) from game where experiment_id = $id")" \
    "$((2 * pairs))|$((2 * pairs))|$pairs|0|$((pairs - 1))"
is "and counted once" "$(sql "select wins + draws + losses from experiment_counter where experiment_id = $id")" $((2 * pairs))
ok "kroo verify finds no difference" "$kroo" verify --dir "$dir" "$id"
is "no lease is left open" "$(sql "select count(*) from lease where state = 'open'")" 0
done_testing
