#!/usr/bin/env bash
# Programs that crash, hang, play what is no move or fail before their first one: an error without a game before the
# first move, a loss that two workers agree on after it; each recorded, shown and replayed. And a worker whose program
# hangs leaves in time.
. "$(dirname "$0")/lib.sh"
export KROO_MOVE_MS=3000

run_match() { id=$("$kroo" match starting starting --dir "$dir" "$@" 2>"$work/said" | head -n 1) && [ -n "$id" ]; }
state_is() { [ "$(sql "select state from experiment where id = $id")" = "$1" ]; }
settled() { sql "select string_agg(distinct settlement, ';') from dispute where experiment_id = $id"; }
reasons() { sql "select string_agg(distinct reason || ' ' || claimed, ';' order by reason || ' ' || claimed) from game_counted where experiment_id = $id"; }
engines() { pgrep -f "^$dir/worker-[0-9]+/engines/"; }
add() { player "$1" "$2" && "$kroo" engine add "$work/$1" --name "$1" --dir "$dir" >/dev/null 2>"$work/said"; }
faults() { sql "select $1 from fault_report where experiment_id = $id"; }
all_confined() { [ "$(sql "select bool_and(confinement in ('namespaces', 'limits only')) from session where name like 'worker-%'")" = t ]; }
newest() { sql "select max(id) from fault where experiment_id = $id"; }

ok "a private cluster" "$kroo" up --dir "$dir" --workers 3
ok "its workers say what keeps programs in" wait_until 30 grep -rEq 'confinement programs="(namespaces|limits only)"' "$dir/log"
ok "and so does the database" wait_until 30 all_confined

# --- after the first move: two workers' word ---
ok "an engine that will play what is no move" add illegal illegal-go-3
run_match --engine-a illegal --nodes 100 --nodes-a 50 --pairs 2 --seed 5
ok "is played to the end" wait_until 120 state_is finished
is "each of its games is a claimed loss" "$(reasons)|$(sql "select bool_and(a_half_points = 0) from game_counted where experiment_id = $id")" 'illegal-move true|t'
is "that two workers agree on" "$(settled)" 'kept: two independent workers agree'
is "its engine has shown that it plays alike on two machines" "$("$kroo" show --dir "$dir" "$id" --json | jq -r .reproducible)|$("$kroo" engine ls --dir "$dir" --json | jq -r '.[0].reproducible')" 'proven|proven'
is "each run of each game is recorded" "$(faults "count(*) >= 8, bool_and(side = 'a' and engine = 'illegal' and kind = 'illegal-move' and worker like 'worker-%' and seed = 5)")" 't|t'
is "with the moves that led there" "$(sql "select bool_and(f.moves = g.moves) from fault f join game g using (experiment_id, pair_no, leg) where experiment_id = $id")" t
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
ok "kroo replay comes to the same end" "$kroo" replay --dir "$dir" "$id" 0 0
ok "kroo faults lists them" grep -q 'a: illegal.*its move is not legal' <("$kroo" faults --dir "$dir" "$id")
is "as JSON, too" "$("$kroo" faults --dir "$dir" "$id" --json | jq -r '.[0].kind + " " + .[0].engine')" 'illegal-move illegal'
ok "and the fault comes again" grep -q 'the fault came again' <("$kroo" replay-fault --dir "$dir" "$(newest)")

ok "one that crashes" add crashes crash-go-3
run_match --engine-b crashes --nodes 100 --nodes-a 50 --pairs 1 --seed 6
ok "loses so" wait_until 120 state_is finished
is "by two workers' word" "$(reasons)|$(settled)" 'crash true|kept: two independent workers agree'
is "and is recorded" "$(faults "count(*) >= 4, bool_and(side = 'b' and kind = 'crash' and why ~ 'killed by signal 11|exited with status')")" 't|t'
ok "the fault comes again" "$kroo" replay-fault --dir "$dir" "$(newest)"

ok "one that hangs" add hangs hang-go-2
run_match --engine-b hangs --nodes 100 --nodes-a 50 --pairs 1 --seed 6
ok "loses so" wait_until 120 state_is finished
is "by two workers' word" "$(reasons)|$(settled)" 'crash true|kept: two independent workers agree'
ok "the fault comes again" "$kroo" replay-fault --dir "$dir" "$(newest)" --move-ms 2000

ok "one that crashes on one machine alone" add once crash-go-3-worker-1
run_match --engine-a once --nodes 100 --nodes-a 50 --pairs 1 --seed 6
settles() { state_is finished || state_is blocked; } # five runs may come without the third worker's
ok "is played again by others" wait_until 150 settles
is "and has not lost" "$(reasons | grep -c true || :)" 0
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

# --- self-test: one machine's engine differs, and that machine alone keeps off ---
ok "one that answers otherwise on one machine" add odd illegal-go-1-worker-1
run_match --engine-a odd --nodes 2000 --nodes-b 50 --pairs 3000 --seed 6
tested() { [ "$(sql "select exists (select from fault where experiment_id = $id) and exists (select from game where experiment_id = $id)")" = t ]; }
ok "is refused there and played elsewhere" wait_until 150 tested
"$kroo" stop --dir "$dir" "$id" >/dev/null 2>&1
is "by the others alone" "$(sql "select count(*) filter (where s.name = 'worker-1'), count(*) > 0 from game g join session s on s.id = g.session_id where experiment_id = $id")" '0|t'
is "which says what was expected and found" "$(faults "bool_and(kind = 'self-test' and worker = 'worker-1' and pair_no is null and why ~ 'signature [0-9a-f]{16} on this machine, expected is [0-9a-f]{16}')")" t
fails "there is no game to play again" 1 "no game's" "$kroo" replay-fault --dir "$dir" "$(newest)"
ok "kroo faults lists it" grep -q self-test <("$kroo" faults --dir "$dir" "$id")

# --- before the first move: no game at all ---
ok "one that never moves on a worker" add barren quit-setoption-1-worker-
run_match --engine-a barren --nodes 100 --nodes-b 50 --pairs 4 --seed 6
ok "stops the experiment" wait_until 150 state_is blocked
is "with its reason" "$(sql "select state_reason ~ 'failed before its first move: player a: .*exited with status 9.*said by two workers' from experiment where id = $id")" t
is "and without a game" "$(sql "select count(*) from game where experiment_id = $id")" 0
is "but with a record" "$(faults "bool_and(kind = 'start' and side = 'a' and pair_no is not null and ply = 0)")" t
fails "elsewhere the fault does not come again" 1 "did not come again" "$kroo" replay-fault --dir "$dir" "$(newest)"

fails "a fault that is not there" 1 "kroo faults" "$kroo" replay-fault --dir "$dir" 999999

# --- a game that does not end: no game, whoever plays it (leela-zero#1509) ---
"$kroo" down --dir "$dir" >/dev/null
KROO_GAME_MS=300 "$kroo" up --dir "$dir" --workers 2 >/dev/null
run_match --depth-a 40 --depth-b 39 --pairs 2 --seed 6
ok "a game that does not end in its time stops the experiment" wait_until 90 state_is blocked
is "with its reason" "$(sql "select state_reason ~ 'the game does not end: player [ab] was to move after [0-9]+ plies when its bound of 300 ms was over.*said by two workers' from experiment where id = $id")" t
is "and a record with seed and moves" "$(faults "bool_and(kind = 'overtime' and ply >= 8 and length(moves) = ply and seed = 6 and pair_no is not null)")" t
ok "the fault comes again" "$kroo" replay-fault --dir "$dir" "$(newest)" --game-ms 300

# --- a worker whose program hangs leaves in time ---
ok "one that hangs at once" add asleep hang-setoption-1-worker-
"$kroo" down --dir "$dir" >/dev/null
KROO_MOVE_MS=60000 KROO_DRAIN_MS=3000 "$kroo" up --dir "$dir" --workers 1 >/dev/null
run_match --engine-a asleep --nodes 100 --nodes-b 50 --pairs 4 --seed 6
ok "hangs" wait_until 60 engines
worker=$(pid_of worker-1)
began=$(date +%s)
kill -TERM "$worker"
gone() { ! kill -0 "$worker"; }
ok "its worker ends all the same" wait_until 30 gone
ok "within its time" test $(($(date +%s) - began)) -le 10
ok "and leaves no program behind" test -z "$(engines)"

# --- one that breeds, where its worker is killed ---
"$kroo" stop --dir "$dir" "$id" >/dev/null
KROO_MOVE_MS=60000 "$kroo" up --dir "$dir" --workers 1 >/dev/null
ok "one that breeds" add breeds breed-setoption-1-worker-
run_match --engine-a breeds --nodes 100 --nodes-b 50 --pairs 4 --seed 6
many() { [ "$(engines | wc -l)" -gt 10 ]; }
ok "has many processes" wait_until 60 many
kill -9 "$(pid_of worker-1)"
none() { [ -z "$(engines)" ]; }
if grep -q 'confinement programs="namespaces"' -r "$dir/log"; then
    ok "none of which outlives its worker, however that ends" wait_until 30 none
fi
done_testing
