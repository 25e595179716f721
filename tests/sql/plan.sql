-- The shipped queries read indexes of `game`, with the planner's settings as they are, and counted by the server.
\ir fixture.psql
select t_experiment('match', false, 100000), t_experiment('match', true, 100000) \g /dev/null
-- 80,000 and 10,000 games cut out of one long random line.
create table tests.line (letters bytea);
alter table tests.line alter column letters set storage external; -- so that a piece is read without the rest
insert into tests.line
select string_agg(chr((case when n % 2 = 0 then 65 else 97 end) + floor(random() * 6)::int), '' order by n)::bytea
from generate_series(0, 199999) n;
insert into game (experiment_id, pair_no, leg, attempt, lease_id, session_id, moves, plies, scores, result, reason, south,
    north, a_half_points, claimed, nodes, time_ms)
select e, n / 2, n % 2, 1, 1, 1, moves, length(moves), decode(repeat('0123', length(moves)), 'hex'),
    case when south then 'south' else 'north' end, 'majority', case when south then 27 else 9 end,
    case when south then 11 else 25 end, case when south = (n % 2 = 0) then 2 else 0 end, false, 100000, 200
from (select e, n, n % 3 > 0 as south,
        convert_from(substr(letters, 2 * floor(random() * 99000)::int + 1, 60 + floor(random() * 80)::int), 'UTF8') as moves
    from tests.line, lateral (select 1 as e, n from generate_series(0, 79999) n union all select 2, n from generate_series(0, 9999) n) g) x;
-- Rolled up while nothing is known of the games: a loop in a loop would take minutes.
set statement_timeout = '60s';
update experiment_counter c set games_stored = r.games_stored, prefix_pairs = r.prefix_pairs, ll = r.ll, ld = r.ld,
    dd = r.dd, wl = r.wl, dw = r.dw, ww = r.ww, wins = r.wins, draws = r.draws, losses = r.losses
from experiment e, lateral counters_recompute(e.id) r where e.id = c.experiment_id;

reset statement_timeout;
insert into tournament (name, kind, rules, specification) values ('t', 'roundrobin', 'site', '{"match": []}');
insert into tournament_player (tournament_id, number, name, weights_sha256)
    select 1, number - 1, 'p' || number, sha256 from weights;
insert into tournament_pairing (tournament_id, round, a, b, pairs, experiment_id) values (1, 1, 1, 0, 5000, 2);
vacuum analyze;
-- Weights that were fitted to a part of the first experiment.
insert into training_run (state, started_at, rules, kind, seed, threads, core_type, blas, trainer_build, weights_sha256,
    lambda, ridge, manifest, games, positions, rows_merged)
select 'finished', now(), 'site', 'table', 1, 1, 'core', 'blas', 'kroo-train 1 test', sha256, 0.4, 0,
    '[{"experiment": 1, "first_pair": 10, "pair_count": 25}]', 50, 100, 90 from weights where number = 2;
update weights w set training_run_id = t.id from training_run t where t.weights_sha256 = w.sha256;

begin;
select plan(24);
-- Runs a query to its end and counts the sequential scans of partitions it made.
create function tests.seq_scans(query text) returns bigint language plpgsql as $$
declare
    before bigint;
    row_found record;
begin
    select sum(seq_scan) into before from pg_stat_xact_user_tables where relname ~ '^game_\d+$';
    for row_found in execute query loop
    end loop;
    return (select sum(seq_scan) from pg_stat_xact_user_tables where relname ~ '^game_\d+$') - before;
end
$$;
select is(seq_scans('select sum(octet_length(scores)) from game where experiment_id = 2'), 1::bigint,
    'the counter counts');
select is(seq_scans('select * from first_move_score where experiment_id = 1'), 0::bigint, 'first_move_score');
select is(seq_scans('select * from endings_by_reason where experiment_id = 1'), 0::bigint, 'endings_by_reason');
select is(seq_scans('select * from game_length where experiment_id = 1'), 0::bigint, 'game_length');
select is(seq_scans('select * from verify_counters(1)'), 0::bigint, 'verify_counters');
select is(seq_scans('select * from counter_difference'), 0::bigint, 'counter_difference');
select is(seq_scans('select * from experiment_progress'), 0::bigint, 'experiment_progress');
select is(seq_scans('select pair_no, leg, a_half_points from game where experiment_id = 1 order by pair_no, leg'),
    0::bigint, 'standings');
select is(seq_scans('select pair_no, leg, scores, moves from game_counted where experiment_id = 1 and pair_no >= 100
    and pair_no < 2000 and not claimed order by pair_no, leg'), 0::bigint, 'the trainer''s read of a range');
select is(seq_scans('select moves from game_counted where experiment_id = 1 and pair_no = 77 order by leg'), 0::bigint,
    'one pair');
select is(seq_scans('select a, b, first, second, pairs from tournament_score where tournament_id = 1'), 0::bigint,
    'tournament_score');
select is(seq_scans('select * from tournament_progress'), 0::bigint, 'tournament_progress');
select is((select sum(pairs)::bigint from tournament_score), 5000::bigint, 'and all its pairs are there');
select is(seq_scans($$select count(*) from game where moves like 'FcE%'$$), 0::bigint, 'an opening, all experiments');
select is(seq_scans($$select count(*) from game_counted where experiment_id = 1 and moves like 'FcE%'$$), 0::bigint,
    'an opening, one experiment');
select is((select count(*) from game where moves like 'FcE%'), (select count(*) from game where left(moves, 3) = 'FcE'),
    'and the index finds them all');
select is((select sum(games)::bigint from first_move_score), 90000::bigint, 'all games count');

-- Every shipped query, with its parameters as values, as `kroo query` has it planned; the one that needs the extension
-- is in oware.sql.
\set shipped `ls sql/queries/*.sql | grep -vc positions`
create table tests.shipped (name text, text text);
\copy tests.shipped from program 'for file in sql/queries/*.sql; do grep -q "^-- needs" "$file" || printf "%s\t%s\n" "$(basename "$file" .sql)" "$(sed 1d "$file" | tr "\n" " ")"; done'
create function tests.shipped_scans() returns table (name text, scans bigint) language sql as $$
    select s.name || coalesce(' ' || prefix, ''), seq_scans(replace(replace(replace(s.text, '$1::text', 'null::text'),
        '$1', case s.name when 'lineage' then '2' else '1' end), '$2', coalesce(quote_literal(prefix), 'null')))
    from tests.shipped s, unnest(case when s.name = 'openings' then array[null, 'Fc', 'FcEaB'] else array[null] end) prefix
$$;
select is((select count(*)::text from tests.shipped),
    :'shipped', 'all the shipped queries but the one that needs the extension');
select is_empty('select * from shipped_scans() where scans > 0', 'none of them scans games');
-- The pages' questions about games, each as the filter may ask it.
create table tests.page (name text, text text);
\copy tests.page from program 'for name in game games; do printf "%s\t%s\n" $name "$(grep -v "^--" web/api/$name.sql | sed "s/\\\\/\\\\\\\\/g" | tr "\n" " ")"; done'
create function tests.ask(question text, variadic parameters text[]) returns text language plpgsql as $$
declare
    query text := (select text from tests.page where name = question);
    answer text;
begin
    for i in reverse 6..1 loop
        query := replace(query, '$' || i || '::', coalesce(quote_literal(parameters[i]), 'null') || '::');
    end loop;
    execute query into answer;
    return answer;
end
$$;
select is_empty($q$select wishes from (values ('{}'::text[]), ('{1}'), ('{1,start}'), ('{null,better,won}'), ('{null,null,draw}'),
    ('{null,null,null,repetition}'), ('{1,null,null,null,F}'), ('{null,null,null,null,FcEaBd}'), ('{2,null,null,null,null,2-40-1}')) w(wishes)
    where seq_scans(format('select tests.ask(''games'', variadic %L::text[])', wishes)) > 0$q$, 'filters of the page scan no games');
select is(seq_scans($q$select tests.ask('game', '1-77-1')$q$), 0::bigint, 'nor does one game');
select isnt_empty('select from ending_rollup where experiment_id = 1', 'there is a segment in the roll-ups');
select isnt_empty('select from game_unrolled where experiment_id = 1', 'and a rest that is not');
select is((select games from weights_provenance where weights = 2 and distance = 0), 50::bigint, 'a range of pairs');
select * from finish();
rollback;
