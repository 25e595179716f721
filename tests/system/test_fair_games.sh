#!/usr/bin/env bash
# Games are many and fair: no two alike that need not be, no opening twice, both games of a pair from one opening; the
# strong beat the weak from both seats, and a match with its players swapped is the same match, mirrored.
. "$(dirname "$0")/lib.sh"
export KROO_DIR=$dir

finished() { [ "$(sql "select state from experiment where id = $1")" = finished ]; }

ok "a private cluster with two workers" "$kroo" up --workers 2

# --- a thousand units ---
id=$("$kroo" selfplay --pairs 1000 --nodes 40 --noise 10 --seed 20 2>/dev/null)
ok "a thousand pairs are played" wait_until 90 finished "$id"
is "both games of each pair begin with its opening" \
    "$(sql "select count(*), count(*) filter (where n = 1) from (select count(distinct left(moves, 8)) as n from game where experiment_id = $id group by pair_no) p")" '1000|1000'
is "no opening comes twice" \
    "$(sql "select count(*) from (select left(moves, 8) from game where experiment_id = $id and leg = 0 group by 1 having count(*) > 1) twice")" 0
is "no game is that of another pair" \
    "$(sql "select count(*) from (select moves from game where experiment_id = $id group by 1 having count(distinct pair_no) > 1) twice")" 0
ok "nor that of its pair's other leg, where noise has a say" \
    test "$(sql "select count(*) from (select moves from game where experiment_id = $id group by 1 having count(*) > 1) twice")" -lt 20
is "every first move is played" "$(sql "select string_agg(distinct left(moves, 1), '' order by left(moves, 1)) from game where experiment_id = $id")" ABCDEF
ok "South and North win in much the same number" \
    test "$(sql "select abs(count(*) filter (where result = 'south') - count(*) filter (where result = 'north')) < 300 from game where experiment_id = $id")" = t
other=$("$kroo" selfplay --pairs 1000 --nodes 1 --seed 21 2>/dev/null)
ok "another seed" wait_until 60 finished "$other"
ok "has other openings" \
    test "$(sql "select count(*) from (select left(moves, 8) from game where experiment_id = $id intersect select left(moves, 8) from game where experiment_id = $other) s")" -lt 10

# --- strong and weak, and the same with the players swapped ---
strong=$("$kroo" match starting starting --nodes-a 1000 --nodes-b 5 --pairs 30 --seed 22 2>/dev/null)
weak=$("$kroo" match starting starting --nodes-a 5 --nodes-b 1000 --pairs 30 --seed 22 2>/dev/null)
ok "a strong player meets a weak one" wait_until 90 finished "$strong"
ok "and the weak one the strong one" wait_until 90 finished "$weak"
ok "the strong one wins as South" \
    test "$(sql "select count(*) filter (where result = 'south') from game where experiment_id = $strong and leg = 0")" -ge 27
ok "and as North" \
    test "$(sql "select count(*) filter (where result = 'north') from game where experiment_id = $strong and leg = 1")" -ge 27
moves() { sql "select pair_no, $2, moves, result, reason from game where experiment_id = $1 order by 1, 2"; }
is "swapped, the same games are played in the other legs" "$(moves "$weak" 'leg' | sha256sum)" "$(moves "$strong" '1 - leg' | sha256sum)"
is "and the counts are mirrored" \
    "$(sql "select ll, ld, dd, wl, dw, ww, wins, draws, losses from experiment_counter where experiment_id = $weak")" \
    "$(sql "select ww, dw, dd, wl, ld, ll, losses, draws, wins from experiment_counter where experiment_id = $strong")"
elo() { "$kroo" show "$1" --json | jq '.estimate | [.elo, .elo_lo, .elo_hi] | map(. * 1000 | round)'; }
is "so is the difference in Elo, with its interval" "$(elo "$weak" | jq -c .)" "$(elo "$strong" | jq -c '[-.[0], -.[2], -.[1]]')"
ok "kroo verify agrees" "$kroo" verify
done_testing
