-- id=number: what an experiment's counted games add up to: endings, lengths, openings that decide
-- Dearer than the rest: games that are not rolled up yet are read one by one.
select json_build_object(
    'pairs', x.counted_pairs,
    'endings', (select coalesce(json_agg(x order by x.games desc, x.reason), '[]') from (
        select reason, games, share, south_wins, draws, north_wins, mean_plies from endings_by_reason
        where experiment_id = $1::bigint) x),
    'lengths', (select coalesce(json_agg(x order by x.from_plies), '[]') from (
        select plies / 10 * 10 as from_plies, sum(games)::bigint as games, sum(draws)::bigint as draws
        from game_length_histogram where experiment_id = $1::bigint group by 1 order by 1 limit 200) x),
    'openings', (select coalesce(json_agg(x order by x.wl desc, x.opening), '[]') from (
        select opening, pairs, ll, ld, dd, wl, dw, ww, a_score from opening_pairs where experiment_id = $1::bigint and wl > 0
        order by wl desc, opening limit 12) x))
from experiment_counted x where x.experiment_id = $1::bigint
