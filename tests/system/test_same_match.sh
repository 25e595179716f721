#!/usr/bin/env bash
# Promise 3: the same match gives the same games and the same verdict on one worker and on four, with a restart of the
# coordinator in between.
. "$(dirname "$0")/lib.sh"

play() { # DIR WORKERS -> the experiment's number
    cluster_dir=$1
    "$kroo" up --dir "$1" --workers "$2" >/dev/null || return 1
    id=$("$kroo" match starting starting --dir "$1" --nodes-a 800 --nodes-b 300 --sprt --elo0 0 --elo1 60 \
        --max-pairs 1000 --seed 11 2>/dev/null)
    if [ "$2" -eq 4 ]; then
        wait_until 60 has_games
        kill -9 "$(pid_of coordinator)"
        "$kroo" up --dir "$1" --workers "$2" >/dev/null || return 1
    fi
    wait_until 120 ended
}
has_games() { [ "$(sql "select games_stored > 20 from experiment_counter where experiment_id = $id")" = t ]; }
ended() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
verdict() {
    sql "select verdict, counted_pairs, ll, ld, dd, wl, dw, ww, llr, elo, elo_lo, elo_hi from verdict where experiment_id = $id"
}
games() {
    sql "select pair_no, leg, moves, result, reason, south, north from game_counted where experiment_id = $id order by pair_no, leg"
}

ok "one worker plays the match to its verdict" play "$work/one" 1
one=$(verdict)
games >"$work/one.games"
ok "kroo verify agrees" "$kroo" verify --dir "$work/one" "$id"
"$kroo" down --dir "$work/one" >/dev/null

ok "four workers and a killed coordinator play it too" play "$work/four" 4
four=$(verdict)
games >"$work/four.games"
ok "kroo verify agrees" "$kroo" verify --dir "$work/four" "$id"

is "the verdict is the same to the last digit" "$four" "$one"
ok "the verdict is statistical" grep -Eq '^(accepted|rejected)\|' <<<"$one"
ok "the counted games are the same, move for move" cmp "$work/one.games" "$work/four.games"
ok "and there are some" test "$(wc -l <"$work/one.games")" -ge 16
is "pairs beyond the deciding one are kept and not counted" \
    "$(sql "select games_stored >= 2 * counted_pairs from verdict where experiment_id = $id")" t

again=$("$kroo" replay --dir "$work/four" "$id" 3 1 2>&1)
ok "kroo replay plays a stored game again, the same ($again)" "$kroo" replay --dir "$work/four" "$id" 3 1
done_testing
