-- Faults: what the table refuses, and what the report makes of them.
\ir fixture.psql
begin;
select plan(7);
select t_experiment('match', true, 100) \g /dev/null
insert into session (id, peer, name, engine_build, slots, confinement) values (1000, 'local', 'tester', 'b', 1, 'namespaces');
insert into fault (experiment_id, session_id, kind, side, pair_no, leg, attempt, moves, why)
values (1, 1000, 'crash', 'a', 3, 1, 1, 'AbC', 'it was killed by signal 11');
insert into fault (experiment_id, session_id, kind, side, why) values (1, 1000, 'self-test', 'b', 'expected x, found y');
select results_eq('select pair_no, leg, side, engine, kind, ply, worker, seed = (select seed from experiment where id = 1)
    from fault_report where experiment_id = 1 order by id',
    $$values (3::bigint, 1::smallint, 'a', 'built-in', 'crash', 3, 'tester', true),
        (null, null, 'b', 'built-in', 'self-test', 0, 'tester', true)$$, 'the report');
select throws_ok($$insert into fault (experiment_id, session_id, kind, pair_no, leg, attempt) values (1, 1000, 'crash', 3, 1, 1)$$,
    '23505', null, 'one run of a game has a fault once');
select throws_ok($$insert into fault (experiment_id, session_id, kind, pair_no) values (1, 1000, 'crash', 3)$$, '23514', null,
    'half a game is none');
select throws_ok($$insert into fault (experiment_id, session_id, kind) values (1, 1000, 'sneeze')$$, '23514', null, 'kinds are known');
select throws_ok($$insert into fault (experiment_id, session_id, kind, moves) values (1, 1000, 'start', 'xyz')$$, '23514', null,
    'moves are letters of houses');
select throws_ok($$insert into engine (name, sha256, added_by, signature) select 'x', sha256, 'me', 'XYZ' from artifact limit 1$$,
    '23514', null, 'a signature is hexadecimal');
set local role kroo_reader;
select lives_ok('select * from fault_report', 'readers see faults');
reset role;
select * from finish();
rollback;
