-- Captures by ply without a replay of the games.
--
-- Captures are what a replay alone can tell, and the database has no rules engine. So the coordinator, who replays every
-- game that it stores, counts them and adds them with capture_add() in the transaction that stores the games. When a stored
-- game is replaced or taken out, its segment goes to capture_due, and whoever did it counts that segment anew before its
-- transaction ends (capture_due_take, then capture_put); so do `kroo migrate` and the coordinator at its start with
-- whatever is due from elsewhere: games from before this migration, or changed by hand.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table capture_rollup (
    experiment_id bigint not null,
    segment bigint not null check (segment >= 0),
    games integer[] not null,
    captures integer[] not null,
    seeds integer[] not null,
    primary key (experiment_id, segment),
    constraint capture_rollup_plies check (cardinality(games) = cardinality(captures) and cardinality(games) = cardinality(seeds))
) with (fillfactor = 50);
comment on table capture_rollup is 'Stored games by what each ply captured; read captures_by_ply.';
comment on column capture_rollup.experiment_id is 'The experiment.';
comment on column capture_rollup.segment is 'Pairs segment * 32768 and the 32767 after it.';
comment on column capture_rollup.games is 'Element N: how many stored games, counted or not, have a ply N.';
comment on column capture_rollup.captures is 'Element N: how many of these capture at ply N.';
comment on column capture_rollup.seeds is 'Element N: seeds that they capture at ply N, those given to the opponent not counted.';

create table capture_due (
    experiment_id bigint not null,
    segment bigint not null check (segment >= 0),
    primary key (experiment_id, segment)
);
comment on table capture_due is 'Segments whose captures have to be counted anew, from their games: `kroo migrate` and the coordinator''s start do. They are not in capture_rollup.';
comment on column capture_due.experiment_id is 'The experiment.';
comment on column capture_due.segment is 'As in capture_rollup.';

-- Once a transaction that counts the segment anew is over, what it could not see is added.
create function capture_add(experiment bigint, segment bigint, games integer[], captures integer[], seeds integer[]) returns void
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    perform from capture_due d where d.experiment_id = experiment and d.segment = capture_add.segment for share;
    if found then
        return;
    end if;
    insert into capture_rollup as r values (experiment, segment, games, captures, seeds)
    on conflict on constraint capture_rollup_pkey do update set (games, captures, seeds) = (
        select array_agg(u.g), array_agg(u.c), array_agg(u.s)
        from (
            select coalesce(l.g, 0) + coalesce(l.more_g, 0) as g, coalesce(l.c, 0) + coalesce(l.more_c, 0) as c,
                coalesce(l.s, 0) + coalesce(l.more_s, 0) as s
            from unnest(r.games, r.captures, r.seeds, excluded.games, excluded.captures, excluded.seeds)
                with ordinality l (g, c, s, more_g, more_c, more_s, ply)
            order by l.ply
        ) u
    );
end
$$;
comment on function capture_add(bigint, bigint, integer[], integer[], integer[]) is
    'Adds games that were stored in a segment: element N of the lists is about ply N. For who inserts games.';

create function capture_forget(experiment bigint, segment bigint) returns void
language sql security definer set search_path = kroo, pg_temp as $$
    insert into capture_due values (experiment, segment) on conflict do nothing;
    delete from capture_rollup r where r.experiment_id = experiment and r.segment = capture_forget.segment;
$$;
comment on function capture_forget(bigint, bigint) is
    'Has the captures of a segment counted anew: its games have changed, or some were inserted past capture_add().';

create function capture_due_take(most integer) returns table (experiment_id bigint, segment bigint, rules text)
language sql security definer set search_path = kroo, pg_temp as $$
    select d.experiment_id, d.segment, e.rules from capture_due d join experiment e on e.id = d.experiment_id
    order by d.experiment_id, d.segment limit most for update of d
$$;
comment on function capture_due_take(integer) is
    'Segments whose captures are to be counted anew, locked until the transaction ends, with the rules of their games.';

create function capture_put(experiment bigint, segment bigint, games integer[], captures integer[], seeds integer[]) returns void
language sql security definer set search_path = kroo, pg_temp as $$
    delete from capture_rollup r where r.experiment_id = experiment and r.segment = capture_put.segment;
    insert into capture_rollup select experiment, capture_put.segment, games, captures, seeds where cardinality(games) > 0;
    delete from capture_due d where d.experiment_id = experiment and d.segment = capture_put.segment;
$$;
comment on function capture_put(bigint, bigint, integer[], integer[], integer[]) is
    'Sets the captures of a segment that was taken by capture_due_take().';

create view captures_by_ply as
select r.experiment_id, u.ply::integer as ply, sum(u.games)::bigint as games, sum(u.captures)::bigint as captures,
    sum(u.seeds)::bigint as seeds, round(sum(u.seeds)::numeric / sum(u.games), 3) as mean_seeds
from capture_rollup r, unnest(r.games, r.captures, r.seeds) with ordinality u (games, captures, seeds, ply)
group by r.experiment_id, u.ply;
comment on view captures_by_ply is 'How often and how much is captured at each ply, over all stored games of an experiment, counted or not.';
comment on column captures_by_ply.experiment_id is 'The experiment.';
comment on column captures_by_ply.ply is 'The ply, the first is 1.';
comment on column captures_by_ply.games is 'Games that have this ply.';
comment on column captures_by_ply.captures is 'Of these, games that capture at this ply.';
comment on column captures_by_ply.seeds is 'Seeds captured at this ply.';
comment on column captures_by_ply.mean_seeds is 'Seeds captured at this ply in a game that has it.';

-- --- games that change, experiments that go ------------------------------------------------------------------------------

create or replace function rollup_on_game() returns trigger
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    size constant bigint := rollup_segment_pairs();
    stale record;
begin
    for stale in
        select distinct g.experiment_id, g.pair_no / size as segment, c.rolled_pairs
        from changed_game g join experiment_counter c on c.experiment_id = g.experiment_id
    loop
        perform session_rollup_refill(stale.experiment_id, stale.segment, stale.segment);
        perform capture_forget(stale.experiment_id, stale.segment);
        continue when stale.segment * size >= stale.rolled_pairs;
        perform rollup_drop(stale.experiment_id, stale.segment, stale.segment);
        perform rollup_fill(stale.experiment_id, stale.segment * size,
            least((stale.segment + 1) * size, stale.rolled_pairs));
    end loop;
    return null;
end
$$;

create or replace function rollup_on_deletion() returns trigger
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    perform rollup_drop(old.experiment_id, 0, old.rolled_pairs / rollup_segment_pairs());
    delete from session_rollup where experiment_id = old.experiment_id;
    delete from capture_rollup where experiment_id = old.experiment_id;
    delete from capture_due where experiment_id = old.experiment_id;
    return old;
end
$$;

-- --- books ------------------------------------------------------------------------------------------------------------

-- As in 014, by a walk along each such experiment's key: games of others are not looked at. The limit cuts nothing off.
create or replace view book_opening_pairs as
select b.name as book, o.number, o.moves, e.id as experiment_id, p.pair_no, p.first + p.second as half_points,
    case p.first + p.second when 0 then 'LL' when 1 then 'LD' when 3 then 'DW' when 4 then 'WW'
        else case p.first when 1 then 'DD' else 'WL' end end as outcome
from book b
    join experiment e on e.book_sha256 = b.sha256
    join experiment_counted n on n.experiment_id = e.id
    cross join lateral (
        select w.pair_no, min(w.a_half_points) filter (where w.leg = 0) as first,
            min(w.a_half_points) filter (where w.leg = 1) as second, min(w.moves) filter (where w.leg = 0) as moves
        from (
            select g.pair_no, g.leg, g.a_half_points, left(g.moves, b.plies_max) as moves from game g
            where g.experiment_id = e.id and g.pair_no < n.counted_pairs
            order by g.experiment_id, g.pair_no, g.leg limit 2 * n.counted_pairs
        ) w
        group by w.pair_no having count(*) = 2
    ) p
    cross join lateral generate_series(b.plies_min, b.plies_max) l (length)
    join book_opening o on o.book_sha256 = b.sha256 and o.moves = left(p.moves, l.length)
where not exists (select from dispute d where d.experiment_id = e.id and d.pair_no = p.pair_no and d.state = 'open');

-- --- who may ------------------------------------------------------------------------------------------------------------

revoke all on function capture_add(bigint, bigint, integer[], integer[], integer[]), capture_forget(bigint, bigint),
    capture_due_take(integer), capture_put(bigint, bigint, integer[], integer[], integer[]) from public;
grant execute on function capture_add(bigint, bigint, integer[], integer[], integer[]), capture_forget(bigint, bigint),
    capture_due_take(integer), capture_put(bigint, bigint, integer[], integer[], integer[]) to kroo_coordinator;
grant select on capture_rollup, capture_due, captures_by_ply to kroo_coordinator, kroo_trainer, kroo_reader;

-- --- what is there already ----------------------------------------------------------------------------------------------

-- 009 passed by the experiments that were decided before it with less than a segment.
update experiment_counter c
set rolled_pairs = rollup_move(c.experiment_id, c.rolled_pairs, rollup_due(c.experiment_id, c.prefix_pairs))
where c.rolled_pairs <> rollup_due(c.experiment_id, c.prefix_pairs);

insert into capture_due
select c.experiment_id, n
from experiment_counter c, lateral (select max(g.pair_no) as last from game g where g.experiment_id = c.experiment_id) p,
    generate_series(0, p.last / rollup_segment_pairs()) n
where exists (select from game g where g.experiment_id = c.experiment_id and g.pair_no >= n * rollup_segment_pairs()
    and g.pair_no < (n + 1) * rollup_segment_pairs());
