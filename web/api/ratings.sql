-- pool=text?: all tournaments; or the joint ratings of one, which web_ratings computes from these scores
-- finished by web_ratings
select case when $1::text is null then json_build_object('tournaments', coalesce((select json_agg(t order by t.id desc) from (
        select id, name, kind, state, rules, players, pairings, finished, running, paused, stopped, counted_pairs as pairs,
            planned_pairs, note, created_at
        from kroo.tournament_progress order by id desc limit 500) t), '[]')) end as answer,
    one.*
from (select 1) nothing left join lateral (
    select json_build_object('tournament', t.name, 'kind', t.kind, 'state', t.state, 'rules', t.rules, 'note', t.note,
            'specification', s.specification, 'pairs', t.counted_pairs, 'planned_pairs', t.planned_pairs,
            'matches_finished', t.finished,
            'pairings', (select json_agg(json_build_object('round', q.round, 'a', q.a, 'b', q.b, 'experiment', q.experiment_id,
                    'state', e.state, 'planned_pairs', q.pairs, 'pairs', c.counted_pairs) order by q.round desc, q.a, q.b)
                from (select * from kroo.tournament_pairing where tournament_id = t.id order by round desc, a, b limit 2000) q
                    left join kroo.experiment e on e.id = q.experiment_id
                    left join kroo.experiment_counted c on c.experiment_id = q.experiment_id)) as head,
        (select json_agg(json_build_object('name', p.name, 'anchor_elo', p.anchor_elo, 'weights', w.number,
                'weights_name', w.name, 'settings', p.settings) order by p.number)
            from kroo.tournament_player p left join kroo.weights w on w.sha256 = p.weights_sha256
            where p.tournament_id = t.id) as players,
        -- of each two players, over all rounds: [a, b, first, second, pairs]
        (select json_agg(json_build_array(m.a, m.b, m.first, m.second, m.pairs)) from (
            select a, b, first, second, sum(pairs)::bigint as pairs from kroo.tournament_score
            where tournament_id = t.id group by a, b, first, second order by a, b, first, second) m) as scores
    from kroo.tournament_progress t join kroo.tournament s on s.id = t.id
    where t.name = $1::text) one on true
where $1::text is null or one.head is not null
