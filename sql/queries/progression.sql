-- progression [NAME]: each release of a series against its fixed player, in order
select progression, line, release, name, weights, against, experiment_id as experiment, state, pairs,
    round(elo::numeric, 1) as elo, round(elo_lo::numeric, 1) as elo_lo, round(elo_hi::numeric, 1) as elo_hi
from kroo.progression where $1::text is null or progression = $1::text order by progression, release
