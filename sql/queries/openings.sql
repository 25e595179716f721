-- openings ID [PREFIX]: how South fares after each move that followed the moves PREFIX, or after each first move
select opening, games, south_wins, draws, games - south_wins - draws as north_wins,
    round((south_wins + 0.5 * draws) / games, 4) as south_score
from (
    select left(o.opening, length(coalesce($2::text, '')) + 1) as opening, sum(o.games)::bigint as games,
        sum(o.south_wins)::bigint as south_wins, sum(o.draws)::bigint as draws
    from kroo.opening_count o
    where length(coalesce($2::text, '')) < 4 and o.experiment_id = $1::bigint and o.opening ^@ coalesce($2::text, '')
        and length(o.opening) > length(coalesce($2::text, ''))
    group by 1
    union all
    select left(g.moves, length(coalesce($2::text, '')) + 1), count(*), count(*) filter (where g.result = 'south'),
        count(*) filter (where g.result = 'draw')
    from kroo.game_counted g
    where length(coalesce($2::text, '')) >= 4 and g.experiment_id = $1::bigint and g.moves ^@ coalesce($2::text, '')
        and g.plies > length(coalesce($2::text, ''))
    group by 1
) o order by south_score desc, opening
