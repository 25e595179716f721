-- A segment is rolled up from one reading of its games. Four readings took 3.3 microseconds of the writer's backend a game,
-- one takes 1.9, and the round whose prefix passes a segment's end waits that much less.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

-- The planner takes a young partition for empty and would sort or loop; hashing is right for any number of games.
create or replace function rollup_fill(experiment bigint, first_pair bigint, end_pair bigint) returns void
language plpgsql security definer set search_path = kroo, pg_temp set enable_seqscan = off set enable_nestloop = off
set enable_mergejoin = off set enable_sort = off set jit = off set work_mem = '32MB' set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
    with g as materialized (
        select g.pair_no, g.leg, left(g.moves, 4) as opening, g.plies, g.result, g.reason, g.a_half_points
        from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
            and not exists (select from pair_repeat r where r.experiment_id = experiment and r.pair_no = g.pair_no)
    ), lengths as (
        insert into length_rollup
        select experiment, first_pair / rollup_segment_pairs(), plies, count(*), sum((result = 'draw')::integer)
        from g group by plies
    ), endings as (
        insert into ending_rollup
        select experiment, first_pair / rollup_segment_pairs(), reason, result, count(*), sum(plies)
        from g group by reason, result
    ), openings as (
        insert into opening_rollup
        select experiment, first_pair / rollup_segment_pairs(), opening, count(*), sum((result = 'south')::integer),
            sum((result = 'draw')::integer)
        from g group by opening
    )
    insert into pair_rollup
    select experiment, first_pair / rollup_segment_pairs(), p.opening,
        sum((p.points = 0)::integer), sum((p.points = 1)::integer), sum((p.points = 2)::integer),
        sum((p.points = 10)::integer), sum((p.points = 11)::integer), sum((p.points = 12)::integer),
        sum((p.points = 20)::integer), sum((p.points = 21)::integer), sum((p.points = 22)::integer)
    from (
        select shared_opening(a.opening, b.opening, e.plies) as opening, 10 * a.a_half_points + b.a_half_points as points
        from (select case when x.book_sha256 is null then x.opening_plies else 5 end as plies
                from experiment x where x.id = experiment and x.kind <> 'selfplay') e,
            g a, g b
        where a.leg = 0 and b.leg = 1 and a.pair_no = b.pair_no
    ) p
    group by p.opening;
end
$$;
