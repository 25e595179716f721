#!/usr/bin/env bash
# Promise 2: results that come again, because an acknowledgement was lost, a batch was sent three times or a spool was
# copied to five workers, count once.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load
export KROO_TERM_MS=4000 KROO_PROGRESS_MS=300

stored() { sql "select games_stored from experiment_counter where experiment_id = $id"; }
some() { [ "$(stored)" -gt "${1:-0}" ]; }
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
duplicates() { "$kroo" status --dir "$dir" --json | jq .counters.duplicates; }
each_once() { # PAIRS: every game of the experiment is there once, and counted once
    is "every pair is there once" \
        "$(sql "select count(*), count(distinct (pair_no, leg)), max(pair_no) from game where experiment_id = $id")" \
        "$((2 * $1))|$((2 * $1))|$(($1 - 1))"
    is "and counted once" \
        "$(sql "select games_stored, prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id")" \
        "$((2 * $1))|$1|$((2 * $1))"
    ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
}

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
path=${endpoint#ipc://}

# --- acknowledgements lost on the way ---
"$build/tests/system/proxy" "$work/sick.sock" "$path" 7 >"$work/losses" 2>&1 &
proxy=$!
ok "a sick cable" wait_until 10 test -S "$work/sick.sock"
for worker in 1 2; do
    kroo-worker --endpoint "ipc://$work/sick.sock" --name "sick-$worker" --slots 1 --state "$work/sick-$worker" \
        --log-level debug 2>"$work/sick-$worker.log" &
done
# Which answer is lost depends on who is faster: experiments follow each other until two batches came again.
again=0
for round in 1 2 3 4 5 6 7 8 9 10; do
    id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 250 --nodes 300 --seed "$round")
    wait_until 60 finished || break
    again=$(duplicates)
    [ "$again" -ge 2 ] && break
done
ok "everything is delivered over it" finished
lost=$(grep -c lost "$work/losses")
ok "it lost answers ($lost)" test "$lost" -ge 3
ok "acknowledgements among them: $again games came again" test "$again" -ge 2
each_once 250
kill -9 $proxy %2 %3 2>/dev/null

# --- the same batch again and again ---
before=$(duplicates)
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 300 --nodes 100 --seed 12)
said=$("$load" "$endpoint" 3 8 --times 3)
is "batches sent three times are stored once" "$(jq -c '[.games, .duplicates, .conflicts, .refused]' <<<"$said")" \
    '[600,1200,0,0]'
is "the coordinator counted the rest" "$(($(duplicates) - before))" 1200
each_once 300
is "nothing is disputed" "$(sql "select count(*) from dispute where experiment_id = $id")" 0

# --- a spool that was copied to five workers ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 200 --nodes 3000 --seed 15)
kroo-worker --endpoint "$endpoint" --name origin --slots 2 --state "$work/origin" 2>"$work/origin.log" &
origin=$!
ok "a worker delivers" wait_until 20 some
kill -STOP "$(pid_of coordinator)"
spooled() { [ "$(find "$work/origin/spool" -type f -size +4k | wc -l)" -gt 0 ]; }
ok "with the coordinator out of reach its results stay in the spool" wait_until 20 spooled
kill -9 $origin
wait $origin 2>/dev/null
for copy in 1 2 3 4 5; do cp -a "$work/origin" "$work/copy-$copy"; done
kill -CONT "$(pid_of coordinator)"
for copy in 1 2 3 4 5; do
    kroo-worker --endpoint "$endpoint" --name "copy-$copy" --slots 1 --state "$work/copy-$copy" 2>"$work/copy-$copy.log" &
done
ok "five workers on five copies finish" wait_until 60 finished
each_once 200
is "the five had sessions of their own" "$(sql "select count(distinct id) from session where name like 'copy-%'")" 5
ok "the copies were taken for what they are" test "$(cat "$work"/copy-*.log | grep -Ec 'acknowledged .*duplicates=[1-9]')" -ge 1
done_testing
