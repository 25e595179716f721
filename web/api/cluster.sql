-- : the cluster at this moment: speed, workers, queue, events, faults
with worker as (
    select s.id, s.name, coalesce(p.name, s.peer) as peer, s.slots, s.started_at, coalesce(l.leases, 0) as leases,
        coalesce(r.games, 0) as games, coalesce(r.faults, 0) as faults, f.session_id is not null as is_set_aside
    from session s
        left join peer p on p.public_key = s.peer
        left join (select session_id, count(*) as leases from lease where state = 'open' group by session_id) l
            on l.session_id = s.id
        left join lateral (select sum(games) as games, sum(faults) as faults from session_rollup
            where session_id = s.id) r on true
        left join flagged_session f on f.session_id = s.id
    where s.slots > 0 and s.ended_at is null
), queue as (
    select e.id, e.kind, e.state, e.state_reason, e.priority, e.note, e.planned_pairs, c.prefix_pairs as pairs,
        c.games_stored as games, e.sprt_model is not null as is_test, r.pairs_left, r.is_expected,
        r.pairs_per_minute, r.seconds_left,
        coalesce(nullif(wa.name, ''), '#' || wa.number) as a, coalesce(nullif(wb.name, ''), '#' || wb.number) as b,
        (select count(distinct l.session_id) from lease l where l.experiment_id = e.id and l.state = 'open') as workers
    from experiment e
        join experiment_counter c on c.experiment_id = e.id
        join experiment_rate r on r.experiment_id = e.id
        join player pa on pa.id = e.player_a join weights wa on wa.sha256 = pa.weights_sha256
        join player pb on pb.id = e.player_b join weights wb on wb.sha256 = pb.weights_sha256
    where e.state in ('running', 'paused', 'blocked', 'pending')
    order by e.priority desc, e.id limit 100
)
select json_build_object(
    'at', round(extract(epoch from now()), 1),
    'games', (select games from lifetime),
    'experiments', (select experiments from lifetime),
    'games_per_second', (select round(coalesce(sum(pairs_per_minute), 0)::numeric / 30, 2) from experiment_rate),
    'workers', (select json_build_object('working', count(*) filter (where not is_set_aside and leases > 0),
        'idle', count(*) filter (where not is_set_aside and leases = 0),
        'set_aside', count(*) filter (where is_set_aside), 'play_threads', coalesce(sum(slots), 0)) from worker),
    'day', (select json_build_object('since', round(extract(epoch from s)), 'step', 300, 'games',
            (select json_agg(coalesce(g.games, 0) order by t) from generate_series(s, now(), interval '5 minutes') t
                left join games_by_time(s, interval '5 minutes') g on g.at = t))
        from (select date_bin('5 minutes', now() - interval '1 day', '2000-01-01') as s) x),
    'worker_list', (select coalesce(json_agg(json_build_object('session', id, 'name', name, 'peer', peer, 'slots', slots,
        'state', case when is_set_aside then 'set aside' when leases > 0 then 'working' else 'idle' end,
        'games', games, 'faults', faults, 'since', round(extract(epoch from started_at)))), '[]')
        from (select * from worker order by name, id limit 200) x),
    'queue', (select coalesce(json_agg(queue order by priority desc, id), '[]') from queue),
    'ended', (select coalesce(json_agg(x order by x.at desc), '[]') from (
        select e.id, e.kind, e.state, v.verdict, c.prefix_pairs as pairs, round(extract(epoch from e.ended_at)) as at,
            coalesce(nullif(wa.name, ''), '#' || wa.number) as a, coalesce(nullif(wb.name, ''), '#' || wb.number) as b
        from experiment e join experiment_counter c on c.experiment_id = e.id
            join player pa on pa.id = e.player_a join weights wa on wa.sha256 = pa.weights_sha256
            join player pb on pb.id = e.player_b join weights wb on wb.sha256 = pb.weights_sha256
            left join verdict v on v.experiment_id = e.id
        where e.ended_at is not null order by e.ended_at desc limit 8) x),
    'events', (select coalesce(json_agg(x order by x.id desc), '[]') from (
        select id, round(extract(epoch from at)) as at, kind, experiment_id as experiment, session_id as session, text
        from event order by id desc limit 40) x),
    'fault_kinds', (select coalesce(json_agg(x), '[]') from (
        select kind, count(*) as faults from fault where recorded_at > now() - interval '1 day'
        group by kind order by 2 desc, 1 limit 12) x),
    'faults', (select coalesce(json_agg(x order by x.id desc), '[]') from (
        select id, round(extract(epoch from recorded_at)) as at, experiment_id as experiment, pair_no as pair, leg, kind,
            engine, worker, why
        from fault_report order by id desc limit 12) x))
