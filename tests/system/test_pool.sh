#!/usr/bin/env bash
# A standing pool, killed again and again, makes the choices and ratings of one that nobody disturbed; promoted weights and
# players that come later are paired; and a progression adds each release once.
. "$(dirname "$0")/lib.sh"
export KROO_DIR=$dir

pool() { command=$1; shift; "$kroo" pool "$command" "$@"; }
rounds() { sql "select string_agg(format('%s:%s-%s', round, a, b), ' ' order by round, a, b) from tournament_pairing p join tournament t on t.id = p.tournament_id where t.name = '$1'"; }
scores() { sql "select string_agg(concat_ws('/', round, a, b, first, second, pairs), ' ' order by round, a, b, first, second) from tournament_score where tournament = '$1'"; }
players="starting n20=starting,nodes=20 n60=starting,nodes=60 n150=starting,nodes=150"
options="--rounds 5 --batch 3 --pairs 3 --nodes 100 --seed 3 --anchor starting=1000"

fails "a pool needs a name" 2 'give it a name' pool run
fails "an unknown anchor" 2 'no player is called' pool run whole starting --anchor who
ok "a private cluster" "$kroo" up --workers 2
fails "a pool of one" 1 'two players' pool run whole starting
fails "an unknown pool" 1 'tournament ls' pool show whole
is "what was refused made nothing" "$(sql 'select count(*) from tournament')" 0

# shellcheck disable=SC2086
ok "five rounds" pool run whole $players $options
is "each with its pairings" "$(sql "select string_agg(n::text, ' ') from (select count(*) n from tournament_pairing group by round order by round) x")" '3 3 3 3 3'
is "everybody is met in the first two" "$(sql "select count(distinct x) from tournament_pairing, unnest(array[a, b]) x where round <= 2")" 4
is "pairings of a round meet the same openings" \
    "$(sql "select max(n) from (select count(distinct left(g.moves, 8)) n from tournament_pairing p join game g using (experiment_id) group by p.round, g.pair_no) x")" 1
is "each round has its own" "$(sql "select count(distinct left(g.moves, 8)) from tournament_pairing p join game g using (experiment_id) where g.pair_no = 0")" 5
ok "its choices come out again" sh -c '"$0" pool check whole | grep -q "5 rounds.*: 0 differences"' "$kroo"
fails "what it does is never changed" 1 'batch = 3' pool run whole --batch 4
fails "nor are its options" 1 'never changed' pool run whole --nodes 101
fails "nor its players" 1 'another player called n20' pool run whole n20=starting,nodes=21

# --- the same, killed again and again ---
for second in 1 2 2; do
    # shellcheck disable=SC2086
    "$kroo" pool run torn $players $options >>"$work/torn.log" 2>&1 &
    driver=$!
    wait_until $second false
    pkill -9 -P $driver 2>/dev/null
    kill -9 $driver 2>/dev/null
    wait $driver 2>/dev/null
done
kill -9 "$(pid_of coordinator)"
ok "a killed coordinator starts again" "$kroo" up --workers 2
ok "cut off and run again it comes to its end" pool run torn
is "with the same choices" "$(rounds torn)" "$(rounds whole)"
is "and the same results" "$(scores torn)" "$(scores whole)"
is "no match was made twice" "$(sql 'select count(*) from experiment')" "$(sql 'select count(experiment_id) from tournament_pairing')"

# --- newcomers ---
"$kroo" weights import "$root/weights/site-table.weights" --name table >/dev/null 2>&1
"$kroo" weights promote table --reason 'a release' >/dev/null 2>&1
ok "somebody is added" pool add whole late=starting,nodes=30
ok "more rounds than were planned" pool run whole --rounds 8
is "promoted weights came by themselves and are paired at once, the other one a round later" \
    "$(sql "select string_agg(format('%s@%s', split_part(q.name || ' ' || q.name, ' ', 2), (select min(round) from tournament_pairing p where p.tournament_id = 1 and q.number in (p.a, p.b))), ' ' order by split_part(q.name || ' ' || q.name, ' ', 2)) from tournament_player q where q.tournament_id = 1 and since_round > 1")" \
    'late@7 table@6'
ok "and all choices come out again" sh -c '"$0" pool check whole | grep -q "8 rounds.*: 0 differences"' "$kroo"
ok "nobody is without a figure" sh -c '"$0" pool show whole --json | jq -e "[.ratings[] | select(.games == 0)] | length == 0"' "$kroo"
is "its anchor is kept" "$(pool show whole --json | jq '.ratings[0].rating == 1000')" true

# --- a progression ---
fails "a line without releases" 1 'no release' "$kroo" progression other --pairs 2
ok "a series" "$kroo" progression main --against starting --nodes 60 --pairs 3 --wait
"$kroo" weights import "$root/weights/site-net.weights" --name net >/dev/null 2>&1
"$kroo" weights promote net --reason 'the next' >/dev/null 2>&1
"$kroo" progression main --against starting --nodes 60 --pairs 3 --wait --json >"$work/series" 2>/dev/null
is "adds a release once, in order" "$(jq -c '[.[] | [.release, (.name | sub("^[0-9]+ "; "")), .pairs, .elo != null]]' "$work/series")" '[[1,"table",3,true],[2,"net",3,true]]'
is "its first match was kept" "$(sql "select count(*) from progression")" 2
ok "kroo verify agrees" "$kroo" verify
done_testing
