-- Statistics that need no scan of the games: roll-ups kept in the transactions that store them, and views over both.
--
-- Endings, lengths and openings are rolled up for each segment of 32768 pairs of an experiment, from the games of the
-- segment, in the transaction whose prefix passes its end or whose verdict ends the experiment. So most commits do
-- nothing for them, and what a view adds live is less than a segment of each running experiment. A segment is a
-- function of its games: when one of them changes, or the prefix goes back, it is made anew or dropped.
-- Who played is counted with each batch, by session_rollup_add().
-- The roll-ups have no foreign keys: a look-up for each row would cost more than the rest. They go with the counters.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create function rollup_segment_pairs() returns bigint
language sql immutable parallel safe as 'select 32768::bigint';
comment on function rollup_segment_pairs() is 'Pairs of a full segment of the roll-ups.';

alter table experiment_counter
    add column rolled_pairs bigint not null default 0,
    add constraint experiment_counter_rolled check (rolled_pairs between 0 and prefix_pairs);
comment on column experiment_counter.rolled_pairs is 'Pairs 0 .. rolled_pairs - 1 are in the roll-ups of endings, lengths and openings; see verify_rollups().';

create table ending_rollup (
    experiment_id bigint not null,
    segment bigint not null check (segment >= 0),
    reason text collate "C" not null,
    result text collate "C" not null,
    games bigint not null check (games > 0),
    plies bigint not null check (plies >= 0),
    primary key (experiment_id, segment, reason, result)
);
comment on table ending_rollup is 'Rolled-up counted games by ending; read endings_by_reason.';
comment on column ending_rollup.experiment_id is 'The experiment.';
comment on column ending_rollup.segment is 'Pairs segment * 32768 and the 32767 after it, as far as they count.';
comment on column ending_rollup.reason is 'The ending.';
comment on column ending_rollup.result is 'south, north or draw.';
comment on column ending_rollup.games is 'Games that ended so.';
comment on column ending_rollup.plies is 'Sum of their lengths.';

create table length_rollup (
    experiment_id bigint not null,
    segment bigint not null check (segment >= 0),
    plies integer not null check (plies >= 0),
    games bigint not null check (games > 0),
    draws bigint not null check (draws between 0 and games),
    primary key (experiment_id, segment, plies)
);
comment on table length_rollup is 'Rolled-up counted games by length; read game_length and game_length_histogram.';
comment on column length_rollup.experiment_id is 'The experiment.';
comment on column length_rollup.segment is 'As in ending_rollup.';
comment on column length_rollup.plies is 'Length in plies.';
comment on column length_rollup.games is 'Games of this length.';
comment on column length_rollup.draws is 'Of these, drawn.';

create table opening_rollup (
    experiment_id bigint not null,
    segment bigint not null check (segment >= 0),
    opening text collate "C" not null check (octet_length(opening) <= 4),
    games bigint not null check (games > 0),
    south_wins bigint not null check (south_wins >= 0),
    draws bigint not null check (draws >= 0),
    primary key (experiment_id, segment, opening),
    constraint opening_rollup_results check (south_wins + draws <= games)
);
comment on table opening_rollup is 'Rolled-up counted games by their first four plies; read first_move_score and opening_score.';
comment on column opening_rollup.experiment_id is 'The experiment.';
comment on column opening_rollup.segment is 'As in ending_rollup.';
comment on column opening_rollup.opening is 'The first four plies, or all of a shorter game.';
comment on column opening_rollup.games is 'Games that began so.';
comment on column opening_rollup.south_wins is 'Won by South.';
comment on column opening_rollup.draws is 'Drawn.';

create table pair_rollup (
    experiment_id bigint not null,
    segment bigint not null check (segment >= 0),
    opening text collate "C" not null check (octet_length(opening) <= 4),
    p00 bigint not null check (p00 >= 0),
    p01 bigint not null check (p01 >= 0),
    p02 bigint not null check (p02 >= 0),
    p10 bigint not null check (p10 >= 0),
    p11 bigint not null check (p11 >= 0),
    p12 bigint not null check (p12 >= 0),
    p20 bigint not null check (p20 >= 0),
    p21 bigint not null check (p21 >= 0),
    p22 bigint not null check (p22 >= 0),
    primary key (experiment_id, segment, opening)
);
comment on table pair_rollup is 'Rolled-up counted pairs by opening, of all but self-play; read opening_pairs.';
comment on column pair_rollup.experiment_id is 'The experiment.';
comment on column pair_rollup.segment is 'As in ending_rollup.';
comment on column pair_rollup.opening is 'What both legs began with, at most four plies of it.';
comment on column pair_rollup.p00 is 'Pairs of which player a lost leg 0 and lost leg 1.';
comment on column pair_rollup.p01 is 'Pairs of which player a lost leg 0 and drew leg 1.';
comment on column pair_rollup.p02 is 'Pairs of which player a lost leg 0 and won leg 1.';
comment on column pair_rollup.p10 is 'Pairs of which player a drew leg 0 and lost leg 1.';
comment on column pair_rollup.p11 is 'Pairs of which player a drew leg 0 and drew leg 1.';
comment on column pair_rollup.p12 is 'Pairs of which player a drew leg 0 and won leg 1.';
comment on column pair_rollup.p20 is 'Pairs of which player a won leg 0 and lost leg 1.';
comment on column pair_rollup.p21 is 'Pairs of which player a won leg 0 and drew leg 1.';
comment on column pair_rollup.p22 is 'Pairs of which player a won leg 0 and won leg 1.';

create table session_rollup (
    experiment_id bigint not null,
    segment bigint not null check (segment >= 0),
    session_id bigint not null,
    games bigint not null,
    faults bigint not null,
    primary key (experiment_id, segment, session_id)
) with (fillfactor = 50);
create index session_rollup_session on session_rollup (session_id);
comment on table session_rollup is 'Stored games by the session that played them; read session_game_count and weights_provenance.';
comment on column session_rollup.experiment_id is 'The experiment.';
comment on column session_rollup.segment is 'Pairs segment * 32768 and the 32767 after it.';
comment on column session_rollup.session_id is 'The session; 0 = not recorded.';
comment on column session_rollup.games is 'Games it played, counted or not.';
comment on column session_rollup.faults is 'Of these, ended by a deadline, an illegal move or a crash.';

-- --- what the games of a segment add up to ---------------------------------------------------------------------------
-- Each function reads the pairs first_pair .. end_pair - 1 of an experiment, all of one segment, by index and without a
-- loop in a loop, whatever the planner thinks of a young partition that has no statistics yet.

-- The opening that the legs of a pair share, at most four plies of it: as many plies as the experiment prescribes, or
-- with a book as many as are equal.
create function shared_opening(one text, other text, plies integer) returns text
language sql immutable parallel safe as $$
    select case when plies <= 4 then left(one, plies)
        when left(one, 4) = left(other, 4) then left(one, 4)
        when left(one, 3) = left(other, 3) then left(one, 3)
        when left(one, 2) = left(other, 2) then left(one, 2)
        when left(one, 1) = left(other, 1) then left(one, 1)
        else '' end
$$;
comment on function shared_opening(text, text, integer) is
    'At most four plies that both games of a pair began with, of `plies` that were given; more than four: as many as are equal.';

create function rollup_endings(experiment bigint, first_pair bigint, end_pair bigint)
returns table (reason text, result text, plies integer, games bigint)
language sql stable set search_path = kroo, pg_temp set enable_seqscan = off as $$
    select g.reason, g.result, g.plies, count(*)
    from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
    group by g.reason, g.result, g.plies
$$;
comment on function rollup_endings(bigint, bigint, bigint) is
    'Games of some pairs of an experiment by ending and length.';

create function rollup_openings(experiment bigint, first_pair bigint, end_pair bigint)
returns table (opening text, games bigint, south_wins bigint, draws bigint)
language sql stable set search_path = kroo, pg_temp set enable_seqscan = off as $$
    select left(g.moves, 4), count(*), sum((g.result = 'south')::integer), sum((g.result = 'draw')::integer)
    from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
    group by left(g.moves, 4)
$$;
comment on function rollup_openings(bigint, bigint, bigint) is 'Games of some pairs of an experiment by opening.';

create function rollup_pairs(experiment bigint, first_pair bigint, end_pair bigint)
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
    ) p
    group by p.opening
$$;
comment on function rollup_pairs(bigint, bigint, bigint) is
    'Some pairs of an experiment by opening and player a''s half points in leg 0 and leg 1; none of self-play.';

create function rollup_sessions(experiment bigint, first_pair bigint, end_pair bigint)
returns table (session_id bigint, games bigint, faults bigint)
language sql stable set search_path = kroo, pg_temp set enable_seqscan = off as $$
    select g.session_id, count(*), count(*) filter (where g.reason in ('deadline', 'illegal-move', 'crash'))
    from game g where g.experiment_id = experiment and g.pair_no >= first_pair and g.pair_no < end_pair
    group by g.session_id
$$;
comment on function rollup_sessions(bigint, bigint, bigint) is
    'Games of some pairs of an experiment by the session that played them.';

-- --- writing ------------------------------------------------------------------------------------------------------------

create function rollup_fill(experiment bigint, first_pair bigint, end_pair bigint) returns void
language sql security definer set search_path = kroo, pg_temp as $$
    with e as materialized (select * from rollup_endings(experiment, first_pair, end_pair)),
    lengths as (
        insert into length_rollup
        select experiment, first_pair / rollup_segment_pairs(), plies, sum(games),
            coalesce(sum(games) filter (where result = 'draw'), 0)
        from e group by plies
    )
    insert into ending_rollup
    select experiment, first_pair / rollup_segment_pairs(), reason, result, sum(games), sum(games * plies)
    from e group by reason, result;
    insert into opening_rollup
    select experiment, first_pair / rollup_segment_pairs(), o.* from rollup_openings(experiment, first_pair, end_pair) o;
    insert into pair_rollup
    select experiment, first_pair / rollup_segment_pairs(), p.* from rollup_pairs(experiment, first_pair, end_pair) p;
$$;
comment on function rollup_fill(bigint, bigint, bigint) is
    'Rolls up the pairs first_pair .. end_pair - 1 of an experiment, a segment or the first pairs of one.';

create function rollup_drop(experiment bigint, from_segment bigint, to_segment bigint) returns void
language sql security definer set search_path = kroo, pg_temp as $$
    delete from ending_rollup where experiment_id = experiment and segment between from_segment and to_segment;
    delete from length_rollup where experiment_id = experiment and segment between from_segment and to_segment;
    delete from opening_rollup where experiment_id = experiment and segment between from_segment and to_segment;
    delete from pair_rollup where experiment_id = experiment and segment between from_segment and to_segment;
$$;
comment on function rollup_drop(bigint, bigint, bigint) is
    'Takes the segments from_segment .. to_segment of an experiment out of the roll-ups that follow the prefix.';

-- In PL/pgSQL, which keeps its plans: it runs with every batch.
create function session_rollup_add(experiments bigint[], segments bigint[], sessions bigint[], games bigint[],
    faults bigint[]) returns void
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    insert into session_rollup as r
    select x.experiment, x.segment, x.session, sum(x.games), sum(x.faults)
    from unnest(experiments, segments, sessions, games, faults) as x (experiment, segment, session, games, faults)
    group by x.experiment, x.segment, x.session
    on conflict (experiment_id, segment, session_id)
    do update set games = r.games + excluded.games, faults = r.faults + excluded.faults;
end
$$;
comment on function session_rollup_add(bigint[], bigint[], bigint[], bigint[], bigint[]) is
    'Counts games that were stored: whose, of which segment, how many, how many ended by a fault. For who inserts games.';

create function session_rollup_refill(experiment bigint, from_segment bigint, to_segment bigint) returns void
language sql security definer set search_path = kroo, pg_temp as $$
    delete from session_rollup where experiment_id = experiment and segment between from_segment and to_segment;
    insert into session_rollup
    select experiment, n, s.* from generate_series(from_segment, to_segment) n,
        rollup_sessions(experiment, n * rollup_segment_pairs(), (n + 1) * rollup_segment_pairs()) s;
$$;
comment on function session_rollup_refill(bigint, bigint, bigint) is
    'Counts who played the segments from_segment .. to_segment of an experiment anew, from its games.';

-- --- when -------------------------------------------------------------------------------------------------------------

create function rollup_due(experiment bigint, prefix_pairs bigint) returns bigint
language sql stable set search_path = kroo, pg_temp as $$
    select coalesce((select least(prefix_pairs, v.counted_pairs) from verdict v where v.experiment_id = experiment),
        prefix_pairs / rollup_segment_pairs() * rollup_segment_pairs())
$$;
comment on function rollup_due(bigint, bigint) is
    'How far the roll-ups of an experiment should reach: to its verdict''s end, before that to the last full segment of its prefix.';

create function rollup_move(experiment bigint, rolled bigint, due bigint) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    size constant bigint := rollup_segment_pairs();
    next_pair bigint := least(rolled, due) / size * size; -- a last segment that is not full is made anew
    end_pair bigint;
begin
    if rolled = due then
        return due;
    end if;
    if next_pair < rolled then
        perform rollup_drop(experiment, next_pair / size, rolled / size);
    end if;
    while next_pair < due loop
        end_pair := least(next_pair + size, due);
        perform rollup_fill(experiment, next_pair, end_pair);
        next_pair := end_pair;
    end loop;
    return due;
end
$$;
comment on function rollup_move(bigint, bigint, bigint) is
    'Makes the roll-ups of an experiment reach to `due` pairs instead of `rolled`, forward or back; returns `due`.';

create function rollup_on_counter() returns trigger
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    new.rolled_pairs := rollup_move(new.experiment_id, new.rolled_pairs,
        rollup_due(new.experiment_id, new.prefix_pairs));
    return new;
end
$$;
comment on function rollup_on_counter() is 'Trigger: the roll-ups follow the prefix.';
create trigger experiment_counter_rollup before update of prefix_pairs on experiment_counter for each row
    when (new.rolled_pairs <> new.prefix_pairs / rollup_segment_pairs() * rollup_segment_pairs())
    execute function rollup_on_counter();

create function rollup_on_verdict() returns trigger
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    update experiment_counter c
    set rolled_pairs = rollup_move(c.experiment_id, c.rolled_pairs, rollup_due(c.experiment_id, c.prefix_pairs))
    where c.experiment_id = new.experiment_id;
    return null;
end
$$;
comment on function rollup_on_verdict() is 'Trigger: with its verdict all that counts of an experiment is rolled up.';
create trigger verdict_rollup after insert on verdict for each row execute function rollup_on_verdict();

create function rollup_on_game() returns trigger
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
        continue when stale.segment * size >= stale.rolled_pairs;
        perform rollup_drop(stale.experiment_id, stale.segment, stale.segment);
        perform rollup_fill(stale.experiment_id, stale.segment * size,
            least((stale.segment + 1) * size, stale.rolled_pairs));
    end loop;
    return null;
end
$$;
comment on function rollup_on_game() is 'Trigger: the segment of a game that changed is made anew.';
create trigger game_rollup_update after update on game referencing old table as changed_game
    for each statement execute function rollup_on_game();
create trigger game_rollup_delete after delete on game referencing old table as changed_game
    for each statement execute function rollup_on_game();

-- --- the views ----------------------------------------------------------------------------------------------------------

-- What the roll-ups do not say: the games beyond them that count, and, to be taken away again, those in them whose
-- pair is in dispute now. The limit cuts nothing off: it tells the planner that a short walk along the primary key is
-- meant, where it would take a bound that it does not know for a ninth of the table and scan that.
create view game_unrolled as
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
union all
select g.experiment_id, g.pair_no, g.leg, g.moves, g.plies, g.result, g.reason, g.a_half_points, -1
from dispute d
    join experiment_counter c on c.experiment_id = d.experiment_id and d.pair_no < c.rolled_pairs
    join game g on g.experiment_id = d.experiment_id and g.pair_no = d.pair_no
where d.state = 'open';
comment on view game_unrolled is 'Between the roll-ups and game_counted: counted games that are not in the roll-ups, and games in them that do not count because of a dispute.';
comment on column game_unrolled.sign is '1: to be added to the roll-ups; -1: to be taken away.';
do $$
declare
    name text;
begin
    for name in select attname from pg_attribute where attrelid = 'kroo.game_unrolled'::regclass and attname <> 'sign' loop
        execute format('comment on column kroo.game_unrolled.%I is %L', name, 'As in game.');
    end loop;
end
$$;

create or replace view endings_by_reason as
select experiment_id, reason, sum(games)::bigint as games,
    round(sum(games) / sum(sum(games)) over (partition by experiment_id), 4) as share,
    coalesce(sum(games) filter (where result = 'south'), 0)::bigint as south_wins,
    coalesce(sum(games) filter (where result = 'draw'), 0)::bigint as draws,
    coalesce(sum(games) filter (where result = 'north'), 0)::bigint as north_wins,
    round(sum(plies) / sum(games), 1) as mean_plies
from (
    select experiment_id, reason, result, games, plies from ending_rollup
    union all
    select experiment_id, reason, result, sign, sign * plies from game_unrolled
) e
group by experiment_id, reason
having sum(games) > 0;

create view game_length_histogram as
select experiment_id, plies, sum(games)::bigint as games, sum(draws)::bigint as draws
from (
    select experiment_id, plies, games, draws from length_rollup
    union all
    select experiment_id, plies, sign, case when result = 'draw' then sign else 0 end from game_unrolled
) l
group by experiment_id, plies
having sum(games) > 0;
comment on view game_length_histogram is 'How many games have each length, counted games.';
comment on column game_length_histogram.experiment_id is 'The experiment.';
comment on column game_length_histogram.plies is 'Length in plies.';
comment on column game_length_histogram.games is 'Games of this length.';
comment on column game_length_histogram.draws is 'Of these, drawn.';

-- The least length with at least the tenth (half, nine tenths) of the games up to it.
create or replace view game_length as
select experiment_id, sum(games)::bigint as games, min(plies) as shortest,
    min(plies) filter (where up_to >= 0.1 * total) as tenth,
    min(plies) filter (where up_to >= 0.5 * total) as median,
    round(sum(games * plies) / sum(games), 1) as mean,
    min(plies) filter (where up_to >= 0.9 * total) as ninetieth,
    max(plies) as longest
from (
    select experiment_id, plies, games, sum(games) over (partition by experiment_id order by plies) as up_to,
        sum(games) over (partition by experiment_id) as total
    from game_length_histogram
) h
group by experiment_id;

create view opening_count as
select experiment_id, opening, sum(games)::bigint as games, sum(south_wins)::bigint as south_wins,
    sum(draws)::bigint as draws
from (
    select experiment_id, opening, games, south_wins, draws from opening_rollup
    union all
    select experiment_id, left(moves, 4), sign, case when result = 'south' then sign else 0 end,
        case when result = 'draw' then sign else 0 end
    from game_unrolled
) o
group by experiment_id, opening
having sum(games) > 0;
comment on view opening_count is 'Counted games by their first four plies.';
comment on column opening_count.experiment_id is 'The experiment.';
comment on column opening_count.opening is 'The first four plies, or all of a shorter game.';
comment on column opening_count.games is 'Games that began so.';
comment on column opening_count.south_wins is 'Won by South.';
comment on column opening_count.draws is 'Drawn.';

create or replace view first_move_score as
select experiment_id, left(opening, 1) as first_move, sum(games)::bigint as games, sum(south_wins)::bigint as south_wins,
    sum(draws)::bigint as draws, sum(games - south_wins - draws)::bigint as north_wins,
    round(sum(south_wins + 0.5 * draws) / sum(games), 4) as south_score
from opening_count
where opening <> ''
group by experiment_id, left(opening, 1);

create view opening_score as
select o.experiment_id, left(o.opening, n.plies) as opening, n.plies, sum(o.games)::bigint as games,
    sum(o.south_wins)::bigint as south_wins, sum(o.draws)::bigint as draws,
    sum(o.games - o.south_wins - o.draws)::bigint as north_wins,
    round(sum(o.south_wins + 0.5 * o.draws) / sum(o.games), 4) as south_score
from generate_series(1, 4) n (plies)
    join opening_count o on octet_length(o.opening) >= n.plies
group by o.experiment_id, left(o.opening, n.plies), n.plies;
comment on view opening_score is 'How South fares after each opening of one to four plies, counted games. Deeper ones: game_counted where moves like ''FcEaB%''.';
comment on column opening_score.experiment_id is 'The experiment.';
comment on column opening_score.opening is 'The first plies.';
comment on column opening_score.plies is 'How many plies it has: 1 to 4.';
comment on column opening_score.games is 'Games that began so.';
comment on column opening_score.south_wins is 'Won by South.';
comment on column opening_score.draws is 'Drawn.';
comment on column opening_score.north_wins is 'Won by North.';
comment on column opening_score.south_score is 'South''s mean score, a draw as half a point.';

create view opening_pair_count as
select experiment_id, opening, sum(p00)::bigint as p00, sum(p01)::bigint as p01, sum(p02)::bigint as p02, sum(p10)::bigint as p10,
    sum(p11)::bigint as p11, sum(p12)::bigint as p12, sum(p20)::bigint as p20, sum(p21)::bigint as p21, sum(p22)::bigint as p22
from (
    select experiment_id, opening, p00, p01, p02, p10, p11, p12, p20, p21, p22 from pair_rollup
    union all
    select experiment_id, opening, case points when 0 then sign else 0 end, case points when 1 then sign else 0 end,
        case points when 2 then sign else 0 end, case points when 10 then sign else 0 end, case points when 11 then sign else 0 end,
        case points when 12 then sign else 0 end, case points when 20 then sign else 0 end,
        case points when 21 then sign else 0 end, case points when 22 then sign else 0 end
    from (
        select g.experiment_id, g.sign, sum(g.a_half_points * case g.leg when 0 then 10 else 1 end) as points,
            shared_opening(min(g.moves) filter (where g.leg = 0), min(g.moves) filter (where g.leg = 1),
                case when e.book_sha256 is null then e.opening_plies else 5 end) as opening
        from (select experiment_id, pair_no, leg, sign, left(moves, 4) as moves, a_half_points from game_unrolled) g
            join experiment e on e.id = g.experiment_id
        where e.kind <> 'selfplay'
        group by g.experiment_id, e.id, g.pair_no, g.sign
        having count(*) = 2
    ) pair
) o
group by experiment_id, opening;
comment on view opening_pair_count is 'Counted pairs of all but self-play, by opening and by what player a made of each leg.';
comment on column opening_pair_count.experiment_id is 'The experiment.';
comment on column opening_pair_count.opening is 'What both legs began with, at most four plies; empty = no opening was given.';
comment on column opening_pair_count.p00 is 'Pairs of which player a lost leg 0 and lost leg 1.';
comment on column opening_pair_count.p01 is 'Pairs of which player a lost leg 0 and drew leg 1.';
comment on column opening_pair_count.p02 is 'Pairs of which player a lost leg 0 and won leg 1.';
comment on column opening_pair_count.p10 is 'Pairs of which player a drew leg 0 and lost leg 1.';
comment on column opening_pair_count.p11 is 'Pairs of which player a drew leg 0 and drew leg 1.';
comment on column opening_pair_count.p12 is 'Pairs of which player a drew leg 0 and won leg 1.';
comment on column opening_pair_count.p20 is 'Pairs of which player a won leg 0 and lost leg 1.';
comment on column opening_pair_count.p21 is 'Pairs of which player a won leg 0 and drew leg 1.';
comment on column opening_pair_count.p22 is 'Pairs of which player a won leg 0 and won leg 1.';

create view opening_pairs as
select experiment_id, opening, p00 + ld + p11 + wl + dw + p22 as pairs, p00 as ll, ld, p11 as dd, wl, dw, p22 as ww,
    round((0.25 * ld + 0.5 * (p11 + wl) + 0.75 * dw + p22) / (p00 + ld + p11 + wl + dw + p22), 4) as a_score
from (select *, p01 + p10 as ld, p02 + p20 as wl, p12 + p21 as dw from opening_pair_count) o
where p00 + ld + p11 + wl + dw + p22 > 0;
comment on view opening_pairs is 'Pair counts by opening (four plies of it at most) of all but self-play, counted pairs. Sum over `opening like ''Fc%''` for what began so.';
comment on column opening_pairs.experiment_id is 'The experiment.';
comment on column opening_pairs.opening is 'What both legs began with, at most four plies; empty = no opening was given.';
comment on column opening_pairs.pairs is 'Pairs that began so.';
comment on column opening_pairs.ll is 'Pairs player a lost twice.';
comment on column opening_pairs.ld is 'Pairs with a loss and a draw of player a.';
comment on column opening_pairs.dd is 'Pairs drawn twice.';
comment on column opening_pairs.wl is 'Pairs with a win and a loss: the opening decided.';
comment on column opening_pairs.dw is 'Pairs with a draw and a win of player a.';
comment on column opening_pairs.ww is 'Pairs player a won twice.';
comment on column opening_pairs.a_score is 'Player a''s mean score in these pairs.';

create view pair_score as
select c.experiment_id, k.first, k.second, sum(k.pairs)::bigint as pairs
from opening_pair_count c,
    lateral (values (0, 0, c.p00), (0, 1, c.p01), (0, 2, c.p02), (1, 0, c.p10), (1, 1, c.p11), (1, 2, c.p12),
        (2, 0, c.p20), (2, 1, c.p21), (2, 2, c.p22)) k (first, second, pairs)
group by c.experiment_id, k.first, k.second
having sum(k.pairs) > 0;
comment on view pair_score is 'How the counted pairs of an experiment other than self-play came out, leg by leg: what joint ratings are made of.';
comment on column pair_score.experiment_id is 'The experiment.';
comment on column pair_score.first is 'Half points of player a (0, 1, 2) in the game where it moved first.';
comment on column pair_score.second is 'Its half points in the game where player b moved first.';
comment on column pair_score.pairs is 'Pairs that came out so.';

create view session_game_count as
select experiment_id, session_id, sum(games)::bigint as games, sum(faults)::bigint as faults
from session_rollup
group by experiment_id, session_id
having sum(games) > 0;
comment on view session_game_count is 'Who played the stored games of an experiment, counted or not.';
comment on column session_game_count.experiment_id is 'The experiment.';
comment on column session_game_count.session_id is 'The session; 0 = not recorded.';
comment on column session_game_count.games is 'Games it played.';
comment on column session_game_count.faults is 'Of these, ended by a deadline, an illegal move or a crash.';

-- --- who --------------------------------------------------------------------------------------------------------------

-- As in 006; the games of a range are counted by whole segments, and one by one at its two ends.
create or replace view weights_provenance as
select l.weights, l.sha256, l.distance, l.ancestor, l.ancestor_sha256, l.training_run_id, t.kind, t.trainer_build,
    t.core_type, t.data_sha256, m.experiment as experiment_id, m.first_pair, m.pair_count, e.rules, e.seed,
    e.opening_plies, e.noise_ppm, wa.number as weights_a, a.engine_build as engine_a, a.options as limits_a,
    wb.number as weights_b, b.engine_build as engine_b, b.options as limits_b, g.games, g.session_id,
    s.peer as worker_peer, p.name as worker_peer_name, s.name as worker, s.engine_build as worker_engine
from weights_lineage l
    join training_run t on t.id = l.training_run_id
    cross join lateral jsonb_to_recordset(t.manifest) as m (experiment bigint, first_pair bigint, pair_count bigint)
    left join experiment e on e.id = m.experiment
    left join player a on a.id = e.player_a
    left join player b on b.id = e.player_b
    left join weights wa on wa.sha256 = a.weights_sha256
    left join weights wb on wb.sha256 = b.weights_sha256
    left join lateral (
        select k.session_id, sum(k.games)::bigint as games
        from (select rollup_segment_pairs() as size, m.first_pair + m.pair_count as end_pair) r
            cross join lateral (select (m.first_pair + r.size - 1) / r.size as first_segment,
                case when r.end_pair >= e.planned_pairs and not exists (select from game g
                        where g.experiment_id = m.experiment and g.pair_no >= e.planned_pairs)
                    then (e.planned_pairs + r.size - 1) / r.size else r.end_pair / r.size end as end_segment) x
            cross join lateral (
                select u.session_id, u.games from session_rollup u
                where u.experiment_id = m.experiment and u.segment >= x.first_segment and u.segment < x.end_segment
                union all
                select g.session_id, 1 from game g
                where g.experiment_id = m.experiment and g.pair_no >= m.first_pair
                    and g.pair_no < case when x.first_segment < x.end_segment then x.first_segment * r.size
                        else r.end_pair end
                union all
                select g.session_id, 1 from game g
                where x.first_segment < x.end_segment and g.experiment_id = m.experiment
                    and g.pair_no >= x.end_segment * r.size and g.pair_no < r.end_pair
            ) k
        group by k.session_id
    ) g on true
    left join session s on s.id = g.session_id
    left join peer p on p.public_key = s.peer;

create index event_refused on event (session_id) where kind = 'game-refused';
create index dispute_run_session on dispute_run (session_id);

create view worker_health as
with leases as (
    select session_id, count(*) filter (where state = 'open') as open, count(*) filter (where state = 'done') as done,
        count(*) filter (where state = 'expired') as lapsed, count(*) filter (where state = 'released') as released
    from lease group by session_id
), games as (
    select session_id, sum(games)::bigint as games, sum(faults)::bigint as faults
    from session_rollup group by session_id
), refusals as (
    select session_id, count(*) as refused from event where kind = 'game-refused' group by session_id
), runs as (
    select r.session_id, count(distinct r.dispute_id) as disputed,
        count(distinct r.dispute_id) filter (where l.agreed_sha256 <> r.content_sha256) as outvoted
    from dispute_run r left join dispute_leg l on l.dispute_id = r.dispute_id and l.leg = r.leg
    group by r.session_id
)
select s.peer, max(p.name) as peer_name, s.name as worker, count(*) as sessions,
    count(*) filter (where s.ended_at is null) as open_sessions, min(s.started_at) as first_seen_at,
    max(s.started_at) as last_hello_at, (array_agg(s.engine_build order by s.started_at desc))[1] as engine_build,
    coalesce(sum(l.open), 0)::bigint as open_leases, coalesce(sum(l.done), 0)::bigint as done_leases,
    coalesce(sum(l.lapsed), 0)::bigint as lapsed_leases, coalesce(sum(l.released), 0)::bigint as released_leases,
    coalesce(sum(g.games), 0)::bigint as games, coalesce(sum(g.faults), 0)::bigint as faults,
    coalesce(sum(f.refused), 0)::bigint as refused, coalesce(sum(r.disputed), 0)::bigint as disputed,
    coalesce(sum(r.outvoted), 0)::bigint as outvoted
from session s
    left join peer p on p.public_key = s.peer
    left join leases l on l.session_id = s.id
    left join games g on g.session_id = s.id
    left join refusals f on f.session_id = s.id
    left join runs r on r.session_id = s.id
where s.slots > 0
group by s.peer, s.name;
comment on view worker_health is 'Each worker (key and name) over all its sessions: what it did and what went wrong.';
comment on column worker_health.peer is 'Public key, `local` or `loopback`.';
comment on column worker_health.peer_name is 'Name in the allow-list; null = not in it.';
comment on column worker_health.worker is 'Name the worker gives itself.';
comment on column worker_health.sessions is 'Sessions, those that ended included.';
comment on column worker_health.open_sessions is 'Sessions open now.';
comment on column worker_health.first_seen_at is 'When it first said hello.';
comment on column worker_health.last_hello_at is 'When it last said hello.';
comment on column worker_health.engine_build is 'The engine it came with last.';
comment on column worker_health.open_leases is 'Leases it holds.';
comment on column worker_health.done_leases is 'Leases it finished.';
comment on column worker_health.lapsed_leases is 'Leases it let lapse.';
comment on column worker_health.released_leases is 'Leases it gave back.';
comment on column worker_health.games is 'Games of its that are stored.';
comment on column worker_health.faults is 'Of these, ended by a deadline, an illegal move or a crash.';
comment on column worker_health.refused is 'Batches of its in which a game was refused.';
comment on column worker_health.disputed is 'Disputed pairs it played a run of.';
comment on column worker_health.outvoted is 'Of these, where independent workers agreed on another game than its.';

create view champion_history as
select p.line, p.id as epoch, w.number as weights, w.name, p.weights_sha256, p.experiment_id, v.counted_pairs, v.elo,
    v.elo_lo, v.elo_hi, sum(coalesce(v.elo, 0)) over (partition by p.line order by p.id) as elo_so_far,
    p.by, p.reason, p.promoted_at
from promotion p
    join weights w on w.sha256 = p.weights_sha256
    left join verdict v on v.experiment_id = p.experiment_id;
comment on view champion_history is 'The champions of each training line in order, with what their promoting matches measured.';
comment on column champion_history.line is 'The training line.';
comment on column champion_history.epoch is 'Number of the promotion.';
comment on column champion_history.weights is 'Number of the weights.';
comment on column champion_history.name is 'Their name.';
comment on column champion_history.weights_sha256 is 'Their hash.';
comment on column champion_history.experiment_id is 'The match that promoted them; null = promoted by hand.';
comment on column champion_history.counted_pairs is 'Its pairs.';
comment on column champion_history.elo is 'Their lead over the champion before, logistic Elo; biased after a sequential test.';
comment on column champion_history.elo_lo is 'Lower end of its 95 % interval.';
comment on column champion_history.elo_hi is 'Upper end of its 95 % interval.';
comment on column champion_history.elo_so_far is 'Sum of the leads of the line up to here: a rough line, the biases add up too.';
comment on column champion_history.by is 'Who promoted them.';
comment on column champion_history.reason is 'Why.';
comment on column champion_history.promoted_at is 'When.';

-- --- an experiment that is deleted -----------------------------------------------------------------------------------------

create function rollup_on_deletion() returns trigger
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    perform rollup_drop(old.experiment_id, 0, old.rolled_pairs / rollup_segment_pairs());
    delete from session_rollup where experiment_id = old.experiment_id;
    return old;
end
$$;
comment on function rollup_on_deletion() is 'Trigger: the roll-ups of an experiment go with its counters.';
create trigger experiment_counter_deletion before delete on experiment_counter for each row
    execute function rollup_on_deletion();

-- --- the check ----------------------------------------------------------------------------------------------------------

-- Every segment that the games or the roll-ups have.
create function verify_rollups(experiment bigint) returns table (experiment_id bigint, source text, place text,
    recorded text, recomputed text)
language sql stable set search_path = kroo, pg_temp as $$
    with c as (
        select c.rolled_pairs, rollup_due(c.experiment_id, c.prefix_pairs) as due from experiment_counter c
        where c.experiment_id = verify_rollups.experiment
    ), segment as (
        select n, n * rollup_segment_pairs() as first_pair,
            least((n + 1) * rollup_segment_pairs(), c.rolled_pairs) as end_pair
        from c, generate_series(0, (c.rolled_pairs - 1) / rollup_segment_pairs()) n where c.rolled_pairs > 0
    ), ending as materialized (
        select s.n as segment, e.* from segment s, rollup_endings(verify_rollups.experiment, s.first_pair, s.end_pair) e
    ), played as (
        select n as segment, s.* from generate_series(0, greatest(
                (select max(g.pair_no) from game g where g.experiment_id = verify_rollups.experiment),
                (select max(r.segment) from session_rollup r where r.experiment_id = verify_rollups.experiment)
                    * rollup_segment_pairs()) / rollup_segment_pairs()) n,
            rollup_sessions(verify_rollups.experiment, n * rollup_segment_pairs(), (n + 1) * rollup_segment_pairs()) s
    ), checked (source, place, recorded, recomputed) as (
        select 'ending_rollup', format('segment %s, %s %s', segment, reason, result),
            format('%s games, %s plies', r.games, r.plies), format('%s games, %s plies', s.games, s.plies)
        from (select * from ending_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join (select segment, reason, result, sum(games) as games, sum(games * plies) as plies from ending
                group by segment, reason, result) s using (segment, reason, result)
        union all
        select 'length_rollup', format('segment %s, %s plies', segment, plies),
            format('%s games, %s drawn', r.games, r.draws), format('%s games, %s drawn', s.games, s.draws)
        from (select * from length_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join (select segment, plies, sum(games) as games,
                coalesce(sum(games) filter (where result = 'draw'), 0) as draws from ending
                group by segment, plies) s using (segment, plies)
        union all
        select 'opening_rollup', format('segment %s, %s', segment, opening),
            format('%s games, %s won by South, %s drawn', r.games, r.south_wins, r.draws),
            format('%s games, %s won by South, %s drawn', s.games, s.south_wins, s.draws)
        from (select * from opening_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join (select x.n as segment, o.* from segment x,
                rollup_openings(verify_rollups.experiment, x.first_pair, x.end_pair) o) s using (segment, opening)
        union all
        select 'pair_rollup', format('segment %s, %s', segment, opening),
            concat_ws(' ', r.p00, r.p01, r.p02, r.p10, r.p11, r.p12, r.p20, r.p21, r.p22),
            concat_ws(' ', s.p00, s.p01, s.p02, s.p10, s.p11, s.p12, s.p20, s.p21, s.p22)
        from (select * from pair_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join (select x.n as segment, p.* from segment x,
                rollup_pairs(verify_rollups.experiment, x.first_pair, x.end_pair) p) s using (segment, opening)
        union all
        select 'session_rollup', format('segment %s, session %s', segment, session_id),
            format('%s games, %s faults', coalesce(r.games, 0), coalesce(r.faults, 0)),
            format('%s games, %s faults', coalesce(s.games, 0), coalesce(s.faults, 0))
        from (select * from session_rollup r where r.experiment_id = verify_rollups.experiment) r
            full join played s using (segment, session_id)
        union all
        select 'experiment_counter', 'rolled_pairs', rolled_pairs::text, due::text from c
    )
    select verify_rollups.experiment, k.source, k.place, k.recorded, k.recomputed from checked k
    where k.recorded is distinct from k.recomputed
$$;
comment on function verify_rollups(bigint) is
    'Rows of an experiment''s roll-ups that are not what its games add up to: none, or something is broken.';

-- --- who may ------------------------------------------------------------------------------------------------------------

revoke all on all functions in schema kroo from public;
grant execute on function rollup_segment_pairs(), shared_opening(text, text, integer), verify_rollups(bigint),
    rollup_due(bigint, bigint), rollup_endings(bigint, bigint, bigint), rollup_openings(bigint, bigint, bigint),
    rollup_pairs(bigint, bigint, bigint), rollup_sessions(bigint, bigint, bigint)
    to kroo_coordinator, kroo_trainer, kroo_reader;
grant execute on function session_rollup_add(bigint[], bigint[], bigint[], bigint[], bigint[]) to kroo_coordinator;
grant select on ending_rollup, length_rollup, opening_rollup, pair_rollup, session_rollup, game_unrolled, game_length_histogram, opening_count, opening_score, opening_pair_count,
    opening_pairs, pair_score, session_game_count, worker_health,
    champion_history to kroo_coordinator, kroo_trainer, kroo_reader;

-- --- what is there already ----------------------------------------------------------------------------------------------

update experiment_counter set prefix_pairs = prefix_pairs;
do $$
declare
    known record;
begin
    for known in select c.experiment_id, (select max(g.pair_no) from game g where g.experiment_id = c.experiment_id) as pair
        from experiment_counter c loop
        perform session_rollup_refill(known.experiment_id, 0, known.pair / rollup_segment_pairs());
    end loop;
end
$$;
