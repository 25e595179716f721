#!/usr/bin/env bash
# Timed play: clocks and times for both kinds of engine, flags that fall, scaled limits, and workers that are unfit.
. "$(dirname "$0")/lib.sh"

k() { "$kroo" "$@" --dir "$dir"; }
finished() { [ "$(sql "select state from experiment where id = $1")" = finished ]; }
match() { k match starting starting --pairs 2 --seed 5 "$@" 2>"$work/said"; }

# A reference a hundred times as fast as anything: limits of time are stretched to the bound, ten times.
export KROO_REFERENCE_SPEED=1000000000
ok "a private cluster" "$kroo" up --dir "$dir" --workers 1
fails "what is no clock is refused" 2 'written like 10s' k match starting starting --pairs 2 --clock 10x
fails "below a millisecond nothing is lost silently" 2 'whole milliseconds' k match starting starting --pairs 2 --clock 1s+0.0005s

# --- the built-in engine ---
id=$(match --clock-a 0.4s+0.005s --clock-b 200ms+0.002s)
ok "it says that this cannot be reproduced" grep -q 'not reproducible' "$work/said"
ok "and that the limits differ" grep -q 'unequal limits' "$work/said"
ok "a match on clocks ends" wait_until 60 finished "$id"
is "the clocks are kept to the millisecond" \
    "$(k show "$id" --json | jq -c '[.a.clock_ms, .a.increment_ms, .b.clock_ms, .b.increment_ms, .is_reproducible]')" '[400,5,200,2,false]'
ok "and shown" sh -c "'$kroo' show '$id' --dir '$dir' | grep -q 'on a clock of 0.4s+0.005s'"
ok "exports tell them" sh -c "'$kroo' games '$id' --dir '$dir' --pairs 0 | grep -q 'clock_ms:400,increment_ms:5'"
ok "kroo verify agrees" k verify "$id"

ok "what a limit comes to on other machines is told" sh -c "'$kroo' show '$id' --dir '$dir' | grep -q 'meant for 1000000000 nodes a second: 400 ms are 1600 ms at 250000000'"
is "of its lease and for good" \
    "$(k show "$id" --json | jq -c '[.reference_speed, .scales[0].worker, .scales[0].scale_ppm]')|$(sql "select distinct scale_ppm from lease where experiment_id = $id")" \
    '[1000000000,"worker-1",10000000]|10000000'
is "the cluster's reference is a version" "$(sql "select version, nodes_per_second from reference_speed order by 1" | paste -sd' ')" '1|3000000 2|1000000000'

# --- another program, told by wtime and btime ---
ok "an engine" k engine add "$build/kroo-engine" --name today
id=$(match --engine-a today --clock-a 400ms+10ms --nodes-b 100)
ok "a program plays on a clock" wait_until 60 finished "$id"
ok "kroo verify agrees" k verify "$id"

# --- flags fall: a clock of a millisecond is ten here, for a program that has to be asked each time ---
id=$(match --engine-a today --clock-a 1ms --nodes-b 100)
ok "a match with hopeless clocks ends" wait_until 60 finished "$id"
is "the flag falls, or the game ended before" \
    "$(sql "select count(*) filter (where reason = 'deadline' and not claimed), count(*) > 0 from game where experiment_id = $id")" '0|t'
ok "somebody lost by it" [ "$(sql "select count(*) > 0 from game where experiment_id = $id and reason = 'deadline' and claimed")" = t ]
ok "kroo verify agrees" k verify "$id"

# --- faults under limits of time ---
player wild illegal-go-3
ok "an engine that will play what is no move" k engine add "$work/wild" --name wild
id=$(match --engine-a wild --time-a 2 --nodes-b 50)
ok "loses by it" wait_until 60 finished "$id"
fault=$(sql "select max(id) from fault where experiment_id = $id")
ok "the fault comes again" k replay-fault "$fault" 2>"$work/said" >/dev/null
ok "it says what cannot be the same" grep -q 'what stood on the clocks is not recorded.*(x 10.00)' "$work/said"

# --- scale and fitness ---
is "the scale stands with the session" "$(sql "select distinct scale_ppm from session where slots > 0")" 10000000
is "and the speed behind it" "$(sql "select bool_and(speed > 0) from session where slots > 0")" t

# --- a bench is made again: while idle, and before timed play when it is old ---
"$kroo" down --dir "$dir" >/dev/null
ok "workers that measure often while they are idle" env KROO_MEASURE_MS=100 "$kroo" up --dir "$dir" --workers 1
measured_later() { [ "$(sql "select bool_or(measured_at > started_at + interval '1 s') from session where slots > 0 and ended_at is null")" = t ]; }
ok "tell of it" wait_until 30 measured_later
ok "kroo why says how old it is" grep -q 'fit for timed play (.* measured [0-9]* s ago)' <(k why worker-1)
is "kroo workers, too" "$(k workers --json | jq -c '.[0] | [.timed, .bench > 0, .measured_s >= 0]')" '["fit",true,true]'
"$kroo" down --dir "$dir" >/dev/null
ok "workers that never do, where a second is old" env KROO_MEASURE_MS=86400000 KROO_TIMED_AGE=1 "$kroo" up --dir "$dir" --workers 1
old() { k why worker-1 | grep -q 'its bench is .* s old'; }
ok "have an old bench soon" wait_until 30 old
id=$(match --time 5)
ok "make another before timed play, and play" wait_until 60 finished "$id"
is "after the match was made" "$(sql "select bool_or(s.measured_at > e.created_at) from session s, experiment e where e.id = $id and s.ended_at is null and s.slots > 0")" t
"$kroo" down --dir "$dir" >/dev/null
ok "the same cluster, wanting a tenth of the reference" env KROO_TIMED_SLOW=10 "$kroo" up --dir "$dir" --workers 1
timed=$(match --time 5)
told() { k why worker-1 | grep -q 'no timed play: it is too slow'; }
ok "a worker that is too slow is told so" wait_until 30 told
id=$(match --nodes-a 50 --nodes-b 60)
ok "work by nodes goes on" wait_until 30 finished "$id"
is "nothing timed went out" "$(sql "select count(*) from lease where experiment_id = $timed")" 0
done_testing
