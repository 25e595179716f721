-- The server extension: agrees with the reference vectors, refuses nonsense with ply and reason, is bounded, and answers
-- the questions it is there for. tests/sql/run.sh loads its functions from build/extension/.
\ir fixture.psql
begin;
set jit = off;
select plan(44);
create table tests.game_line (line jsonb);
\copy tests.game_line from 'tests/vectors/rules/games-all-rule-sets.jsonl' with (format csv, quote e'\x01', delimiter e'\x02')
create table tests.state_line (line jsonb);
\copy tests.state_line from 'tests/vectors/rules/games-first-repetition.jsonl' with (format csv, quote e'\x01', delimiter e'\x02')

delete from state_line where line ->> 'start' <> '4-4-4-4-4-4-4-4-4-4-4-4-0-0-S';

create table tests.reference as
select line ->> 'moves' as moves, line ->> 'rules' as rules, (line ->> 'plies')::int as plies, line ->> 'reason' as reason,
    line from game_line;
create table tests.reference_states as
select line ->> 'moves' as moves, (line ->> 'plies')::int as plies, line ->> 'reason' as reason, line -> 'states' as states
from state_line;

-- Reference games under every rule set.
select cmp_ok((select count(distinct rules)::int from reference), '>=', 11, 'games of every rule set');
select is_empty($$
    select f.moves, r from reference f, lateral oware_result(f.moves, f.rules) r
    where (r.result, r.reason, r.plies, r.south, r.north) is distinct from (line ->> 'result', f.reason,
        f.plies, (line -> 'stores' ->> 0)::smallint, (line -> 'stores' ->> 1)::smallint)
$$, 'their results, reasons, lengths and stores are those of the reference');
select is_empty($$
    select moves, p from reference, lateral (select count(*) as rows, max(ply) as last,
        bool_and((select sum(h) from unnest(houses) h) + stores[1] + stores[2] = 48) as whole,
        bool_and(side = case when ply % 2 = 0 then 'south' else 'north' end) as in_turn
        from oware_positions(moves, rules)) p
    where p.rows <> plies + 1 or p.last <> plies or not p.whole or not p.in_turn
$$, 'a row for the start and each ply, 48 seeds in each, sides in turn');
select is_empty($$
    select moves from reference, lateral oware_positions(moves, rules) p
    where p.ply = plies and reason in ('majority', 'even')
        and to_jsonb(p.houses) <> line -> 'houses'
$$, 'the houses at the end where nobody takes leftovers');
-- Every position of games that end with the first repetition; the last one before leftovers are taken.
select is_empty($$
    select moves, p.ply from reference_states, lateral oware_positions(moves, 'site,repetitions=2') p
    where p.ply > 0
        and (p.ply < plies or reason = 'majority')
        and to_jsonb(p.houses || p.stores) <> states -> (p.ply - 1)
$$, 'every position of reference games that end with the first repetition');
select cmp_ok((select count(*)::int from reference_states), '>=', 200, 'of more than two hundred');
-- A capture is what the mover's store grows by, leftovers aside.
select is_empty($$
    select moves, c.ply from reference, lateral unnest(oware_captures(moves, rules))
        with ordinality c (seeds, ply), lateral (select p.stores, lag(p.stores) over (order by p.ply) as before, p.ply
            from oware_positions(moves, rules) p) p
    where p.ply = c.ply and rules = 'site' and (p.ply < plies or reason = 'majority')
        and c.seeds <> p.stores[2 - c.ply::int % 2] - p.before[2 - c.ply::int % 2]
$$, 'captures are the growth of the mover''s store');

-- Numbers of positions.
select is_empty($$
    select p from reference, lateral oware_positions(moves, rules) p,
        lateral oware_board(oware_key(p.houses, p.side)) b where (b.side, b.houses) <> (p.side, p.houses)
$$, 'number and position are each other''s inverse');
select is((select count(distinct oware_key(houses, side)) from reference_states, lateral oware_positions(moves, 'auale')),
    (select count(distinct (houses, side)) from reference_states, lateral oware_positions(moves, 'auale')),
    'different positions have different numbers');
select is_empty($$
    select p from reference_states, lateral oware_positions(moves, 'auale') p
    where oware_key(p.houses, p.side, true) <> oware_key(p.houses[7:12] || p.houses[1:6],
        case p.side when 'south' then 'north' else 'south' end, true)
        or oware_key(p.houses, p.side) = oware_key(p.houses[7:12] || p.houses[1:6],
        case p.side when 'south' then 'north' else 'south' end)
$$, 'colour-swapped twins have one number if asked, two if not');
select is_empty($$
    select p from reference, lateral oware_positions(moves, rules) p
    where p.ply < plies and p.ply % 16 = 5
        and oware_key_at(moves, p.ply, rules) is distinct from oware_key(p.houses, p.side)
$$, 'the number after some plies');
select is(oware_key_at('FcE', 4), null, 'no number beyond the end of the moves');
select is((select count(*)::int from reference where oware_key_at(moves, plies, rules)
    is not null), 0, 'nor where the game is over');
select is(oware_key_at('FcEzzz', 3), oware_key_at('FcE', 3), 'later moves are not looked at');

-- An unfinished game, none at all, and null.
select results_eq($$select result, reason, south, north, plies from oware_result('FcE')$$,
    $$values ('unfinished', null, 0::smallint, 0::smallint, 3)$$, 'an unfinished game');
select results_eq($$select ply, side, stores from oware_positions('')$$, $$values (0, 'south', array[0, 0]::integer[])$$,
    'no move at all: the start');
select is(oware_captures(''), array[]::integer[], 'and no captures');
select is_empty('select * from oware_positions(null)', 'null gives nothing');
select is((oware_result(null)).result, null, 'or null');

-- Refused, with the ply and the reason.
select throws_ok($$select * from oware_positions('FcEE')$$, '22000', 'ply 4, E: not a legal move');
select throws_ok($$select oware_result('FcX')$$, '22000', 'ply 3, X: no house has this letter');
select throws_ok($$select oware_result(e'Fc\u00e9')$$, '22000', 'ply 3, \xc3: no house has this letter');
select throws_ok($$select oware_result('Fc E')$$, '22000', 'ply 3,  : no house has this letter');
select throws_ok($$select oware_captures((select moves from reference where rules = 'site' limit 1) || 'A')$$,
    '22000', 'ply 49, A: the game was over');
select throws_ok($$select oware_result('FcE', 'chess')$$, '22023', 'no rule set "chess"');
select throws_ok($$select oware_result('FcE', repeat('site,', 100))$$, '54000', 'rules of 500 bytes: at most 160 are read');
select throws_ok($$select oware_result(repeat('Aa', 100000000))$$, '54000', '200000000 plies: no game has more than 16384');
select throws_ok($$select oware_key_at('FcE', -1)$$, '22023', 'ply -1: plies are counted from 0');
select throws_ok($$select oware_key(array[1, 2], 'south')$$, '2202E', 'houses are twelve numbers, A..F and a..f');
select throws_ok($$select oware_key(array[4,4,4,4,4,4,4,4,4,4,4,null], 'south')$$, '2202E', 'houses are twelve numbers, A..F and a..f');
select throws_ok($$select oware_key(array[4,4,4,4,4,4,4,4,4,4,4,-4], 'south')$$, '22023', 'house f holds -4 seeds: there are 48 in all');
select throws_ok($$select oware_key(array[4,4,4,4,4,4,4,4,4,4,4,5], 'south')$$, '22023', 'house f holds 5 seeds: there are 48 in all');
select throws_ok($$select oware_key(array[4,4,4,4,4,4,4,4,4,4,4,4], 'up')$$, '22023', 'side is south or north, not "up"');
select throws_ok($$select oware_board(-1)$$, '22003', '-1 is no number of a position');

-- Garbage of all kinds: an answer or an error of ours, never another; the backend is the same one afterwards.
create function tests.garbage(seed integer) returns text language sql as $$
    select coalesce(string_agg(case (hashint4(seed * 131 + n) & 7) when 0 then chr(1 + (hashint4(n - seed) & 1023))
        else substr('AbCdEfaBcDeF', 1 + (hashint4(seed + 7919 * n) & 2147483647) % 12, 1) end, ''), '')
    from generate_series(1, (hashint4(seed) & 63)) n
$$;
create function tests.survives(seed integer) returns text language plpgsql as $$
declare
    rules text := (array['site', 'togo', 'awari', 'site,repetitions=0,quiet_limit=0', 'school,', ',', ''])[1 + seed % 7];
begin
    perform (oware_result(garbage(seed), rules)).plies;
    perform count(*) from oware_positions(garbage(seed), rules);
    perform oware_captures(garbage(seed), rules), oware_key_at(garbage(seed), seed % 70, rules);
    return 'answered';
exception when data_exception or invalid_parameter_value then
    return 'refused';
end
$$;
select pg_backend_pid() as backend \gset
select is((select string_agg(distinct survives(n), ' ' order by survives(n)) from generate_series(1, 5000) n),
    'answered refused', 'garbage is answered or refused');
select is(pg_backend_pid(), :backend, 'and the server goes on');

-- In a Kroo database: which position is the most frequent at ply 20, and how does South fare from it?
select t_experiment('selfplay', false, 100) \g /dev/null
insert into game (experiment_id, pair_no, leg, attempt, lease_id, session_id, moves, plies, result, reason, south, north,
    a_half_points, claimed, nodes, time_ms)
select 1, n / 2, n % 2, 1, 0, 0, g.moves, g.plies, r.result, r.reason, r.south, r.north,
    case when r.result = 'draw' then 1 when (r.result = 'south') = (n % 2 = 0) then 2 else 0 end, false, 1000, 10
from (select moves, plies, row_number() over () - 1 as n from reference where rules = 'site' limit 60) g,
    lateral oware_result(g.moves) r;
update experiment_counter set games_stored = 60, prefix_pairs = r.prefix_pairs, ll = r.ll, ld = r.ld, dd = r.dd, wl = r.wl,
    dw = r.dw, ww = r.ww, wins = r.wins, draws = r.draws, losses = r.losses from counters_recompute(1) r;
select is((select sum(seeds)::int from game_captures(1)), (select sum(s.seeds)::int from game g,
    lateral unnest(oware_captures(g.moves)) s (seeds)), 'captures of the counted games');
select is((select count(*)::int from game_positions(1) where ply = 20),
    (select count(*)::int from game where plies >= 20), 'positions of the counted games');
select is((select max(pair_no)::int from game_positions(1, 5, 3)), 7, 'of a range of pairs');
select is((select sum(games)::int from (select oware_key_at(moves, 20) as key, count(*) as games from game_counted
    where experiment_id = 1 group by 1) k), 60, 'games by position at ply 20');
-- `kroo query positions`: all games of few pairs, of more a sample that tells its size.
\set positions `sed 1,2d sql/queries/positions.sql | sed "s/[$]1/1/g; s/[$]2/0/g; s/[$]3/nullif(current_setting('tests.pairs', true), '')/g"`
create view tests.positions as :positions;
select results_eq('select to_move, games, of_games, all_games, share, south_wins + draws + north_wins from positions',
    $$values ('south', 60::bigint, 60::bigint, 60::bigint, 1.0000, 60::bigint)$$, 'every game stood at the start');
set local tests.pairs = 7;
select results_eq('select games, of_games, all_games from positions', $$values (14::bigint, 14::bigint, 60::bigint)$$, 'a sample');
-- Many games, twice: neither way scans them.
select t_experiment('selfplay', false, 100000) \g /dev/null
insert into game (experiment_id, pair_no, leg, attempt, lease_id, session_id, moves, plies, result, reason, south, north,
    a_half_points, claimed, nodes, time_ms)
select 2, g.pair_no + 30 * n, g.leg, 1, 0, 0, g.moves, g.plies, g.result, g.reason, g.south, g.north, g.a_half_points, false, 1000, 10
from game g, generate_series(0, 499) n where g.experiment_id = 1;
update experiment_counter set games_stored = 30000, prefix_pairs = r.prefix_pairs, ll = r.ll, ld = r.ld, dd = r.dd, wl = r.wl,
    dw = r.dw, ww = r.ww, wins = r.wins, draws = r.draws, losses = r.losses from counters_recompute(2) r where experiment_id = 2;
analyze;
create function tests.scans() returns bigint language sql as
    $$select sum(seq_scan)::bigint from pg_stat_xact_user_tables where relname ~ '^game_\d+$'$$;
select scans() as before \gset
\set positions `sed 1,2d sql/queries/positions.sql | sed "s/[$]1/2/g; s/[$]2/6/g; s/[$]3/1000/g"`
create table tests.sample as :positions;
select is((select max(of_games) from sample), 2000::bigint, 'a sample of many games');
select is(scans(), :before::bigint, 'without a scan of them');
select * from finish();
rollback;
