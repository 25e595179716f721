\echo Use "CREATE EXTENSION kroo_oware" to load this file. \quit

create function oware_positions(moves text, rules text default 'site', out ply integer, out side text,
    out houses integer[], out stores integer[])
returns setof record
language c immutable strict parallel safe cost 50 rows 100 as 'MODULE_PATHNAME', 'oware_positions';
comment on function oware_positions(text, text) is
    'Replays a game: a row for the start (ply 0) and for the position after each ply. side: south or north, who is to move; houses: seeds in A..F, a..f; stores: seeds captured by South and by North. When the game has ended, the last row has the leftovers taken.';

create function oware_result(moves text, rules text default 'site', out result text, out reason text,
    out south smallint, out north smallint, out plies integer)
returns record
language c immutable strict parallel safe cost 20 as 'MODULE_PATHNAME', 'oware_result';
comment on function oware_result(text, text) is
    'Replays a game: result (south, north, draw, or unfinished), reason (null when unfinished), the seeds each side has at the end, and the number of plies.';

create function oware_captures(moves text, rules text default 'site')
returns integer[]
language c immutable strict parallel safe cost 20 as 'MODULE_PATHNAME', 'oware_captures';
comment on function oware_captures(text, text) is
    'Replays a game: the seeds that each ply captured. Leftovers taken at the end are no capture.';

create function oware_key(houses integer[], side text, twins boolean default false)
returns bigint
language c immutable strict parallel safe as 'MODULE_PATHNAME', 'oware_key';
comment on function oware_key(integer[], text, boolean) is
    'Number of a position: equal for equal houses and side to move, different otherwise; stores play no part. With twins, a position and its colour-swapped twin (rows exchanged, the other side to move) have the same number.';

create function oware_key_at(moves text, ply integer, rules text default 'site', twins boolean default false)
returns bigint
language c immutable strict parallel safe cost 10 as 'MODULE_PATHNAME', 'oware_key_at';
comment on function oware_key_at(text, integer, text, boolean) is
    'oware_key of the position after so many plies of a game; null when the game is over by then. Later moves are not looked at.';

create function oware_board(key bigint, out side text, out houses integer[])
returns record
language c immutable strict parallel safe as 'MODULE_PATHNAME', 'oware_board';
comment on function oware_board(bigint) is
    'The position that has a number: oware_key the other way round. Of twins, the one with South to move.';

-- In a database of Kroo's: what the counted games look like from inside. Functions, since views would stand in the way
-- of Kroo's own migrations. Each replays what it reads, so it takes a range of pairs.
do $do$
begin
    if to_regclass('kroo.game_counted') is null then
        return;
    end if;
    create function kroo.game_positions(experiment bigint, first_pair bigint default 0, pair_count bigint default 1000)
    returns table (pair_no bigint, leg smallint, result text, ply integer, side text, houses integer[], stores integer[])
    language sql stable as $$
        select g.pair_no, g.leg, g.result, p.ply, p.side, p.houses, p.stores
        from kroo.game_counted g, kroo.experiment e, lateral @extschema@.oware_positions(g.moves, e.rules) p
        where e.id = experiment and g.experiment_id = experiment and g.pair_no >= first_pair
            and g.pair_no < first_pair + pair_count
    $$;
    comment on function kroo.game_positions(bigint, bigint, bigint) is
        'Every position of the counted games of pair_count pairs (1000) from first_pair (0) on; columns as oware_positions has them.';
    create function kroo.game_captures(experiment bigint, first_pair bigint default 0, pair_count bigint default 1000)
    returns table (pair_no bigint, leg smallint, result text, ply integer, seeds integer)
    language sql stable as $$
        select g.pair_no, g.leg, g.result, c.ply::integer, c.seeds
        from kroo.game_counted g, kroo.experiment e,
            lateral unnest(@extschema@.oware_captures(g.moves, e.rules)) with ordinality c (seeds, ply)
        where e.id = experiment and g.experiment_id = experiment and g.pair_no >= first_pair
            and g.pair_no < first_pair + pair_count
    $$;
    comment on function kroo.game_captures(bigint, bigint, bigint) is
        'What each ply, from 1, of the counted games of pair_count pairs (1000) from first_pair (0) on captured.';
end
$do$;
