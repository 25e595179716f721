-- : what moves from second to second; every live page hears it
select json_build_object(
    'at', round(extract(epoch from now()), 1),
    'games', (select games from lifetime),
    'games_per_second', (select round(coalesce(sum(pairs_per_minute), 0)::numeric / 30, 2) from experiment_rate),
    'workers', (select json_build_object('working', count(*) filter (where busy), 'idle', count(*) filter (where not busy))
        from (select exists (select from lease l where l.state = 'open' and l.session_id = s.id) as busy
            from session s where s.slots > 0 and s.ended_at is null) x),
    'event', (select max(id) from event),
    'fault', (select max(id) from fault),
    'experiments', (select coalesce(json_agg(x order by x.id desc), '[]') from (
        select e.id, e.state, c.prefix_pairs as pairs, c.games_stored as games, c.llr
        from experiment e join experiment_counter c on c.experiment_id = e.id
        where e.state in ('running', 'paused', 'blocked', 'pending') or e.ended_at > now() - interval '1 minute'
        order by e.id desc limit 50) x))
