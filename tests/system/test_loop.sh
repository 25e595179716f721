#!/usr/bin/env bash
# A learning loop: generations of self-play, fit, gate and promotion; cut off anywhere it goes on where it was, and comes
# to the same weights as one that nobody disturbed.
. "$(dirname "$0")/lib.sh"
export KROO_DIR=$dir

loop() { command=$1; shift; "$kroo" loop "$command" "$@"; }
curve() { sql "select $1 from learning_curve where loop = '$2' order by generation" | paste -sd' '; }
options="--pairs 400 --nodes 150 --first-pairs 8 --max-pairs 240 --window 2 --kind table --book six"

# --- what is refused ---
fails "a loop needs a name" 2 'give it a name' loop run
fails "with plain letters" 2 'letters, digits' loop run 'a b'
fails "and sensible numbers" 2 'lambda' loop run night --lambda 2
fails "of a kind that exists" 2 'table, net or features' loop run night --kind forest
fails "no cluster" 3 'kroo up' loop ls

ok "a private cluster with two workers" "$kroo" up --workers 2
ok "an empty list says what to do" sh -c '"$0" loop ls | grep -q "kroo loop run"' "$kroo"
fails "an unknown loop" 1 'kroo loop ls' loop show nobody
fails "cannot be stopped" 1 'kroo loop ls' loop stop nobody

kroo-engine book make --out "$work/six.book" --openings 400 --plies 6 --bound 900 >/dev/null 2>&1
fails "an unknown book is refused before anything is made" 1 'kroo book ls' loop run whole --book six
ok "a book" "$kroo" book add "$work/six.book" --name six
fails "a book of other rules" 1 'is for the rules site' loop run whole --book six --rules ghana

# --- from nothing, undisturbed ---
# shellcheck disable=SC2086
ok "two generations" loop run whole --generations 2 $options --line whole
is "are told of" "$(loop show whole --json | jq -c '[.[] | [.generation, .games, .games_so_far, .gate_verdict != null, .first_pairs]]')" \
    '[[1,800,800,true,8],[2,800,1600,true,8]]'
is "promoted where the gate accepted, kept where not" \
    "$(sql "select count(*) from learning_curve where (gate_verdict = 'accepted') = (outcome = 'promoted')")" 2
is "the matches of both take their openings from the book, self-play does not" \
    "$(sql "select string_agg(distinct e.kind || ' ' || (e.book_sha256 is not null), ', ' order by e.kind || ' ' || (e.book_sha256 is not null)) from experiment e")" \
    'match true, selfplay false'
fails "another book is another loop" 1 'book = .six.' loop run whole --book four
is "each promotion names its gate" \
    "$(sql "select count(*) from promotion p join generation g on g.gate_id = p.experiment_id where p.line = 'whole' and p.weights_sha256 = g.candidate_sha256")" \
    "$(sql "select count(*) from learning_curve where outcome = 'promoted'")"
is "the next generation plays with the champion of its line" \
    "$(sql "select encode(g.champion_sha256, 'hex') from generation g where g.number = 2")" \
    "$(sql "select encode(case g.outcome when 'promoted' then g.candidate_sha256 else g.champion_sha256 end, 'hex') from generation g where g.number = 1")"
is "and really did: what its games' player loaded" \
    "$(sql "select encode(p.weights_sha256, 'hex') from generation g join experiment e on e.id = g.selfplay_id join player p on p.id = e.player_a where g.number = 2")" \
    "$(sql "select encode(champion_sha256, 'hex') from generation where number = 2")"
is "a fit sees the window" \
    "$(sql "select jsonb_path_query_array(t.manifest, '\$[*].experiment') = jsonb_build_array(a.selfplay_id, b.selfplay_id) from generation a, generation b join training_run t on t.id = b.training_run_id where a.number = 1 and b.number = 2")" t
ok "the same command says that it is done" sh -c '"$0" loop run whole | grep -q "2 generations are done"' "$kroo"
fails "another specification is another loop" 1 'pairs = 400.*another name' loop run whole --pairs 50
fails "a finished one cannot be stopped" 1 'does not run' loop stop whole

# --- the same, killed again and again ---
before=$(sql "select count(*) from experiment")
# shellcheck disable=SC2086
cut_off() { # SECONDS: then kill -9, of the driver and of what it runs, wherever they are
    "$kroo" loop run torn --generations 2 $options --line torn >>"$work/torn.log" 2>&1 &
    driver=$!
    wait_until "$1" false
    pkill -9 -P $driver
    kill -9 $driver 2>/dev/null
    wait $driver 2>/dev/null
}
for second in 2 5 4; do cut_off $second; done
kill -9 "$(pid_of coordinator)"
ok "a killed coordinator starts again" "$kroo" up --workers 2
ok "cut off and run again it comes to its end" loop run torn
is "no experiment was made twice" "$(sql "select count(*) - $before from experiment")" \
    "$(sql "select count(selfplay_id) + count(gate_id) + count(first_match_id) from generation g join learning_loop l on l.id = g.loop_id where l.name = 'torn'")"
is "with the same weights, verdicts and outcomes" \
    "$(curve "concat_ws('/', gate_verdict, gate_pairs, round(gate_llr::numeric, 9), outcome)" torn)" \
    "$(curve "concat_ws('/', gate_verdict, gate_pairs, round(gate_llr::numeric, 9), outcome)" whole)"

# --- rest and more ---
"$kroo" loop run more --generations 1 --pairs 300 --nodes 100 --first-pairs 0 --max-pairs 16 --line more >"$work/more.log" 2>&1 &
driver=$!
runs() { [ "$(sql "select count(*) from generation g join learning_loop l on l.id = g.loop_id where l.name = 'more' and g.selfplay_id is not null")" -eq 1 ]; }
ok "a third begins" wait_until 20 runs
fails "two drivers of one loop" 1 'driven by another' loop run more
kill -INT $driver
wait $driver
ok "interrupted it says how to go on, or is done" grep -Eq 'kroo loop run more|goes on|done' "$work/more.log"
ok "more generations than were planned" loop run more --generations 2
is "are made" "$(loop ls --json | jq -c '[.[] | select(.name == "more") | .generations, .planned, .state]')" '[2,2,"finished"]'
# --- by hand, where the gate did not decide ---
fails "a decided gate is not decided by hand" 1 'only an undecided|later generation' loop decide whole 1 --promote --reason 'I like it'
fails "nothing is decided without a reason" 2 'reason' loop decide more 2 --promote
verdict=$(sql "select gate_verdict from learning_curve where loop = 'more' and generation = 2")
if [ "$verdict" = undecided ]; then
    is "an undecided gate kept the champion" "$(sql "select outcome from learning_curve where loop = 'more' and generation = 2")" kept
    ok "a person promotes" loop decide more 2 --promote --reason 'I like it'
    is "by hand, with name and reason" "$(sql "select experiment_id is null, by <> '', reason ~ 'generation 2.*undecided: I like it' from promotion order by id desc limit 1")" "t|t|t"
    is "which the generation says" "$(sql "select outcome, reason ~ '^by hand, by .*: I like it' from learning_curve where loop = 'more' and generation = 2")" "promoted|t"
else
    fails "nor that of the last generation ($verdict)" 1 'only an undecided' loop decide more 2 --keep --reason no
fi
ok "kroo verify agrees with everything" "$kroo" verify
done_testing
