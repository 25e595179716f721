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
is "a changed game is a conflict" "$(jq -c '[.games, .conflicts]' <<<"$said")" '[8,1]'
is "which is a dispute, with both runs" \
    "$(sql "select state, was_counted, reason, (select count(*) from dispute_run r where r.dispute_id = d.id) from dispute d where d.experiment_id = $id")" \
    'open|f|leg 0 came with other moves|2'
is "and an event" "$(sql "select count(*) from event where experiment_id = $id and kind = 'dispute'")" 1
is "the prefix waits" "$(counters)" '12|0|0'
ok "honest workers play to the end, once the half worker's lease lapses" wait_until 30 played_out
is "their word settles it" \
    "$(sql "select state, settlement from dispute where experiment_id = $id")" \
    'settled|kept: two independent workers agree'
is "every game is there and counted once" "$(counters)" '128|64|128'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

# --- a forger after the count ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 16 --nodes 100 --seed 5)
said=$("$load" "$endpoint" 1 4 --name forger --same --alter --leases 1 --pairs 4)
is "what is counted already is disputed too" \
    "$(sql "select was_counted, state from dispute where experiment_id = $id")" 't|open'
ok "and does not stop the experiment" wait_until 30 played_out
is "whose count stays what it was" "$(counters)" '32|16|32'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
done_testing
