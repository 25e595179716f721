-- Least rights: what each role may do, and what it may not.
\ir fixture.psql
begin;
select plan(36);
select t_experiment('match', true, 10) \g /dev/null

select roles_are(array(select rolname from pg_roles where rolname !~ '^kroo_')
    || array['kroo_owner', 'kroo_coordinator', 'kroo_trainer', 'kroo_reader']::name[]);
select is((select array_agg(rolname::text order by rolname) from pg_roles where rolname ~ '^kroo_' and rolcanlogin),
    array['kroo_coordinator', 'kroo_reader', 'kroo_trainer'], 'the owner does not log in');
select is_empty($$select rolname from pg_roles where rolname ~ '^kroo_' and (rolsuper or rolcreaterole or rolcreatedb
    or rolreplication or rolbypassrls)$$, 'none has a power over the cluster');
select schema_privs_are('kroo', 'kroo_coordinator', array['USAGE']);
select schema_privs_are('kroo', 'kroo_trainer', array['USAGE']);
select schema_privs_are('kroo', 'kroo_reader', array['USAGE']);
select is_empty($$select c.relname from pg_class c, aclexplode(c.relacl) a where c.relnamespace = 'kroo'::regnamespace
    and a.grantee = 0$$, 'nothing is open to everybody');

-- Writes, table by table. Long lists have a name a line, in the order of the alphabet.
create function tests.words(list text) returns text[] language sql immutable as $$
    select regexp_split_to_array(trim(both e'\n ' from list), '\s+')
$$;
create function tests.writes_of(role_name name) returns setof text language sql as $$
    select c.relname || ':' || p from pg_class c,
        unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p
    where c.relnamespace = 'kroo'::regnamespace and c.relkind in ('r', 'p', 'v') and has_table_privilege(role_name, c.oid, p)
$$;
select is_empty($$select * from writes_of('kroo_reader')$$, 'a reader writes nowhere');
select set_eq($$select * from writes_of('kroo_trainer')$$,
    array['artifact:INSERT', 'weights:INSERT', 'training_run:INSERT', 'learning_loop:INSERT', 'generation:INSERT'],
    'a trainer adds weights, runs and loops');
select set_eq($$select * from writes_of('kroo_coordinator')$$, words($$
    artifact:INSERT
    artifact_seal:INSERT
    book:INSERT
    book_opening:INSERT
    dispute:INSERT
    dispute_run:INSERT
    endgame_table:INSERT
    engine:INSERT
    engine_build:INSERT
    event:INSERT
    experiment:INSERT
    experiment_counter:INSERT
    experiment_minute:INSERT
    experiment_minute:UPDATE
    fault:INSERT
    game:INSERT
    hook_run:INSERT
    leadership:INSERT
    lease:INSERT
    peer:INSERT
    player:INSERT
    preset:INSERT
    promotion:INSERT
    reference_speed:INSERT
    session:INSERT
    tournament:INSERT
    tournament_pairing:INSERT
    tournament_player:INSERT
    tune:INSERT
    tune_batch:INSERT
    tune_parameter:INSERT
    verdict:INSERT
    weights:INSERT
$$), 'a coordinator adds, and deletes nothing');
create function tests.column_updates_of(role_name name) returns setof text language sql as $$
    select c.relname || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'kroo'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
        and has_column_privilege(role_name, c.oid, a.attnum, 'UPDATE')
$$;
select is_empty($$select * from column_updates_of('kroo_reader')$$, 'a reader changes nothing');
select set_eq($$select * from column_updates_of('kroo_trainer')$$, array['learning_loop.planned_generations',
    'learning_loop.state', 'learning_loop.updated_at', 'generation.selfplay_id', 'generation.training_run_id',
    'generation.candidate_sha256', 'generation.gate_id', 'generation.first_match_id', 'generation.outcome',
    'generation.reason', 'generation.ended_at'], 'a trainer fills in generations, and changes nothing else');
select set_eq($$select u from column_updates_of('kroo_coordinator') u where u !~ '^experiment_counter'$$, words($$
    book.measured_how
    book.measured_pairs
    book.measured_wl
    dispute.runs_before
    dispute.settled_at
    dispute.settlement
    dispute.state
    dispute.was_counted
    experiment.ended_at
    experiment.note
    experiment.priority
    experiment.state
    experiment.state_reason
    experiment.submitter
    experiment_minute.experiment_id
    experiment_minute.games_stored
    experiment_minute.minute
    experiment_minute.prefix_pairs
    hook_run.claim
    hook_run.due_at
    hook_run.ended_at
    hook_run.outcome
    hook_run.started_at
    hook_run.state
    lease.ended_at
    lease.state
    lease_number.reserved
    peer.allowed_at
    peer.allowed_by
    peer.name
    peer.revoked_at
    peer.revoked_by
    peer.role
    peer_version.in_force
    peer_version.in_force_at
    session.ended_at
    session.load_ppm
    session.measured_at
    session.scale_ppm
    session.speed
    session.spread_ppm
    tournament.note
    tournament.planned_rounds
    tournament.priority
    tournament.state
    tournament.state_reason
    tournament_pairing.experiment_id
    tune.match_id
    tune.tuned_options
    tune.tuned_sha256
    tune_batch.applied_at
    tune_batch.lost
    tune_batch.theta
    tune_batch.won
$$), 'a coordinator changes states, never specifications, games or verdicts');
select set_eq($$select proname::text from pg_proc where pronamespace = 'kroo'::regnamespace
    and has_function_privilege('kroo_reader', oid, 'EXECUTE')$$, words($$
    counters_recompute
    experiment_descendants
    games_between
    games_by_time
    range_sessions
    repeats_by_text
    rollup_due
    rollup_endings
    rollup_openings
    rollup_pairs
    rollup_segment_pairs
    rollup_sessions
    shared_opening
    sprt_pairs_left
    tune_outvoted
    verify_counters
    verify_rollups
$$), 'a reader runs the checks, what they read, and nothing else');

-- And in deed.
set local role kroo_reader;
select lives_ok('select * from experiment_progress', 'a reader reads');
select lives_ok('select * from counter_difference', 'a reader verifies');
select throws_ok('delete from game', '42501', null, 'a reader deletes no game');
select throws_ok($$insert into event (kind, text) values ('x', 'x')$$, '42501', null, 'a reader writes no event');
select throws_ok('select game_partition_create(1)', '42501', null, 'a reader makes no partition');
select throws_ok('create table kroo.mine (x integer)', '42501', null, 'a reader makes no table');
select throws_ok('select rolpassword from pg_authid', '42501', null, 'a reader sees no password');
select lives_ok('select * from artifact_seal', 'a reader sees who signed what');
select throws_ok('delete from artifact_seal', '42501', null, 'and takes no signature away');
reset role;

set local role kroo_coordinator;
select lives_ok($$select game_partition_create(1)$$, 'a coordinator makes partitions');
select lives_ok('create temporary table game_incoming (x integer)', 'and temporary tables');
select throws_ok('create table kroo.mine (x integer)', '42501', null, 'no tables');
select throws_ok('drop table kroo.game_1', '42501', null, 'drops none');
select throws_ok('update game set result = ''south''', '42501', null, 'changes no game');
select throws_ok('update experiment set seed = 1', '42501', null, 'changes no specification');
select throws_ok('update artifact_seal set name = ''x''', '42501', null, 'changes no signature');
select throws_ok('delete from artifact_seal', '42501', null, 'takes none away');
select throws_ok('delete from peer', '42501', null, 'revokes keys, and forgets none');
reset role;

set local role kroo_trainer;
select lives_ok('select * from game_counted', 'a trainer reads games');
select throws_ok($$insert into promotion (line, weights_sha256, by) select 'main', sha256, 'trainer' from weights$$,
    '42501', null, 'a trainer does not promote');
select throws_ok('update weights set name = ''x''', '42501', null, 'a trainer renames nothing');
select throws_ok($$insert into artifact_seal select sha256, sha256, 'engine', 'any', 'x', sha256, 'x' from weights$$,
    '42501', null, 'a trainer signs nothing');
reset role;

select * from finish();
rollback;
