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
ok "three honest workers play a match to its end" wait_until 120 played_out
is "every audit agreed" "$(sql "select pairs = agreed and pairs between 8 and 32 from audit_progress where experiment_id = $id")" t
is "nobody is charged" "$(sql 'select count(*) from charge')" 0
is "the verdict has nothing to remark" "$(sql "select reason from verdict where experiment_id = $id")" ''

# --- an experiment that has ended has no open lease, but for pairs that are played again ---
lease() { sql "insert into lease (id, experiment_id, first_pair, pair_count, attempt, session_id, again) values ($1, $honest, 3, 1, 9, (select min(id) from session), $2)"; }
lease 900000001 true
ok "kroo verify lets an audit's lease pass" "$kroo" verify --dir "$dir" "$honest"
lease 900000002 false
fails "and no other" 1 'it has ended, yet 1 leases are open' "$kroo" verify --dir "$dir" "$honest"
sql "update lease set state = 'released', ended_at = now() where id in (900000001, 900000002)"

# --- a liar among them ---
id=$(match 100%)
said=$("$load" "$endpoint" 1 4 --name liar --leases 1 --pairs 4)
is "a liar delivers pairs of its own" "$(jq -c '[.games, .conflicts]' <<<"$said")" '[8,0]'
is "which count, until somebody else plays them" \
    "$(sql "select prefix_pairs from experiment_counter where experiment_id = $id")" 4
ok "honest workers play on, and the liar's pairs again" wait_until 120 played_out
is "no audit is open" "$(sql "select open from audit_progress where experiment_id = $id")" 0
ok "two of them agreed against the liar" \
    test "$(sql "select count(*) from dispute where experiment_id = $id and settlement = 'replaced: two independent workers agree' and was_counted")" -ge 1
is "who alone is charged, with an event each" \
    "$(sql "select string_agg(distinct name, ' '), count(*) = (select count(*) from event e where e.kind = 'worker-charged') from charge")" 'liar-0|t'
is "and set aside, by himself" "$(sql "select name, kind, set_aside_by from worker_flag")" 'liar-0|charge|the coordinator'
is "no game of the liar counts" \
    "$(sql "select count(*) from game join session s on s.id = session_id where s.name = 'liar-0'")" 0
is "the verdict is that of honest games" "$(counts "$id")" "$(counts "$honest")"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
is "kroo audit tells" "$("$kroo" audit --dir "$dir" "$id" --json | jq -c '[.audits[0].differed > 0, any(.disputes[]; .charged == "liar-0 (local)")]')" \
    '[true,true]'

# --- nobody else is there ---
id=$(match 100)
workers=1
ok "one worker alone comes to an end too" wait_until 120 played_out
is "the verdict says what was not audited" "$(sql "select reason from verdict where experiment_id = $id")" \
    'not audited in full: 0 of 40 audits that were due were done, for no other worker was able to'
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
ok "by workers that had no part in it" wait_until 120 rechecked
ok "and its verdict stands" test "$(counts "$id")" = "$(counts "$honest")"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

# --- set aside by hand ---
id=$(match 0)
"$load" "$endpoint" 1 4 --name sick --same --leases 2 --pairs 8 >/dev/null
fails "a reason is wanted" 1 'say why' "$kroo" workers --dir "$dir" set-aside sick-0
fails "nobody of that name" 1 'no worker and no key' "$kroo" workers --dir "$dir" set-aside nobody --reason x
ok "a worker is set aside" "$kroo" workers --dir "$dir" set-aside sick-0 --reason 'memory errors'
fails "once" 1 'already' "$kroo" workers --dir "$dir" set-aside sick-0 --reason again
emptied() { [ "$(sql "select games_stored, prefix_pairs from experiment_counter where experiment_id = $id")" = '0|0' ]; }
ok "its games leave the count" wait_until 120 emptied
is "and are kept" "$(sql "select count(*) > 0 and min(leg) = 0 from game_set_aside where experiment_id = $id")" t
is "what it brings afterwards is refused, with the reason" \
    "$("$load" "$endpoint" 1 4 --name sick --same --leases 1 --pairs 4 2>&1 | grep -c 'set aside: memory errors')" 0
ok "others play these pairs" wait_until 120 played_out
is "with the same verdict" "$(counts "$id")" "$(counts "$honest")"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
partner=$(sql "select min(s.name) from game g join session s on s.id = g.session_id where g.experiment_id = $honest")
ok "a worker that had a part in a verdict is set aside" "$kroo" workers --dir "$dir" set-aside "$partner" --reason 'found later'
withdrawn() { [ "$(sql "select count(*) from verdict_withdrawn where experiment_id = $honest")" = 1 ]; }
ok "which is withdrawn, for it would be another" wait_until 120 withdrawn
fails "and promotes nothing" 1 'withdrawn' "$kroo" sql --dir "$dir" -XAtq -v ON_ERROR_STOP=1 \
    -c "alter table promotion disable trigger promotion_by_verdict" \
    -c "insert into promotion (line, weights_sha256, experiment_id, by) select 'main', sha256, $honest, 'x' from weights limit 1"
"$kroo" sql --dir "$dir" -XAtq -c "alter table promotion enable trigger promotion_by_verdict"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$honest"
is "the list tells" "$("$kroo" workers --dir "$dir" flags --json | jq -c '[.[] | [.worker, .kind]]')" \
    '[["liar-0","charge"],["sick-0","hand"],["'"$partner"'","hand"]]'
ok "one is restored" "$kroo" workers --dir "$dir" restore sick-0
fails "once" 1 'not set aside' "$kroo" workers --dir "$dir" restore sick-0

# --- repeated pairs are told ---
id=$("$kroo" match --dir "$dir" starting starting --nodes-a 10 --nodes-b 12 --opening-plies 1 --pairs 12 --seed 4 --audit 0)
"$kroo" up --dir "$dir" --workers 1 >/dev/null
ok "a match with six openings" wait_until 120 finished
is "twelve pairs are six or fewer" \
    "$("$kroo" audit --dir "$dir" "$id" --json | jq -c '.games[0] | [.pairs, .repeated_pairs >= 6, .distinct_games <= 12]')" '[12,true,true]'

# --- the secret ---
fails "which pairs are audited is nobody's to know" 1 'permission denied' \
    "$kroo" sql --dir "$dir" -XAtq -v ON_ERROR_STOP=1 -c 'set role kroo_reader; select * from audit_secret'
secret=$(sql "select encode(secret, 'hex') from audit_secret")
ok "nor in a log" test "${#secret}" -eq 64 -a "$(cat "$dir"/log/* | grep -c "$secret")" -eq 0
done_testing
