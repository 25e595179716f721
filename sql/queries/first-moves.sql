-- first-moves ID: how South fares after each first move
select first_move, games, south_wins, draws, north_wins, south_score
from kroo.first_move_score where experiment_id = $1::bigint order by south_score desc, first_move
