#!/usr/bin/env bash
# Promise 3: the same match gives the same games and the same verdict on one worker and on four, with a restart of the
# coordinator in between; also where most pairs repeat an earlier one, which is no new evidence.
. "$(dirname "$0")/lib.sh"

match() { "$kroo" match starting starting --dir "$cluster_dir" --sprt --max-pairs 1000 --seed 11 "$@" 2>/dev/null; }
play() { # DIR WORKERS -> the numbers of both experiments
    cluster_dir=$1
    "$kroo" up --dir "$1" --workers "$2" >/dev/null || return 1
    id=$(match --nodes-a 800 --nodes-b 300 --elo0 0 --elo1 60)
    few=$(match --nodes-a 300 --nodes-b 10 --elo0 0 --elo1 200 --opening-plies 1 --alpha 0.2 --beta 0.2 --batch 2)
    if [ "$2" -eq 4 ]; then
        wait_until 60 has_games "$id" || return 1
        wait_until 60 has_games "$few" || return 1
        kill -9 "$(pid_of coordinator)"
        "$kroo" up --dir "$1" --workers "$2" >/dev/null || return 1
    fi
    wait_until 120 ended "$id" && wait_until 60 ended "$few"
}
has_games() { [ "$(sql "select games_stored > 12 from experiment_counter where experiment_id = $1")" = t ]; }
ended() { [ "$(sql "select state from experiment where id = $1")" = finished ]; }
verdict() {
    sql "select verdict, counted_pairs, repeated_pairs, ll, ld, dd, wl, dw, ww, llr, elo, elo_lo, elo_hi from verdict where experiment_id = $1"
}
games() {
    sql "select pair_no, leg, moves, result, reason, south, north from game_counted where experiment_id in ($id, $few)
        order by experiment_id, pair_no, leg"
}
repeats() { sql "select pair_no, first_pair from pair_repeat where experiment_id = $few order by 1"; }

ok "one worker plays the match to its verdict, and one of few openings" play "$work/one" 1
one=$(verdict "$id") one_few=$(verdict "$few") one_repeats=$(repeats)
games >"$work/one.games"
ok "kroo verify agrees" "$kroo" verify --dir "$work/one"
"$kroo" down --dir "$work/one" >/dev/null

ok "four workers and a killed coordinator play them too" play "$work/four" 4
four=$(verdict "$id")
games >"$work/four.games"
ok "kroo verify agrees" "$kroo" verify --dir "$work/four"

is "the verdict is the same to the last digit" "$four" "$one"
ok "the verdict is statistical" grep -Eq '^(accepted|rejected)\|' <<<"$one"
ok "the counted games are the same, move for move" cmp "$work/one.games" "$work/four.games"
ok "and there are some" test "$(wc -l <"$work/one.games")" -ge 16
is "pairs beyond the deciding one are kept and not counted" \
    "$(sql "select games_stored >= 2 * counted_pairs from verdict where experiment_id = $id")" t

# --- pairs that repeat ---
is "of few openings too the verdict is the same" "$(verdict "$few")" "$one_few"
ok "it is statistical" grep -Eq '^(accepted|rejected)\|' <<<"$one_few"
is "the same pairs repeat the same ones" "$(repeats)" "$one_repeats"
ok "there are some" test "$(wc -l <<<"$one_repeats")" -ge 4
is "every pair that counts has games of its own, and every other one the games of its first" \
    "$(sql "with pair as (select pair_no, string_agg(moves || reason, ' ' order by leg) as played from game
                where experiment_id = $few and pair_no < (select counted_pairs from verdict where experiment_id = $few) group by 1)
            select v.counted_pairs = count(*), v.counted_pairs - v.repeated_pairs = count(distinct p.played),
                v.ll + v.ld + v.dd + v.wl + v.dw + v.ww = count(distinct p.played), bool_and(f.played is null or f.played = p.played)
            from pair p left join pair_repeat r on r.experiment_id = $few and r.pair_no = p.pair_no left join pair f on f.pair_no = r.first_pair,
                verdict v where v.experiment_id = $few group by v.experiment_id")" 't|t|t|t'
repeated=$(sql "select repeated_pairs from verdict where experiment_id = $few")
said=$("$kroo" show --dir "$work/four" "$few")
ok "kroo show says how many do not count" grep -q "$repeated repeated pairs not counted" <<<"$said"
is "kroo games says which" "$("$kroo" games --dir "$work/four" "$few" --format json |
    jq -r 'select(.leg == 0 and .repeats != null) | "\(.pair)|\(.repeats)"')" "$one_repeats"

# --- openings that are used up ---
dry=$(match --nodes-a 20 --nodes-b 10 --elo0 0 --elo1 1 --opening-plies 1)
fixed=$("$kroo" match starting starting --dir "$work/four" --nodes-a 20 --nodes-b 10 --opening-plies 1 --pairs 30 --seed 3 2>/dev/null)
ok "a test whose openings are used up comes to an end" wait_until 90 ended "$dry"
is "which says so, after 256 and 16 repeats for each different pair" \
    "$(sql "select verdict, counted_pairs - max(r.pair_no) filter (where r.gap) = 256 + 16 * (counted_pairs - repeated_pairs),
                reason like 'its openings are used up: the last ' || 256 + 16 * (counted_pairs - repeated_pairs) || ' pairs all repeat%'
            from verdict, (select n as pair_no, not exists (select from pair_repeat where experiment_id = $dry and pair_no = n - 1) as gap
                from generate_series(1, 1000) n) r
            where experiment_id = $dry and r.pair_no <= counted_pairs group by experiment_id")" 'undecided|t|t'
ok "a fixed length is played to its end" wait_until 60 ended "$fixed"
is "and tells how many pairs were different" \
    "$("$kroo" show --dir "$work/four" "$fixed" --json | jq -c '[.pairs, .counted_pairs, .counted_pairs + .repeated_pairs, (.counts | add) == .counted_pairs]')" \
    "[30,$(sql "select count(distinct m) from (select string_agg(moves, ' ' order by leg) m from game where experiment_id = $fixed group by pair_no) p"),30,true]"
ok "kroo verify agrees" "$kroo" verify --dir "$work/four"
sql "delete from pair_repeat where experiment_id = $dry and pair_no = (select max(pair_no) from pair_repeat where experiment_id = $dry)"
fails "and finds a repeat that is not told" 1 'it repeats pair' "$kroo" verify --dir "$work/four" "$dry"

again=$("$kroo" replay --dir "$work/four" "$id" 3 1 2>&1)
ok "kroo replay plays a stored game again, the same ($again)" "$kroo" replay --dir "$work/four" "$id" 3 1
done_testing
