-- id=number?: all weights, the champions of each line in order, what each generation of a loop gained; or one with its fit
-- finished by web_weights
select case when $1::bigint is null then json_build_object(
            'weights', coalesce((select json_agg(w order by w.number) from (
                select w.number, encode(w.sha256, 'hex') as sha256, w.name, w.kind, w.rules, a.size, w.stored_at,
                    p.number as parent, encode(w.parent_sha256, 'hex') as parent_sha256,
                    b.number as challenged, g.loop, g.generation, g.outcome,
                    t.id as training_run, t.games, t.positions, t.validation_loss_before as loss_before,
                    t.validation_loss_after as loss_after, t.validation_gain_se as gain_se,
                    (t.perfect #>> '{own,best}')::float8 / nullif((t.perfect #>> '{own,positions}')::float8, 0) as perfect,
                    (select coalesce(json_agg(c.line order by c.line), '[]') from kroo.champion c where c.weights = w.number) as champion,
                    (select coalesce(json_agg(distinct c.line), '[]') from kroo.promotion c where c.weights_sha256 = w.sha256) as promoted
                from kroo.weights w
                    join kroo.artifact a on a.sha256 = w.sha256
                    left join kroo.weights p on p.sha256 = w.parent_sha256
                    left join kroo.training_run t on t.id = w.training_run_id
                    left join lateral (select l.name as loop, g.number as generation, g.outcome, g.champion_sha256
                        from kroo.generation g join kroo.learning_loop l on l.id = g.loop_id
                        where g.candidate_sha256 = w.sha256 order by g.loop_id, g.number limit 1) g on true
                    left join kroo.weights b on b.sha256 = g.champion_sha256
                order by w.number desc limit 1000) w), '[]'),
            'total', (select count(*) from kroo.weights),
            'champions', coalesce((select json_agg(h order by h.line, h.epoch) from (
                select line, epoch, weights, name, experiment_id as experiment, counted_pairs as pairs, elo, elo_lo, elo_hi, elo_so_far,
                    by, reason, promoted_at
                from kroo.champion_history order by epoch desc limit 1000) h), '[]'),
            'generations', coalesce((select json_agg(c order by c.loop, c.generation) from (
                select loop, generation, line, outcome, games_so_far, candidate, loss_before, loss_after,
                    gate_id, gate_pairs, gate_verdict, gate_elo, gate_elo_lo, gate_elo_hi,
                    first_match_id, first_pairs, first_elo, first_elo_lo, first_elo_hi
                from kroo.learning_curve order by started_at desc limit 1000) c), '[]')) end as answer,
    one.*
from (select 1) nothing left join lateral (
    select e.weights as number, e.name, e.sha256, e.rules, e.content, e.lineage, e.training, e.proof,
        (select json_build_object('curve', t.curve, 'perfect', t.perfect, 'train_loss_before', t.train_loss_before,
            'train_loss_after', t.train_loss_after, 'warnings', t.options -> 'warnings',
            'validation_positions', t.options -> 'validation_positions', 'validation_games', t.options #> '{read,validation_games}',
            'start_score', t.options -> 'start_score', 'finished_at', t.finished_at, 'kind', t.kind)
            from kroo.training_run t where t.id = w.training_run_id) as fit
    from kroo.weights_export e join kroo.weights w on w.number = e.weights
    where e.weights = $1::bigint) one on true
where $1::bigint is null or one.number is not null
