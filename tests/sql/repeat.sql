-- Pairs that repeat an earlier one count nowhere, whichever way the list of them changes, and what is wrong with it is
-- found. Segments of four pairs, so that few games have many.
\ir fixture.psql
create or replace function kroo.rollup_segment_pairs() returns bigint language sql immutable parallel safe as 'select 4::bigint';
begin;
set jit = off;
select plan(29);
select t_experiment('match', true, 100), t_experiment('match', false, 100) \g /dev/null
update experiment set repeat_rule = 1, opening_plies = 1 where id = 1;

-- Pair p of the first has the games of pair p % 3: three different pairs in eleven, WW, WL and LD.
create function tests.t_pairs(experiment bigint, first integer, last integer) returns void language sql as $$
    select t_game(experiment, p, leg, (array[2, 2, 2, 0, 0, 1])[1 + 2 * (p % 3) + leg],
        (array['AbCd', 'AbCf', 'BcDe', 'BcDf', 'CdEf', 'CdEa'])[1 + 2 * (p % 3) + leg])
    from generate_series(first, last) p, generate_series(0, 1) leg
$$;
create function tests.t_prefix(experiment bigint) returns void language sql as $$
    update experiment_counter c set games_stored = r.games_stored, prefix_pairs = r.prefix_pairs, ll = r.ll, ld = r.ld,
        dd = r.dd, wl = r.wl, dw = r.dw, ww = r.ww, wins = r.wins, draws = r.draws, losses = r.losses,
        repeated_pairs = r.repeated_pairs
    from counters_recompute(experiment) r where c.experiment_id = experiment
$$;
create function tests.wrong() returns setof text language sql as $$
    select 'rolled ' || v::text from experiment e, verify_rollups(e.id) v
    union all select 'counted ' || d::text from counter_difference d
    union all select 'ending ' || x::text from (select experiment_id, reason, count(*) as games from game_counted group by 1, 2
        except select experiment_id, reason, games from endings_by_reason) x
    union all select 'opening ' || x::text from (select experiment_id, left(moves, 2) as opening, count(*) as games from game_counted
        group by 1, 2 except select experiment_id, opening, games from opening_score where plies = 2) x
    union all select 'length ' || x::text from (select experiment_id, count(*) as games from game_counted group by 1
        except select experiment_id, games from game_length) x
    union all select 'pairs ' || x::text from (select experiment_id, count(*) / 2 as pairs from game_counted group by 1
        except select experiment_id, sum(pairs)::bigint from pair_score group by 1) x
$$;

select t_pairs(1, 0, 10), t_pairs(2, 0, 10) \g /dev/null
select results_eq('select pair_no, first_pair from repeats_by_text(1) order by 1', 'select * from (values (1::bigint, 1::bigint)) n where false',
    'no pair counts yet');
select repeats_put(1, 0, array[3, 4, 5], array[0, 1, 2]) is null, t_prefix(2) is null \g /dev/null
select repeats_put(1, 6, array[6, 7, 8, 9, 10], array[0, 1, 2, 0, 1]) is null, t_prefix(1) is null \g /dev/null
select results_eq('select prefix_pairs, repeated_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses from experiment_counter where experiment_id = 1',
    $$values (11::bigint, 8::bigint, 0::bigint, 1::bigint, 0::bigint, 1::bigint, 0::bigint, 1::bigint, 3::bigint, 1::bigint, 2::bigint)$$,
    'repeats belong to the prefix and count in nothing');
select results_eq('select prefix_pairs, repeated_pairs, ld, wl, ww from experiment_counter where experiment_id = 2',
    'values (11::bigint, 0::bigint, 3::bigint, 4::bigint, 4::bigint)', 'where every pair counts, all of them do');
select is_empty('select * from wrong()', 'counters, roll-ups and views agree');
select is((select count(*)::int from game_counted where experiment_id = 1), 6, 'three pairs count');
select results_eq('select first, second, pairs from pair_score where experiment_id = 1 order by 1, 2',
    'values (0, 1, 1::bigint), (2, 0, 1::bigint), (2, 2, 1::bigint)', 'and are rated');
select is((select sum(games)::int from session_game_count where experiment_id = 1), 22, 'who played is counted with all games');
select results_eq('select prefix_pairs, repeated_pairs from experiment_progress where id = 1', 'values (11::bigint, 8::bigint)', 'progress');
select results_eq('select counted_pairs, repeated_pairs from experiment_counted where experiment_id = 1', 'values (11::bigint, 8::bigint)', 'how many count');
select results_eq('select pair_no, first_pair from repeats_by_text(1) order by 1', 'select pair_no, first_pair from pair_repeat order by 1',
    'the letters say the same');
select is((select count(*)::int from verify_counters(1)), 15, 'and are asked too');

-- The list changes below what is rolled up: a first pair is another now.
update game set moves = 'AbCe' where experiment_id = 1 and pair_no = 0 and leg = 0;
select isnt_empty('select * from counter_difference', 'repeats of a pair that has changed are found');
select repeats_put(1, 0, array[4, 5, 6, 7, 8, 9, 10], array[1, 2, 3, 1, 2, 3, 1]) is null, t_prefix(1) is null \g /dev/null
select is_empty('select * from wrong()', 'the next pair with its games counts in their stead');
select results_eq('select pair_no, first_pair from pair_repeat where first_pair = 3 order by 1', 'values (6::bigint, 3::bigint), (9, 3)',
    'and is what they repeat');
select is((select repeated_pairs from experiment_counter where experiment_id = 1), 7::bigint, 'one repeat fewer');
update game set moves = 'AbCd' where experiment_id = 1 and pair_no = 0 and leg = 0;
select repeats_put(1, 0, array[3, 4, 5, 6, 7, 8, 9, 10], array[0, 1, 2, 0, 1, 2, 0, 1]) is null, t_prefix(1) is null \g /dev/null
select is_empty('select * from wrong()', 'and back');

-- The prefix goes back before a repeat, which is no row any more.
delete from game where experiment_id = 1 and pair_no = 6;
select repeats_put(1, 0, array[3, 4, 5], array[0, 1, 2]) is null, t_prefix(1) is null \g /dev/null
select is_empty('select * from wrong()', 'the list goes back with the prefix');
select t_pairs(1, 6, 6), repeats_put(1, 6, array[6, 7, 8, 9, 10], array[0, 1, 2, 0, 1]), t_prefix(1) \g /dev/null
select is_empty('select * from wrong()', 'and comes forward again');
insert into dispute (experiment_id, pair_no, was_counted, reason) values (1, 1, true, 'test'), (1, 4, true, 'test');
select is_empty('select * from wrong()', 'open disputes take counted pairs out, and repeats not twice');
update dispute set state = 'settled', settled_at = now(), settlement = 'test';

-- What is found.
delete from pair_repeat where experiment_id = 1 and pair_no = 8;
select isnt_empty('select * from verify_counters(1) where counter = ''repeats letter by letter'' and recorded <> recomputed', 'a row that is missing');
insert into pair_repeat values (1, 8, 5);
select isnt_empty('select * from verify_counters(1) where counter = ''first pairs that count'' and recorded <> recomputed',
    'a first pair that is itself a repeat');
update pair_repeat set first_pair = 2 where pair_no = 8;
select is_empty('select * from wrong()', 'mended');

-- What is refused.
select throws_ok('insert into pair_repeat values (1, 3, 2)', '23505', null, 'a pair repeats once');
select throws_ok('insert into pair_repeat values (1, 2, 2)', '23514', null, 'an earlier pair');
select throws_ok('update experiment_counter set repeated_pairs = 7 where experiment_id = 1', '23514', null,
    'counts and repeats add up to the prefix');
select throws_ok('update experiment set noise_ppm = 1000, repeat_rule = 1, player_b = player_a where id = 2', '23514', null,
    'with noise every pair counts');

-- A verdict, and deletion.
insert into verdict (experiment_id, verdict, games_stored, counted_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses,
    repeated_pairs, formula_version, by)
select experiment_id, 'aborted', games_stored, prefix_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses, repeated_pairs, 1,
    'tester' from experiment_counter where experiment_id = 1;
select is_empty('select * from wrong()', 'with the verdict all agrees');
select results_eq('select counted_pairs, repeated_pairs, counted_games, uncounted_games from experiment_verdict where experiment_id = 1',
    'values (11::bigint, 8::bigint, 6::bigint, 16::bigint)', 'the verdict tells what it rests on');
update experiment set state = 'stopped', ended_at = now() where id = 1;
select counted_pairs from lifetime \gset
select experiment_delete(1, 'tester', 'test') \g /dev/null
select is((select counted_pairs from lifetime) || ' ' || (select count(*) from pair_repeat), :counted_pairs || ' 0',
    'repeats go with their experiment, and lifetime counters do not fall');
select * from finish();
rollback;
