-- captures ID [PAIRS]: by ply, how many games of the first PAIRS pairs (2000) come to it, how many capture there, and how many seeds
-- needs kroo_oware
select ply, count(*) as games, count(*) filter (where seeds > 0) as captures, sum(seeds)::bigint as seeds,
    round(avg(seeds), 3) as mean_seeds
from kroo.game_captures($1::bigint, 0, coalesce($2::bigint, 2000))
group by ply order by ply
