-- What is asked of one experiment is planned for its partition alone. A function in SQL is planned before it knows its
-- parameters, for the partitions of all experiments there ever were: at 250 of them 200 ms a call, of which a coordinator
-- makes one for each running experiment when it starts; in PL/pgSQL with its parameters in the plan, below 1 ms.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create or replace function rollup_endings(experiment bigint, first_pair bigint, end_pair bigint)
returns table (reason text, result text, plies integer, games bigint)
language plpgsql stable set search_path = kroo, pg_temp set enable_seqscan = off set jit = off set enable_sort = off
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    select g.reason, g.result, g.plies, count(*)
    from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
        and not exists (select from pair_repeat r where r.experiment_id = experiment and r.pair_no = g.pair_no)
    group by g.reason, g.result, g.plies;
end
$$;

create or replace function rollup_openings(experiment bigint, first_pair bigint, end_pair bigint)
returns table (opening text, games bigint, south_wins bigint, draws bigint)
language plpgsql stable set search_path = kroo, pg_temp set enable_seqscan = off set jit = off set enable_sort = off
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    select left(g.moves, 4), count(*), sum((g.result = 'south')::integer), sum((g.result = 'draw')::integer)
    from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
        and not exists (select from pair_repeat r where r.experiment_id = experiment and r.pair_no = g.pair_no)
    group by left(g.moves, 4);
end
$$;

create or replace function rollup_pairs(experiment bigint, first_pair bigint, end_pair bigint)
returns table (opening text, p00 bigint, p01 bigint, p02 bigint, p10 bigint, p11 bigint, p12 bigint, p20 bigint,
    p21 bigint, p22 bigint)
language plpgsql stable set search_path = kroo, pg_temp set enable_seqscan = off set enable_nestloop = off set jit = off
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    select p.opening, sum((p.points = 0)::integer), sum((p.points = 1)::integer), sum((p.points = 2)::integer),
        sum((p.points = 10)::integer), sum((p.points = 11)::integer), sum((p.points = 12)::integer),
        sum((p.points = 20)::integer), sum((p.points = 21)::integer), sum((p.points = 22)::integer)
    from (
        select shared_opening(a.moves, b.moves, e.plies) as opening, 10 * a.a_half_points + b.a_half_points as points
        from (select case when x.book_sha256 is null then x.opening_plies else 5 end as plies
                from experiment x where x.id = experiment and x.kind <> 'selfplay') e,
            game a, game b
        where a.experiment_id = experiment and a.pair_no >= first_pair and a.pair_no < end_pair and a.leg = 0
            and b.experiment_id = experiment and b.pair_no >= first_pair and b.pair_no < end_pair and b.leg = 1
            and a.pair_no = b.pair_no
            and not exists (select from pair_repeat r where r.experiment_id = experiment and r.pair_no = a.pair_no)
    ) p
    group by p.opening;
end
$$;

create or replace function rollup_sessions(experiment bigint, first_pair bigint, end_pair bigint)
returns table (session_id bigint, games bigint, faults bigint)
language plpgsql stable set search_path = kroo, pg_temp set enable_seqscan = off set jit = off
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    select g.session_id, count(*), count(*) filter (where g.reason in ('deadline', 'illegal-move', 'crash'))
    from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
    group by g.session_id;
end
$$;

create or replace function worker_results(experiment bigint, first_pair bigint, end_pair bigint)
returns table (peer text, name text, won bigint, lost bigint, equal bigint)
language plpgsql stable security definer set search_path = kroo, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    select s.peer, s.name, count(*) filter (where points > 2), count(*) filter (where points < 2),
        count(*) filter (where points = 2)
    from (
        select min(g.session_id) as session_id, sum(g.a_half_points) as points
        from game g where g.experiment_id = worker_results.experiment
            and g.pair_no >= worker_results.first_pair and g.pair_no < worker_results.end_pair
        group by g.pair_no having count(*) = 2 and min(g.session_id) = max(g.session_id)
    ) pair join session s on s.id = pair.session_id
    group by s.peer, s.name order by s.peer collate "C", s.name collate "C";
end
$$;

create or replace function replay_wanted(experiment bigint, pairs bigint[])
returns table (pair_no bigint, is_disputed boolean, is_held boolean, peer text, name text)
language plpgsql stable security definer set search_path = kroo, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    with wanted as (
        select a.pair_no from audit a where a.experiment_id = replay_wanted.experiment and a.state = 'open'
        union
        select d.pair_no from dispute d where d.experiment_id = replay_wanted.experiment and d.state = 'open'
            and (d.was_counted or not exists (select from verdict v where v.experiment_id = replay_wanted.experiment))
            and (select coalesce(max(l.runs), 0) from dispute_leg l where l.dispute_id = d.id
                and l.agreed_sha256 is null) < 5 + d.runs_before
    ), run as (
        select w.pair_no, g.session_id, g.stored_at as at from wanted w
            join game g on g.experiment_id = replay_wanted.experiment and g.pair_no = w.pair_no
        union all
        select w.pair_no, r.session_id, r.recorded_at from wanted w
            join dispute d on d.experiment_id = replay_wanted.experiment and d.pair_no = w.pair_no
            join dispute_run r on r.dispute_id = d.id
    )
    select run.pair_no, coalesce(bool_or(d.id is not null), false), coalesce(bool_or(not d.was_counted), false), s.peer, s.name
    from run left join session s on s.id = run.session_id
        left join dispute d on d.experiment_id = replay_wanted.experiment and d.pair_no = run.pair_no and d.state = 'open'
    where replay_wanted.pairs is null or run.pair_no = any(replay_wanted.pairs)
    group by run.pair_no, s.peer, s.name
    order by run.pair_no, max(run.at), s.peer, s.name;
end
$$;

create or replace function counters_recompute(experiment bigint)
returns table (games_stored bigint, prefix_pairs bigint, ll bigint, ld bigint, dd bigint, wl bigint, dw bigint,
    ww bigint, wins bigint, draws bigint, losses bigint, repeated_pairs bigint)
language plpgsql stable set search_path = kroo, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    with pair as (
        select g.pair_no, count(*) as legs,
            max(g.a_half_points) filter (where g.leg = 0) as first,
            max(g.a_half_points) filter (where g.leg = 1) as second
        from game g where g.experiment_id = counters_recompute.experiment
        group by g.pair_no
    ), numbered as (
        select p.*, row_number() over (order by p.pair_no) - 1 as place
        from pair p
        where p.legs = 2 and not exists (
            select from dispute d left join verdict v using (experiment_id)
            where d.experiment_id = counters_recompute.experiment and d.pair_no = p.pair_no and d.state = 'open'
                and not d.was_counted and (v.written_at is null or d.opened_at < v.written_at))
    ), prefix as (
        select n.first, n.second, n.first + n.second as points, r.pair_no is not null as is_repeat
        from numbered n left join (select x.pair_no from pair_repeat x
            where x.experiment_id = counters_recompute.experiment) r on r.pair_no = n.pair_no
        where n.place = n.pair_no and n.pair_no < (
            select least(e.planned_pairs, v.counted_pairs, case when v.experiment_id is null and e.sprt_model is not null
                and (exists (select from audit a where a.experiment_id = e.id and a.state = 'open'
                        and a.pair_no < c.prefix_pairs)
                    or exists (select from dispute d where d.experiment_id = e.id and d.state = 'open' and d.was_counted))
                then c.prefix_pairs end)
            from experiment e left join experiment_counter c on c.experiment_id = e.id
                left join verdict v on v.experiment_id = e.id
            where e.id = counters_recompute.experiment)
    ), counted as (
        select * from prefix where not is_repeat
    )
    select (select coalesce(sum(legs), 0)::bigint from pair), (select count(*) from prefix),
        count(*) filter (where points = 0),
        count(*) filter (where points = 1),
        count(*) filter (where first = 1 and second = 1),
        count(*) filter (where points = 2 and first <> second),
        count(*) filter (where points = 3),
        count(*) filter (where points = 4),
        count(*) filter (where first = 2) + count(*) filter (where second = 2),
        count(*) filter (where first = 1) + count(*) filter (where second = 1),
        count(*) filter (where first = 0) + count(*) filter (where second = 0),
        (select count(*) from prefix where is_repeat)
    from counted;
end
$$;

create or replace function repeats_by_text(experiment bigint)
returns table (pair_no bigint, first_pair bigint)
language plpgsql stable set search_path = kroo, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    select p.pair_no, p.first_pair
    from (
        select k.pair_no, first_value(k.pair_no) over (partition by k.played order by k.pair_no) as first_pair
        from (
            select g.pair_no, string_agg(md5(concat_ws(' ', g.moves, g.result, g.reason)), ' ' order by g.leg) as played
            from game g join experiment_counted c on c.experiment_id = g.experiment_id
            where g.experiment_id = repeats_by_text.experiment and g.pair_no < c.counted_pairs
            group by g.pair_no having count(*) = 2
        ) k
    ) p
    where p.pair_no > p.first_pair;
end
$$;

create or replace function verify_counters(experiment bigint)
returns table (experiment_id bigint, source text, counter text, recorded bigint, recomputed bigint)
language plpgsql stable set search_path = kroo, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    with computed as (select r.* from counters_recompute(experiment) r),
    checked (source, counter, recorded, recomputed) as (
        select 'experiment_counter', x.* from computed r
            left join experiment_counter c on c.experiment_id = verify_counters.experiment,
        lateral (values ('games_stored', c.games_stored, r.games_stored), ('prefix_pairs', c.prefix_pairs, r.prefix_pairs),
            ('ll', c.ll, r.ll), ('ld', c.ld, r.ld), ('dd', c.dd, r.dd), ('wl', c.wl, r.wl), ('dw', c.dw, r.dw),
            ('ww', c.ww, r.ww), ('wins', c.wins, r.wins), ('draws', c.draws, r.draws),
            ('losses', c.losses, r.losses), ('repeated_pairs', c.repeated_pairs, r.repeated_pairs)) x
        union all
        select 'verdict', x.* from computed r
            join verdict c on c.experiment_id = verify_counters.experiment,
        lateral (values ('counted_pairs', c.counted_pairs, r.prefix_pairs), ('ll', c.ll, r.ll), ('ld', c.ld, r.ld),
            ('dd', c.dd, r.dd), ('wl', c.wl, r.wl), ('dw', c.dw, r.dw), ('ww', c.ww, r.ww), ('wins', c.wins, r.wins),
            ('draws', c.draws, r.draws), ('losses', c.losses, r.losses),
            ('repeated_pairs', c.repeated_pairs, r.repeated_pairs)) x
        union all
        -- Beyond four million different pairs a repeat may go unseen (coordinator/repeat.h).
        select 'pair_repeat', 'repeats letter by letter', (select count(*) from repeats_by_text(e.id) t
                join pair_repeat r on r.experiment_id = e.id and r.pair_no = t.pair_no), (select count(*) from repeats_by_text(e.id))
        from experiment e join experiment_counted c on c.experiment_id = e.id
        where e.id = verify_counters.experiment and e.repeat_rule = 1 and c.counted_pairs - c.repeated_pairs <= 4194304
        union all
        select 'pair_repeat', 'first pairs that count', count(*), count(*) filter (where f.pair_no is null)
        from pair_repeat r left join pair_repeat f on f.experiment_id = r.experiment_id and f.pair_no = r.first_pair
        where r.experiment_id = verify_counters.experiment having count(*) > 0
        union all
        select 'pair_repeat', 'games like those of the first pair', 2 * count(distinct r.pair_no),
            count(*) filter (where g.result = f.result and g.reason = f.reason
                and substr(g.moves, e.opening_plies + 1) = substr(f.moves, e.opening_plies + 1))
        from pair_repeat r join experiment e on e.id = r.experiment_id
            left join game g on g.experiment_id = r.experiment_id and g.pair_no = r.pair_no
            left join game f on f.experiment_id = r.experiment_id and f.pair_no = r.first_pair and f.leg = g.leg
        where r.experiment_id = verify_counters.experiment having count(*) > 0
    )
    select verify_counters.experiment, c.source, c.counter, c.recorded, c.recomputed from checked c;
end
$$;

create or replace function verify_rollups(experiment bigint)
returns table (experiment_id bigint, source text, place text, recorded text, recomputed text)
language plpgsql stable set search_path = kroo, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    with c as (
        select c.rolled_pairs, rollup_due(c.experiment_id, c.prefix_pairs) as due from experiment_counter c
        where c.experiment_id = verify_rollups.experiment
    ), segment as (
        select n, n * rollup_segment_pairs() as first_pair,
            least((n + 1) * rollup_segment_pairs(), c.rolled_pairs) as end_pair
        from c, generate_series(0, (c.rolled_pairs - 1) / rollup_segment_pairs()) n where c.rolled_pairs > 0
    ), ending as materialized (
        select s.n as segment, e.* from segment s, rollup_endings(verify_rollups.experiment, s.first_pair, s.end_pair) e
    ), played as (
        select n as segment, s.* from generate_series(0, greatest(
                (select max(g.pair_no) from game g where g.experiment_id = verify_rollups.experiment),
                (select max(r.segment) from session_rollup r where r.experiment_id = verify_rollups.experiment)
                    * rollup_segment_pairs()) / rollup_segment_pairs()) n,
            rollup_sessions(verify_rollups.experiment, n * rollup_segment_pairs(), (n + 1) * rollup_segment_pairs()) s
    ), checked (source, place, recorded, recomputed) as (
        select 'ending_rollup', format('segment %s, %s %s', segment, reason, result),
            format('%s games, %s plies', r.games, r.plies), format('%s games, %s plies', s.games, s.plies)
        from (select * from ending_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join (select segment, reason, result, sum(games) as games, sum(games * plies) as plies from ending
                group by segment, reason, result) s using (segment, reason, result)
        union all
        select 'length_rollup', format('segment %s, %s plies', segment, plies),
            format('%s games, %s drawn', r.games, r.draws), format('%s games, %s drawn', s.games, s.draws)
        from (select * from length_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join (select segment, plies, sum(games) as games,
                coalesce(sum(games) filter (where result = 'draw'), 0) as draws from ending
                group by segment, plies) s using (segment, plies)
        union all
        select 'opening_rollup', format('segment %s, %s', segment, opening),
            format('%s games, %s won by South, %s drawn', r.games, r.south_wins, r.draws),
            format('%s games, %s won by South, %s drawn', s.games, s.south_wins, s.draws)
        from (select * from opening_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join (select x.n as segment, o.* from segment x,
                rollup_openings(verify_rollups.experiment, x.first_pair, x.end_pair) o) s using (segment, opening)
        union all
        select 'pair_rollup', format('segment %s, %s', segment, opening),
            concat_ws(' ', r.p00, r.p01, r.p02, r.p10, r.p11, r.p12, r.p20, r.p21, r.p22),
            concat_ws(' ', s.p00, s.p01, s.p02, s.p10, s.p11, s.p12, s.p20, s.p21, s.p22)
        from (select * from pair_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join (select x.n as segment, p.* from segment x,
                rollup_pairs(verify_rollups.experiment, x.first_pair, x.end_pair) p) s using (segment, opening)
        union all
        select 'session_rollup', format('segment %s, session %s', segment, session_id),
            format('%s games, %s faults', coalesce(r.games, 0), coalesce(r.faults, 0)),
            format('%s games, %s faults', coalesce(s.games, 0), coalesce(s.faults, 0))
        from (select * from session_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join played s using (segment, session_id)
        union all
        select 'experiment_counter', 'rolled_pairs', rolled_pairs::text, due::text from c
    )
    select verify_rollups.experiment, k.source, k.place, k.recorded, k.recomputed from checked k
    where k.recorded is distinct from k.recomputed;
end
$$;

alter function audit_agree(bigint, bigint, integer, bigint) set plan_cache_mode = force_custom_plan;
alter function charge_late(bigint, bigint, integer, bigint, text, boolean) set plan_cache_mode = force_custom_plan;
alter function dispute_settle(bigint, bigint) set plan_cache_mode = force_custom_plan;
alter function games_set_aside(bigint) set plan_cache_mode = force_custom_plan;

create or replace function dispute_replace(dispute bigint) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    experiment bigint;
    replaced bigint;
begin
    select d.experiment_id into experiment from dispute d where d.id = dispute_replace.dispute;
    update game g set moves = r.moves, plies = octet_length(r.moves), scores = r.scores, result = r.result, reason = r.reason,
        south = r.south, north = r.north, a_half_points = r.a_half_points, claimed = r.claimed, nodes = r.nodes,
        time_ms = r.time_ms, attempt = r.attempt, lease_id = r.lease_id, session_id = r.session_id
    from dispute_leg l
        join lateral (select * from dispute_run x where x.dispute_id = l.dispute_id and x.leg = l.leg
            and x.content_sha256 = l.agreed_sha256 and not exists (select from flagged_session f where f.session_id = x.session_id)
            order by x.recorded_at, x.session_id, x.attempt limit 1) r on true
    where l.dispute_id = dispute_replace.dispute and g.experiment_id = experiment and g.pair_no = l.pair_no
        and g.leg = l.leg
        and game_content_sha256(g.moves, g.scores, g.result, g.reason, g.south, g.north, g.claimed) <> l.agreed_sha256;
    get diagnostics replaced = row_count;
    return replaced;
end
$$;

-- A join of the view would be planned for all partitions, too.
create function games_between(experiment bigint, first_pair bigint, end_pair bigint)
returns table (pair_no bigint, leg smallint, moves text, plies integer, result text, reason text, a_half_points smallint)
language plpgsql stable rows 1000 set search_path = kroo, pg_temp set enable_seqscan = off set jit = off
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    select g.pair_no, g.leg, g.moves, g.plies, g.result, g.reason, g.a_half_points from game g
    where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
    order by g.experiment_id, g.pair_no, g.leg limit 2 * (end_pair - first_pair);
end
$$;
comment on function games_between(bigint, bigint, bigint) is
    'Games of the pairs from first_pair up to end_pair (not included) of an experiment, in order; planned for its partition alone.';

create or replace view game_unrolled as
select c.experiment_id, g.pair_no, g.leg, g.moves, g.plies, g.result, g.reason, g.a_half_points, 1 as sign
from experiment_counter c
    join experiment_counted n on n.experiment_id = c.experiment_id
    cross join lateral games_between(c.experiment_id, c.rolled_pairs, n.counted_pairs) g
where c.rolled_pairs < n.counted_pairs
    and not exists (select from dispute d where d.experiment_id = c.experiment_id and d.pair_no = g.pair_no
        and d.state = 'open')
    and not exists (select from pair_repeat r where r.experiment_id = c.experiment_id and r.pair_no = g.pair_no)
union all
select g.experiment_id, g.pair_no, g.leg, g.moves, g.plies, g.result, g.reason, g.a_half_points, -1
from dispute d
    join experiment_counter c on c.experiment_id = d.experiment_id and d.pair_no < c.rolled_pairs
    join game g on g.experiment_id = d.experiment_id and g.pair_no = d.pair_no
where d.state = 'open'
    and not exists (select from pair_repeat r where r.experiment_id = d.experiment_id and r.pair_no = d.pair_no);

-- Who played the pairs of a range: whole segments by the roll-up of sessions, the rest by the games.
create function range_sessions(experiment bigint, planned_pairs bigint, first_pair bigint, pair_count bigint)
returns table (session_id bigint, games bigint)
language plpgsql stable rows 10 set search_path = kroo, pg_temp set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
    size constant bigint := rollup_segment_pairs();
    end_pair constant bigint := first_pair + pair_count;
    first_segment constant bigint := (first_pair + size - 1) / size;
    end_segment bigint := end_pair / size;
begin
    if end_pair >= planned_pairs and not exists (select from game g
            where g.experiment_id = experiment and g.pair_no >= range_sessions.planned_pairs) then
        end_segment := (planned_pairs + size - 1) / size;
    end if;
    return query
    select k.session_id, sum(k.games)::bigint
    from (
        select u.session_id, u.games from session_rollup u
        where u.experiment_id = experiment and u.segment >= first_segment and u.segment < end_segment
        union all
        select g.session_id, 1 from game g
        where g.experiment_id = experiment and g.pair_no >= range_sessions.first_pair
            and g.pair_no < case when first_segment < end_segment then first_segment * size else end_pair end
        union all
        select g.session_id, 1 from game g
        where first_segment < end_segment and g.experiment_id = experiment and g.pair_no >= end_segment * size
            and g.pair_no < end_pair
    ) k
    group by k.session_id;
end
$$;
comment on function range_sessions(bigint, bigint, bigint, bigint) is
    'Games of a range of an experiment''s pairs by the session that played them.';

create or replace view weights_provenance as
select l.weights, l.sha256, l.distance, l.ancestor, l.ancestor_sha256, l.training_run_id, t.kind, t.trainer_build,
    t.core_type, t.data_sha256, m.experiment as experiment_id, m.first_pair, m.pair_count, e.rules, e.seed,
    e.opening_plies, e.noise_ppm, wa.number as weights_a, a.engine_build as engine_a, a.options as limits_a,
    wb.number as weights_b, b.engine_build as engine_b, b.options as limits_b, g.games, g.session_id,
    s.peer as worker_peer, p.name as worker_peer_name, s.name as worker, s.engine_build as worker_engine
from weights_lineage l
    join training_run t on t.id = l.training_run_id
    cross join lateral jsonb_to_recordset(t.manifest) as m (experiment bigint, first_pair bigint, pair_count bigint)
    left join experiment e on e.id = m.experiment
    left join player a on a.id = e.player_a
    left join player b on b.id = e.player_b
    left join weights wa on wa.sha256 = a.weights_sha256
    left join weights wb on wb.sha256 = b.weights_sha256
    left join lateral range_sessions(m.experiment, e.planned_pairs, m.first_pair, m.pair_count) g on true
    left join session s on s.id = g.session_id
    left join peer p on p.public_key = s.peer;
