-- captures ID: by ply, how many of all stored games come to it, how many capture there, and how many seeds
select ply, games, captures, seeds, mean_seeds
from kroo.captures_by_ply where experiment_id = $1::bigint order by ply
