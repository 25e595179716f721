#!/usr/bin/env bash
# Weights promoted in the middle of play: an experiment goes on with the weights it names, both games of every pair
# with the same ones; workers fetch the new ones early, and the next experiment plays with them.
. "$(dirname "$0")/lib.sh"
export KROO_DIR=$dir KROO_PROGRESS_MS=200

stored_above() { [ "$(sql "select games_stored > $2 from experiment_counter where experiment_id = $1")" = t ]; }
finished() { [ "$(sql "select state from experiment where id = $1")" = finished ]; }

ok "a private cluster with two workers" "$kroo" up --workers 2
games=$("$kroo" selfplay --weights starting --pairs 150 --nodes 60 --seed 1)
ok "games to learn from" wait_until 60 finished "$games"
ok "new weights" kroo-train fit --games "$games" --parent starting --force --quiet --name fresh --ridge 1e-3

old=$(sql "select encode(weights_sha256, 'hex') from player p join experiment e on e.player_a = p.id where e.id = $games")
new=$(sql "select encode(sha256, 'hex') from weights where name = 'fresh'")
ok "they are others" test -n "$new" -a "$old" != "$new"

running=$("$kroo" selfplay --weights "$old" --pairs 120 --nodes 2500 --seed 2)
match=$("$kroo" match fresh starting --nodes 500 --pairs 60 --seed 3 2>/dev/null)
ok "two experiments play side by side" wait_until 30 stored_above "$running" 10
ok "the new weights are promoted meanwhile" "$kroo" weights promote fresh --reason 'for the test'
at=$(sql "select promoted_at from promotion order by id desc limit 1")
announced() { [ "$(grep -l "announcement.*$new" "$dir"/log/worker-*.log | wc -l)" -eq 2 ]; }
ok "both workers hear of it" wait_until 20 announced
next=$("$kroo" selfplay --weights champion --pairs 30 --nodes 100 --seed 4)
for id in $running $match $next; do ok "experiment $id ends" wait_until 90 finished "$id"; done

plays_with() { sql "select string_agg(distinct encode(weights_sha256, 'hex'), ' ') from player p join experiment e on p.id in (e.player_a, e.player_b) where e.id = $1"; }
is "what ran names the old weights" "$(plays_with "$running")" "$old"
is "what began later names the new ones" "$(plays_with "$next")" "$new"
is "in every pair of the match the two change seats" \
    "$("$kroo" games "$match" --json | jq -r '[.leg, .south.weights, .north.weights] | join(" ")' | sort | uniq -c | tr -s ' ')" \
    " 60 0 $new $old
 60 1 $old $new"
ok "some of its games are from before the promotion, some from after" \
    test "$(sql "select count(*) filter (where stored_at < '$at') > 0 and count(*) filter (where stored_at > '$at') > 0 from game where experiment_id = $running")" = t

# Playing them again with the named weights shows which ones were really used.
again() { # ID PAIR...: both games of these pairs
    experiment=$1
    shift
    for pair in "$@"; do
        for leg in 0 1; do
            "$kroo" replay "$experiment" "$pair" $leg >/dev/null || return 1
        done
    done
}
around=$(sql "(select distinct pair_no from game where experiment_id = $running and stored_at > '$at' order by 1 limit 6)")
# shellcheck disable=SC2086
ok "games finished after the promotion were played with the old weights" again "$running" $around
ok "those of the match with what it names" again "$match" 0 20 40 59
ok "those of the next with the new ones" again "$next" 0 15 29
other=$("$kroo" selfplay --weights fresh --pairs 12 --nodes 2500 --seed 2)
ok "the same pairs with the other weights" wait_until 60 finished "$other"
differ() { ! cmp -s <("$kroo" games "$running" --pairs 0-11 --format moves) <("$kroo" games "$other" --format moves); }
ok "are other games" differ
ok "kroo verify agrees" "$kroo" verify
done_testing
