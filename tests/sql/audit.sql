-- A decided test whose verdict waits for audits counts no further, and the recount says so; nothing else is excused.
\ir fixture.psql
begin;
select plan(4);
select t_experiment('match', true, 10) as id \gset
select t_game(:id, pair, leg, 2) from generate_series(0, 4) pair, generate_series(0, 1) leg \g /dev/null
update experiment_counter set games_stored = 10, prefix_pairs = 3, ww = 3, wins = 6 where experiment_id = :id;
select set_eq('select counter from counter_difference', array['prefix_pairs', 'ww', 'wins'], 'a prefix that lags is a difference');
insert into audit (experiment_id, pair_no) values (:id, 3);
select isnt_empty('select from counter_difference', 'an audit beyond the prefix is no reason to wait');
insert into audit (experiment_id, pair_no) values (:id, 2);
select is_empty('select from counter_difference', 'an open audit of a counted pair is');
update audit set state = 'agreed', closed_at = now() where experiment_id = :id;
select isnt_empty('select from counter_difference', 'a closed one no longer');
select * from finish();
rollback;
