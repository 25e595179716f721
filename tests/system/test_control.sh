#!/usr/bin/env bash
# What people do to experiments: pausing keeps what is out and hands out no more, over restarts too; a priority moves all
# workers; nothing counts twice however often it is paused; a deletion leaves its number, its event and the totals.
. "$(dirname "$0")/lib.sh"
export KROO_TERM_MS=5000 KROO_PROGRESS_MS=200

k() { command=$1 && shift && "$kroo" "$command" --dir "$dir" "$@"; }
state() { sql "select state from experiment where id = $1"; }
games() { sql "select games_stored from experiment_counter where experiment_id = $1"; }
has_games() { [ "$(games "$1")" -gt "${2:-0}" ]; }
# A lease told at the moment of the pause has no row; what it brings is counted with the pairs before it.
quiet() {
    [ "$(sql "select (select count(*) from lease where experiment_id = $1 and state = 'open') = 0 and games_stored = 2 * prefix_pairs
        from experiment_counter where experiment_id = $1")" = t ]
}
since_last() { # KIND ID: leases of the experiment that were granted after its last event of that kind
    sql "select count(*) from lease where experiment_id = $2 and granted_at >
        (select max(at) from event where kind = 'experiment-$1' and experiment_id = $2)"
}

ok "a private cluster with one worker" "$kroo" up --dir "$dir" --workers 1
id=$(k match starting starting --nodes-a 300 --nodes-b 200 --pairs 1M --seed 1 2>/dev/null)
ok "an experiment runs" wait_until 30 has_games "$id"

# --- pause ---
said=$(k pause "$id" --reason 'the room is hot')
is "it is paused" "$said" "experiment $id paused"
is "the event log says by whom and why" "$(sql "select text from event where experiment_id = $id and kind = 'experiment-paused'")" \
    "paused by local: the room is hot"
is "pausing it again is no error" "$(k pause "$id")" "experiment $id is paused already"
ok "what was out comes in and counts" wait_until 30 quiet "$id"
ok "kroo ls shows it" test "$(k ls --state paused --json | jq -r '.[].id')" = "$id"
ok "kroo show says what to do" grep -q "kroo resume $id" <(k show "$id" 2>&1)
kill -9 "$(pid_of coordinator)"
ok "a new coordinator" "$kroo" up --dir "$dir" --workers 1
other=$(k selfplay --weights starting --pairs 6 --nodes 50 --seed 2)
other_ended() { [ "$(state "$other")" = finished ]; }
ok "plays another experiment" wait_until 30 other_ended
is "and leaves the paused one alone" "$(state "$id") $(since_last paused "$id")" "paused 0"
for round in 1 2 3; do
    before=$(games "$id")
    k resume "$id" >/dev/null
    ok "resumed, it goes on ($round)" wait_until 30 has_games "$id" "$before"
    k pause "$id" >/dev/null
done
ok "paused again" wait_until 30 quiet "$id"
is "no pair went out while it was paused" "$(since_last paused "$id")" 0
is "nothing counts twice" "$(sql "select games_stored = (select count(*) from game where experiment_id = $id)
    from experiment_counter where experiment_id = $id")" t
ok "kroo verify agrees" k verify "$id"

# --- priority ---
k resume "$id" >/dev/null
urgent=$(k match starting starting --nodes-a 300 --nodes-b 200 --pairs 1M --seed 3 2>/dev/null)
ok "two experiments share the worker" wait_until 30 has_games "$urgent"
k priority "$urgent" 5 --reason 'a paper is due' >/dev/null
before=$(games "$urgent")
ok "the urgent one goes on" wait_until 30 has_games "$urgent" "$((before + 40))"
# What was asked for before the change may still be granted: one lease for each of the worker's slots at most.
after=$(sql "select count(*) from lease where experiment_id = $id and granted_at >
    (select max(at) from event where kind = 'experiment-prioritized' and experiment_id = $urgent)")
ok "within a lease the worker has left the other ($after leases)" test "$after" -le 1
is "its row has the priority" "$(sql "select priority from experiment where id = $urgent")" 5
fails "a priority without bounds is refused" 1 'within -1000 and 1000' k priority "$urgent" 1001
fails "so is one that is none" 1 'within -1000 and 1000' k priority "$urgent" high
ok "a negative one is a priority" k priority "$urgent" -- -3
ok "a note" k note "$urgent" 'of the cold room'
is "is kept" "$(k ls --json | jq -r ".[] | select(.id == $urgent).note")" 'of the cold room'

# --- the end ---
fails "what runs is not deleted" 1 'kroo stop' k delete "$id" --yes
fails "nothing is approved that waits for no approval" 1 'waits for no approval' k approve "$id"
fails "there is no experiment 4711" 1 'no experiment 4711' k pause 4711
is "stopped" "$(k stop "$id" --reason 'enough seen')" "experiment $id stopped"
fails "for good" 1 'kroo clone' k resume "$id"
fails "a verdict stands" 1 'not running' k stop "$id"
k stop "$urgent" >/dev/null
ok "the worker brings what it holds" k verify "$id"

# --- deletion ---
fails "deleting asks, and nobody answers" 1 'yes' k delete "$id"
stored=$(games "$id")
total=$(sql "select games from lifetime")
is "deleted" "$(k delete "$id" --yes --reason 'a test')" "experiment $id deleted, with $stored games"
is "its rows are gone" "$(sql "select (select count(*) from game where experiment_id = $id) + (select count(*) from lease where experiment_id = $id) + (select count(*) from verdict where experiment_id = $id)")" 0
is "so is its partition" "$(sql "select to_regclass('game_$id') is null")" t
is "the event log has it" "$(sql "select text from event where experiment_id = $id and kind = 'experiment-deleted'")" \
    "deleted, with $stored games, by local: a test"
is "the totals do not fall" "$(sql "select games >= $total, deleted_games, deleted_experiments from lifetime")" "t|$stored|1"
is "it counts among its user's" "$(sql "select aborted from verdict_by_user where kind = 'match'")" 2
is "deleting it again is no error" "$(k delete "$id" --yes)" "experiment $id was deleted already"
fails "nothing else is done to it" 1 'was deleted' k note "$id" x
next=$(k selfplay --weights starting --pairs 2 --nodes 50 --seed 2)
ok "its number is never used again" test "$next" -gt "$urgent"
ok "the cluster works, after a restart too" kill -9 "$(pid_of coordinator)"
ok "a new coordinator" "$kroo" up --dir "$dir" --workers 1
next_ended() { [ "$(state "$next")" = finished ]; }
ok "plays on" wait_until 30 next_ended
ok "kroo verify agrees about everything" k verify
done_testing
