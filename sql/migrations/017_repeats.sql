-- Identical pairs between deterministic players are no new evidence: which pairs those are, and everything that counts
-- leaves them out.
--
-- Pairs are compared in pair order, by the coordinator, in the transaction that moves the prefix over them. A repeat is
-- a row of pair_repeat; the prefix passes over it, and neither counters nor verdicts, roll-ups, ratings or counted games
-- have it. Experiments that are older than this have repeat_rule 0: their pairs count as they ever did.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

alter table experiment add column repeat_rule integer not null default 0 check (repeat_rule in (0, 1)),
    add constraint experiment_repeat_rule_of_a_match check (repeat_rule = 0 or (kind = 'match' and noise_ppm = 0));
comment on column experiment.repeat_rule is 'Whether repeated pairs count, decided when it was made: 0 = every pair counts; 1 = both players are deterministic, and a pair whose two games are those of an earlier counted one does not (pair_repeat).';

create table pair_repeat (
    experiment_id bigint not null references experiment (id) on delete cascade,
    pair_no bigint not null,
    first_pair bigint not null,
    primary key (experiment_id, pair_no),
    constraint pair_repeat_order check (first_pair >= 0 and first_pair < pair_no)
);
comment on table pair_repeat is 'Pairs that do not count because they repeat: from the same positions after their openings, leg by leg the same moves, results and reasons as an earlier counted pair.';
comment on column pair_repeat.experiment_id is 'The experiment.';
comment on column pair_repeat.pair_no is 'The pair that repeats.';
comment on column pair_repeat.first_pair is 'The first pair with its games, which counts.';

alter table experiment_counter add column repeated_pairs bigint not null default 0 check (repeated_pairs >= 0),
    drop constraint experiment_counter_pairs,
    add constraint experiment_counter_pairs check (ll + ld + dd + wl + dw + ww + repeated_pairs = prefix_pairs);
comment on column experiment_counter.prefix_pairs is 'Pairs finished, without a gap, from pair 0: all of them count but for the repeated ones.';
comment on column experiment_counter.repeated_pairs is 'Of these, pairs that repeat an earlier one and do not count (pair_repeat).';
alter table verdict add column repeated_pairs bigint not null default 0 check (repeated_pairs >= 0),
    drop constraint verdict_pairs,
    add constraint verdict_pairs check (ll + ld + dd + wl + dw + ww + repeated_pairs = counted_pairs);
comment on column verdict.counted_pairs is 'It rests on the pairs 0 .. counted_pairs - 1, those of them left out that repeat an earlier one.';
comment on column verdict.repeated_pairs is 'Pairs among them that repeat an earlier one and do not count (pair_repeat).';

-- --- what counts ------------------------------------------------------------------------------------------------------

create or replace view experiment_counted as
select c.experiment_id, coalesce(v.counted_pairs, c.prefix_pairs) as counted_pairs,
    case when v.experiment_id is null then c.repeated_pairs else v.repeated_pairs end as repeated_pairs
from experiment_counter c left join verdict v using (experiment_id);
comment on view experiment_counted is 'How many pairs of an experiment count: counted_pairs - repeated_pairs.';
comment on column experiment_counted.counted_pairs is 'Pairs 0 .. counted_pairs - 1 count, but for the repeated ones.';
comment on column experiment_counted.repeated_pairs is 'Pairs among them that repeat an earlier one and do not count.';

create or replace view game_counted as
select g.experiment_id, g.pair_no, g.leg, g.attempt, g.lease_id, g.session_id, g.moves, g.plies, g.scores, g.result, g.reason,
    g.south, g.north, g.a_half_points, g.claimed, g.nodes, g.time_ms, g.stored_at, g.first_move
from game g join experiment_counted c using (experiment_id)
where g.pair_no < c.counted_pairs
    and not exists (select from dispute d where d.experiment_id = g.experiment_id and d.pair_no = g.pair_no
        and d.state = 'open')
    and not exists (select from pair_repeat r where r.experiment_id = g.experiment_id and r.pair_no = g.pair_no);
comment on view game_counted is 'The games that count, open disputes and repeated pairs left out.';

create or replace view experiment_progress as
select e.id, e.kind, e.state, e.state_reason, e.rules, e.planned_pairs, c.prefix_pairs, c.games_stored,
    c.ll, c.ld, c.dd, c.wl, c.dw, c.ww, c.wins, c.draws, c.losses,
    e.sprt_model, e.elo0, e.elo1, e.alpha, e.beta, e.batch, c.llr, v.verdict, v.counted_pairs,
    a.id as player_a, wa.number as weights_a, wa.name as weights_a_name,
    b.id as player_b, wb.number as weights_b, wb.name as weights_b_name,
    (select count(*) from lease l where l.experiment_id = e.id and l.state = 'open') as open_leases,
    (select count(*) from dispute d where d.experiment_id = e.id and d.state = 'open') as open_disputes,
    e.priority, e.note, e.created_by, e.created_at, e.ended_at, c.updated_at,
    na.name as engine_a, nb.name as engine_b, ta.name as tables_a, tb.name as tables_b, c.repeated_pairs
from experiment e
    join experiment_counter c on c.experiment_id = e.id
    join player a on a.id = e.player_a
    join player b on b.id = e.player_b
    join weights wa on wa.sha256 = a.weights_sha256
    join weights wb on wb.sha256 = b.weights_sha256
    left join engine na on na.sha256 = a.engine_sha256
    left join engine nb on nb.sha256 = b.engine_sha256
    left join endgame_table ta on ta.sha256 = a.tables_sha256
    left join endgame_table tb on tb.sha256 = b.tables_sha256
    left join verdict v on v.experiment_id = e.id;
comment on column experiment_progress.prefix_pairs is 'Pairs finished without a gap from pair 0, repeated ones included.';
comment on column experiment_progress.counted_pairs is 'Pairs the verdict rests on, repeated ones included; null = no verdict yet.';
comment on column experiment_progress.repeated_pairs is 'Pairs of the prefix that repeat an earlier one and do not count.';

create or replace view experiment_verdict as
select v.experiment_id, e.kind, e.rules, v.verdict, v.counted_pairs, 2 * (v.counted_pairs - v.repeated_pairs) as counted_games,
    v.games_stored - 2 * (v.counted_pairs - v.repeated_pairs) as uncounted_games, v.ll, v.ld, v.dd, v.wl, v.dw, v.ww, v.wins,
    v.draws, v.losses, v.sprt_model, v.elo0, v.elo1, v.alpha, v.beta, v.batch, v.llr, v.lower, v.upper, v.elo, v.elo_lo,
    v.elo_hi, v.nelo, v.los, v.count_order, v.formula_version, v.by, v.reason, v.written_at, v.repeated_pairs
from verdict v join experiment e on e.id = v.experiment_id;
comment on column experiment_verdict.counted_pairs is 'Pairs it rests on, repeated ones included.';
comment on column experiment_verdict.uncounted_games is 'Games stored when it was written that do not count, those of repeated pairs included.';
comment on column experiment_verdict.repeated_pairs is 'Pairs of counted_pairs that repeat an earlier one and do not count.';

-- --- the roll-ups -----------------------------------------------------------------------------------------------------
-- As in 009, without the games of repeated pairs. Who played is counted with all games that are stored.

create or replace function rollup_endings(experiment bigint, first_pair bigint, end_pair bigint)
returns table (reason text, result text, plies integer, games bigint)
language sql stable set search_path = kroo, pg_temp set enable_seqscan = off as $$
    select g.reason, g.result, g.plies, count(*)
    from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
        and not exists (select from pair_repeat r where r.experiment_id = experiment and r.pair_no = g.pair_no)
    group by g.reason, g.result, g.plies
$$;
create or replace function rollup_openings(experiment bigint, first_pair bigint, end_pair bigint)
returns table (opening text, games bigint, south_wins bigint, draws bigint)
language sql stable set search_path = kroo, pg_temp set enable_seqscan = off as $$
    select left(g.moves, 4), count(*), sum((g.result = 'south')::integer), sum((g.result = 'draw')::integer)
    from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
        and not exists (select from pair_repeat r where r.experiment_id = experiment and r.pair_no = g.pair_no)
    group by left(g.moves, 4)
$$;
create or replace function rollup_pairs(experiment bigint, first_pair bigint, end_pair bigint)
returns table (opening text, p00 bigint, p01 bigint, p02 bigint, p10 bigint, p11 bigint, p12 bigint, p20 bigint,
    p21 bigint, p22 bigint)
language sql stable set search_path = kroo, pg_temp set enable_seqscan = off set enable_nestloop = off as $$
    select p.opening, sum((p.points = 0)::integer), sum((p.points = 1)::integer), sum((p.points = 2)::integer),
        sum((p.points = 10)::integer), sum((p.points = 11)::integer), sum((p.points = 12)::integer),
        sum((p.points = 20)::integer), sum((p.points = 21)::integer), sum((p.points = 22)::integer)
    from (
        select shared_opening(a.moves, b.moves, e.plies) as opening, 10 * a.a_half_points + b.a_half_points as points
        from (select case when x.book_sha256 is null then x.opening_plies else 5 end as plies
                from experiment x where x.id = experiment and x.kind <> 'selfplay') e,
            game a, game b
        where a.experiment_id = experiment and a.pair_no >= first_pair and a.pair_no < end_pair and a.leg = 0
            and b.experiment_id = experiment and b.pair_no >= first_pair and b.pair_no < end_pair and b.leg = 1
            and a.pair_no = b.pair_no
            and not exists (select from pair_repeat r where r.experiment_id = experiment and r.pair_no = a.pair_no)
    ) p
    group by p.opening
$$;

create or replace view game_unrolled as
select g.experiment_id, g.pair_no, g.leg, g.moves, g.plies, g.result, g.reason, g.a_half_points, 1 as sign
from experiment_counter c
    join experiment_counted n on n.experiment_id = c.experiment_id
    cross join lateral (
        select * from game g
        where g.experiment_id = c.experiment_id and g.pair_no >= c.rolled_pairs and g.pair_no < n.counted_pairs
        order by g.experiment_id, g.pair_no, g.leg limit 2 * (n.counted_pairs - c.rolled_pairs)
    ) g
where c.rolled_pairs < n.counted_pairs
    and not exists (select from dispute d where d.experiment_id = g.experiment_id and d.pair_no = g.pair_no
        and d.state = 'open')
    and not exists (select from pair_repeat r where r.experiment_id = g.experiment_id and r.pair_no = g.pair_no)
union all
select g.experiment_id, g.pair_no, g.leg, g.moves, g.plies, g.result, g.reason, g.a_half_points, -1
from dispute d
    join experiment_counter c on c.experiment_id = d.experiment_id and d.pair_no < c.rolled_pairs
    join game g on g.experiment_id = d.experiment_id and g.pair_no = d.pair_no
where d.state = 'open'
    and not exists (select from pair_repeat r where r.experiment_id = d.experiment_id and r.pair_no = d.pair_no);

-- --- writing ----------------------------------------------------------------------------------------------------------

create function repeats_put(experiment bigint, from_pair bigint, pairs bigint[], firsts bigint[]) returns void
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    size constant bigint := rollup_segment_pairs();
    rolled bigint;
    stale bigint;
begin
    select c.rolled_pairs into rolled from experiment_counter c where c.experiment_id = experiment;
    for stale in
        with gone as (
            delete from pair_repeat r
            where r.experiment_id = experiment and r.pair_no >= from_pair
                and not exists (select from unnest(pairs) given (pair_no) where given.pair_no = r.pair_no)
            returning r.pair_no
        ), come as (
            insert into pair_repeat as r select experiment, given.* from unnest(pairs, firsts) given (pair_no, first_pair)
            on conflict (experiment_id, pair_no) do update set first_pair = excluded.first_pair
                where r.first_pair <> excluded.first_pair
            returning r.pair_no
        )
        select distinct moved.pair_no / size from (select * from gone union all select * from come) moved
        where moved.pair_no < rolled
    loop
        perform rollup_drop(experiment, stale, stale);
        perform rollup_fill(experiment, stale * size, least((stale + 1) * size, rolled));
    end loop;
end
$$;
comment on function repeats_put(bigint, bigint, bigint[], bigint[]) is
    'From from_pair on, these pairs of an experiment repeat these first ones, and no others do. For who moves the prefix, before the counters.';

-- --- the check --------------------------------------------------------------------------------------------------------

drop function counters_recompute(bigint);
create function counters_recompute(experiment bigint) returns table (games_stored bigint, prefix_pairs bigint,
    ll bigint, ld bigint, dd bigint, wl bigint, dw bigint, ww bigint, wins bigint, draws bigint, losses bigint,
    repeated_pairs bigint)
language sql stable set search_path = kroo, pg_temp as $$
    with pair as (
        select g.pair_no, count(*) as legs,
            max(g.a_half_points) filter (where g.leg = 0) as first,
            max(g.a_half_points) filter (where g.leg = 1) as second
        from game g where g.experiment_id = counters_recompute.experiment
        group by g.pair_no
    ), numbered as (
        select p.*, row_number() over (order by p.pair_no) - 1 as place
        from pair p
        where p.legs = 2 and not exists (
            select from dispute d left join verdict v using (experiment_id)
            where d.experiment_id = counters_recompute.experiment and d.pair_no = p.pair_no and d.state = 'open'
                and not d.was_counted and (v.written_at is null or d.opened_at < v.written_at))
    ), prefix as (
        select n.first, n.second, n.first + n.second as points, r.pair_no is not null as is_repeat
        from numbered n left join (select x.pair_no from pair_repeat x
            where x.experiment_id = counters_recompute.experiment) r on r.pair_no = n.pair_no
        where n.place = n.pair_no and n.pair_no < (
            select least(e.planned_pairs, v.counted_pairs, case when v.experiment_id is null and e.sprt_model is not null
                and (exists (select from audit a where a.experiment_id = e.id and a.state = 'open'
                        and a.pair_no < c.prefix_pairs)
                    or exists (select from dispute d where d.experiment_id = e.id and d.state = 'open' and d.was_counted))
                then c.prefix_pairs end)
            from experiment e left join experiment_counter c on c.experiment_id = e.id
                left join verdict v on v.experiment_id = e.id
            where e.id = counters_recompute.experiment)
    ), counted as (
        select * from prefix where not is_repeat
    )
    select (select coalesce(sum(legs), 0)::bigint from pair), (select count(*) from prefix),
        count(*) filter (where points = 0),
        count(*) filter (where points = 1),
        count(*) filter (where first = 1 and second = 1),
        count(*) filter (where points = 2 and first <> second),
        count(*) filter (where points = 3),
        count(*) filter (where points = 4),
        count(*) filter (where first = 2) + count(*) filter (where second = 2),
        count(*) filter (where first = 1) + count(*) filter (where second = 1),
        count(*) filter (where first = 0) + count(*) filter (where second = 0),
        (select count(*) from prefix where is_repeat)
    from counted
$$;
comment on function counters_recompute(bigint) is
    'An experiment''s counters, computed from its stored games and pair_repeat alone; counted pairs end where its verdict says, or where a verdict that waits for audits will.';

-- Pairs with the very moves of an earlier pair, openings included. Pairs whose openings come to one position by other
-- moves repeat too, which only a replay shows.
create function repeats_by_text(experiment bigint) returns table (pair_no bigint, first_pair bigint)
language sql stable set search_path = kroo, pg_temp as $$
    select p.pair_no, p.first_pair
    from (
        select k.pair_no, first_value(k.pair_no) over (partition by k.played order by k.pair_no) as first_pair
        from (
            select g.pair_no, string_agg(md5(concat_ws(' ', g.moves, g.result, g.reason)), ' ' order by g.leg) as played
            from game g join experiment_counted c on c.experiment_id = g.experiment_id
            where g.experiment_id = repeats_by_text.experiment and g.pair_no < c.counted_pairs
            group by g.pair_no having count(*) = 2
        ) k
    ) p
    where p.pair_no > p.first_pair
$$;
comment on function repeats_by_text(bigint) is
    'Pairs of an experiment that have letter by letter the games of an earlier one.';

create or replace function verify_counters(experiment bigint) returns table (experiment_id bigint, source text, counter text,
    recorded bigint, recomputed bigint)
language sql stable set search_path = kroo, pg_temp as $$
    with computed as (select r.* from counters_recompute(experiment) r),
    checked (source, counter, recorded, recomputed) as (
        select 'experiment_counter', x.* from computed r
            left join experiment_counter c on c.experiment_id = verify_counters.experiment,
        lateral (values ('games_stored', c.games_stored, r.games_stored), ('prefix_pairs', c.prefix_pairs, r.prefix_pairs),
            ('ll', c.ll, r.ll), ('ld', c.ld, r.ld), ('dd', c.dd, r.dd), ('wl', c.wl, r.wl), ('dw', c.dw, r.dw),
            ('ww', c.ww, r.ww), ('wins', c.wins, r.wins), ('draws', c.draws, r.draws),
            ('losses', c.losses, r.losses), ('repeated_pairs', c.repeated_pairs, r.repeated_pairs)) x
        union all
        select 'verdict', x.* from computed r
            join verdict c on c.experiment_id = verify_counters.experiment,
        lateral (values ('counted_pairs', c.counted_pairs, r.prefix_pairs), ('ll', c.ll, r.ll), ('ld', c.ld, r.ld),
            ('dd', c.dd, r.dd), ('wl', c.wl, r.wl), ('dw', c.dw, r.dw), ('ww', c.ww, r.ww), ('wins', c.wins, r.wins),
            ('draws', c.draws, r.draws), ('losses', c.losses, r.losses),
            ('repeated_pairs', c.repeated_pairs, r.repeated_pairs)) x
        union all
        -- Beyond four million different pairs a repeat may go unseen (coordinator/repeat.h).
        select 'pair_repeat', 'repeats letter by letter', (select count(*) from repeats_by_text(e.id) t
                join pair_repeat r on r.experiment_id = e.id and r.pair_no = t.pair_no), (select count(*) from repeats_by_text(e.id))
        from experiment e join experiment_counted c on c.experiment_id = e.id
        where e.id = verify_counters.experiment and e.repeat_rule = 1 and c.counted_pairs - c.repeated_pairs <= 4194304
        union all
        select 'pair_repeat', 'first pairs that count', count(*), count(*) filter (where f.pair_no is null)
        from pair_repeat r left join pair_repeat f on f.experiment_id = r.experiment_id and f.pair_no = r.first_pair
        where r.experiment_id = verify_counters.experiment having count(*) > 0
        union all
        select 'pair_repeat', 'games like those of the first pair', 2 * count(distinct r.pair_no),
            count(*) filter (where g.result = f.result and g.reason = f.reason
                and substr(g.moves, e.opening_plies + 1) = substr(f.moves, e.opening_plies + 1))
        from pair_repeat r join experiment e on e.id = r.experiment_id
            left join game g on g.experiment_id = r.experiment_id and g.pair_no = r.pair_no
            left join game f on f.experiment_id = r.experiment_id and f.pair_no = r.first_pair and f.leg = g.leg
        where r.experiment_id = verify_counters.experiment having count(*) > 0
    )
    select verify_counters.experiment, c.source, c.counter, c.recorded, c.recomputed from checked c
$$;

-- --- views over them --------------------------------------------------------------------------------------------------

-- What a verdict counted, as it would count now: with the games themselves, for repeats are told by them.
create or replace view verdict_standing as
select g.experiment_id, g.pair_no, g.leg, coalesce(o.a_half_points, g.a_half_points) as a_half_points,
    o.a_half_points is distinct from g.a_half_points and o.a_half_points is not null as is_outvoted,
    coalesce(o.result, g.result) as result, coalesce(o.reason, g.reason) as reason, coalesce(o.moves, g.moves) as moves
from verdict v
    join game g on g.experiment_id = v.experiment_id and g.pair_no < v.counted_pairs
    left join lateral (
        select r.a_half_points, r.result, r.reason, r.moves
        from dispute d join dispute_leg l on l.dispute_id = d.id and l.leg = g.leg
            join dispute_run r on r.dispute_id = d.id and r.leg = l.leg and r.content_sha256 = l.agreed_sha256
        where d.experiment_id = g.experiment_id and d.pair_no = g.pair_no and d.settlement like 'outvoted%' limit 1) o on true
where not exists (select from game h join flagged_session f on f.session_id = h.session_id
    where h.experiment_id = g.experiment_id and h.pair_no = g.pair_no);
comment on view verdict_standing is 'The games that a verdict rests on as they are now: pairs of workers set aside left out, outvoted games as the agreed ones, repeated pairs included (they may count where the first of them does not).';
comment on column verdict_standing.result is 'As in game, of the agreed game where the stored one was outvoted.';
comment on column verdict_standing.reason is 'Likewise.';
comment on column verdict_standing.moves is 'Likewise.';

comment on column tournament_progress.counted_pairs is 'Pairs finished in all of them without a gap, repeated ones included (experiment_counted).';

create or replace view progression as
select t.name as progression, t.specification ->> 'line' as line, p.a as release, r.name, r.weights_sha256,
    w.number as weights, f.name as against, p.experiment_id, e.state, c.counted_pairs - c.repeated_pairs as pairs, v.elo,
    v.elo_lo, v.elo_hi, v.los, r.added_at
from tournament t
    join tournament_pairing p on p.tournament_id = t.id
    join tournament_player r on r.tournament_id = t.id and r.number = p.a
    join tournament_player f on f.tournament_id = t.id and f.number = p.b
    left join weights w on w.sha256 = r.weights_sha256
    left join experiment e on e.id = p.experiment_id
    left join experiment_counted c on c.experiment_id = p.experiment_id
    left join verdict v on v.experiment_id = p.experiment_id
where t.kind = 'progression';
comment on column progression.pairs is 'Pairs counted, without repeated ones.';

create or replace view lifetime as
select count(*) as experiments, count(*) filter (where deleted) as deleted_experiments,
    coalesce(sum(games), 0)::bigint as games, coalesce(sum(games) filter (where deleted), 0)::bigint as deleted_games,
    coalesce(sum(pairs), 0)::bigint as counted_pairs
from (
    select false as deleted, c.games_stored as games, n.counted_pairs - n.repeated_pairs as pairs
    from experiment_counter c join experiment_counted n on n.experiment_id = c.experiment_id
    union all
    select true, games, counted_pairs from deleted_experiment
) everything;
create or replace function experiment_delete(experiment bigint, by text, reason text) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp set lock_timeout = '2s' as $$
declare
    kept text;
    removed bigint;
begin
    perform from experiment e where e.id = experiment_delete.experiment and e.state in ('finished', 'stopped') for update;
    if not found then
        raise exception 'experiment % is not there, or has not ended', experiment using errcode = 'restrict_violation';
    end if;
    select string_agg(d, '; ') into kept from (select * from experiment_descendants(experiment) d limit 5) d;
    if kept is not null then
        raise exception 'experiment % is kept: %', experiment, kept using errcode = 'restrict_violation';
    end if;
    insert into deleted_experiment (id, kind, state, verdict, games, counted_pairs, specification, created_by, created_at,
        deleted_by, reason)
    select e.id, e.kind, e.state, v.verdict, c.games_stored, n.counted_pairs - n.repeated_pairs, to_jsonb(e),
        e.created_by, e.created_at, experiment_delete.by, experiment_delete.reason
    from experiment e join experiment_counter c on c.experiment_id = e.id
        join experiment_counted n on n.experiment_id = e.id left join verdict v on v.experiment_id = e.id
    where e.id = experiment_delete.experiment
    returning games into removed;
    -- Dropping waits for those who read games; they must not make everybody behind them wait.
    begin
        execute format('drop table if exists kroo.%I', 'game_' || experiment);
    exception when lock_not_available then
        raise exception 'somebody reads games at this moment: try again' using errcode = 'restrict_violation';
    end;
    perform set_config('kroo.deleting', experiment::text, true);
    delete from experiment e where e.id = experiment_delete.experiment;
    perform set_config('kroo.deleting', '', true);
    return removed;
end
$$;

-- As in 011; what is left to play has repeats in it, at the rate seen so far.
create or replace function sprt_pairs_left(c experiment_counter, e experiment) returns double precision
    language plpgsql stable set search_path = kroo, pg_temp as $$
declare
    n double precision := c.ll + c.ld + c.dd + c.wl + c.dw + c.ww;
    mean double precision;
    variance double precision;
    step double precision; -- score1 - score0
    middle double precision; -- of the two
    below double precision := ln(e.beta / (1 - e.alpha)) - c.llr;
    above double precision := ln((1 - e.beta) / e.alpha) - c.llr;
    drift double precision; -- of the LLR, a pair
    h double precision; -- twice the drift by the variance of a pair's step
    accepted double precision;
    played double precision; -- pairs, for each that counts
begin
    if e.sprt_model is null or n < 16 then return null; end if;
    if below >= 0 or above <= 0 then return 0; end if;
    played := c.prefix_pairs / n;
    mean := (0.25 * c.ld + 0.5 * (c.dd + c.wl) + 0.75 * c.dw + c.ww) / n;
    variance := (0.0625 * c.ld + 0.25 * (c.dd + c.wl) + 0.5625 * c.dw + c.ww) / n - mean * mean;
    if variance <= 1e-9 then return null; end if;
    if e.sprt_model = 'logistic' then
        step := 1 / (1 + 10 ^ (-e.elo1 / 400)) - 1 / (1 + 10 ^ (-e.elo0 / 400));
        middle := (1 / (1 + 10 ^ (-e.elo1 / 400)) + 1 / (1 + 10 ^ (-e.elo0 / 400))) / 2;
    else
        step := (e.elo1 - e.elo0) * sqrt(2 * variance) * ln(10) / 800;
        middle := 0.5 + (e.elo0 + e.elo1) / 2 * sqrt(2 * variance) * ln(10) / 800;
    end if;
    drift := step * (mean - middle) / variance;
    h := 2 * drift * variance / (step * step);
    if abs(h) * greatest(above, -below) < 1e-6 then
        return played * -below * above * variance / (step * step);
    end if;
    if h > 0 then
        accepted := (1 - exp(greatest(h * below, -700))) / (1 - exp(greatest(-h * (above - below), -700)));
    else
        accepted := (exp(greatest(h * above, -700)) - exp(greatest(h * (above - below), -700)))
            / (1 - exp(greatest(h * (above - below), -700)));
    end if;
    return played * (above * accepted + below * (1 - accepted)) / drift;
end
$$;
comment on function sprt_pairs_left is 'Pairs that a sequential test is expected to need still, if the difference and the share of repeated pairs are those seen so far: Brownian motion from the LLR to its bounds, without overshoot. Null without a test, or before 16 pairs say anything.';

comment on view game_repeats is 'How many different games an experiment has, by their letters. Which pairs do not count because they repeat another: pair_repeat. Ask with `where experiment_id = N`.';

revoke all on function repeats_put(bigint, bigint, bigint[], bigint[]), counters_recompute(bigint), repeats_by_text(bigint) from public;
grant execute on function repeats_put(bigint, bigint, bigint[], bigint[]) to kroo_coordinator;
grant execute on function counters_recompute(bigint), repeats_by_text(bigint) to kroo_coordinator, kroo_trainer, kroo_reader;
grant update (repeated_pairs) on experiment_counter to kroo_coordinator;
grant select on pair_repeat to kroo_coordinator, kroo_trainer, kroo_reader;
