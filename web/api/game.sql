-- id=text: a game (experiment-pair-leg) with its moves, the mover's score of each ply in hundredths of a seed, and who played it
select json_build_object('id', $1::text, 'experiment', g.experiment_id, 'pair', g.pair_no, 'leg', g.leg, 'kind', e.kind, 'rules', e.rules,
    'south', case g.leg when 0 then a.label else b.label end, 'north', case g.leg when 0 then b.label else a.label end,
    'moves', g.moves, 'plies', g.plies, 'result', g.result, 'reason', g.reason, 'stores', json_build_array(g.south, g.north),
    'opening_plies', case when e.book_sha256 is null then e.opening_plies end,
    'scores', (select json_agg(nullif(v - case when v > 32767 then 65536 else 0 end, -32768) order by i)
        from generate_series(0, octet_length(g.scores) / 2 - 1) i,
            lateral (select get_byte(g.scores, 2 * i) + 256 * get_byte(g.scores, 2 * i + 1) as v) x),
    'counts', exists (select from kroo.game_counted c where c.experiment_id = g.experiment_id and c.pair_no = g.pair_no and c.leg = g.leg),
    'worker', (select s.name from kroo.session s where s.id = g.session_id),
    'nodes', g.nodes, 'time_ms', g.time_ms, 'stored_at', round(extract(epoch from g.stored_at)))
from kroo.game g
    join kroo.experiment e on e.id = g.experiment_id
    join kroo.player_label a on a.id = e.player_a
    join kroo.player_label b on b.id = e.player_b
where g.experiment_id = substring($1::text from '^(\d{1,18})-\d{1,18}-[01]$')::bigint
    and g.pair_no = substring($1::text from '^\d{1,18}-(\d{1,18})-[01]$')::bigint
    and g.leg = substring($1::text from '^\d{1,18}-\d{1,18}-([01])$')::smallint
