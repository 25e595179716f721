-- lineage WEIGHTS: which fits, games, players and engine builds made these weights and their ancestors
select distance, ancestor, training_run_id as fit, trainer_build, experiment_id as experiment, first_pair, pair_count as pairs,
    sum(games)::bigint as games, count(distinct (worker_peer, worker)) as workers, weights_a, weights_b, engine_a,
    string_agg(distinct worker_engine, ', ' order by worker_engine) as played_with
from kroo.weights_provenance where weights = $1::bigint
group by distance, ancestor, training_run_id, trainer_build, experiment_id, first_pair, pair_count, weights_a, weights_b,
    engine_a
order by distance, ancestor, experiment_id, first_pair
