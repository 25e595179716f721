-- Disputes: builds that differ are told from workers that lie, whoever is set aside has no voice, what is derived from a
-- game follows when another takes its place.
\ir fixture.psql
begin;
select plan(17);
select t_experiment('match', false, 10) as id \gset
update experiment set resign_score = 100, resign_plies = 1, resign_playout_ppm = 1000000 where id = :id;
insert into session (id, peer, name, engine_build, slots, architecture, compiler) values
    (11, 'local', 'x1', 'kroo-engine 1 test', 1, 'x86_64', 'gcc 12'), (12, 'local', 'x2', 'kroo-engine 1 test', 1, 'x86_64', 'gcc 13'),
    (13, 'local', 'a1', 'kroo-engine 1 test', 1, 'aarch64', 'gcc 12'), (14, 'local', 'a2', 'kroo-engine 1 test', 1, 'aarch64', 'gcc 13'),
    (15, 'local', 'old', 'kroo-engine 1 test', 1, '', '');

-- One more run of leg 0 of a pair, in dispute since the first.
create function tests.t_run(experiment bigint, pair bigint, session bigint, moves text, scores bytea default '\x010002000300')
returns bigint language plpgsql as $$
declare
    dispute bigint;
begin
    insert into kroo.dispute as d (experiment_id, pair_no, was_counted, reason) values (experiment, pair, true, 'test')
    on conflict (experiment_id, pair_no) do update set reason = 'test' returning d.id into dispute;
    insert into kroo.dispute_run (dispute_id, leg, session_id, attempt, content_sha256, lease_id, moves, scores, result,
        reason, south, north, a_half_points, claimed, nodes, time_ms)
    select dispute, 0, session, (select count(*) + 1 from kroo.dispute_run r where r.dispute_id = dispute),
        kroo.game_content_sha256(moves, scores, 'south', 'majority', 27::smallint, 11::smallint, false), 0, moves, scores,
        'south', 'majority', 27, 11, 2, false, 1000, 10;
    return dispute;
end
$$;
create function tests.t_stored(experiment bigint, pair bigint, session bigint) returns void language sql as $$
    select t_game(experiment, pair, leg, 2) from generate_series(0, 1) leg;
    update kroo.game set session_id = session, scores = '\x010002000300' where experiment_id = experiment and pair_no = pair;
$$;

-- --- builds ---
select t_stored(:id, 0, 11) \g /dev/null
select t_run(:id, 0, 11, 'FcE') as dispute \gset
select t_run(:id, 0, 13, 'FdE') \g /dev/null
select results_eq(format('select trait, sides from dispute_split(%s, null, null, null)', :dispute),
    $$values ('architecture', 'aarch64 / x86_64')$$, 'two architectures that differ');
select is(dispute_settle(:id, 0), 'open', 'one word against one settles nothing');
select t_run(:id, 0, 12, 'FcE') \g /dev/null
select is(dispute_settle(:id, 0), 'kept', 'two of one architecture settle it');
select is((select count(*) from charge where dispute_id = :dispute), 0::bigint, 'and charge nobody');
select is((select format('%s %s', trait, sides) from divergence where dispute_id = :dispute), 'architecture aarch64 / x86_64', 'but mark the build');
select is(charge_late(:id, 0, 0, 14, 'FdE', false), 0::bigint, 'the same game from the same architecture, late, is no charge');
select is(charge_late(:id, 0, 0, 14, 'FeE', false), 1::bigint, 'a third one is: that architecture has said two things');

select t_stored(:id, 1, 11) \g /dev/null
select t_run(:id, 1, 11, 'FcE') as dispute \gset
select t_run(:id, 1, 13, 'FcE'), t_run(:id, 1, 12, 'FdE') \g /dev/null
select results_eq(format('select trait, sides from dispute_split(%s, null, null, null)', :dispute),
    $$values ('build', 'kroo-engine 1 test, gcc 12 / kroo-engine 1 test, gcc 13')$$, 'two compilers that differ');
select t_run(:id, 1, 14, 'FcE') \g /dev/null
select is_empty(format('select from dispute_split(%s, null, null, null)', :dispute), 'each side in both architectures and both builds is no split');
select dispute_settle(:id, 1) \g /dev/null
select is((select string_agg(name, ' ') from charge where dispute_id = :dispute), 'x2', 'whoever stands alone then is charged');

select t_stored(:id, 2, 11) \g /dev/null
select t_run(:id, 2, 11, 'FcE') as dispute \gset
select t_run(:id, 2, 15, 'FdE') \g /dev/null
select is_empty(format('select from dispute_split(%s, null, null, null)', :dispute), 'whoever does not tell its machine is not excused by it');

-- Two against two in one transaction.
select t_stored(:id, 3, 11) \g /dev/null
select t_run(:id, 3, 11, 'FcE'), t_run(:id, 3, 12, 'FcE'), t_run(:id, 3, 13, 'FdE'), t_run(:id, 3, 14, 'FdE') \g /dev/null
select is(dispute_settle(:id, 3), 'divergent', 'two against two by architecture are not to be settled');

-- --- who is set aside ---
insert into worker_flag (name, kind, reason, set_aside_by) values ('a2', 'hand', 'test', 'test');
select is(dispute_settle(:id, 3), 'kept', 'without one of them they are');
select t_stored(:id, 4, 11) \g /dev/null
select t_run(:id, 4, 11, 'FcE'), t_run(:id, 4, 13, 'FdE'), t_run(:id, 4, 14, 'FdE') \g /dev/null
select is(dispute_settle(:id, 4), 'open', 'a word of theirs is none');

-- --- what follows ---
select t_stored(:id, 5, 11) \g /dev/null
select is((select resign_ply from game where experiment_id = :id and pair_no = 5 and leg = 0), null, 'a game in which nobody would have resigned');
select t_run(:id, 5, 11, 'FcE'), t_run(:id, 5, 12, 'FcE', '\x010000ff0300'), t_run(:id, 5, 13, 'FcE', '\x010000ff0300') \g /dev/null
select is(dispute_settle(:id, 5), 'replaced', 'is replaced by one');
select is((select resign_ply from game where experiment_id = :id and pair_no = 5 and leg = 0), 2, 'in which a side would have, and it is noted');
select * from finish();
rollback;
