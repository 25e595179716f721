#!/usr/bin/env bash
# A state folder has one worker; a copy of it is another worker's, with a session of its own.
. "$(dirname "$0")/lib.sh"

stored_above() { [ "$(sql "select games_stored > $1 from experiment_counter where experiment_id = $id")" = t ]; }
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 300 --nodes 2000 --seed 1)
kroo-worker --endpoint "$endpoint" --name one --slots 1 --state "$work/state" 2>"$work/one.log" &
one=$!
ok "a worker plays" wait_until 20 stored_above 0
fails "a second in the same folder is refused, and hears by whom" 1 "another worker \\(process $one\\) uses the state folder .*--state" \
    timeout 20 kroo-worker --endpoint "$endpoint" --name two --slots 1 --state "$work/state"
ln -s "$work/state" "$work/link"
fails "by another path too" 1 "another worker \\(process $one\\)" \
    timeout 20 kroo-worker --endpoint "$endpoint" --name two --slots 1 --state "$work/link"
is "it never said HELLO" "$(sql "select count(*) from session where name = 'two'")" 0
ok "the first plays on" kill -0 $one

cp -a "$work/state" "$work/copy"
kroo-worker --endpoint "$endpoint" --name one --slots 1 --state "$work/copy" 2>"$work/copy.log" &
copy=$!
both() { [ "$(sql "select count(distinct session_id) from game where experiment_id = $id")" -eq 2 ]; }
ok "a copied folder is another worker, of the same name" wait_until 20 both
is "with a session of its own" "$(sql "select count(*) from session where name = 'one'")" 2
ok "both finish" wait_until 60 finished
is "every pair is there and counted once" \
    "$(sql "select games_stored, prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id")" '600|300|600'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

kill -9 $one
wait $one 2>/dev/null
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 20 --nodes 50 --seed 2)
kill -TERM $copy
wait $copy
kroo-worker --endpoint "$endpoint" --name one --slots 1 --state "$work/state" 2>"$work/again.log" &
ok "the lock of a killed worker is free" wait_until 20 finished
kill -TERM $!
wait $!
done_testing
