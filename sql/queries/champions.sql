-- champions [LINE]: the champions of the training lines over time, with what their promoting matches measured
select line, epoch, weights, name, experiment_id as experiment, counted_pairs as pairs, round(elo::numeric, 1) as elo,
    round(elo_lo::numeric, 1) as elo_lo, round(elo_hi::numeric, 1) as elo_hi, round(elo_so_far::numeric, 1) as elo_so_far,
    by, promoted_at
from kroo.champion_history where $1::text is null or line = $1::text order by line, epoch
