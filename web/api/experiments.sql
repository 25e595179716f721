-- before=number?: experiments, the newest first, a hundred of them below the number `before`
select json_build_object('experiments', coalesce(json_agg(x order by x.id desc), '[]')) from (
    select e.id, e.kind, e.state, v.verdict, c.prefix_pairs as pairs, e.planned_pairs, c.games_stored as games,
        coalesce(nullif(wa.name, ''), '#' || wa.number) as a, coalesce(nullif(wb.name, ''), '#' || wb.number) as b,
        e.sprt_model, e.elo0, e.elo1, c.llr, v.elo, v.elo_lo, v.elo_hi, e.note, e.created_by,
        round(extract(epoch from e.created_at)) as created_at, round(extract(epoch from e.ended_at)) as ended_at,
        r.pairs_left, r.seconds_left
    from experiment e
        join experiment_counter c on c.experiment_id = e.id
        join experiment_rate r on r.experiment_id = e.id
        join player pa on pa.id = e.player_a join weights wa on wa.sha256 = pa.weights_sha256
        join player pb on pb.id = e.player_b join weights wb on wb.sha256 = pb.weights_sha256
        left join verdict v on v.experiment_id = e.id
    where $1::bigint is null or e.id < $1::bigint
    order by e.id desc limit 100) x
