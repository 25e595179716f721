-- Tournaments: what the tables refuse, and what the views say.
\ir fixture.psql
begin;
select plan(20);
select t_experiment('match', false, 3), t_experiment('match', false, 3) \g /dev/null
insert into tournament (name, kind, rules, specification) values ('t', 'progression', 'site', '{"match": [], "line": "main"}');
insert into tournament_player (tournament_id, number, name, weights_sha256)
    select 1, number - 1, 'p' || number, sha256 from weights;
insert into tournament_pairing (tournament_id, round, a, b, pairs, experiment_id) values (1, 1, 1, 0, 3, 1);
select t_game(1, 0, 0, 2), t_game(1, 0, 1, 0), t_game(1, 1, 0, 2), t_game(1, 1, 1, 0), t_game(1, 2, 0, 1) \g /dev/null
update experiment_counter set prefix_pairs = 2, wl = 2, wins = 2, losses = 2, games_stored = 5 where experiment_id = 1;

select results_eq('select round, a, b, first::int, second::int, pairs from tournament_score',
    'values (1, 1, 0, 2, 0, 2::bigint)', 'counted pairs by what each game of them brought');
select results_eq('select players, pairings, matches, running, counted_pairs, planned_pairs from tournament_progress',
    'values (2::bigint, 1::bigint, 1::bigint, 1::bigint, 2::bigint, 3::bigint)', 'how far it has come');
select results_eq('select line, release, name, against, pairs, elo from progression',
    $$values ('main', 1, 'p2', 'p1', 2::bigint, null::double precision)$$, 'a series without a verdict yet');

create function tests.refused(statement text, remark text, code text default '23514') returns text language sql as $$
    select throws_ok(statement, code::char(5), null, remark)
$$;
select refused($$insert into tournament (name, kind, rules, specification) values ('a b', 'pool', 'site', '{"match": []}')$$, 'a name with a blank');
select refused($$insert into tournament (name, kind, rules, specification) values ('u', 'cup', 'site', '{"match": []}')$$, 'an unknown kind');
select refused($$insert into tournament (name, kind, rules, specification) values ('u', 'pool', 'site', '{"match": 3}')$$, 'a specification without options');
select refused($$insert into tournament (name, kind, rules, specification) values ('t', 'pool', 'site', '{"match": []}')$$, 'a name twice', '23505');
select refused($$insert into tournament_player (tournament_id, number, name, weights_sha256) select 1, 2, 'p2', sha256(sha256) from weights limit 1$$,
    'two players of one name', '23505');
select refused($$insert into tournament_player (tournament_id, number, name, weights_sha256) select 1, 2, 'p3', sha256 from weights limit 1$$,
    'one player twice', '23505');
select lives_ok($$update tournament_player set anchor_elo = 1000 where number = 0$$, 'an anchor');
select refused($$update tournament_player set anchor_elo = 0 where number = 1$$, 'a second one', '23505');
select refused($$update tournament_player set anchor_elo = 'NaN' where number = 0$$, 'an anchor that is no number');
select refused('insert into tournament_pairing (tournament_id, round, a, b, pairs) values (1, 1, 1, 1, 3)', 'a player against itself');
select refused('insert into tournament_pairing (tournament_id, round, a, b, pairs) values (1, 1, 0, 1, 0)', 'a pairing of no pairs');
select refused('insert into tournament_pairing (tournament_id, round, a, b, pairs) values (1, 2, 0, 1, 1000000001)', 'a pairing of absurd length');
select refused('update tournament set planned_rounds = 100001', 'absurdly many rounds');
select refused($$update tournament set state = 'gone'$$, 'a state that is none');
select refused('insert into tournament_pairing (tournament_id, round, a, b, pairs) values (1, 1, 0, 7, 3)', 'a pairing of nobody', '23503');
select refused($$update experiment set noise_ppm = 5 where id = 2$$, 'noise between two players');
select lives_ok($$update experiment set noise_ppm = 5, player_a = player_b where id = 2$$, 'noise of a player against itself');

select * from finish();
rollback;
