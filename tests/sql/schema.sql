-- What is there, and that every column of it is documented.
\ir fixture.psql
begin;
select plan(18);

-- A name a line, in the order of the alphabet.
create function tests.words(list text) returns text[] language sql immutable as $$
    select regexp_split_to_array(trim(both e'\n ' from list), '\s+')
$$;
select tables_are('kroo', words($$
    artifact
    artifact_seal
    audit
    audit_request
    audit_secret
    book
    book_opening
    capture_due
    capture_rollup
    charge
    deleted_experiment
    divergence
    dispute
    dispute_run
    endgame_table
    ending_rollup
    engine
    engine_build
    event
    experiment
    experiment_counter
    experiment_minute
    fault
    game
    game_1
    game_2
    game_set_aside
    generation
    hook_run
    leadership
    lease_number
    learning_loop
    lease
    length_rollup
    migration
    opening_rollup
    pair_repeat
    pair_rollup
    peer
    peer_version
    player
    preset
    promotion
    reference_speed
    rule_set
    session
    session_rollup
    tournament
    tournament_pairing
    tournament_player
    training_run
    tune
    tune_batch
    tune_parameter
    verdict
    verdict_past
    verdict_withdrawn
    weights
    worker_flag
$$))
from (select t_experiment('match', true, 10), t_experiment('selfplay', false, 10)) made;
select views_are('kroo', words($$
    audit_progress
    book_opening_pairs
    book_opening_score
    captures_by_ply
    champion
    champion_history
    counter_difference
    dispute_leg
    endings_by_reason
    engine_proof
    experiment_by_minute
    experiment_counted
    experiment_progress
    experiment_rate
    experiment_reproducible
    experiment_verdict
    fault_player
    fault_report
    first_move_score
    flagged_session
    game_counted
    game_length
    game_length_histogram
    game_repeats
    game_trusted
    game_unrolled
    learning_curve
    lifetime
    opening_count
    opening_pair_count
    opening_pairs
    opening_score
    pair_agreed
    pair_score
    player_label
    progression
    resignation_calibration
    session_game_count
    tournament_progress
    tournament_score
    tune_history
    tune_now
    verdict_by_user
    verdict_standing
    weights_affected
    weights_export
    weights_lineage
    weights_provenance
    worker_charge
    worker_health
    worker_session
    worker_set_aside
$$));

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
