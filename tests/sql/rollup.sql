-- The roll-ups say at every moment what the counted games say: while the prefix moves on and back, games are disputed,
-- replaced and deleted, and after the verdict. Segments of four pairs, so that few games have many.
\ir fixture.psql
create or replace function kroo.rollup_segment_pairs() returns bigint language sql immutable parallel safe as 'select 4::bigint';
begin;
set jit = off;
select plan(41);
select t_experiment('match', true, 100), t_experiment('selfplay', false, 100), t_experiment('match', true, 100) \g /dev/null
update experiment set opening_plies = 2 where id = 3;

-- What the views must say, from game_counted and the pairs in it.
create view tests.endings as
select experiment_id, reason, count(*) as games, round(count(*) / sum(count(*)) over (partition by experiment_id), 4) as share,
    count(*) filter (where result = 'south') as south_wins, count(*) filter (where result = 'draw') as draws,
    count(*) filter (where result = 'north') as north_wins, round(avg(plies), 1) as mean_plies
from game_counted group by experiment_id, reason;
create view tests.lengths as
select experiment_id, count(*) as games, min(plies) as shortest, percentile_disc(0.1) within group (order by plies) as tenth,
    percentile_disc(0.5) within group (order by plies) as median, round(avg(plies), 1) as mean,
    percentile_disc(0.9) within group (order by plies) as ninetieth, max(plies) as longest
from game_counted group by experiment_id;
create view tests.openings as
select experiment_id, left(moves, n) as opening, n as plies, count(*) as games,
    count(*) filter (where result = 'south') as south_wins, count(*) filter (where result = 'draw') as draws,
    count(*) filter (where result = 'north') as north_wins,
    round(avg(case result when 'south' then 1 when 'draw' then 0.5 else 0 end), 4) as south_score
from game_counted, generate_series(1, 4) n where plies >= n group by experiment_id, left(moves, n), n;
create view tests.pairs as
select a.experiment_id, left(a.moves, least(e.opening_plies, 4)) as opening, count(*) as pairs,
    count(*) filter (where a.a_half_points + b.a_half_points = 0) as ll,
    count(*) filter (where a.a_half_points + b.a_half_points = 1) as ld,
    count(*) filter (where a.a_half_points = 1 and b.a_half_points = 1) as dd,
    count(*) filter (where abs(a.a_half_points - b.a_half_points) = 2) as wl,
    count(*) filter (where a.a_half_points + b.a_half_points = 3) as dw,
    count(*) filter (where a.a_half_points + b.a_half_points = 4) as ww,
    round(avg(a.a_half_points + b.a_half_points) / 4, 4) as a_score
from game_counted a join game_counted b using (experiment_id, pair_no) join experiment e on e.id = a.experiment_id
where a.leg = 0 and b.leg = 1 and e.kind <> 'selfplay' group by a.experiment_id, left(a.moves, least(e.opening_plies, 4));
create function tests.differences() returns setof text language sql as $$
    (select 'endings ' || x::text from (table endings except table endings_by_reason) x)
    union all (select 'endings ' || x::text from (table endings_by_reason except table endings) x)
    union all (select 'lengths ' || x::text from (table lengths except table game_length) x)
    union all (select 'lengths ' || x::text from (table game_length except table lengths) x)
    union all (select 'openings ' || x::text from (table openings except table opening_score) x)
    union all (select 'openings ' || x::text from (table opening_score except table openings) x)
    union all (select 'first ' || x::text from (select experiment_id, opening, games, south_wins, draws, north_wins,
        south_score from openings where plies = 1 except table first_move_score) x)
    union all (select 'pairs ' || x::text from (table pairs except table opening_pairs) x)
    union all (select 'pairs ' || x::text from (table opening_pairs except table pairs) x)
    union all (select 'scores ' || x::text from (select a.experiment_id, a.a_half_points::int as first,
        b.a_half_points::int as second, count(*) as pairs from game_counted a join game_counted b using (experiment_id, pair_no)
        join experiment e on e.id = a.experiment_id where a.leg = 0 and b.leg = 1 and e.kind <> 'selfplay'
        group by 1, 2, 3 except table pair_score) x)
    union all (select 'histogram ' || x::text from (select experiment_id, plies, count(*) as games,
        count(*) filter (where result = 'draw') as draws from game_counted group by 1, 2
        except table game_length_histogram) x)
    union all (select 'verify ' || v::text from experiment e, verify_rollups(e.id) v)
$$;
-- Both games of some pairs; results and moves from the pair's number.
create function tests.t_pairs(experiment bigint, first integer, last integer) returns void language sql as $$
    select t_game(experiment, p, leg, (p * 7 + leg * 5 + p / 3) % 3,
        substr('AbCdEfFaBcDeEdAaBb', 1 + 2 * (p % 3), 6) || substr('AfBeCd', 1 + 2 * ((p + leg) % 2), 2 * (p % 2)))
    from generate_series(first, last) p, generate_series(0, 1) leg
$$;
create function tests.t_prefix(experiment bigint) returns void language sql as $$
    update experiment_counter c set games_stored = r.games_stored, prefix_pairs = r.prefix_pairs, ll = r.ll, ld = r.ld,
        dd = r.dd, wl = r.wl, dw = r.dw, ww = r.ww, wins = r.wins, draws = r.draws, losses = r.losses
    from counters_recompute(experiment) r where c.experiment_id = experiment
$$;
create function tests.rolled(experiment bigint) returns bigint language sql as
    'select rolled_pairs from experiment_counter where experiment_id = experiment';

select t_pairs(e, 0, 2), t_prefix(e) from generate_series(1, 3) e \g /dev/null
select is(rolled(1), 0::bigint, 'less than a segment is not rolled up');
select is_empty('select * from differences()', 'and is read live');
select t_pairs(1, 4, 9), t_prefix(1) \g /dev/null
select is(rolled(1), 0::bigint, 'a gap holds the roll-ups back');
select is_empty('select * from differences()', 'games beyond the gap do not count');
select t_pairs(e, 3, 3), t_pairs(e, case when e = 1 then 10 else 4 end, 10), t_prefix(e) from generate_series(1, 3) e \g /dev/null
select is(array[rolled(1), rolled(2), rolled(3)], array[8, 8, 8]::bigint[], 'full segments are rolled up');
select is((select count(distinct segment)::int from ending_rollup where experiment_id = 1), 2, 'two of them');
select is_empty('select * from differences()', 'roll-ups and the live rest agree with the games');
select is_empty('select * from pair_rollup where experiment_id = 2', 'self-play has no pair counts');
select isnt_empty('select * from opening_pairs where experiment_id = 3 and length(opening) = 2', 'openings of two plies');
select is((select sum(games)::int from session_game_count where experiment_id = 1), 22, 'who played is counted');

insert into dispute (experiment_id, pair_no, was_counted, reason) values (1, 2, true, 'test'), (1, 9, true, 'test'), (3, 5, true, 'test');
select is_empty('select * from differences()', 'an open dispute takes its pair out');
update dispute set state = 'settled', settled_at = now(), settlement = 'test';
select is_empty('select * from differences()', 'a settled one brings it back');

update game set moves = left(moves, 4) || 'FcF', plies = 7, result = 'draw', reason = 'even', south = 24, north = 24, a_half_points = 1,
    session_id = 5 where experiment_id = 1 and pair_no in (1, 6, 9) and leg = 1;
select t_prefix(1) \g /dev/null
select is_empty('select * from differences()', 'games that were replaced are counted as they are now');
select is((select games::int from session_game_count where experiment_id = 1 and session_id = 5), 3, 'and who played them');

delete from game where experiment_id = 1 and pair_no = 5;
select t_prefix(1) \g /dev/null
select is(rolled(1), 4::bigint, 'the roll-ups go back with the prefix');
select is_empty('select * from differences()', 'and still agree');
select t_pairs(1, 5, 5), t_prefix(1) \g /dev/null
select is(rolled(1), 8::bigint, 'and come forward again');
select is_empty('select * from differences()', 'with what is stored now');

insert into verdict (experiment_id, verdict, games_stored, counted_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses,
    sprt_model, elo0, elo1, alpha, beta, batch, llr, lower, upper, formula_version)
select 1, 'accepted', games_stored, prefix_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses, 'normalized', 0, 5, 0.05,
    0.05, 16, 3, -2.9, 2.9, 1 from experiment_counter where experiment_id = 1;
select is(rolled(1), 11::bigint, 'with the verdict everything that counts is rolled up');
select is((select count(*)::int from game_unrolled where experiment_id = 1), 0, 'and nothing is read live');
select is_empty('select * from differences()', 'all agrees');
select t_pairs(1, 11, 12), t_prefix(1) \g /dev/null
select is_empty('select * from differences()', 'late games change nothing');
update game set session_id = 6 where experiment_id = 1 and pair_no = 12;
select is_empty('select * from differences()', 'nor does a change to them');

-- What verify_rollups finds.
update ending_rollup set games = games + 1 where experiment_id = 1 and segment = 1 and reason = 'even';
select results_eq('select distinct source, place from verify_rollups(1)',
    $$values ('ending_rollup', 'segment 1, even draw')$$, 'a count that is wrong is found');
update ending_rollup set games = games - 1 where experiment_id = 1 and segment = 1 and reason = 'even';
delete from opening_rollup where experiment_id = 1 and segment = 0 and opening = 'AbCd';
select results_eq('select source, place, recorded from verify_rollups(1)',
    $$values ('opening_rollup', 'segment 0, AbCd', ' games,  won by South,  drawn')$$, 'a row that is missing is found');
select rollup_drop(1, 0, 0) is null, rollup_fill(1, 0, 4) is null \g /dev/null
insert into length_rollup values (2, 1, 999, 1, 0);
select results_eq('select source, place from verify_rollups(2)', $$values ('length_rollup', 'segment 1, 999 plies')$$,
    'a row too many is found');
delete from session_rollup where experiment_id = 3 and segment = 0;
select results_eq('select source, recorded from verify_rollups(3)', $$values ('session_rollup', '0 games, 0 faults')$$,
    'a session that is not counted is found');
select session_rollup_refill(3, 0, 2) is null \g /dev/null
select is_empty('select * from verify_rollups(3)', 'and can be counted anew');

-- With a book, pairs go by what both legs began with.
select results_eq($$select shared_opening(a, b, 5) from (values ('AbCdE', 'AbCdF'), ('AbC', 'AbF'), ('A', 'B')) x (a, b)$$,
    $$values ('AbCd'), ('Ab'), ('')$$, 'the opening both legs share');

-- Captures are the coordinator's to count: here only that what it owes is known, and is added once.
delete from capture_due;
select capture_add(3, 0, array[8, 8, 2], array[0, 1, 0], array[0, 2, 0]), capture_add(3, 1, array[8], array[0], array[0]),
    capture_add(3, 0, array[1, 1, 1, 1], array[0, 0, 1, 0], array[0, 0, 3, 0]) \g /dev/null
select results_eq('select ply, games, captures, seeds, mean_seeds from captures_by_ply where experiment_id = 3 order by ply',
    $$values (1, 17::bigint, 0::bigint, 0::bigint, 0.000), (2, 9, 1, 2, 0.222), (3, 3, 1, 3, 1.000), (4, 1, 0, 0, 0.000)$$,
    'captures add up over commits and segments');
update game set time_ms = 11 where experiment_id = 3 and pair_no = 5 and leg = 0;
select results_eq('table capture_due', 'values (3::bigint, 1::bigint)', 'a game that changed: its segment is due');
select capture_add(3, 1, array[8], array[1], array[2]) \g /dev/null
select is_empty('select from capture_rollup where experiment_id = 3 and segment = 1', 'and takes nothing in until it is counted');
select results_eq('select * from capture_due_take(5)', $$values (3::bigint, 1::bigint, 'site')$$, 'it can be taken');
select capture_put(3, 1, array[8, 7], array[0, 1], array[0, 2]) \g /dev/null
select is((select row(games, captures, seeds)::text from capture_rollup where experiment_id = 3 and segment = 1),
    '("{8,7}","{0,1}","{0,2}")', 'and counted');
select is_empty('table capture_due', 'then it is due no longer');
select throws_ok($$select capture_add(3, 2, array[1, 1], array[0], array[0])$$, '23514', null, 'lists of different lengths are refused');

-- Deleting an experiment takes its roll-ups along, and lifetime counters do not fall (leela-zero-server#137).
insert into verdict (experiment_id, verdict, games_stored, counted_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses,
    formula_version, by)
select 2, 'aborted', games_stored, prefix_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses, 1, 'tester'
from experiment_counter where experiment_id = 2;
update experiment set state = 'stopped', ended_at = now() where id = 2;
select capture_add(2, 0, array[1], array[0], array[0]), capture_forget(2, 1) \g /dev/null
select games, counted_pairs from lifetime \gset
select isnt_empty('select from ending_rollup where experiment_id = 2', 'an experiment with roll-ups');
select is(experiment_delete(2, 'tester', 'test'), 22::bigint, 'is deleted');
select is_empty('select from ending_rollup where experiment_id = 2 union all select from length_rollup where experiment_id = 2
    union all select from opening_rollup where experiment_id = 2 union all select from session_rollup where experiment_id = 2
    union all select from capture_rollup where experiment_id = 2 union all select from capture_due where experiment_id = 2',
    'and has none any more');
select is((select row(games, counted_pairs)::text from lifetime), format('(%s,%s)', :games, :counted_pairs),
    'lifetime counters never fall');
select is_empty('select * from differences()', 'what is left agrees');
select * from finish();
rollback;
