-- How fast experiments go, and what is left of them.
\ir fixture.psql
begin;
select plan(11);
select t_experiment('match', true, 100000), t_experiment('selfplay', false, 500) \g /dev/null

select results_eq('select is_expected, pairs_left, pairs_per_minute, seconds_left from experiment_rate order by experiment_id',
    $$values (false, 100000::bigint, null::float8, null::float8), (false, 500, null, null)$$, 'nothing is known at first');
update experiment_counter set games_stored = 200, prefix_pairs = 90, dd = 90, draws = 180, rate_games = 600, rate_seconds = 150,
    rate_at = now() where experiment_id = 2;
select results_eq('select pairs_left, round(pairs_per_minute), round(seconds_left) from experiment_rate where experiment_id = 2',
    'values (400::bigint, 120::float8, 200::float8)', 'a plan: what is not stored, by the speed of the last minutes');
update experiment_counter set rate_at = now() - interval '300 seconds' where experiment_id = 2;
select is((select round(pairs_per_minute::numeric, 3) from experiment_rate where experiment_id = 2), 27.048,
    'five minutes without a game: 600/e games in 150/e + 300 (1 - 1/e) seconds');
update experiment_counter set rate_at = now() - interval '30 days' where experiment_id = 2;
select ok((select pairs_per_minute < 0.001 from experiment_rate where experiment_id = 2), 'after a month: next to nothing, and no error');
update experiment set state = 'paused' where id = 2;
select results_eq('select pairs_left, pairs_per_minute from experiment_rate where experiment_id = 2', 'values (400::bigint, null::float8)',
    'a paused one has no speed');

-- Against the closed forms of STATISTICS, worked out apart.
update experiment_counter set games_stored = 240, prefix_pairs = 120, ll = 10, ld = 20, dd = 40, wl = 10, dw = 25, ww = 15,
    wins = 65, draws = 125, losses = 50, llr = 1.0 where experiment_id = 1;
select is(round((select sprt_pairs_left(c, e) from experiment e join experiment_counter c on c.experiment_id = e.id where e.id = 1)::numeric, 3),
    916.175, 'a sequential test: by the difference seen so far');
select results_eq('select is_expected, pairs_left from experiment_rate where experiment_id = 1', 'values (true, 916::bigint)', 'the view says that it expects');
update experiment_counter set games_stored = 340 where experiment_id = 1;
select is((select pairs_left from experiment_rate where experiment_id = 1), 916::bigint - 50, 'pairs that wait to be counted need not be played');
update experiment set planned_pairs = 200 where id = 1;
select is((select pairs_left from experiment_rate where experiment_id = 1), 30::bigint, 'never more than the plan has');
update experiment_counter set ll = 0, ld = 0, dd = 120, wl = 0, dw = 0, ww = 0, wins = 0, draws = 240, losses = 0 where experiment_id = 1;
select ok((select not is_expected and pairs_left = 30 from experiment_rate where experiment_id = 1), 'without any variance the plan is all there is');
update experiment_counter set llr = 3 where experiment_id = 1;
select is((select sprt_pairs_left(c, e) from experiment e join experiment_counter c on c.experiment_id = e.id where e.id = 1), 0::float8,
    'beyond a bound nothing is left');
select finish();
