#!/usr/bin/env bash
# A worker that alters results is found by playing some of its pairs again elsewhere, and charged; whoever agrees is
# left alone. The verdict waits for the audits, and is the one of honest games.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load
export KROO_TERM_MS=2000 KROO_PROGRESS_MS=300

state() { sql "select state from experiment where id = $id"; }
finished() { [ "$(state)" = finished ]; }
played_out() { "$load" "$endpoint" "${workers:-3}" 4 --name honest --same >/dev/null && finished; }
audits() { sql "select pairs, agreed, differed, open, unplayed from audit_progress where experiment_id = $id order by request_id"; }
counts() { sql "select ll, ld, dd, wl, dw, ww, wins, draws, losses from verdict where experiment_id = $1"; }
match() { "$kroo" match --dir "$dir" starting starting --nodes-a 100 --nodes-b 120 --pairs 40 --seed 9 --audit "$1"; }

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")

# --- honest workers ---
id=$(match 50)
honest=$id
ok "three honest workers play a match to its end" wait_until 30 played_out
is "every audit agreed" "$(sql "select pairs = agreed and pairs between 8 and 32 from audit_progress where experiment_id = $id")" t
is "nobody is charged" "$(sql 'select count(*) from charge')" 0
is "the verdict has nothing to remark" "$(sql "select reason from verdict where experiment_id = $id")" ''

# --- a liar among them ---
id=$(match 100%)
said=$("$load" "$endpoint" 1 4 --name liar --leases 1 --pairs 4)
is "a liar delivers pairs of its own" "$(jq -c '[.games, .conflicts]' <<<"$said")" '[8,0]'
is "which count, until somebody else plays them" \
    "$(sql "select prefix_pairs from experiment_counter where experiment_id = $id")" 4
ok "honest workers play on, and the liar's pairs again" wait_until 30 played_out
is "every pair was played twice or more" "$(audits)" '40|36|4|0|0'
is "two of them agreed against the liar" \
    "$(sql "select state, settlement, was_counted, count(*) from dispute where experiment_id = $id group by 1, 2, 3")" \
    'settled|replaced: two independent workers agree|t|4'
is "who alone is charged, for each" "$(sql "select name, charges from worker_charge")" 'liar-0|4'
is "with an event each" "$(sql "select count(*) from event where kind = 'worker-charged' and experiment_id = $id")" 4
is "the verdict is that of honest games" "$(counts "$id")" "$(counts "$honest")"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
is "kroo audit tells" "$("$kroo" audit --dir "$dir" "$id" --json | jq -c '[.audits[0].differed, .disputes[0].charged]')" \
    '[4,"liar-0 (local)"]'

# --- nobody else is there ---
id=$(match 100)
workers=1
ok "one worker alone comes to an end too" wait_until 30 played_out
is "the verdict says what was not audited" "$(sql "select reason from verdict where experiment_id = $id")" \
    '40 of 40 audited pairs were not played again: no other worker was there'
ok "kroo show says so" grep -q '40 not played again' <("$kroo" show --dir "$dir" "$id")

# --- a finished experiment ---
fails "a share of nothing" 2 'share above 0' "$kroo" audit --dir "$dir" "$id" --share 0
fails "no such experiment" 1 'there is no experiment' "$kroo" audit --dir "$dir" 999 --share 5%
fails "its pairs are played again on demand" 0 'asked for as request 1' "$kroo" audit --dir "$dir" "$id" --share 50%
workers=3
rechecked() {
    "$load" "$endpoint" 3 4 --name other --same >/dev/null
    [ "$(sql "select pairs > 8 and pairs = agreed from audit_progress where experiment_id = $id and request_id > 0")" = t ]
}
ok "by workers that had no part in it" wait_until 30 rechecked
ok "and its verdict stands" test "$(counts "$id")" = "$(counts "$honest")"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

# --- the secret ---
fails "which pairs are audited is nobody's to know" 1 'permission denied' \
    "$kroo" sql --dir "$dir" -XAtq -v ON_ERROR_STOP=1 -c 'set role kroo_reader; select * from audit_secret'
secret=$(sql "select encode(secret, 'hex') from audit_secret")
ok "nor in a log" test "${#secret}" -eq 64 -a "$(cat "$dir"/log/* | grep -c "$secret")" -eq 0
done_testing
