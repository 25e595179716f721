-- who-played ID: the workers that played the stored games of an experiment
select coalesce(p.name, s.peer, '-') as peer, coalesce(s.name, '-') as worker, sum(c.games)::bigint as games,
    round(sum(c.games) / sum(sum(c.games)) over (), 4) as share, sum(c.faults)::bigint as faults,
    count(*) as sessions, min(s.engine_build) as engine
from kroo.session_game_count c left join kroo.session s on s.id = c.session_id left join kroo.peer p on p.public_key = s.peer
where c.experiment_id = $1::bigint group by 1, 2 order by 3 desc, 2
