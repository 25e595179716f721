-- A database that held games before 009 and 021 (backfill.psql): after all migrations its roll-ups are what a fresh count
-- gives, and its captures are due.
\set ON_ERROR_STOP 1
\pset format unaligned
\pset tuples_only true
\pset pager off
set search_path = kroo, tests, public;
begin;
select plan(11);
select is((select array_agg(games_stored order by experiment_id) from experiment_counter), array[66000, 240, 118, 0]::bigint[],
    'the games of old are there');
select is((select array_agg(rolled_pairs order by experiment_id) from experiment_counter), array[32768, 120, 0, 0]::bigint[],
    'full segments and decided experiments are rolled up');
select is_empty('select * from experiment e, verify_rollups(e.id)', 'as a fresh count has them');
select is_empty('select * from counter_difference', 'and the counters are right');
select results_eq('select experiment_id, sum(games)::bigint from endings_by_reason group by 1 order by 1',
    'select experiment_id, count(*) from game_counted group by 1 order by 1', 'endings are complete');
select results_eq('select experiment_id, opening, games, south_wins, draws from opening_count order by 1, 2',
    $$select experiment_id, left(moves, 4), count(*), count(*) filter (where result = 'south'), count(*) filter (where result = 'draw')
    from game_counted group by 1, 2 order by 1, 2$$, 'openings too');
select results_eq('select experiment_id, sum(pairs)::bigint from pair_score group by 1 order by 1',
    $$values (2::bigint, 120::bigint), (3, 49)$$, 'pairs of matches, but for the one in dispute');
select results_eq('select experiment_id, session_id, games from session_game_count order by 1, 2',
    'select experiment_id, session_id, count(*) from game group by 1, 2 order by 1, 2', 'and who played');
select results_eq('select experiment_id, segment from capture_due order by 1, 2', $$values (1::bigint, 0::bigint), (1, 1), (2, 0), (3, 0)$$,
    'captures of segments that have games are due');
select is_empty('table capture_rollup', 'none is counted by halves');

-- 009 left experiments that were decided before it and are shorter than a segment without roll-ups.
select isnt_empty('select from ending_rollup where experiment_id = 2', 'a short decided match has its roll-ups');
select * from finish();
rollback;
