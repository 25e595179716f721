-- experiment=number? player=text? result=text? reason=text? opening=text? before=text?: stored games, the newest experiment and pair first, fifty below the game `before`
-- A request looks at no more than so many pairs (at more where an opening is long enough for its index to find few games); `next`
-- says where the following one goes on, and `looked_at` how far this one came. The second column is true where the filter is nonsense.
-- finished by web_finish_games
with wish as materialized (
    select $1::bigint as experiment, nullif($2::text, '') as player, nullif($3::text, '') as result, nullif($4::text, '') as reason,
        case when $5::text ~ '^(?:[A-F][a-f])*[A-F]?$' then nullif($5::text, '') end as opening,
        case when $5::text !~ '^(?:[A-F][a-f])*[A-F]?$' then 'an opening is written with the letters of its moves, A to F and a to f in turn, like FcE'
            when $6::text !~ '^\d{1,18}-\d{1,18}-[01]$' then 'before is a game, EXPERIMENT-PAIR-LEG, as in the answer before'
            when $3::text not in ('south', 'north', 'draw', 'won', 'lost') then 'a result is south, north, draw, won or lost' end as nonsense,
        substring($6::text from '^(\d{1,18})-\d{1,18}-[01]$')::bigint as from_experiment,
        substring($6::text from '^\d{1,18}-(\d{1,18})-[01]$')::bigint as from_pair,
        substring($6::text from '^\d{1,18}-\d{1,18}-([01])$')::int as from_leg,
        case when length($5::text) >= 6 then 5000000 else 100000 end as pairs
), listed as materialized (
    select e.id, e.kind, e.rules, a.label as a, b.label as b, w.from_experiment, w.from_pair,
        w.player is null or lower(a.label) ^@ lower(w.player) as is_a, w.player is null or lower(b.label) ^@ lower(w.player) as is_b
    from wish w, kroo.experiment e
        join kroo.player_label a on a.id = e.player_a
        join kroo.player_label b on b.id = e.player_b
    where w.nonsense is null and (w.experiment is null or e.id = w.experiment) and (w.from_experiment is null or e.id <= w.from_experiment)
        and (w.player is null or lower(a.label) ^@ lower(w.player) or lower(b.label) ^@ lower(w.player))
    order by e.id desc limit 200
), chosen as materialized (
    select l.*, least(g.most, case when l.id = l.from_experiment then l.from_pair end) as high
    from listed l, lateral (select max(pair_no) as most from kroo.game g where g.experiment_id = l.id) g
    where g.most is not null
), windowed as materialized (
    select c.*, greatest(0, c.high + 1 - (w.pairs - c.above)) as low
    from wish w, (select c.*, sum(c.high + 1) over (order by c.id desc) - (c.high + 1) as above from chosen c) c
    where c.above < w.pairs
), found as materialized (
    select g.*, c.kind, c.rules, c.a, c.b from wish w, windowed c, lateral (
        select g.experiment_id, g.pair_no, g.leg, g.moves, g.plies, g.result, g.reason, g.south, g.north, g.scores is not null as has_scores
        from kroo.game g
        where g.experiment_id = c.id and g.pair_no between c.low and c.high
            and (c.id is distinct from w.from_experiment or (g.pair_no, g.leg) < (w.from_pair, w.from_leg))
            and (w.reason is null or g.reason = w.reason) and ($5::text is null or g.moves like $5::text || '%')
            and case w.result when 'won' then (c.is_a and g.a_half_points = 2) or (c.is_b and g.a_half_points = 0)
                when 'lost' then (c.is_a and g.a_half_points = 0) or (c.is_b and g.a_half_points = 2)
                else w.result is null or g.result = w.result end
        order by g.experiment_id desc, g.pair_no desc, g.leg desc limit 51) g
    order by g.experiment_id desc, g.pair_no desc, g.leg desc limit 51
), shown as (
    select * from found order by experiment_id desc, pair_no desc, leg desc limit 50
)
select case when w.nonsense is not null then json_build_object('error', w.nonsense) else json_build_object(
        'games', (select coalesce(json_agg(json_build_object('id', experiment_id || '-' || pair_no || '-' || leg, 'experiment', experiment_id,
            'pair', pair_no, 'leg', leg, 'south', case leg when 0 then a else b end, 'north', case leg when 0 then b else a end,
            'result', result, 'reason', reason, 'stores', json_build_array(south, north), 'plies', plies, 'opening', left(moves, 12),
            'scores', has_scores) order by experiment_id desc, pair_no desc, leg desc), '[]') from shown),
        'looked_at', (select coalesce(sum(high + 1 - low), 0) from windowed),
        'next', case when (select count(*) from found) > 50 then (select experiment_id || '-' || pair_no || '-' || leg from shown
                order by experiment_id, pair_no, leg limit 1)
            else coalesce((select id || '-' || low || '-0' from windowed where low > 0 order by id limit 1),
                (select (c.id + 1) || '-0-0' from chosen c where c.id < (select min(id) from windowed) order by c.id desc limit 1),
                (select min(id) || '-0-0' from listed having count(*) = 200)) end)
    end, w.nonsense is not null
from wish w
