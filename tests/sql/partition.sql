-- What is asked of one experiment touches its partition alone, however many there are: a plan for all of them takes time
-- and locks that grow with every experiment there ever was.
\ir fixture.psql
select count(t_experiment('match', n % 2 = 0, 100)) from generate_series(1, 12) n \g /dev/null
select t_game(7, p, l, (p + l) % 3) from generate_series(0, 20) p, generate_series(0, 1) l \g /dev/null
update experiment_counter c set games_stored = r.games_stored, prefix_pairs = r.prefix_pairs, ll = r.ll, ld = r.ld,
    dd = r.dd, wl = r.wl, dw = r.dw, ww = r.ww, wins = r.wins, draws = r.draws, losses = r.losses
from counters_recompute(7) r where c.experiment_id = 7;
insert into session (id, peer, name, engine_build, slots) values (5, 'local', 'w', 'kroo-engine 1 test', 1);
insert into dispute (experiment_id, pair_no, was_counted, reason) values (7, 3, false, 'test');
insert into dispute_run (dispute_id, leg, session_id, attempt, content_sha256, lease_id, moves, result, reason, south,
    north, a_half_points, claimed, nodes, time_ms)
select d.id, 0, 5, 1, sha256('x'), 0, 'FcE', 'south', 'majority', 27, 11, 2, false, 1, 1 from dispute d;
-- A planner that has taken a plan for all parameters does so from the sixth call on.
create function tests.touched(query text) returns bigint language plpgsql as $$
declare
    most bigint := 0;
begin
    for turn in 1..7 loop
        begin
            execute 'create temporary table answer on commit drop as ' || query;
            select greatest(most, count(distinct relation)) into most from pg_locks l join pg_class c on c.oid = l.relation
            where l.pid = pg_backend_pid() and c.relname ~ '^game_\d+$';
            raise exception 'back' using errcode = 'P0099';
        exception when sqlstate 'P0099' then
            null; -- and the locks are gone
        end;
    end loop;
    return most;
end
$$;
begin;
select plan(28);
select cmp_ok(touched('select count(*) from game'), '>=', 12::bigint, 'the counter counts');
select is(touched(query), 1::bigint, query) from unnest(array[
    'select count(*) from replay_wanted(7, null)',
    'select count(*) from worker_results(7, 0, 10)',
    'select count(*) from rollup_endings(7, 0, 10)',
    'select count(*) from rollup_openings(7, 0, 10)',
    'select count(*) from rollup_pairs(7, 0, 10)',
    'select count(*) from rollup_sessions(7, 0, 10)',
    'select rollup_fill(7, 0, 10) is null',
    'select count(*) from counters_recompute(7)',
    'select count(*) from repeats_by_text(7)',
    'select count(*) from verify_counters(7)',
    'select count(*) from verify_rollups(7)',
    'select count(*) from games_between(7, 0, 10)',
    'select count(*) from range_sessions(7, 100, 0, 10)',
    $$select audit_agree(7, 3, 0, 5)$$,
    $$select dispute_replace(1)$$,
    $$select games_set_aside(7)$$,
    'select * from game_counted where experiment_id = 7',
    'select * from endings_by_reason where experiment_id = 7',
    'select * from opening_score where experiment_id = 7',
    'select * from first_move_score where experiment_id = 7',
    'select * from game_length where experiment_id = 7',
    'select * from verdict_standing where experiment_id = 7',
    'select * from game_trusted where experiment_id = 7',
    'select * from game_repeats where experiment_id = 7',
    'select * from pair_score where experiment_id = 7',
    'select * from opening_pairs where experiment_id = 7',
    'select * from opening_pair_count where experiment_id = 7']) query;
select * from finish();
rollback;
