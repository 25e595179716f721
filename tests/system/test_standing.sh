#!/usr/bin/env bash
# What stands when workers turn out to be wrong: a withdrawn verdict goes on when an operator says so, a worker that hangs
# holds no verdict back, builds that play differently are told from liars, and none of it is lost in a restart.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load
export KROO_TERM_MS=2000 KROO_PROGRESS_MS=300

k() { command=$1 && shift && "$kroo" "$command" --dir "$dir" "$@"; }
match() { k match starting starting --nodes-a 100 --nodes-b 120 --pairs 40 --seed 9 "$@" 2>/dev/null; }
state() { sql "select state from experiment where id = $id"; }
finished() { [ "$(state)" = finished ]; }
blocked() { [ "$(state)" = blocked ]; }
played_out() { "$load" "$endpoint" "${workers:-3}" 4 --name honest --same >/dev/null && finished; }
counts() { sql "select ll, ld, dd, wl, dw, ww, wins, draws, losses from verdict where experiment_id = $1"; }
withdrawn() { [ "$(sql "select count(*) from verdict_withdrawn where experiment_id = $id")" = 1 ]; }
events() { sql "select count(*) from event where experiment_id = $id and kind = '$1'"; }
games_of() { sql "select count(*) from game g join session s on s.id = g.session_id where g.experiment_id = $id and s.name like '$1'"; }

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")

# --- audits and a worker that hangs; a restart between ---
id=$(match --audit 100)
"$load" "$endpoint" 1 4 --name first --same --leases 2 --pairs 8 >/dev/null
"$load" "$endpoint" 1 4 --name second --same --leases 2 --pairs 8 >/dev/null
ok "some pairs are audited, some are not" test "$(sql "select agreed > 0 and open > 0 from audit_progress where experiment_id = $id")" = t
kill -9 "$(pid_of coordinator)"
ok "a new coordinator" "$kroo" up --dir "$dir" --workers 0
ok "has the rest audited" wait_until 60 played_out
is "every pair of it" "$(sql "select pairs, agreed from audit_progress where experiment_id = $id")" '40|40'
honest=$id
id=$(match --audit 100)
"$load" "$endpoint" 1 4 --name hanging --hang --leases 1 &
hanging=$!
leased() { [ "$(sql "select count(*) from lease where experiment_id = $id")" = 1 ]; }
wait_until 30 leased
workers=1
ok "one worker plays on beside one that hangs" wait_until 60 played_out
is "and the verdict says what was not audited" "$(sql "select reason from verdict where experiment_id = $id")" \
    'not audited in full: 0 of 40 audits that were due were done, for no other worker was able to'
kill "$hanging"
workers=3

# --- a match of fixed length: only what was set aside is played again ---
id=$(match --audit 0)
"$load" "$endpoint" 1 4 --name sick --same --leases 2 --pairs 8 >/dev/null
ok "a match ends" wait_until 60 played_out
fails "a verdict that stands does not go on" 1 'its verdict stands' k resume "$id"
others=$(sql "select md5(string_agg(format('%s %s %s', g.pair_no, g.leg, g.stored_at), ',' order by g.pair_no, g.leg)) from game g join session s on s.id = g.session_id where g.experiment_id = $id and s.name <> 'sick-0'")
before=$(games_of sick-0)
k workers set-aside sick-0 --reason 'memory errors' >/dev/null 2>&1
ok "without a worker of its its verdict is withdrawn" wait_until 30 withdrawn
ok "which kroo show says, and what to do" grep -q "withdrawn .*kroo resume $id" <(k show "$id")
is "it stays finished until somebody acts" "$(state)" finished
is "an operator lets it go on" "$(k resume "$id" --reason 'played again')" "experiment $id resumed"
fails "once" 0 'running already' k resume "$id"
is "by whom is in the event log" "$(sql "select text from event where experiment_id = $id and kind = 'experiment-resumed'")" 'resumed by local: played again'
kill -9 "$(pid_of coordinator)"
ok "a new coordinator" "$kroo" up --dir "$dir" --workers 0
ok "ends it" wait_until 60 played_out
is "with the verdict of all others' games" "$(counts "$id")" "$(counts "$honest")"
is "which nothing withdraws" "$(sql "select count(*) from verdict_withdrawn where experiment_id = $id")" 0
is "only the games that were set aside are others ($before)" "$(sql "select count(*) from game_set_aside where experiment_id = $id"):$(games_of sick-0):$(sql "select md5(string_agg(format('%s %s %s', g.pair_no, g.leg, g.stored_at), ',' order by g.pair_no, g.leg)) from game g where g.experiment_id = $id and not exists (select from game_set_aside a where a.experiment_id = $id and a.pair_no = g.pair_no and a.leg = g.leg)")" "$before:0:$others"
ok "kroo verify agrees" k verify "$id"
ok "kroo show tells of the earlier one" grep -q 'before .*undecided over 40 pairs, withdrawn: .*resumed by local' <(k show "$id")

# --- a sequential test ---
id=$(k match starting starting --nodes-a 100 --nodes-b 120 --seed 9 --sprt --elo1 300 --max-pairs 64 --audit 0 2>/dev/null)
ok "a test is decided by a worker that always wins" "$load" "$endpoint" 1 4 --name cheat --winner a >/dev/null
is "as accepted" "$(sql "select verdict from verdict where experiment_id = $id")" accepted
k workers set-aside cheat-0 --reason 'always wins' >/dev/null 2>&1
ok "found out, the verdict is withdrawn" wait_until 30 withdrawn
ok "the test goes on" k resume "$id"
ok "to the verdict of honest games" wait_until 60 played_out
is "in place of the other" "$(sql "select p.verdict, v.verdict <> 'accepted', count(*) over () from verdict_past p join verdict v using (experiment_id) where experiment_id = $id")" 'accepted|t|1'
is "with no game of the cheat" "$(games_of cheat-0)" 0
ok "kroo verify agrees" k verify "$id"

# --- outvoted: a finished match is audited, and a game of it was a lie ---
id=$(match --audit 0)
"$load" "$endpoint" 1 4 --name liar --leases 1 --pairs 4 >/dev/null
ok "a liar has a part in a match" wait_until 60 played_out
k audit "$id" --share 100% >/dev/null 2>&1
outvoted() { "$load" "$endpoint" 3 4 --name other --same >/dev/null; [ "$(sql "select count(*) from dispute where experiment_id = $id and settlement like 'outvoted%'")" = 4 ]; }
ok "an audit finds what it played" wait_until 60 outvoted
is "its game stands in the verdict, the liar is charged alone" "$(games_of liar-0):$(sql "select string_agg(distinct name, ' ') from charge")" '8:liar-0'
ok "the verdict is withdrawn" wait_until 30 withdrawn
ok "and goes on" k resume "$id"
ok "to its end" wait_until 60 played_out
is "with the games that others agreed on" "$(games_of liar-0):$(counts "$id")" "0:$(counts "$honest")"
ok "kroo verify agrees" k verify "$id"

# --- builds that play differently ---
id=$(match --audit 100)
"$load" "$endpoint" 1 4 --name arm --variant 1 --architecture aarch64 --leases 1 --pairs 4 >/dev/null
agreed_by_x86() { "$load" "$endpoint" 3 4 --name x86 --same --architecture x86_64 >/dev/null && finished; }
ok "machines of another architecture disagree" wait_until 60 agreed_by_x86
is "with a lone one, who is not charged" "$(sql "select count(*) from charge where name like 'arm%'"):$(sql "select count(*) from worker_flag where name like 'arm%'")" 0:0
is "the build is divergent" "$(sql "select distinct trait, sides from divergence where experiment_id = $id")" 'architecture|aarch64 / x86_64'
is "with an event for each pair" "$(events build-divergent)" 4
ok "kroo show says so" grep -q 'divergent .*played differently by architecture: aarch64 / x86_64' <(k show "$id")
is "what two agree on counts" "$(counts "$id")" "$(counts "$honest")"
ok "kroo verify agrees" k verify "$id"

# --- nobody agrees with anybody ---
id=$(match --audit 100)
quarrel() { "$load" "$endpoint" 5 4 --name random --pairs 2 >/dev/null; blocked; }
ok "five workers that play what they like block an experiment" wait_until 60 quarrel
ok "for that reason" grep -q 'five runs' <(k show "$id" 2>&1)
is "nobody is charged, for nobody knows" "$(sql "select count(*) from charge where name like 'random%'")" 0
ok "an operator lets it go on" k resume "$id"
ok "with workers that agree" wait_until 60 played_out
is "whose games count" "$(games_of 'random%'):$(counts "$id")" "0:$(counts "$honest")"
ok "and the others are charged" test "$(sql "select count(distinct name) from charge where name like 'random%'")" -ge 2
ok "kroo verify agrees" k verify "$id"
done_testing
