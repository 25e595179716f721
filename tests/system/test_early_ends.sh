#!/usr/bin/env bash
# Games that endgame tables or a resignation end: played, checked by the coordinator, verified, replayed, learned from;
# what is altered is found, and what cannot be is refused.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
finished() { [ "$(sql "select state from experiment where id = $1")" = finished ]; }
count() { sql "select count(*) from game where experiment_id = $1 and $2"; }
match() { "$kroo" match starting starting --nodes-a 150 --nodes-b 100 --pairs 30 --seed 7 --dir "$dir" "$@"; }

ok "tables are made" kroo-engine tables build --rules site --seeds 7 --out site-7 2>/dev/null
ok "and of other rules" kroo-engine tables build --rules school --seeds 3 --out school-3 2>/dev/null
ok "a private cluster of two workers" "$kroo" up --dir "$dir" --workers 2
[ -e "$dir/kroo.conf" ] || exit 1
"$kroo" tables add site-7 --name site-7 --dir "$dir" >/dev/null
"$kroo" tables add school-3 --name school-3 --dir "$dir" >/dev/null

# --- tables ---
fails "unknown tables" 1 "no endgame tables are called" match --adjudicate nosuch
fails "tables of other rules" 1 "for the rules school" \
    "$kroo" match starting starting --nodes-a 150 --pairs 5 --adjudicate school-3 --dir "$dir"
sql "insert into endgame_table (name, sha256, rules, convention, seeds, size, added_by) values ('large', sha256('x'), 'site', 'own-rows', 20, 1, 'me')"
fails "tables that do not travel" 1 "larger than 64 MiB" \
    "$kroo" match starting starting --nodes-a 150 --pairs 5 --adjudicate large --dir "$dir"
plain=$(match 2>>said)
cut=$(match --adjudicate site-7 2>>said)
ok "both end" wait_until 60 eval 'finished $plain && finished $cut'
ended=$(count "$cut" "reason = 'adjudicated'")
ok "tables end games ($ended of 60)" test "$ended" -gt 5
is "which begin as without tables, and are shorter" \
    "$(sql "select count(*) from game a join game b using (pair_no, leg) where a.experiment_id = $cut and b.experiment_id = $plain and starts_with(b.moves, a.moves) and (a.reason = 'adjudicated') = (a.plies < b.plies)")" 60
is "with at most seven seeds on the board, no claim" \
    "$(count "$cut" "reason = 'adjudicated' and south + north >= 41 and greatest(south, north) < 25 and not claimed")" "$ended"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$cut"
pair=$(sql "select pair_no from game where experiment_id = $cut and reason = 'adjudicated' and leg = 0 limit 1")
ok "and replay" "$kroo" replay "$cut" "$pair" 0 --dir "$dir"
ok "show says by which tables" grep -q 'endgame tables site-7' <("$kroo" show "$cut" --dir "$dir")
sql "update game set result = case result when 'south' then 'north' else 'south' end, a_half_points = 2 - a_half_points where experiment_id = $cut and pair_no = $pair and leg = 0 and result <> 'draw'; update game set reason = 'adjudicated', south = 20, north = 20 where experiment_id = $cut and reason = 'majority' and pair_no = (select min(pair_no) from game where experiment_id = $cut and reason = 'majority')" >/dev/null
fails "altered results are found" 1 "the replay gives" "$kroo" verify --dir "$dir" "$cut"

# --- resignation ---
fails "a share above all" 2 "0 to 100" match --resign 300,2,101
fails "nonsense" 2 "SCORE\[,PLIES\[,PERCENT" match --resign 300,
fails "without scores" 1 "scores of the plies" "$kroo" selfplay --pairs 5 --resign 300 --no-scores --dir "$dir"
given=$(match --resign 300,2,40 2>>said)
twin=$(match --resign 300,2,40 2>>said)
ok "they end" wait_until 60 eval 'finished $given && finished $twin'
resigned=$(count "$given" "reason = 'resign'")
ok "sides resign ($resigned of 60)" test "$resigned" -gt 5
is "as they did before, to the letter" \
    "$(sql "select count(*) from game a join game b using (pair_no, leg, moves, reason, scores) where a.experiment_id = $given and b.experiment_id = $twin")" 60
is "nothing is disputed by it" "$(sql "select count(*) from dispute")" 0
is "where the scores say" \
    "$(count "$given" "reason = 'resign' and resign_ply = plies and claimed and resign_ply = game_resign_ply(scores, 300, 2)")" "$resigned"
is "and nowhere else but in games played out" \
    "$(count "$given" "reason <> 'resign' and resign_ply is distinct from nullif(game_resign_ply(scores, 300, 2), plies)")" 0
is "the calibration counts them" \
    "$(sql "select resigned, played_out, not_lost from resignation_calibration where experiment_id = $given")" \
    "$(sql "select count(*) filter (where reason = 'resign'), count(*) filter (where reason <> 'resign'), count(*) filter (where reason <> 'resign' and result <> case when resign_ply % 2 = 1 then 'north' else 'south' end) from game where experiment_id = $given and resign_ply is not null")"
ok "some were played out" test "$(sql "select played_out from resignation_calibration where experiment_id = $given")" -gt 3
ok "show tells the rate" grep -Eq "$resigned resigned; of [0-9]+ played out [0-9]+ were not lost" <("$kroo" show "$given" --dir "$dir")
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$given"
pair=$(sql "select pair_no from game where experiment_id = $given and reason = 'resign' and leg = 1 limit 1")
ok "and replay" "$kroo" replay "$given" "$pair" 1 --dir "$dir"
sql "update game set scores = overlay(scores placing '\\x0000' from 2 * plies - 1) where experiment_id = $given and pair_no = $pair and leg = 1" >/dev/null 2>&1
sql "update game set resign_ply = null where experiment_id = $given and reason <> 'resign' and resign_ply is not null" >/dev/null
fails "an altered note is found" 1 "a resignation is noted after ply" "$kroo" verify --dir "$dir" "$given"

# --- both, in self-play, for the trainer ---
play=$("$kroo" selfplay --weights starting --pairs 60 --nodes 100 --seed 3 --adjudicate site-7 --resign 900,3 --dir "$dir" 2>>said)
ok "self-play with both" wait_until 60 finished "$play"
ok "is verified" "$kroo" verify --dir "$dir" "$play"
kroo-train fit --games "$play" --no-store --quiet --with-repeats --json --config "$dir/kroo.conf" >fit.json 2>>said
is "the trainer reads every game of it" "$(jq '.data.games // .games' fit.json)" 120
done_testing
