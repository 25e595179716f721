#!/bin/bash
# A person at the terminal: kroo-engine play and kroo-engine analyse, typed and read.
. "$(dirname "$0")/lib.sh"
engine=$build/kroo-engine

# typed NAME PATTERN OPTIONS LINE...: the lines are typed, and the program says the pattern.
typed() {
    name=$1 pattern=$2 options=$3
    shift 3
    # shellcheck disable=SC2086
    said=$(printf '%s\n' "$@" | "$engine" play $options 2>&1)
    status=$?
    ok "$name" grep -Eq -- "$pattern" <<<"$said"
    [ "$status" -eq 0 ] || is "$name: status" "$status" 0
}

typed 'a move is played' '^South to move: A B C D E F > South plays C\.$' '--level 1 --seed 1' C
typed 'the engine answers' '^North plays [a-f]' '--level 1 --seed 1' C
typed 'small letters do' 'South plays C' '--level 1 --seed 1' c
typed 'quit leaves' '^Moves: $' '' quit
typed 'so does the end of the input' '^Moves: C[a-f]$' '--level 1 --seed 3' c
typed 'an empty house' 'C is empty: choose A B D E F' '--side both' C a C
typed 'the other row' 'D is not yours: North plays a b c d e f' '--side both' C D
typed 'a word it does not know' "'castle' is no house" '' castle
typed 'help' 'what the engine would play' '' help
typed 'a hint' '^South to move: A B C D E F > [A-F], worth' '--time 20' hint
typed 'undo' 'South plays B' '--side both' C undo B
is 'undo leaves no trace' "$(tail -n 1 <<<"$said")" 'Moves: B'
ok 'nothing to take back' grep -q 'There is no move of yours' <<<"$(printf 'undo\n' | "$engine" play)"
is 'undo takes the answer back too' "$(printf 'C\nundo\n' | "$engine" play --level 1 --seed 1 | tail -n 1)" 'Moves: '

typed 'the duty to feed' 'North has no seed and must be fed: choose F' \
    '--side both --position 1-0-0-0-0-5-0-0-0-0-0-0-21-21-S' A
typed 'a grand slam takes nothing' 'a grand slam: under these rules it captures nothing' \
    '--side both --position 0-1-0-0-0-1-1-0-0-0-0-0-22-23-S' F
ok 'and nothing is captured' grep -q '^South to move: B F > South plays F\.$' <<<"$said"
typed 'a grand slam that is forbidden' 'F would capture every seed of North, which these rules forbid: choose B' \
    '--rules slam-illegal --side both --position 0-1-0-0-0-1-1-0-0-0-0-0-22-23-S' F
typed 'a lap' '13 seeds go all the way round and pass over' \
    '--side both --position 13-0-0-0-0-0-1-0-0-0-0-0-17-17-S' A
typed 'a capture' 'South plays F and captures 2' '--side both --position 0-1-0-0-0-1-1-0-0-0-0-1-22-22-S' F
typed 'a majority' 'South has more than half of the seeds' \
    '--side both --position 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S' F
ok 'the result' grep -q '^South wins, 25 to 20\.$' <<<"$said"
typed 'no move' 'South has no legal move; each side takes its own row' \
    '--side both --position 2-0-0-0-0-0-0-0-0-0-0-0-23-23-S' A
typed 'a repetition is announced' 'This position has stood 2 times; the game ends at 3' \
    '--side both --position 0-0-0-0-0-1-0-0-0-0-0-1-23-23-S' F f A a B b C c D d E e
typed 'and ends the game' 'The position has stood 3 times; each side takes its own row' \
    '--side both --position 0-0-0-0-0-1-0-0-0-0-0-1-23-23-S' F f A a B b C c D d E e F f A a B b C c D d E e
ok 'a draw' grep -q '^A draw, 24 to 24\.$' <<<"$said"
typed 'the quiet limit is announced' 'The game ends after 9 more plies without a capture' \
    '--side both --rules site,quiet_limit=10' C
typed 'the engine plays both' '^(South|North) wins|^A draw' '--side none --level 1 --seed 5'
is 'a level with a seed repeats its game' "$("$engine" play --side none --level Apprentice --seed 9)" \
    "$("$engine" play --side none --level 2 --seed 9)"
typed 'a game that is over at once' 'A draw, 24 to 24' '--position 0-0-0-0-0-0-0-0-0-0-0-0-24-24-S'
fails 'an unknown level' 2 "no level 'Grandmaster'" "$engine" play --level Grandmaster
fails 'an unknown side' 2 'SIDE is' "$engine" play --side east
fails 'a missing file' 1 'cannot be read' "$engine" play --weights /nowhere/w

said=$("$engine" analyse --depth 8 --json)
is 'three lines' "$(wc -l <<<"$said")" 3
is 'of three moves' "$(jq -r .move <<<"$said" | sort -u | wc -l)" 3
is 'best first' "$(jq .score <<<"$said")" "$(jq .score <<<"$said" | sort -rn)"
is 'at the depth asked for' "$(jq -s 'map(.depth) | unique | .[]' <<<"$said")" 8
is 'the same twice' "$("$engine" analyse --nodes 30000 --json | jq -c 'del(.time_ms)')" \
    "$("$engine" analyse --nodes 30000 --json | jq -c 'del(.time_ms)')"
ok 'no more nodes than asked for' test "$(jq -s 'map(.nodes) | max' <<<"$("$engine" analyse --nodes 30000 --json)")" -le 30000
is 'every depth' "$("$engine" analyse --depth 5 --multipv 1 --all --json | jq .depth | tr '\n' ' ')" '1 2 3 4 5 '
ok 'a proven win' grep -q ' wins in 1 ' <<<"$("$engine" analyse --depth 4 --position 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S)"
ok 'the history counts' grep -q 'The game is over: draw, repetition' \
    <<<"$("$engine" analyse --position 0-0-0-0-0-1-0-0-0-0-0-1-23-23-S --moves FfAaBbCcDdEeFfAaBbCcDdEe)"
is 'a search cut off still names a move' "$("$engine" analyse --nodes 1 --json | jq -r .depth)" 0
is 'selective and full width agree where both see the end' \
    "$("$engine" analyse --depth 12 --full-width --multipv 1 --position 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S --json | jq .score)" 30999
"$engine" tables build --rules site --seeds 5 --out "$work/site.tables" >/dev/null 2>&1
ok 'a win by tables' grep -q ' B  wins  ' <<<"$("$engine" analyse --depth 2 --tables "$work/site.tables" \
    --position 0-2-0-0-0-0-0-0-1-0-0-1-22-22-S --multipv 1)"
fails 'tables of other rules' 1 'rules' "$engine" analyse --rules school --tables "$work/site.tables"
typed 'the engine wins what is won' '^South wins' \
    "--side north --time 20 --tables $work/site.tables --position 0-2-0-0-0-0-0-0-1-0-0-1-22-22-S" \
    c d f a c d e a b d f a c d e a b d f a c d e a b d f f f f f f e e e e d d d d
ok 'two threads' test -n "$("$engine" analyse --threads 2 --depth 12)"
fails 'an illegal move' 1 "move 2, 'F', is refused" "$engine" analyse --moves AF
fails 'a position of words' 2 'position' "$engine" analyse --position here
fails 'no line' 2 'K must be' "$engine" analyse --multipv 0
done_testing
