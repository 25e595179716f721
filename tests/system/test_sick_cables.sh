#!/usr/bin/env bash
# Between workers and coordinator, over TCP: connections that are slow, thin, deaf, dead without a word, cut, and made in
# another order. Meanwhile nothing is lost or counted twice, and work goes on when the cable does; behind a cable that is
# only slow or thin it never stops.
. "$(dirname "$0")/lib.sh"
export KROO_TERM_MS=5000 KROO_PROGRESS_MS=300

stored() { sql "select games_stored from experiment_counter where experiment_id = $id"; }
moved() { [ "$(stored)" -gt "$before" ]; }
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
mode() {
    echo "$*" >"$work/mode.new" && mv "$work/mode.new" "$work/mode"
    grep -c . "$work/cable" >"$work/at"
    wait_until 10 sh -c "tail -n +$(($(cat "$work/at") - 1)) '$work/cable' | grep -q 'mode $1'"
}
sessions() { sql "select count(*) from session where name like 'far-%'"; }
welcomes() { cat "$work"/far-*.log | grep -c ' welcome '; }
new_experiment() { id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs "$1" --nodes 100 --seed $((seed += 1))); }
whole() { # PAIRS
    ok "it ends" wait_until 120 finished
    is "with every pair there once and counted once" \
        "$(sql "select concat_ws(' ', count(*), count(distinct (pair_no, leg)), (select concat_ws(' ', games_stored, prefix_pairs, wins + draws + losses) from experiment_counter where experiment_id = $id), (select count(*) from dispute where experiment_id = $id)) from game where experiment_id = $id")" \
        "$((2 * $1)) $((2 * $1)) $((2 * $1)) $1 $((2 * $1)) 0"
}
seed=0

ok "a database" "$kroo" up --dir "$dir" --database-only
conninfo=$(sed -n 's/^database = //p' "$dir/kroo.conf")
kroo-coordinator --database "$conninfo" --endpoint "tcp://127.0.0.1:*,$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")" \
    2>"$work/coordinator.log" &
listens() { port=$(sed -n 's/.*listening endpoint=tcp:..127.0.0.1:\([0-9]*\).*/\1/p' "$work/coordinator.log") && [ -n "$port" ]; }
ok "a coordinator listens" wait_until 30 listens
listens
echo pass >"$work/mode"
"$build/tests/system/proxy" tcp:0 "tcp:$port" 0 "$work/mode" >"$work/cable" 2>&1 &
cable_there() { cable=$(sed -n 's/listening tcp://p' "$work/cable") && [ -n "$cable" ]; }
ok "and a cable leads to it" wait_until 10 cable_there
cable_there
for worker in 1 2 3; do
    kroo-worker --endpoint "tcp://127.0.0.1:$cable" --name "far-$worker" --slots 1 --no-pin --state "$work/far-$worker" \
        2>"$work/far-$worker.log" &
done

new_experiment 300 && before=0
ok "games come over it" wait_until 30 moved
ok "a slow cable" mode delay 400
before=$(stored) && before=$((before + 50))
ok "games go on coming" wait_until 30 moved
is "and nobody had to begin again" "$(sessions)|$(welcomes)" '3|3'
ok "a thin one" mode throttle 30000
before=$(stored)
ok "games go on coming" wait_until 30 moved
# Nothing passes, nobody is hung up on: leases lapse, go out again, and late results count once.
ok "the cable becomes a hole" mode hole
lapsed() { [ "$(sql "select count(*) > 0 from lease where experiment_id = $id and state = 'expired'")" = t ]; }
ok "leases lapse" wait_until 40 lapsed
spooled() { [ "$(cat "$work"/far-*/spool/* | wc -c)" -gt 1000 ]; }
ok "and the workers play on what they hold" wait_until 20 spooled
before=$(stored)
mode pass
ok "with the cable whole games come again" wait_until 40 moved
whole 300

# Questions arrive, answers do not: results are committed, asked for again, and counted once.
new_experiment 300 && before=0
ok "games come again" wait_until 30 moved
ok "the cable becomes deaf" mode deaf
ok "the workers notice" wait_until 60 sh -c "tail -n 3 $work/far-1.log | grep -q ' silence \| no-answer '"
mode pass
before=$(stored)
ok "games come again" wait_until 40 moved

# Cut for good, then back: everybody at once, and the last first.
ok "the cable is cut" mode cut
ok "the workers notice at once" wait_until 15 sh -c "tail -n 3 $work/far-2.log | grep -q ' silence \| no-answer '"
ok "it is mended, and who connects first is let through last" mode reorder
ok "connections change places" wait_until 60 grep -q reordered "$work/cable"
before=$(stored)
ok "games come again" wait_until 40 moved
mode pass
whole 300

ok "kroo verify agrees on everything" "$kroo" verify --dir "$dir"
is "the workers are the same" "$(sessions)" 3
done_testing
