#!/usr/bin/env bash
# One key, two contents: the pair is disputed and the prefix waits until two independent workers agree. Half a pair is
# held and never counted.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load
export KROO_TERM_MS=2000 KROO_PROGRESS_MS=300

finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
counters() {
    sql "select games_stored, prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id"
}
# Leases lapse while this plays on, so it comes back until nothing is left.
played_out() { "$load" "$endpoint" 3 4 --name honest --same >/dev/null && finished; }

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")

# --- half pairs, and a forger beyond the prefix ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 64 --nodes 100 --seed 3)
"$load" "$endpoint" 1 4 --name half --same --half --leases 1 --pairs 4 >/dev/null
is "half a pair is held and not counted" "$(counters)" '4|0|0'
said=$("$load" "$endpoint" 1 4 --name forger --same --alter --leases 1 --pairs 4)
is "changed games are conflicts" "$(jq -c '[.games, .conflicts]' <<<"$said")" '[8,8]'
is "which are disputes, with both runs of both games" \
    "$(sql "select pair_no, state, was_counted, reason, (select count(*) from dispute_run r where r.dispute_id = d.id) from dispute d where d.experiment_id = $id order by 1" | paste -sd' ')" \
    '4|open|f|leg 0 came with other moves|4 5|open|f|leg 0 came with other moves|4 6|open|f|leg 0 came with other moves|4 7|open|f|leg 0 came with other moves|4'
is "and one event" "$(sql "select count(*), min(text) from event where experiment_id = $id and kind = 'dispute'")" \
    '1|pair 4 leg 0: two contents under one key; the prefix waits (8 of 8 games of this batch differ from what is stored)'
is "the prefix waits" "$(counters)" '12|0|0'
ok "honest workers play to the end, once the half worker's lease lapses" wait_until 30 played_out
is "their word settles it" \
    "$(sql "select state, settlement, count(*) from dispute where experiment_id = $id group by 1, 2")" \
    'settled|kept: two independent workers agree|4'
is "every game is there and counted once" "$(counters)" '128|64|128'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

# --- a forger after the count ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 16 --nodes 100 --seed 5)
said=$("$load" "$endpoint" 1 4 --name late-forger --same --alter --leases 1 --pairs 4)
is "what is counted already is disputed too" \
    "$(sql "select was_counted, state, count(*) from dispute where experiment_id = $id group by 1, 2")" 't|open|4'
ok "and does not stop the experiment" wait_until 30 played_out
is "whose count stays what it was" "$(counters)" '32|16|32'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
done_testing
