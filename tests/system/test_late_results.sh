#!/usr/bin/env bash
# Promise 4: a verdict, once written, stands. When the test decides while many leases are open, no new lease is given,
# what comes late is stored and not counted, and neither a stop nor a restart changes how it ended.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load
export KROO_TERM_MS=4000 KROO_PROGRESS_MS=200

verdict() { sql "select * from verdict where experiment_id = $id"; }
counted() { sql "select prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id"; }
state() { sql "select state from experiment where id = $id"; }
finished() { [ "$(state)" = finished ]; }

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
id=$("$kroo" match starting starting --dir "$dir" --nodes-a 70 --nodes-b 60 --sprt --elo0 0 --elo1 40 --audit 0 \
    --max-pairs 5000 --seed 3 2>/dev/null)

# Forty workers hold a lease each before the first of them delivers; every game is won by player a.
said=$("$load" "$endpoint" 40 4 --pairs 16 --hold --winner a)
ok "the test decides" wait_until 10 finished
is "player a is accepted" "$(sql "select verdict from verdict where experiment_id = $id")" accepted
first=$(verdict)
pairs=$(sql "select counted_pairs from verdict where experiment_id = $id")
games=$(jq .games <<<"$said")
ok "most of what was leased came late ($games games, $pairs pairs counted)" test $((2 * pairs)) -lt $((games / 2))
is "everything delivered is stored" "$(sql "select count(*), (select games_stored from experiment_counter c where c.experiment_id = $id) from game where experiment_id = $id")" \
    "$games|$games"
is "the rest is not counted" "$(sql "select count(*) from game_counted where experiment_id = $id")" $((2 * pairs))
is "the counters stand where the verdict stands" "$(counted)" "$pairs|$((2 * pairs))"
is "nobody was given a lease after it" \
    "$(sql "select count(*) from lease l join verdict v using (experiment_id) where l.experiment_id = $id and l.granted_at > v.written_at")" 0
is "no lease is open" "$(sql "select count(*) from lease where experiment_id = $id and state = 'open'")" 0
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

# --- a stop after the end ---
fails "a stop that comes late is told so" 1 "not running" "$kroo" stop --dir "$dir" "$id" --reason late
is "it stays finished" "$(state)" finished
is "and its verdict is the same row" "$(verdict)" "$first"

# --- a worker that was away when it ended ---
id=$("$kroo" match starting starting --dir "$dir" --nodes-a 3000 --nodes-b 2000 --sprt --elo0 0 --elo1 60 --audit 0 \
    --max-pairs 5000 --seed 4 2>/dev/null)
kroo-worker --endpoint "$endpoint" --name away --slots 1 --state "$work/away" 2>"$work/away.log" &
away=$!
has_lease() { [ "$(sql "select count(*) > 0 from lease l join session s on s.id = l.session_id where s.name = 'away' and l.experiment_id = $id")" = t ]; }
ok "a worker takes a lease" wait_until 20 has_lease
kill -STOP $away
expired() { [ "$(sql "select count(*) > 0 from lease where experiment_id = $id and state = 'expired'")" = t ]; }
ok "falls asleep, and loses it" wait_until 20 expired
"$load" "$endpoint" 4 4 --name honest --pairs 16 --winner a >/dev/null
ok "the others bring the test to its end" wait_until 20 finished
first=$(verdict)
stored=$(sql "select games_stored from experiment_counter where experiment_id = $id")
kill -CONT $away
told() { grep -Eq "acknowledged .*(duplicates|conflicts|accepted)=|lease-dropped" "$work/away.log"; }
ok "the worker wakes, delivers or hears that nobody waits" wait_until 20 told
next=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 4 --nodes 50 --seed 1)
next_finished() { [ "$(sql "select state from experiment where id = $next")" = finished ]; }
ok "and takes other work" wait_until 30 next_finished
is "the verdict is the same row" "$(verdict)" "$first"
ok "nothing was lost ($stored games and what came late)" test "$(sql "select count(*) from game where experiment_id = $id")" -ge "$stored"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
kill -TERM $away
wait $away

# --- restarts after the end ---
for restart in 1 2; do
    kill -9 "$(pid_of coordinator)"
    "$kroo" up --dir "$dir" --workers 0 >/dev/null 2>&1
done
is "restarts leave the verdict alone" "$(verdict)" "$first"
said=$("$load" "$endpoint" 2 4)
is "and lease nothing of what has ended" "$(jq -c '[.leases, .games]' <<<"$said")" '[0,0]'
done_testing
