-- What the page Games finds (web/api/games.sql): every game that the filter asks for, once, in order, however the answers are
-- cut; and no answer looks at more pairs than it may.
\ir fixture.psql
select t_experiment('selfplay', false, 100000), t_experiment('match', true, 100000), t_experiment('match', true, 400000) \g /dev/null
insert into game (experiment_id, pair_no, leg, attempt, lease_id, session_id, moves, plies, scores, result, reason, south,
    north, a_half_points, claimed, nodes, time_ms)
select e, pair, leg, 1, 1, 1, moves, length(moves), case when e = 2 then decode(repeat('3800', length(moves) - 1) || '0080', 'hex') end,
    result, reason, case result when 'south' then 30 when 'draw' then 24 else 10 end,
    case result when 'south' then 10 when 'draw' then 24 else 30 end,
    case when result = 'draw' then 1 when (result = 'south') = (leg = 0) then 2 else 0 end, false, 100, 2
from (select e, pair, leg, substr(array_to_string(array(select chr((case when i % 2 = 0 then 65 else 97 end) + (pair * 7 + i * 5 + e * i) % 6)
            from generate_series(0, 29) i), ''), 1, 20 + pair % 9) as moves,
        case (pair + leg) % 5 when 0 then 'draw' when 1 then 'north' when 2 then 'north' else 'south' end as result,
        case when (pair + leg) % 5 = 0 then 'even' when pair % 11 = 0 then 'repetition' else 'majority' end as reason
    from (select 1 as e, n as pair from generate_series(0, 69) n union all select 2, n from generate_series(0, 39) n
        -- A long experiment with few games, so far apart that no answer sees two of them.
        union all values (3, 0), (3, 150000), (3, 300000)) p, generate_series(0, 1) leg) x;

create table tests.page (text text);
\copy tests.page from program 'printf "%s\n" "$(grep -v "^--" web/api/games.sql | sed "s/\\\\/\\\\\\\\/g" | tr "\n" " ")"'
create table tests.page_game (text text);
\copy tests.page_game from program 'printf "%s\n" "$(grep -v "^--" web/api/game.sql | sed "s/\\\\/\\\\\\\\/g" | tr "\n" " ")"'
create function tests.ask(variadic parameters text[]) returns json language plpgsql as $$
declare
    query text := (select text from tests.page);
    answer json;
begin
    for i in reverse 6..1 loop
        query := replace(query, '$' || i || '::', coalesce(quote_literal(parameters[i]), 'null') || '::');
    end loop;
    execute query into answer;
    return answer;
end
$$;
-- All that a filter finds, page after page, and how many pages there were.
create function tests.walk(experiment text, player text, result text, reason text, opening text, out ids text[], out pages int, out most int)
language plpgsql as $$
declare
    answer json;
    before text;
begin
    ids := '{}';
    pages := 0;
    most := 0;
    loop
        answer := tests.ask(experiment, player, result, reason, opening, before);
        ids := ids || array(select x ->> 'id' from json_array_elements(answer -> 'games') x);
        pages := pages + 1;
        most := greatest(most, (answer ->> 'looked_at')::int);
        before := answer ->> 'next';
        exit when before is null or pages > 99;
    end loop;
end
$$;
create function tests.expected(condition text) returns text[] language plpgsql as $$
declare
    ids text[];
begin
    execute 'select coalesce(array_agg(experiment_id || ''-'' || pair_no || ''-'' || leg order by experiment_id desc, pair_no desc, leg desc), ''{}'')
        from game g where ' || condition into ids;
    return ids;
end
$$;

begin;
select plan(20);
select is((walk(null, null, null, null, null)).ids, expected('true'), 'all games, in order, each once');
select cmp_ok((walk(null, null, null, null, null)).most, '<=', 100000, 'and no answer looks at more than 100,000 pairs');
select is((walk('2', null, null, null, null)).ids, expected('experiment_id = 2'), 'of one experiment');
select is((walk('7', null, null, null, null)).ids, '{}', 'of one that is not there');
select is((walk(null, null, 'draw', null, null)).ids, expected('result = ''draw'''), 'by result');
select is((walk(null, null, null, 'repetition', null)).ids, expected('reason = ''repetition'''), 'by ending');
select is((walk(null, null, null, null, 'Ab')).ids, expected('moves like ''Ab%'''), 'by opening');
select is((walk('1', null, 'south', 'majority', (select left(moves, 6) from game where experiment_id = 1 and pair_no = 3 and leg = 0))).ids,
    expected('experiment_id = 1 and result = ''south'' and reason = ''majority'' and left(moves, 6) = (select left(moves, 6) from game
        where experiment_id = 1 and pair_no = 3 and leg = 0)'), 'by a long opening and more');
select is((walk(null, 'BETT', 'won', null, null)).ids, expected('(a_half_points = 2 and (select a.label ^@ ''bett'' from experiment e
        join player_label a on a.id = e.player_a where e.id = experiment_id)) or (a_half_points = 0 and (select b.label ^@ ''bett''
        from experiment e join player_label b on b.id = e.player_b where e.id = experiment_id))'), 'won by a player');
select cmp_ok(cardinality((walk(null, 'better', 'lost', null, null)).ids), '>', 0, 'lost by one');
select is(cardinality((walk(null, 'better', 'won', null, null)).ids) + cardinality((walk(null, 'better', 'lost', null, null)).ids),
    cardinality(expected('result <> ''draw''')), 'won or lost, if not drawn');
select is((walk(null, 'nobody', null, null, null)).ids, '{}', 'by a player that is not there');
select is((walk('3', null, null, 'even', null)).ids, expected('experiment_id = 3 and reason = ''even'''), 'games far apart');
select cmp_ok((walk('3', null, null, 'even', null)).pages, '>', 3, 'over several answers');
select matches(ask(null, null, null, null, 'AA') ->> 'error', 'letters of its moves', 'an opening that is none');
select matches(ask(null, null, null, null, null, '1-2') ->> 'error', 'EXPERIMENT-PAIR-LEG', 'a place that is none');
select matches(ask(null, null, 'east') ->> 'error', 'south, north, draw', 'a result that is none');
create function tests.game(id text) returns json language plpgsql as $$
declare
    answer json;
begin
    execute replace((select text from tests.page_game), '$1::', quote_literal(id) || '::') into answer;
    return answer;
end
$$;
select is((select array[game('2-3-1') ->> 'moves', game('2-3-1') ->> 'reason', game('2-3-1') ->> 'south']),
    (select array[g.moves, g.reason, b.label] from game g join experiment e on e.id = g.experiment_id join player_label b on b.id = e.player_b
        where experiment_id = 2 and pair_no = 3 and leg = 1), 'one game: in the second game of a pair player b is South');
select is((select array[game('2-3-1') #>> '{scores,0}', game('2-3-1') #>> array['scores', (length(moves) - 1)::text]] from game
    where experiment_id = 2 and pair_no = 3 and leg = 1), array['56', null], 'with the scores of its moves, where there are some');
select is((select array_agg(game(id)::text) from unnest(array['2-999-0', '2-3', 'x', '2-3-2', '99999999999999999999-1-0']) id),
    array[null, null, null, null, null], 'what is no game is none');
select * from finish();
rollback;
