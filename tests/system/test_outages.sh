#!/usr/bin/env bash
# Long absences under load, shortened: the coordinator's and PostgreSQL's. Workers play on what they hold, spool it, and come
# back spread out, not all at once; the coordinator's memory does not grow; games a second are afterwards what they were.
# KROO_OUTAGE_S=600 KROO_OUTAGE_WORKERS=100 for the long run.
. "$(dirname "$0")/lib.sh"
outage=${KROO_OUTAGE_S:-8} workers=${KROO_OUTAGE_WORKERS:-16} pairs=${KROO_OUTAGE_PAIRS:-2000}
export KROO_TERM_MS=60000 KROO_PROGRESS_MS=300

stored() { sql "select games_stored from experiment_counter where experiment_id = $id"; }
moved() { [ "$(stored)" -gt "$before" ]; }
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
spooled() { cat "$work"/w-*/spool/* 2>/dev/null | wc -c; }
has_spooled() { [ "$(spooled)" -gt 2000 ]; }
start_coordinator() {
    kroo-coordinator --database "$conninfo" --endpoint "ipc://$work/c.sock" 2>>"$work/coordinator.log" &
    coordinator=$!
}
# The moments at which workers were welcomed by the coordinator that runs now, in ms.
welcomes() { cat "$work"/w-*.log | grep ' welcome ' | cut -d' ' -f1 | date -f - +%s%3N | awk -v from="$1" '$1 > from' | sort -n; }
all_back() { [ "$(welcomes "$back_ms" | wc -l)" -ge "$workers" ]; }
most_within() { awk -v width="$1" '{ at[NR] = $1 } END { for (i = 1; i <= NR; i++) { for (j = i; j <= NR && at[j] < at[i] + width; j++) ; if (j - i > most) most = j - i } print most + 0 }'; }
rss() { awk '/VmRSS/ { print $2 }' "/proc/$coordinator/status"; }

ok "a database" "$kroo" up --dir "$dir" --database-only
conninfo=$(sed -n 's/^database = //p' "$dir/kroo.conf")
start_coordinator
ok "a coordinator" wait_until 30 grep -q ' listening ' "$work/coordinator.log"
for worker in $(seq "$workers"); do
    kroo-worker --endpoint "ipc://$work/c.sock" --name "w-$worker" --slots 1 --no-pin --state "$work/w-$worker" \
        2>"$work/w-$worker.log" &
done
export KROO_ENDPOINT=ipc://$work/c.sock
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs "$pairs" --nodes 300 --seed 4)
before=0
all_play() { [ "$(sql "select count(distinct session_id) from lease where experiment_id = $id")" -ge "$workers" ]; }
ok "all $workers workers play" wait_until 120 all_play
ok "games come" wait_until 60 moved

# --- the coordinator is gone ---
kill -9 "$coordinator"
wait "$coordinator" 2>/dev/null
gone_ms=$(date +%s%3N)
ok "with the coordinator gone workers spool what they play" wait_until 30 has_spooled
absent() { [ $(($(date +%s%3N) - gone_ms)) -ge $((outage * 1000)) ]; }
ok "for $outage s" wait_until $((outage + 10)) absent
lives() { [ "$(pgrep -c -f "^kroo-worker --endpoint ipc://$work/c.sock")" -eq "$workers" ]; }
ok "every worker lives" lives
tries=$(cat "$work"/w-*.log | grep -c ' no-answer ')
ok "and tried again with patience: $tries times, not more than once a second each" test "$tries" -le $((workers * outage))
back_ms=$(date +%s%3N)
start_coordinator
ok "the coordinator back, so are all workers" wait_until 90 all_back
welcomes "$back_ms" >"$work/moments"
first=$(head -n 1 "$work/moments") last=$(tail -n 1 "$work/moments")
most=$(most_within 500 <"$work/moments")
echo "# HELLOs of $workers workers over $((last - first)) ms, the first $((first - back_ms)) ms after the start, at most $most within 500 ms"
# After so short an absence they wait for a second or two, each by its own dice.
ok "spread out: not all at once" test $((4 * most)) -le $((3 * workers))
before=$(stored)
ok "games come" wait_until 60 moved
is "what was leased before went on: no session is new" "$(sql "select count(*) from session where name like 'w-%'")" "$workers"

# --- the database is gone ---
memory=$(rss)
"$kroo" down --dir "$dir" >/dev/null
gone_ms=$(date +%s%3N)
ok "with the database gone workers spool what they play" wait_until 30 has_spooled
ok "for $outage s" wait_until $((outage + 10)) absent
ok "the coordinator's memory stays (from $memory to $(rss) KiB)" test $(($(rss) - memory)) -lt 16384
ok "it lives" kill -0 "$coordinator"
"$kroo" up --dir "$dir" --database-only >/dev/null
before=$(stored)
ok "with the database back games come" wait_until 60 moved
ok "to the end" wait_until 240 finished
is "every pair is there once and counted once" \
    "$(sql "select concat_ws(' ', count(*), count(distinct (pair_no, leg)), (select concat_ws(' ', games_stored, prefix_pairs, wins + draws + losses) from experiment_counter where experiment_id = $id), (select count(*) from dispute)) from game where experiment_id = $id")" \
    "$((2 * pairs)) $((2 * pairs)) $((2 * pairs)) $pairs $((2 * pairs)) 0"
ok "kroo verify agrees" "$kroo" verify --dir "$dir"
done_testing
