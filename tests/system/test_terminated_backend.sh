#!/usr/bin/env bash
# The coordinator's database sessions are ended under it, and a reader holds an old snapshot, while workers deliver:
# it connects again, nothing is lost, nobody waits.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load

stored() { sql "select games_stored from experiment_counter where experiment_id = $id"; }
moved() { [ "$(stored)" -gt "$before" ]; }
terminate() { # true when there was a session to end
    [ "$(sql "select count(*) from (select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'kroo-coordinator') t")" -gt 0 ]
}

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
coordinator=$(pid_of coordinator)
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 60000 --nodes 100 --seed 1)
before=0
mkfifo "$work/reader"
"$kroo" sql --dir "$dir" -XAtq <"$work/reader" >/dev/null &
exec 8>"$work/reader"
echo "begin isolation level repeatable read; select count(*) from game;" >&8
"$load" "$endpoint" 8 32 --same >"$work/load" 2>&1 &
loading=$!
for round in 1 2 3 4; do
    ok "games come in" wait_until 30 moved
    ok "the session is ended ($round)" wait_until 10 terminate
    before=$(stored)
done
wait $loading
is "the workers end in order" "$?" 0
is "every game is acknowledged" "$(jq -c '[.games + .duplicates >= 120000, .conflicts, .refused]' "$work/load")" '[true,0,0]'
is "and there, and counted once" \
    "$(sql "select games_stored, prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id")" '120000|60000|120000'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
ok "the coordinator is the same" kill -0 "$coordinator"
ok "and knows that it was cut off" test "$("$kroo" status --dir "$dir" --json | jq .counters.reconnects)" -ge 1
echo "select count(*) from game; commit;" >&8
exec 8>&-
is "nothing locked up" "$(sql "select deadlocks from pg_stat_database where datname = 'kroo'")" 0
done_testing
