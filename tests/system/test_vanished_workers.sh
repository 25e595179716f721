#!/usr/bin/env bash
# Workers that stop answering, a play thread that stands still, an engine that hangs: found within one lease term, the
# ranges are played by others, and what comes late counts once. Twenty killed at once leave no open lease after one term.
. "$(dirname "$0")/lib.sh"
export KROO_TERM_MS=2000 KROO_PROGRESS_MS=200

counters() {
    sql "select games_stored, prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id"
}
stored_any() { [ "$(sql "select games_stored > 0 from experiment_counter where experiment_id = $id")" = t ]; }
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
# Where no var/kroo.conf of the demo says whose engines are trusted.
worker() { # NAME SLOTS
    (cd "$work" && exec kroo-worker --endpoint "$endpoint" --name "$1" --slots "$2" --state "$work/$1" 2>"$work/$1.log") &
}
open_leases() {
    sql "select count(*) from lease l join session s on s.id = l.session_id where l.experiment_id = $id and l.state = 'open' and s.name like '$1'"
}

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")

# --- a worker thought dead ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 60 --nodes 3000 --seed 6)
worker sleeper 2
sleeper=$!
ok "a worker plays" wait_until 30 stored_any
kill -STOP $sleeper
expired() { [ "$(sql "select count(*) > 0 from lease where experiment_id = $id and state = 'expired'")" = t ]; }
ok "stopped, its leases lapse" wait_until 20 expired
worker second 2
again() { [ "$(sql "select count(*) > 0 from lease where experiment_id = $id and attempt > 1")" = t ]; }
ok "its ranges go out again under the next attempt" wait_until 20 again
kill -CONT $sleeper
ok "awake again it does not disturb" wait_until 60 finished
is "every pair is there and counted once" "$(counters)" '120|60|120'
is "nothing it delivered late is disputed" "$(sql "select count(*) from dispute")" 0
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
kill -9 %1 %2
wait %1 %2 2>/dev/null

# --- a worker one of whose play threads is frozen, while it goes on talking and its other thread plays on ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 60 --nodes 3000 --seed 8)
worker stuck 2
stuck=$!
ok "a worker plays" wait_until 30 stored_any
"$build/tests/fault/freezer" $stuck >"$work/frozen" 2>&1 &
freezer=$!
frozen() { [ -s "$work/frozen" ]; }
wait_until 10 frozen
if grep -q 'Operation not permitted' "$work/frozen"; then
    echo "# its play thread cannot be frozen here: $(cat "$work/frozen")"
else
    found() { grep -q 'thread-still .*for_ms=1500 still=1 slots=2' "$work/stuck.log"; }
    ok "one of its threads frozen, it says so itself" wait_until 20 found
    released() { [ "$(sql "select count(*) > 0 from lease where experiment_id = $id and state = 'released'")" = t ]; }
    ok "and gives the lease back before its term is over" wait_until 20 released
    again() { [ "$(sql "select count(*) > 0 from lease where experiment_id = $id and attempt > 1")" = t ]; }
    ok "it is given out again" wait_until 20 again
fi
ok "what was in its hands is played" wait_until 60 finished
is "every pair is there and counted once" "$(counters)" '120|60|120'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
kill -TERM $stuck
gone() { ! kill -0 $stuck 2>/dev/null || grep -q '^State:.Z' /proc/$stuck/status; } # its tracer keeps it from being reaped
ok "told to leave it does, frozen thread or not" wait_until 20 gone
kill -9 $freezer
wait $stuck $freezer 2>/dev/null

# --- an engine that hangs: found within a term, though a move might take a minute ---
player hangs hang-go-3
ok "an engine that hangs" "$kroo" engine add "$work/hangs" --name hangs --dir "$dir"
worker first 1
first=$!
worker other 1
other=$!
id=$("$kroo" match starting starting --dir "$dir" --engine-b hangs --nodes 100 --nodes-a 50 --pairs 1 --seed 6 | head -n 1)
ok "loses by it" wait_until 50 finished
is "by two workers' word" "$(sql "select string_agg(distinct reason, ';') from game_counted where experiment_id = $id")|$(sql "select count(distinct worker) from fault_report where experiment_id = $id and why ~ 'did not answer in time'")" 'crash|2'
is "its pair is counted once" "$(counters)" '2|1|2'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
kill -9 $first $other
wait $first $other 2>/dev/null

# --- twenty killed at once ---
pids=
for number in $(seq 20); do
    worker "herd-$number" 1
    pids="$pids $!"
done
herd_waits() { "$kroo" status --dir "$dir" --json | jq -e '[.workers[] | select(.name | startswith("herd-"))] | length == 20'; }
ok "twenty workers wait" wait_until 30 herd_waits
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 400 --nodes 1500 --seed 7)
all_hold() {
    [ "$(sql "select count(distinct s.name) from lease l join session s on s.id = l.session_id where l.experiment_id = $id")" -eq 20 ]
}
ok "twenty workers hold leases" wait_until 30 all_hold
# shellcheck disable=SC2086
kill -9 $pids
# shellcheck disable=SC2086
wait $pids 2>/dev/null
none_open() { [ "$(open_leases 'herd-%')" -eq 0 ]; }
ok "killed, they hold none within their term" wait_until 10 none_open
is "the cluster does not think they work" \
    "$("$kroo" status --dir "$dir" --json | jq '[.workers[] | select(.name | startswith("herd-")) | .leases] | add')" 0
worker last 2
ok "one worker ends what they began" wait_until 120 finished
is "every pair is there and counted once" "$(counters)" '800|400|800'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
done_testing
