-- The views' answers on games small enough to count by hand.
\ir fixture.psql
begin;
select plan(23);
select t_experiment('match', true, 100), t_experiment('selfplay', false, 4) \g /dev/null

-- Pairs 0..5: WW, WL, DD, LD, (one leg only), WW.
select t_game(1, 0, 0, 2, 'AbC'), t_game(1, 0, 1, 2, 'AbCdE'), t_game(1, 1, 0, 2, 'FcE'), t_game(1, 1, 1, 0, 'FcEa'),
    t_game(1, 2, 0, 1, 'FdE'), t_game(1, 2, 1, 1, 'Fd'), t_game(1, 3, 0, 0, 'B'), t_game(1, 3, 1, 1, 'Bc'),
    t_game(1, 4, 0, 2, 'C'), t_game(1, 5, 0, 2, 'D'), t_game(1, 5, 1, 2, 'D') \g /dev/null

select results_eq('select * from counters_recompute(1)',
    $$values (11::bigint, 4::bigint, 0::bigint, 1::bigint, 1::bigint, 1::bigint, 0::bigint, 1::bigint, 3::bigint, 3::bigint,
    2::bigint, 0::bigint)$$, 'the prefix ends before the pair with one leg');
select isnt_empty('select * from counter_difference', 'counters that were not written are found');
update experiment_counter set games_stored = 11, prefix_pairs = 4, ld = 1, dd = 1, wl = 1, ww = 1, wins = 3, draws = 3,
    losses = 2 where experiment_id = 1;
select is_empty('select * from counter_difference', 'and right ones are right');
select is((select count(*)::int from verify_counters(1)), 12, 'verify tells of every counter');

insert into dispute (experiment_id, pair_no, was_counted, reason) values (1, 2, false, 'test');
select is((select prefix_pairs from counters_recompute(1)), 2::bigint, 'the prefix waits for a dispute');
select is((select count(*)::int from game_counted where experiment_id = 1), 6, 'a disputed pair does not count');
update dispute set was_counted = true;
select is_empty('select * from counter_difference', 'a dispute about a counted pair does not move the prefix');
update dispute set state = 'settled', settled_at = now(), settlement = 'test';
select is((select count(*)::int from game_counted where experiment_id = 1), 8, 'a settled pair counts');

select results_eq('select first_move collate "default", games, south_wins, draws, north_wins, south_score from first_move_score
    where experiment_id = 1 order by first_move',
    $$values ('A', 2::bigint, 1::bigint, 0::bigint, 1::bigint, 0.5), ('B', 2, 0, 1, 1, 0.25), ('F', 4, 2, 2, 0, 0.75)$$,
    'first moves');
select results_eq('select reason collate "default", games, share, south_wins, draws, north_wins, mean_plies from endings_by_reason
    where experiment_id = 1 order by reason',
    $$values ('even', 3::bigint, 0.375, 0::bigint, 3::bigint, 0::bigint, 2.3), ('majority', 5, 0.625, 3, 0, 2, 3.2)$$,
    'endings');
select results_eq('select games, shortest, tenth, median, mean, ninetieth, longest from game_length
    where experiment_id = 1', 'values (8::bigint, 1, 1, 3, 2.9, 5, 5)', 'lengths');

insert into verdict (experiment_id, verdict, games_stored, counted_pairs, ll, ld, dd, wl, dw, ww, wins, draws, losses,
    sprt_model, elo0, elo1, alpha, beta, batch, llr, lower, upper, formula_version)
values (1, 'accepted', 11, 2, 0, 0, 0, 1, 0, 1, 3, 0, 1, 'normalized', 0, 5, 0.05, 0.05, 16, 3, -2.9, 2.9, 1);
update experiment_counter set prefix_pairs = 2, ld = 0, dd = 0, draws = 0, losses = 1 where experiment_id = 1;
select is_empty('select * from counter_difference', 'a decided experiment counts up to its verdict');
select is((select count(*)::int from verify_counters(1)), 23, 'and its verdict is verified too');
select is((select count(*)::int from game_counted where experiment_id = 1), 4, 'games beyond it are kept and do not count');
select results_eq('select verdict, counted_games, uncounted_games from experiment_verdict',
    $$values ('accepted', 4::bigint, 7::bigint)$$, 'the verdict tells how many do not');
select results_eq('select state, planned_pairs, prefix_pairs, verdict, weights_a_name, weights_b_name, open_disputes
    from experiment_progress where id = 1', $$values ('running', 100::bigint, 2::bigint, 'accepted', 'better', 'start', 0::bigint)$$,
    'progress');

select t_game(2, p, l, 1) from generate_series(0, 5) p, generate_series(0, 1) l \g /dev/null
select is((select prefix_pairs from counters_recompute(2)), 4::bigint, 'pairs beyond the planned ones never count');

insert into promotion (line, weights_sha256, by) select 'main', sha256, 'tester' from weights where name = 'start';
insert into promotion (line, weights_sha256, experiment_id, by) select 'main', sha256, 1, 'coordinator' from weights
where name = 'better';
insert into promotion (line, weights_sha256, by) select 'side', sha256, 'tester' from weights where name = 'start';
select results_eq('select line, name, experiment_id from champion order by line',
    $$values ('main', 'better', 1::bigint), ('side', 'start', null)$$, 'champions');

insert into artifact (sha256, kind, size, content) select sha256(convert_to(x, 'UTF8')), 'weights', 6, convert_to(x, 'UTF8')
from unnest(array['grand1', 'child1']) x;
insert into weights (sha256, kind, rules, name, parent_sha256)
select sha256('grand1'), 'table', 'site', 'grand', sha256('elsewhere')
union all select sha256('child1'), 'table', 'site', 'child', sha256('grand1');
select results_eq($$select distance, ancestor_name from weights_lineage where name = 'child' order by distance$$,
    $$values (0, 'child'), (1, 'grand'), (2, null)$$, 'lineage, up to a parent that is not here');
-- The child was fitted to pairs 0 to 2 of experiment 1, the grandparent to all of experiment 2.
insert into training_run (state, started_at, rules, kind, seed, threads, core_type, blas, trainer_build, weights_sha256,
    lambda, ridge, manifest, games, positions, rows_merged)
select 'finished', now(), 'site', 'table', 1, 1, 'core', 'blas', 'kroo-train 1 ' || name, sha256, 0.4, 0,
    case name when 'child' then '[{"experiment": 1, "first_pair": 0, "pair_count": 3}]'::jsonb
    else '[{"experiment": 2, "first_pair": 0, "pair_count": 4}]'::jsonb end, 6, 100, 90
from weights where name in ('child', 'grand');
update weights w set training_run_id = t.id from training_run t where t.weights_sha256 = w.sha256;
select results_eq($$select distance, trainer_build, experiment_id, first_pair, pair_count, games from weights_provenance
    where weights = (select number from weights where name = 'child') order by distance$$,
    $$values (0, 'kroo-train 1 child', 1::bigint, 0::bigint, 3::bigint, 6::bigint),
    (1, 'kroo-train 1 grand', 2, 0, 4, 8)$$, 'from weights to the games behind them and behind their parents');
select results_eq($$select distinct p.seed, p.engine_a, p.weights_a is not null from weights_provenance p
    where p.distance = 0 and weights = (select number from weights where name = 'child')$$,
    $$select e.seed, a.engine_build, true from experiment e join player a on a.id = e.player_a where e.id = 1$$,
    'with seed, engine and weights of the players');
select is_empty($$select * from weights_provenance where weights = (select number from weights where name = 'start')$$,
    'built-in weights have no games behind them');
update weights set parent_sha256 = sha256('child1') where name = 'grand';
select lives_ok('select * from weights_lineage', 'a lineage that bites its tail has an end');

select * from finish();
rollback;
