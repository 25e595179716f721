#!/usr/bin/env bash
# A database that is down at the start, or goes away for a while in the middle: waited for, nothing lost.
. "$(dirname "$0")/lib.sh"

ok "a database" "$kroo" up --dir "$dir" --database-only
conninfo=$(sed -n 's/^database = //p' "$dir/kroo.conf")
socket=${conninfo#host=}
socket=${socket%% *}
stop_database() { "$kroo" down --dir "$dir" >/dev/null; }

stop_database
fails "a reader says that the database is away" 3 "database|connect" "$kroo" ls --dir "$dir"
mkdir -m 700 -p "$work/run"
KROO_TERM_MS=4000 KROO_PROGRESS_MS=300 kroo-coordinator --database "$conninfo" \
    --endpoint "ipc://$work/run/c.sock" 2>"$work/coordinator.log" &
coordinator=$!
ok "a coordinator started without database says so and waits" wait_until 20 grep -q database-down "$work/coordinator.log"
"$kroo" up --dir "$dir" --database-only >/dev/null
ok "it leads when the database comes" wait_until 30 grep -q listening "$work/coordinator.log"

export KROO_ENDPOINT=ipc://$work/run/c.sock
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 400 --nodes 3000 --seed 2)
kroo-worker --endpoint "$KROO_ENDPOINT" --name w --slots 2 --state "$work/w" 2>"$work/w.log" &
stored() { sql "select games_stored from experiment_counter where experiment_id = $id"; }
some() { [ "$(stored)" -gt 20 ]; }
ok "games arrive" wait_until 30 some

stop_database
ok "the coordinator notices that the database went" wait_until 20 grep -q "database-down.*kept" "$work/coordinator.log"
away() { [ "$(grep -c "database-down" "$work/coordinator.log")" -gt 5 ]; }
ok "it tries again and again" wait_until 30 away
ok "it lives" kill -0 "$coordinator"
"$kroo" up --dir "$dir" --database-only >/dev/null
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
ok "when the database is back everything is delivered" wait_until 120 finished
ok "nothing is lost or counted twice" "$kroo" verify --dir "$dir" "$id"
is "all games are there" "$(stored)" 800

fails "a second coordinator finds the endpoint taken or waits to lead" 124 "lead|another" timeout 3 \
    kroo-coordinator --database "$conninfo" --endpoint "ipc://$work/run/c2.sock"
kill -TERM "$coordinator"
wait "$coordinator"
is "SIGTERM ends a coordinator in order" "$?" 0
done_testing
