-- lengths ID [BIN]: how long the games of an experiment are, in classes of BIN plies (10)
with b as (select coalesce($2::integer, 10) as size)
select plies / b.size * b.size as from_plies, plies / b.size * b.size + b.size - 1 as to_plies, sum(games)::bigint as games,
    round(sum(games) / sum(sum(games)) over (), 4) as share, sum(draws)::bigint as draws
from kroo.game_length_histogram, b where experiment_id = $1::bigint group by plies / b.size, b.size order by 1
