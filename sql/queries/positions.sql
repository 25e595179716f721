-- positions ID [PLY] [PAIRS]: the most frequent positions after PLY plies (20), and how South fares from them; of more pairs than PAIRS (50000) a sample, even over all that count
-- needs kroo_oware
with counted as (
    select n.counted_pairs, least(n.counted_pairs, greatest(coalesce($3::bigint, 50000), 1)) as pairs, e.rules
    from kroo.experiment e join kroo.experiment_counted n on n.experiment_id = e.id where e.id = $1::bigint
), block as ( /* runs of a hundred pairs that lie equally far apart */
    select b * c.counted_pairs / s.blocks as first_pair, (b + 1) * c.pairs / s.blocks - b * c.pairs / s.blocks as pairs, c.rules
    from counted c, lateral (select (c.pairs + 99) / 100 as blocks) s, generate_series(0, s.blocks - 1) b
), sample as (
    select kroo.oware_key_at(g.moves, coalesce($2::integer, 20), b.rules) as key, g.result
    from block b cross join lateral (
        select g.pair_no, g.moves, g.result from kroo.game_counted g
        where g.experiment_id = $1::bigint and g.pair_no >= b.first_pair and g.pair_no < b.first_pair + b.pairs
        order by g.experiment_id, g.pair_no, g.leg limit 2 * b.pairs
    ) g
), met as (
    select key, count(*) as games, count(*) filter (where result = 'south') as south_wins,
        count(*) filter (where result = 'draw') as draws, sum(count(*)) over ()::bigint as sampled
    from sample group by key
), first as materialized (
    select * from met where key is not null order by games desc, key limit 20
)
select b.side as to_move, array_to_string(b.houses[1:6], '-') as south_row, array_to_string(b.houses[7:12], '-') as north_row,
    p.games, p.sampled as of_games, 2 * c.counted_pairs as all_games, round(p.games::numeric / p.sampled, 4) as share,
    p.south_wins, p.draws, p.games - p.south_wins - p.draws as north_wins,
    round((p.south_wins + 0.5 * p.draws) / p.games, 4) as south_score
from first p, counted c, lateral kroo.oware_board(p.key) b
order by p.games desc, p.key
