-- What is there, and that every column of it is documented.
\ir fixture.psql
begin;
select plan(18);

select tables_are('kroo', array['migration', 'rule_set', 'peer', 'engine_build', 'artifact', 'artifact_seal', 'training_run', 'weights',
    'player', 'experiment', 'experiment_counter', 'session', 'lease', 'game', 'dispute', 'dispute_run', 'verdict',
    'promotion', 'event', 'engine', 'endgame_table', 'learning_loop', 'generation', 'hook_run', 'deleted_experiment',
    'game_1', 'game_2',
    'tournament', 'tournament_player', 'tournament_pairing', 'preset', 'fault', 'reference_speed'] || array['tune', 'tune_parameter', 'tune_batch'] || array['leadership'] || array['book', 'book_opening', 'ending_rollup', 'length_rollup', 'opening_rollup', 'pair_rollup', 'session_rollup']
    || array['audit_secret', 'audit_request', 'audit', 'charge', 'worker_flag',
    'game_set_aside', 'verdict_withdrawn'])
from (select t_experiment('match', true, 10), t_experiment('selfplay', false, 10)) made;
select views_are('kroo', array['experiment_counted', 'game_counted', 'experiment_progress', 'experiment_verdict',
    'champion', 'weights_lineage', 'worker_session', 'first_move_score', 'endings_by_reason', 'game_length',
    'counter_difference', 'dispute_leg', 'weights_provenance', 'learning_curve', 'lifetime', 'verdict_by_user',
    'tournament_score', 'tournament_progress', 'progression', 'fault_report']
    || array['pair_agreed', 'engine_proof', 'experiment_reproducible']
    || array['tune_now', 'tune_history', 'fault_player'] || array['book_opening_pairs', 'book_opening_score', 'resignation_calibration', 'game_unrolled', 'game_length_histogram', 'opening_count',
    'opening_score', 'opening_pair_count', 'opening_pairs', 'pair_score', 'session_game_count', 'worker_health',
    'champion_history']
    || array['audit_progress', 'worker_charge', 'worker_set_aside',
    'flagged_session', 'verdict_standing', 'game_trusted', 'weights_affected', 'game_repeats'] || array['experiment_rate']);

select is_empty($$
    select c.relname || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'kroo'::regnamespace and c.relkind in ('r', 'p', 'v') and a.attnum > 0
        and not a.attisdropped and coalesce(col_description(c.oid, a.attnum), '') = ''
$$, 'every column of every table and view is documented');
select is_empty($$
    select relname from pg_class c where relnamespace = 'kroo'::regnamespace and relkind in ('p', 'v', 'r')
        and not relispartition and coalesce(obj_description(c.oid, 'pg_class'), '') = ''
$$, 'every table and view is documented');
select is_empty($$
    select proname from pg_proc p where pronamespace = 'kroo'::regnamespace
        and coalesce(obj_description(p.oid, 'pg_proc'), '') = ''
$$, 'every function is documented');
select is_empty($$
    select relname from pg_class where relnamespace = 'kroo'::regnamespace
        and pg_get_userbyid(relowner) <> 'kroo_owner'
$$, 'everything belongs to kroo_owner');
select schema_owner_is('kroo', 'kroo_owner');

select is_empty($$
    select conrelid::regclass, conname from pg_constraint c where contype = 'f' and connamespace = 'kroo'::regnamespace
        and conrelid <> 'kroo.game'::regclass
        and not exists (select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])
        and confrelid not in ('kroo.rule_set'::regclass, 'kroo.engine_build'::regclass, 'kroo.training_run'::regclass,
            'kroo.verdict'::regclass, 'kroo.weights'::regclass)
$$, 'foreign keys of growing tables have an index');

select col_is_pk('kroo', 'game', array['experiment_id', 'pair_no', 'leg'], 'a game is stored once');
select is((select partstrat::text from pg_partitioned_table where partrelid = 'kroo.game'::regclass), 'r',
    'game is partitioned by range');
select is((select count(*)::int from pg_inherits where inhparent = 'kroo.game'::regclass), 2,
    'each experiment has a partition');
select is(game_partition_create(1), 'game_1', 'making a partition again changes nothing');
select throws_ok('select game_partition_create(99)', '23503', null, 'no partition without an experiment');
select is((select count(*)::int from pg_index i join pg_class c on c.oid = i.indrelid where c.relname = 'game_1'
    and i.indisvalid), 3, 'a partition has its three indexes');
select is((select array_agg(conname::text order by conname) from pg_constraint where conrelid = 'kroo.game_1'::regclass
        and contype = 'c'),
    (select array_agg(conname::text order by conname) from pg_constraint where conrelid = 'kroo.game'::regclass
        and contype = 'c'), 'a partition has all CHECK constraints');

select is((select count(*)::int from rule_set), 12, 'twelve presets');
select results_eq('select name from rule_set where unfed_loses', array['togo'], 'togo: the unfed lose');
select is((select relpersistence::text from pg_class where oid = 'kroo.game_1'::regclass), 'p', 'games are logged');

select * from finish();
rollback;
