#!/usr/bin/env bash
# Shipped queries: what they answer after a match, in every format, from one snapshot; what they refuse; and that
# `kroo verify` finds roll-ups that are not what the games say.
. "$(dirname "$0")/lib.sh"
export KROO_DIR=$dir
answers() { kroo query "$@" --timeout 60 >/dev/null; }
verified() { kroo verify "$1" >/dev/null; }
test_locked() { [ "$(sql "select count(*) from pg_locks where relation = 'kroo.ending_rollup'::regclass and granted and mode = 'AccessExclusiveLock'")" = 1 ]; }
kroo up --workers 1 >/dev/null || exit 1
id=$(kroo match starting starting --pairs 12 --nodes-a 30 --nodes-b 60 --seed 1 2>/dev/null)
kroo watch "$id" >/dev/null 2>&1

is "every query is listed with what it answers" "$(kroo query --list --json | jq -r 'map(select(.answers != "")) | length')" \
    "$(find "$root/sql/queries" -name '*.sql' | wc -l)"
is "endings count all games" "$(kroo query endings "$id" --json | jq '[.rows[].games] | add')" 24
is "lengths too" "$(kroo query lengths "$id" 1000 --format csv | tr -d '\r')" \
    "from_plies,to_plies,games,share,draws
0,999,24,1.0000,$(sql "select count(*) from game_counted where experiment_id = $id and result = 'draw'")"
is "a prefix of two plies, from the games" "$(kroo query openings "$id" F --json | jq -c '[.rows[] | [.opening, .games, .south_wins]] | sort')" \
    "$(sql "select coalesce(json_agg(json_build_array(o, n, w) order by o), '[]') from (select left(moves, 2) o, count(*) n, count(*) filter (where result = 'south') w from game_counted where experiment_id = $id and moves like 'F_%' group by 1) x" | jq -c .)"
opening=$(sql "select left(moves, 5) from game_counted where experiment_id = $id order by moves limit 1")
is "a prefix of five" "$(kroo query openings "$id" "$opening" --json | jq '[.rows[].games] | add')" \
    "$(sql "select count(*) from game_counted where experiment_id = $id and moves like '$opening%' and plies > 5")"
is "pairs by opening" "$(kroo query pairs-by-opening "$id" --json | jq '[.rows[].pairs] | add')" 12
is "captures by ply: each game has a first ply" "$(kroo query captures "$id" --json | jq -c '.rows[0] | [.ply, .games]')" '[1,24]'
is "who played" "$(kroo query who-played "$id" --json | jq -c '[.rows[] | [.worker, .games]]')" '[["worker-1",24]]'
is "workers' health" "$(kroo query workers --json | jq -c '[.rows[] | [.worker, .games, .faults, .outvoted]]')" '[["worker-1",24,0,0]]'
is "an answer tells its time" "$(kroo query lifetime | tail -n 1 | sed 's/[0-9]/0/g')" 'as of 0000-00-00 00:00:00.000 UTC'
for name in $(kroo query --list --json | jq -r '.[] | select(.needs == "") | .name + if .parameters | startswith("ID") then "/'"$id"'" elif .parameters == "WEIGHTS" then "/starting" else "" end'); do
    ok "query ${name%/*} answers" answers ${name/\// }
done

# The server extension is there when it is installed where the server runs (.ci/run installs it).
if [ "$(sql "select count(*) from pg_extension where extname = 'kroo_oware'")" = 1 ]; then
    is "positions after no ply: all games have one" "$(kroo query positions "$id" 0 --json | jq -c '[.rows[] | [.to_move, .south_row, .games]]')" \
        '[["south","4-4-4-4-4-4",24]]'
    is "captures by ply are those of a replay" "$(kroo query captures "$id" --json | jq -c '[.rows[] | [.ply, .games, .captures, .seeds]]')" \
        "$(sql "select json_agg(json_build_array(ply, games, captures, seeds) order by ply) from (select ply, count(*) games, count(*) filter (where seeds > 0) captures, sum(seeds) seeds from game_captures($id) group by 1) x" | jq -c .)"
else
    fails "a query that needs the extension says so" 1 'positions needs the server extension kroo_oware.*install-extension' \
        kroo query positions "$id"
fi

fails "an unknown query names a near one" 2 'did you mean endings' kroo query ending "$id"
fails "an experiment must be there" 1 'there is no experiment 999' kroo query endings 999
fails "a missing parameter is named" 2 'takes ID' kroo query endings
fails "a parameter too many too" 2 'takes only ID' kroo query endings "$id" 7
fails "a prefix is moves" 2 'PREFIX is moves' kroo query openings "$id" "x' or true --"
fails "weights must be known" 1 'no weights|unknown|not known' kroo query lineage nonesuch
mkfifo "$work/lock"
kroo sql -qXAt <"$work/lock" >/dev/null &
exec 8>"$work/lock"
echo 'begin; lock table kroo.ending_rollup;' >&8
ok "(a lock is held)" wait_until 20 test_locked
fails "a query that takes too long is given up" 1 'after 1 s and was given up.*--timeout' kroo query endings "$id" --timeout 1
exec 8>&-

ok "roll-ups agree" verified "$id"
sql "update ending_rollup set games = games + 1 where experiment_id = $id" >/dev/null
fails "a roll-up that is wrong is told" 1 'ending_rollup, segment 0, .* games' kroo verify "$id"
sql "update ending_rollup set games = games - 1 where experiment_id = $id; delete from session_rollup" >/dev/null
fails "and a session that is not counted" 1 'session_rollup, segment 0, session .* says 0 games' kroo verify "$id"

# OpenBench 9385dfc: what a reader sees must hold no secret.
is "a reader finds no column that could hold one" "$(sql "set role kroo_reader; select count(*) from information_schema.columns where table_schema = 'kroo' and column_name ~* 'secret|passw|private|token'")" 0
done_testing
