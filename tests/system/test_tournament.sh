#!/usr/bin/env bash
# Gauntlets and round robins: the right pairings, each with the same openings; cut off in the middle the same command goes
# on and makes nothing twice; the table comes from the joint rating, and an anchor that nobody is, is an error.
. "$(dirname "$0")/lib.sh"
export KROO_DIR=$dir

players="n10=starting,nodes=10 n40=starting,nodes=40 n100=starting,nodes=100 n200=starting,nodes=200"
experiments() { sql "select count(*) from experiment"; }
matches() { sql "select count(experiment_id) from tournament_pairing p join tournament t on t.id = p.tournament_id where t.name = '$1'"; }

fails "a gauntlet needs opponents" 2 'two players' "$kroo" gauntlet starting --pairs 2
fails "one stands before vs" 2 'before "vs"' "$kroo" gauntlet starting x=starting vs y=starting --pairs 2
fails "a length is needed" 2 'how long' "$kroo" roundrobin a=1 b=2
fails "names are told apart" 2 'two players are called' "$kroo" roundrobin a=1 a=2 --pairs 2
fails "settings are known ones" 2 'no setting' "$kroo" roundrobin a=1,knots=3 b=2 --pairs 2
fails "an unknown anchor is an error, before anything is made" 2 'no player is called "who"' \
    "$kroo" roundrobin a=1 b=2 --pairs 2 --anchor who
fails "names have plain letters" 2 'letters, digits' "$kroo" roundrobin a=1 b=2 --pairs 2 --key 'a b'

ok "a private cluster" "$kroo" up --workers 2
fails "equal players prove nothing" 1 'same player' "$kroo" roundrobin a=starting b=starting --pairs 2
fails "zero pairs" 1 '1 to' "$kroo" roundrobin a=starting b=starting,nodes=3 --pairs 0
fails "unknown weights" 1 'weights ls' "$kroo" roundrobin a=starting b=nobody --pairs 2
fails "an unknown engine of one player" 1 'engine ls' "$kroo" roundrobin a=starting b=starting,engine=nobody --pairs 3
fails "a limit that no match has" 2 'nodes' "$kroo" roundrobin a=starting b=starting,nodes=0 --pairs 3
fails "an odd number of games" 1 'odd' "$kroo" roundrobin a=starting b=starting,nodes=3 --games 3
# Each command that makes experiments refuses each absurd length, and makes nothing.
echo '{"weights": "starting", "pairs": 4, "batch": 2, "nodes": 20, "match_pairs": 0,
    "parameters": [{"option": "CutMargin", "min": 20, "max": 120, "c_end": 10, "r_end": 0.01}]}' >"$work/tune.json"
taken=""
for length in --pairs=0 --pairs=-3 --pairs=1.5 --pairs=2000000001 --pairs=99999999999999999999 --games=3; do
    for command in "match starting starting --nodes-b 3" "gauntlet starting vs b=starting,nodes=3" "roundrobin starting b=starting,nodes=3" \
        "tune $work/tune.json" "aa starting" "pool run p starting b=starting,nodes=3" "progression main --against starting" \
        "loop run l" "preset add q --summary x --"; do
        # shellcheck disable=SC2086
        "$kroo" $command $length >/dev/null 2>&1
        case $? in 1 | 2) ;; *) taken="$taken $command $length" ;; esac
    done
    echo "{\"kroo_specification\": 1, \"kind\": \"selfplay\", \"pairs\": ${length#*=}, \"a\": {\"weights\": \"starting\", \"nodes\": 5}}" >"$work/bad.json"
    case $length in --pairs*) "$kroo" run "$work/bad.json" >/dev/null 2>&1 && taken="$taken run $length" ;; esac
done
is "no command takes an absurd length" "$taken" ""
is "nor is anything left of them" "$(sql "select (select count(*) from learning_loop) + (select count(*) from preset where name = 'q')")" 0
is "what was refused made nothing" "$(experiments)/$(sql 'select count(*) from tournament')" 0/0

# --- a gauntlet of five ---
# shellcheck disable=SC2086
ok "a gauntlet of five" "$kroo" gauntlet base=starting vs $players --nodes 400 --pairs 6 --seed 11 --key five --wait
is "has four pairings, not ten" "$(matches five)/$(experiments)" 4/4
is "all of the first player" "$(sql "select count(*) from tournament_pairing where a = 0")" 4
is "every pairing met the same openings" \
    "$(sql "select count(*) from (select pair_no, count(distinct left(moves, 8)) as openings from game group by 1) x where openings > 1")" 0
is "and no two pairs of one" "$(sql "select count(distinct left(moves, 8)) from game where experiment_id = 1")" 6
"$kroo" ratings five --json >"$work/five.json"
is "the table has all, in one figure each" "$(jq -c '[(.ratings | length), (.pairings | length), .kind]' "$work/five.json")" '[5,4,"gauntlet"]'
is "and counts every game" "$(jq '[.ratings[].games] | add' "$work/five.json")" 96
ok "no figure is missing or NaN where it is finite" \
    jq -e '[.ratings[] | select(.rating != null) | .rating, .sd, .error95 | numbers] | length % 3 == 0 and length > 0' "$work/five.json"
fails "an unknown anchor later" 1 'no player of five' "$kroo" ratings five --anchor nobody
ok "an anchor has its rating" sh -c '"$0" ratings five --json --anchor base=1000 | jq -e ".anchor == \"base\" and (.ratings[0] | .rating == 1000 and .sd == 0)"' "$kroo"
fails "an unknown tournament" 1 'tournament ls' "$kroo" ratings six

# --- a round robin, killed in the middle ---
# shellcheck disable=SC2086
round_robin() { "$kroo" roundrobin base=starting $players --nodes 400 --pairs 4 --seed 12 --key all --anchor base=500 "$@"; }
before=$(experiments)
round_robin >"$work/killed" 2>&1 &
driver=$!
some() { [ "$(matches all)" -ge 2 ]; }
ok "a round robin begins" wait_until 20 some
pkill -9 -P $driver 2>/dev/null
kill -9 $driver 2>/dev/null
wait $driver 2>/dev/null
ok "the same command goes on" round_robin
is "with ten pairings, each made once" "$(matches all)/$(($(experiments) - before))" 10/10
fails "another one of that name is refused" 1 'another --key' "$kroo" roundrobin base=starting n=starting,nodes=7 --pairs 4 --seed 12 --key all
ok "followed to its end" sh -c '"$0" tournament run all --wait >"$1"' "$kroo" "$work/all"
ok "it shows rating, error, score and the matrix" grep -q 'likelihood of superiority' "$work/all"
is "in the order of the joint rating" \
    "$("$kroo" ratings all --json | jq -c '[.ratings[] | select(.rating != null)] | sort_by(-.rating) | map(.player)')" \
    "$(awk '/^rank/ { on = 1; next } on && /^ *[0-9]+ / { print $2; next } { on = 0 }' "$work/all" | jq -Rsc 'split("\n")[:-1]' | head -c 400)"
is "its anchor is kept" "$("$kroo" ratings all --json | jq '.ratings[0].rating == 500')" true
is "listed" "$("$kroo" tournament ls --json | jq -c '[.[] | [.name, .pairings, .finished]]')" '[["five",4,4],["all",10,10]]'
# --- what is done to a tournament as a whole ---
t() { "$kroo" tournament "$@"; }
matches_in() { sql "select count(*) from tournament_pairing p join tournament t on t.id = p.tournament_id join experiment e on e.id = p.experiment_id where t.name = 'big' and $1"; }
fails "an unknown tournament is not paused" 1 'no tournament nobody' "$kroo" pause nobody
fails "nor is what has no name" 2 'no experiment number' "$kroo" pause a/b
fails "what is over stays over" 1 'is over' "$kroo" pause five
ok "a long round robin" "$kroo" roundrobin a=starting b=starting,nodes=30 c=starting,nodes=20 --nodes 60 --pairs 1M --seed 4 --key big
is "all its matches are paused at once" "$("$kroo" pause big --reason 'the room is hot')" \
    'tournament big paused: 3 of its 3 matches that had not ended'
is "each of them, and it" "$(matches_in "e.state = 'paused'")/$(sql "select state || ' ' || state_reason from tournament where name = 'big'")" \
    '3/paused by local: the room is hot'
is "the event log has each match and the whole" \
    "$(sql "select count(*) from event where text = 'paused by local, with all of tournament big: the room is hot'")/$(sql "select text from event where kind = 'tournament-paused'")" \
    '3/tournament big: paused by local, 3 matches with it: the room is hot'
ok "again is no error" sh -c '"$0" pause big --json | jq -e .existed' "$kroo"
is "its matches say why they wait" "$(t show big --json | jq -r '[.matches[].why] | unique | .[]')" 'paused by local: the room is hot'
ok "a priority reaches all" t priority big -- -7
is "and later ones" "$(matches_in 'e.priority = -7')/$(sql "select priority from tournament where name = 'big'")" 3/-7
fails "a priority without bounds" 1 'within -1000' t priority big 5000
ok "a note" t note "$(sql "select id from tournament where name = 'big'")" 'of the summer'
is "is kept" "$(t ls --json | jq -r '.[] | select(.name == "big") | .note + " " + .state')" 'of the summer paused'
ok "it goes on" "$kroo" resume big
is "with all its matches" "$(matches_in "e.state = 'running'")" 3
ok "something goes before it" "$kroo" match starting starting --nodes-b 30 --nodes 60 --pairs 1M --seed 5 --key before
before=$(sql "select id from experiment where idempotency_key = 'before'")
behind() { t show big --json | jq -e --argjson e "$before" 'all(.matches[]; .why | test("experiment \($e) of priority 0"))'; }
ok "its matches say what" wait_until 20 behind
kill -9 "$(pid_of coordinator)"
ok "a new coordinator" "$kroo" up --workers 2
is "stopped" "$("$kroo" stop big)" 'tournament big stopped: 3 of its 3 matches that had not ended'
is "every match has its verdict" "$(matches_in "e.state = 'stopped' and exists (select from verdict v where v.experiment_id = e.id and v.verdict = 'aborted')")" 3
fails "for good" 1 'was stopped, and that stands' "$kroo" resume big
fails "no match of it is made any more" 1 'stopped' t run big --wait
"$kroo" stop "$before" >/dev/null
# --- a player against itself ---
fails "without noise its games would be equal" 1 'kroo aa' "$kroo" aa starting --nodes 20 --pairs 2 --noise 0
fails "noise is for a player against itself" 2 'no option --noise' "$kroo" match starting starting --nodes-b 3 --noise 1 --pairs 2
ok "with noise it tells whether the farm is fair" \
    sh -c '"$0" aa starting --nodes 20 --pairs 60 --seed 5 --wait >"$1"; [ $? -lt 2 ]' "$kroo" "$work/aa"
ok "in all and for each worker" test "$(grep -Ec '^(all|local-[0-9]|[^ ]+) +[0-9]+ +[0-9.]+ %' "$work/aa")" -ge 2
ok "the same for programs" sh -c '"$0" aa --report "$1" --json | jq -e ".all.pairs == 60 and (.workers | map(.pairs) | add) == 60 and .all.p >= 0"' \
    "$kroo" "$(sql 'select max(id) from experiment')"
ok "its two games of a pair differ" test "$(sql "select count(*) from game f join game s using (experiment_id, pair_no) where f.leg = 0 and s.leg = 1 and f.moves = s.moves and experiment_id = (select max(id) from experiment)")" -lt 20
fails "another experiment is none of these" 1 'no match of a player against itself' "$kroo" aa --report 1

# --- presets ---
fails "an unknown preset" 1 'preset ls' "$kroo" match starting starting --nodes-b 3 --preset glance
fails "a preset of options that no match has" 1 'would not take' "$kroo" preset add glance --summary s -- --knots=3
ok "a preset" "$kroo" preset add glance --summary 'in passing' -- --nodes=20 --pairs=3 --opening-plies=6
ok "its next version" "$kroo" preset add glance --summary 'in passing' -- --nodes=30 --pairs=2
is "the latest is meant, and what is given goes before it" \
    "$("$kroo" match starting starting --nodes-b 3 --preset glance --pairs 4 --seed 1 --json | jq -c '[.a.nodes, .pairs, .opening_plies]')" '[30,4,8]'
is "an older one has its number" \
    "$("$kroo" match starting starting --nodes-b 3 --preset=glance@1 --seed 1 --json | jq -c '[.a.nodes, .pairs, .opening_plies]')" '[20,3,6]'
is "and the match says which it was" "$(sql "select note from experiment order by id desc limit 1")" 'preset glance, version 1'
ok "kroo verify agrees" "$kroo" verify
done_testing
