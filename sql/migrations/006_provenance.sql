-- From any weights to all that made them: the fits, their games, who played these, with what.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

-- One row for each ancestor, range of its fit's games, and session that played some of them.
create view weights_provenance as
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
    left join lateral (
        select session_id, count(*) as games from game
        where experiment_id = m.experiment and pair_no >= m.first_pair and pair_no < m.first_pair + m.pair_count
        group by session_id
    ) g on true
    left join session s on s.id = g.session_id
    left join peer p on p.public_key = s.peer;
comment on view weights_provenance is 'From any weights to the games behind them and behind their ancestors: for each fit of the lineage, each range of its games and each worker''s session that played some of them, one row.';
comment on column weights_provenance.weights is 'Number of the weights.';
comment on column weights_provenance.sha256 is 'Their hash.';
comment on column weights_provenance.distance is 'Fits between the ancestor and them; 0 = their own fit.';
comment on column weights_provenance.ancestor is 'Number of the ancestor.';
comment on column weights_provenance.ancestor_sha256 is 'Hash of the ancestor.';
comment on column weights_provenance.training_run_id is 'The fit that made the ancestor.';
comment on column weights_provenance.kind is 'Kind of weights it made.';
comment on column weights_provenance.trainer_build is 'The trainer that fitted.';
comment on column weights_provenance.core_type is 'Processor type its linear algebra was for.';
comment on column weights_provenance.data_sha256 is 'sha256 of its positions.';
comment on column weights_provenance.experiment_id is 'Experiment its games are from.';
comment on column weights_provenance.first_pair is 'First pair of the range.';
comment on column weights_provenance.pair_count is 'Pairs of the range.';
comment on column weights_provenance.rules is 'Rules of these games.';
comment on column weights_provenance.seed is 'Seed of their openings and noise.';
comment on column weights_provenance.opening_plies is 'Random plies at their start.';
comment on column weights_provenance.noise_ppm is 'Share of later plies played at random, in millionths.';
comment on column weights_provenance.weights_a is 'Number of the weights that player a played with.';
comment on column weights_provenance.engine_a is 'Engine that player a is defined by.';
comment on column weights_provenance.limits_a is 'Limits of player a.';
comment on column weights_provenance.weights_b is 'Number of the weights that player b played with.';
comment on column weights_provenance.engine_b is 'Engine that player b is defined by.';
comment on column weights_provenance.limits_b is 'Limits of player b.';
comment on column weights_provenance.games is 'Games of the range that this session played.';
comment on column weights_provenance.session_id is 'The session; 0 or null = not recorded.';
comment on column weights_provenance.worker_peer is 'Who it was: public key, `local` or `loopback`.';
comment on column weights_provenance.worker_peer_name is 'Name in the allow-list; null = not in it.';
comment on column weights_provenance.worker is 'Name the worker gave itself.';
comment on column weights_provenance.worker_engine is 'Engine it really played with.';

grant select on weights_provenance to kroo_coordinator, kroo_trainer, kroo_reader;
