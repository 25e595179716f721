-- positions ID [PLY] [PAIRS]: the most frequent positions after PLY plies (20) of the first PAIRS pairs (50000), and how South fares from them
-- needs kroo_oware
select b.side as to_move, array_to_string(b.houses[1:6], '-') as south_row, array_to_string(b.houses[7:12], '-') as north_row,
    p.games, round(p.games / sum(p.games) over (), 4) as share, p.south_wins, p.draws, p.games - p.south_wins - p.draws as north_wins,
    round((p.south_wins + 0.5 * p.draws) / p.games, 4) as south_score
from (
    select kroo.oware_key_at(g.moves, coalesce($2::integer, 20), e.rules) as key, count(*) as games,
        count(*) filter (where g.result = 'south') as south_wins, count(*) filter (where g.result = 'draw') as draws
    from kroo.experiment e join kroo.game_counted g on g.experiment_id = e.id
    where e.id = $1::bigint and g.experiment_id = $1::bigint and g.pair_no < coalesce($3::bigint, 50000)
    group by 1
) p, lateral kroo.oware_board(p.key) b
where p.key is not null
order by p.games desc, p.key limit 20
