#!/usr/bin/env bash
# The coordinator is killed, or stopped in order, again and again while workers play: nothing is lost, nothing counts
# twice, and the totals are what count(*) says. KROO_RESTARTS=20 for the long run.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load
restarts=${KROO_RESTARTS:-3}
export KROO_TERM_MS=5000 KROO_PROGRESS_MS=300

stored() { sql "select games_stored from experiment_counter where experiment_id = $id"; }
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
moved() { [ "$(stored)" -gt "$before" ] || finished; }
# Restarts the coordinator each time games have come, two in three times by kill -9. Fails when they stop coming.
restart_often() {
    for restart in $(seq "$restarts"); do
        before=$(stored)
        wait_until 30 moved || return 1
        old=$(pid_of coordinator)
        gone() { ! kill -0 "$old"; }
        if [ $((restart % 3)) -eq 0 ]; then kill -TERM "$old"; else kill -9 "$old"; fi
        wait_until 10 gone || return 1
        "$kroo" up --dir "$dir" --workers "$1" >/dev/null 2>&1 || return 1
    done
}
totals() {
    sql "select c.games_stored = count(*), c.wins + c.draws + c.losses = count(*) filter (where g.pair_no < c.prefix_pairs),
        2 * c.wins + c.draws = sum(g.a_half_points) filter (where g.pair_no < c.prefix_pairs)
        from experiment_counter c join game g using (experiment_id) where c.experiment_id = $id
        group by c.games_stored, c.prefix_pairs, c.wins, c.draws, c.losses"
}

# --- workers that think ---
ok "a private cluster with two workers" "$kroo" up --dir "$dir" --workers 2
pairs=$((restarts * 30))
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs "$pairs" --nodes 1500 --seed 1)
ok "games come in after each of $restarts restarts" restart_often 2
ok "self-play ends" wait_until 120 finished
is "with every game stored once" \
    "$(sql "select count(*), count(distinct (pair_no, leg)) from game where experiment_id = $id")" "$((2 * pairs))|$((2 * pairs))"
is "and counted once" \
    "$(sql "select games_stored, prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id")" \
    "$((2 * pairs))|$pairs|$((2 * pairs))"
is "totals are those of the rows" "$(totals)" 't|t|t'
is "a worker is one session through all restarts" "$(sql "select count(*) from session where name like '%worker-%'")" 2
is "no lease is left open" "$(sql "select count(*) from lease where state = 'open'")" 0
for number in 1 2; do kill -TERM "$(pid_of "worker-$number")"; done

# --- workers that are fast ---
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
id=$("$kroo" match starting starting --dir "$dir" --nodes-a 70 --nodes-b 60 --pairs 1M --seed 2 2>/dev/null)
"$load" "$endpoint" 20 8 --name quick --pairs 32 --same >"$work/load" 2>&1 &
loading=$!
ok "games come in after each of $restarts restarts" restart_often 0
ok "the match is stopped" "$kroo" stop --dir "$dir" "$id" --reason enough
ended() { wait $loading; }
ok "the workers end in order" ended
is "each has the acknowledgement of each game" "$(jq '.refused + .conflicts' "$work/load")" 0
ok "which is a row" test "$(sql "select count(*) from game where experiment_id = $id")" -ge "$(jq .games "$work/load")"
is "totals are those of the rows" "$(totals)" 't|t|t'
ok "kroo verify agrees" "$kroo" verify --dir "$dir"
is "no lease is left open" "$(sql "select count(*) from lease where state = 'open'")" 0

# --- a stop after the end ---
how() { sql "select e.state, v.* from experiment e join verdict v on v.experiment_id = e.id where e.id = $id"; }
before=$(how)
fails "stopping it again is refused" 1 "not running" "$kroo" stop --dir "$dir" "$id"
kill -9 "$(pid_of coordinator)"
"$kroo" up --dir "$dir" --workers 0 >/dev/null 2>&1
fails "by a new coordinator too" 1 "not running" "$kroo" stop --dir "$dir" "$id"
is "which changes nothing" "$(how)" "$before"
done_testing
