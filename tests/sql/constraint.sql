-- What must be true stays true, whoever writes.
\ir fixture.psql
begin;
select plan(77);
select t_experiment('match', true, 10), t_experiment('match', false, 10) \g /dev/null

create function tests.game_with(changes jsonb) returns text language plpgsql as $$
declare
    good kroo.game := jsonb_populate_record(null::kroo.game, '{"experiment_id": 1, "pair_no": 0, "leg": 0, "attempt": 1,
        "lease_id": 0, "session_id": 0, "moves": "FcE", "plies": 3, "result": "south", "reason": "majority",
        "south": 25, "north": 3, "a_half_points": 2, "claimed": false, "nodes": 1, "time_ms": 1}');
begin
    good := jsonb_populate_record(good, changes);
    return format('insert into kroo.game (experiment_id, pair_no, leg, attempt, lease_id, session_id, moves, plies, scores, '
        'result, reason, south, north, a_half_points, claimed, nodes, time_ms, resign_ply) values (%s, %s, %s, %s, %s, %s, '
        '%L, %s, %L, %L, %L, %s, %s, %s, %L, %s, %s, %L)', good.experiment_id, good.pair_no, good.leg, good.attempt, good.lease_id,
        good.session_id, good.moves, good.plies, good.scores, good.result, good.reason, good.south, good.north,
        good.a_half_points, good.claimed, good.nodes, good.time_ms, good.resign_ply);
end
$$;
create function tests.refused(changes jsonb, remark text) returns text language sql as $$
    select throws_ok(game_with(changes), '23514', null, remark)
$$;
select lives_ok(game_with('{}'), 'a good game');
select lives_ok(game_with('{"leg": 1, "a_half_points": 0, "scores": "\\x010203040506"}'), 'a good game with scores');
select throws_ok(game_with('{}'), '23505', null, 'the same game twice');
select refused('{"experiment_id": 77}', 'an experiment that is not');
select refused('{"pair_no": -1}', 'pair -1');
select refused('{"leg": 2, "pair_no": 1}', 'a third leg');
select refused('{"pair_no": 1, "plies": 4}', 'plies that are not the number of letters');
select refused('{"pair_no": 1, "moves": "fcE"}', 'North moves first');
select refused('{"pair_no": 1, "moves": "FCe"}', 'South moves twice');
select refused('{"pair_no": 1, "moves": "FgE"}', 'a house that is not');
select refused('{"pair_no": 1, "scores": "\\x0102"}', 'too few scores');
select refused('{"pair_no": 1, "north": 24}', '49 seeds');
select refused('{"pair_no": 1, "south": 24}', 'a majority of 24');
select refused('{"pair_no": 1, "result": "north", "a_half_points": 0}', 'the smaller store wins');
select refused('{"pair_no": 1, "reason": "even"}', 'even with 25-3');
select refused('{"pair_no": 1, "a_half_points": 1}', 'half a point for a win');
select refused('{"pair_no": 1, "claimed": true}', 'a claim where a replay shows the end');
select refused('{"pair_no": 1, "reason": "resign", "resign_ply": 3}', 'a resignation that is not marked as claimed');
select lives_ok(game_with('{"pair_no": 1, "reason": "resign", "claimed": true, "south": 3, "resign_ply": 3}'), 'a claimed resignation');
select lives_ok(game_with('{"pair_no": 2, "reason": "unfed", "result": "north", "a_half_points": 0}'),
    'the unfed win with fewer seeds');

select throws_ok($$insert into experiment (kind, rules, seed, opening_plies, noise_ppm, player_a, player_b, planned_pairs,
    sprt_model, with_scores) values ('match', 'site', 1, 0, 0, 1, 2, 1, 'normalized', true)$$, '23514', null,
    'a test with a model and nothing else');
select throws_ok('update experiment set elo0 = 5 where id = 1', '23514', null, 'elo0 = elo1');
select throws_ok('update experiment set elo1 = 1001 where id = 1', '23514', null, 'a bound beyond 1000');
select throws_ok('update experiment set planned_pairs = 0 where id = 1', '23514', null, 'no pairs');
select throws_ok('update experiment set resign_score = 900 where id = 1', '23514', null, 'a resignation after no move');
select throws_ok('update experiment set resign_playout_ppm = 5 where id = 1', '23514', null, 'played out, and nobody resigns');
select throws_ok('update experiment set audit_ppm = 1000001 where id = 1', '23514', null, 'audits of more than every pair');
select throws_ok('update experiment set share = 0 where id = 1', '23514', null, 'no share of core time');
select throws_ok('update experiment set core_cap = -1 where id = 1', '23514', null, 'less than no core');
select throws_ok($$update experiment set kind = 'tune' where id = 1$$, '23514', null, 'a tune of nothing');
select throws_ok($$update experiment set rules = 'draughts' where id = 1$$, '23503', null, 'another game''s rules');
select throws_ok('update experiment_counter set wins = 1 where experiment_id = 1', '23514', null, 'a win in no pair');
select throws_ok('update experiment_counter set prefix_pairs = 1, ww = 1, wins = 2 where experiment_id = 1', '23514', null,
    'counted pairs without games');
select throws_ok($$update artifact set content = 'x', size = 1$$, '23514', null, 'content that is not what its name says');
select throws_ok($$insert into peer (public_key, name, role, allowed_by) values ('short', 'x', 'worker', 'x')$$, '23514',
    null, 'a key that is none');

-- Engines and tables.
insert into artifact (sha256, kind, size, content) values (sha256('prog'), 'engine', 4, 'prog');
select lives_ok($$insert into engine (name, sha256, added_by) values ('today', sha256('prog'), 'x')$$, 'an engine');
select throws_ok($$insert into engine (name, sha256, added_by) values ('again', sha256('prog'), 'x')$$, '23505', null,
    'one file, one name');
select throws_ok($$insert into engine (name, sha256, added_by) values ('built-in', sha256('prog'), 'x')$$, '23514', null,
    'built-in is no name');
select throws_ok($$insert into engine (name, sha256, added_by) values ('absent', sha256('none'), 'x')$$, '23503', null,
    'an engine without its file');
select throws_ok($$insert into endgame_table (name, sha256, artifact_sha256, rules, convention, seeds, size, added_by)
    values ('t', sha256('a'), sha256('prog'), 'site', 'x', 3, 4, 'x')$$, '23514', null, 'a table that is another file');
select lives_ok($$insert into endgame_table (name, sha256, rules, convention, seeds, size, added_by)
    values ('t', sha256('a'), 'site', 'x', 3, 4, 'x')$$, 'a table that does not travel');
create function tests.player_with(options jsonb) returns text language sql as $$
    select format('insert into kroo.player (engine_build, weights_sha256, options) select engine_build, weights_sha256, %L '
        'from kroo.player where id = 1', options)
$$;
select lives_ok(player_with(jsonb_build_object('engine', encode(sha256('prog'), 'hex'), 'tables',
    encode(sha256('a'), 'hex'), 'set', '["Level=Master"]'::jsonb)), 'a player with all of it');
select results_eq($$select engine_sha256, tables_sha256 from player order by id desc limit 1$$,
    $$select sha256('prog'), sha256('a')$$, 'whose engine and tables are columns');
select throws_ok(player_with(jsonb_build_object('engine', encode(sha256('none'), 'hex'))), '23503', null,
    'a player with an engine that is not there');
select throws_ok(player_with(jsonb_build_object('tables', encode(sha256('none'), 'hex'))), '23503', null,
    'or tables that are not');
select throws_ok(player_with('{"set": "Level=Master"}'), '23514', null, 'options that are no array');

insert into verdict (experiment_id, verdict, games_stored, counted_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses,
    formula_version) values (2, 'undecided', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
select throws_ok($$update verdict set verdict = 'aborted', by = 'x'$$, '23001', null, 'a verdict is not changed');
select throws_ok('delete from verdict', '23001', null, 'a verdict is not deleted');
insert into promotion (line, weights_sha256, by) select 'main', sha256, 'tester' from weights where name = 'start';
select throws_ok('delete from promotion', '23001', null, 'a promotion is not deleted');
select throws_ok($$insert into promotion (line, weights_sha256, experiment_id, by) select 'main', sha256, 2, 'x' from weights
    where name = 'better'$$, '23514', null, 'an undecided match promotes nobody');

-- Absurd numbers, and what people do to experiments.
select throws_ok('update experiment set planned_pairs = 1000000001 where id = 1', '23514', null, 'a thousand million pairs and one');
select throws_ok('update experiment set planned_pairs = -1 where id = 1', '23514', null, 'negative pairs');
select throws_ok('update experiment set priority = 1001 where id = 1', '23514', null, 'a priority beyond its bounds');
select throws_ok($$update experiment set elo0 = 'NaN' where id = 1$$, '23514', null, 'a bound that is no number');
select throws_ok('update experiment set alpha = 0.7, beta = 0.7 where id = 1', '23514', null, 'errors that leave no test');
select throws_ok('update experiment set opening_plies = -2 where id = 1', '23514', null, 'negative opening plies');
select throws_ok($$update experiment set state = 'sleeping' where id = 1$$, '23514', null, 'a state that is none');
select throws_ok($$update experiment set state = 'stopped' where id = 1$$, '23514', null, 'stopped without a time');
select throws_ok(player_with('{"nodes": -1, "set": []}'), '23514', null, 'negative nodes');
select throws_ok(player_with('{"time_ms": 86400001, "set": []}'), '23514', null, 'more than a day a move');
select throws_ok(player_with('{"hash_kib": -1, "set": []}'), '23514', null, 'a negative transposition table');
select throws_ok($$insert into peer (public_key, name, role, allowed_by) values (repeat('k', 40), 'x', 'king', 'x')$$, '23514',
    null, 'a role that is none');
select lives_ok($$insert into peer (public_key, name, role, allowed_by) values (repeat('k', 40), 'x', 'submitter', 'x')$$,
    'a submitter');
select throws_ok($$insert into hook_run (experiment_id, command) values (1, '')$$, '23514', null, 'a hook without a name');
select throws_ok($$insert into hook_run (experiment_id, command, state) values (1, 'tell', 'started')$$, '23514', null,
    'a hook that was started at no time');

-- Deletion.
select throws_ok($$select experiment_delete(1, 'x', '')$$, '23001', null, 'what runs is not deleted');
select t_experiment('match', false, 10), t_experiment('match', false, 10), t_experiment('selfplay', false, 10) \g /dev/null
update experiment set on_finish = 'tell all' where id = 4;
select t_game(4, 0, 0, 2), t_game(4, 0, 1, 1) \g /dev/null
update experiment_counter set games_stored = 2 where experiment_id = 4;
insert into verdict (experiment_id, verdict, games_stored, counted_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses,
    formula_version, by) select id, 'aborted', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'anna' from experiment where id in (4, 5);
update experiment set state = 'stopped', ended_at = now() where id in (4, 5);
select results_eq('select experiment_id, command, state from hook_run', $$values (4::bigint, 'tell all', 'due')$$,
    'the verdict makes the hook due, and others have none');
insert into dispute (experiment_id, pair_no, was_counted, reason) values (4, 0, false, 'x');
insert into dispute_run (dispute_id, leg, session_id, attempt, content_sha256, lease_id, moves, result, reason, south, north,
    a_half_points, claimed, nodes, time_ms)
    select max(id), 0, 1, 1, sha256('x'), 1, 'F', 'draw', 'even', 24, 24, 1, false, 1, 1 from dispute;
select games as games_before from lifetime \gset
select is(experiment_delete(4, 'anna', 'a test'), 2::bigint, 'an experiment goes with its games');
select is((select count(*)::int from experiment where id = 4) + (select count(*)::int from game where experiment_id = 4)
    + (select count(*)::int from verdict where experiment_id = 4) + (select count(*)::int from hook_run)
    + (select count(*)::int from dispute where experiment_id = 4) + (select count(*)::int from dispute_run), 0,
    'and with all its rows');
select hasnt_table('kroo', 'game_4', 'and its partition');
select results_eq('select id, games, deleted_by, reason, verdict from deleted_experiment',
    $$values (4::bigint, 2::bigint, 'anna', 'a test', 'aborted')$$, 'what it was stays');
select is((select games from lifetime), :games_before::bigint, 'and the totals do not fall');
select throws_ok('delete from verdict where experiment_id = 5', '23001', null, 'still no verdict is deleted by itself');
select throws_ok('delete from deleted_experiment', '23001', null, 'nor what was deleted');
insert into training_run (state, started_at, rules, kind, seed, threads, core_type, blas, trainer_build, lambda, ridge,
    manifest, games, positions, rows_merged, reason) values ('failed', now(), 'site', 'table', 1, 1, 'x', 'x', 'x', 0.5, 0,
    '[{"experiment": 5, "first_pair": 0, "pair_count": 10}]', 0, 0, 0, 'x');
select throws_like($$select experiment_delete(5, 'anna', '')$$, '%training run%', 'a fit to its games keeps it');
select is_empty('select experiment_descendants(6)', 'nothing descends from the sixth');
insert into learning_loop (name, line, rules, specification, first_sha256, planned_generations)
    select 'l', 'main', 'site', '{}', sha256, 1 from weights where name = 'start';
insert into generation (loop_id, number, champion_sha256, selfplay_id)
    select l.id, 1, l.first_sha256, 6 from learning_loop l;
select results_eq('select experiment_descendants(6)', $$values ('a row of table generation, by selfplay_id')$$,
    'a loop keeps its self-play');

select * from finish();
rollback;
