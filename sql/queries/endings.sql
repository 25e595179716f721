-- endings ID: how the games of an experiment ended
select reason, games, share, south_wins, draws, north_wins, mean_plies
from kroo.endings_by_reason where experiment_id = $1::bigint order by games desc, reason
