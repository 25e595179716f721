-- What audits and disputes lacked: who played last, verdicts that go on after they were withdrawn, builds that
-- play differently (DESIGN sections 5 and 7).

set local role kroo_owner;
set local search_path = kroo, pg_temp;

-- --- pairs to be played again ---

drop function replay_wanted(bigint, bigint[]);
create function replay_wanted(experiment bigint, pairs bigint[]) returns table (pair_no bigint, is_disputed boolean,
    is_held boolean, peer text, name text)
language sql stable security definer set search_path = kroo, pg_temp as $$
    with wanted as (
        select a.pair_no from audit a where a.experiment_id = replay_wanted.experiment and a.state = 'open'
        union
        select d.pair_no from dispute d where d.experiment_id = replay_wanted.experiment and d.state = 'open'
            and (d.was_counted or not exists (select from verdict v where v.experiment_id = replay_wanted.experiment))
            and (select coalesce(max(l.runs), 0) from dispute_leg l where l.dispute_id = d.id
                and l.agreed_sha256 is null) < 5 + d.runs_before
    ), run as (
        select w.pair_no, g.session_id, g.stored_at as at from wanted w
            join game g on g.experiment_id = replay_wanted.experiment and g.pair_no = w.pair_no
        union all
        select w.pair_no, r.session_id, r.recorded_at from wanted w
            join dispute d on d.experiment_id = replay_wanted.experiment and d.pair_no = w.pair_no
            join dispute_run r on r.dispute_id = d.id
    )
    select run.pair_no, coalesce(bool_or(d.id is not null), false), coalesce(bool_or(not d.was_counted), false), s.peer, s.name
    from run left join session s on s.id = run.session_id
        left join dispute d on d.experiment_id = replay_wanted.experiment and d.pair_no = run.pair_no and d.state = 'open'
    where replay_wanted.pairs is null or run.pair_no = any(replay_wanted.pairs)
    group by run.pair_no, s.peer, s.name
    order by run.pair_no, max(run.at), s.peer, s.name
$$;
comment on function replay_wanted(bigint, bigint[]) is
    'Pairs that wait to be played again, for an audit or in dispute (held: the prefix waits for them), with each worker that has played them, the last one last.';
revoke all on function replay_wanted(bigint, bigint[]) from public;
grant execute on function replay_wanted(bigint, bigint[]) to kroo_coordinator;

create or replace function audit_end(experiment bigint, counted bigint) returns text
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    chosen bigint;
    unplayed bigint;
begin
    update audit a set state = 'unplayed', closed_at = now()
    where a.experiment_id = audit_end.experiment and a.request_id = 0 and a.state = 'open';
    select count(*), count(*) filter (where a.state = 'unplayed') into chosen, unplayed
    from audit a where a.experiment_id = audit_end.experiment and a.request_id = 0 and a.pair_no < counted;
    return case when unplayed > 0
        then format('not audited in full: %s of %s audits that were due were done, for no other worker was able to', chosen - unplayed, chosen)
        else '' end;
end
$$;

-- Whoever is set aside has no voice any more in what is true; what it played is still there to be compared.
create or replace view dispute_leg as
with run as (
    select r.dispute_id, r.leg, r.content_sha256,
        count(distinct (s.peer, s.name)) filter (where f.session_id is null) as workers, count(*) as runs,
        bool_or(r.claimed) as claimed
    from dispute_run r join session s on s.id = r.session_id left join flagged_session f on f.session_id = s.id
    group by r.dispute_id, r.leg, r.content_sha256
), agreed as (
    select dispute_id, leg, content_sha256, row_number() over (partition by dispute_id, leg order by content_sha256)
        as place, count(*) over (partition by dispute_id, leg) as rivals
    from run where workers >= 2
)
select d.id as dispute_id, d.experiment_id, d.pair_no, run.leg, count(*) as contents, sum(run.runs)::bigint as runs,
    a.content_sha256 as agreed_sha256
from dispute d
    join run on run.dispute_id = d.id
    left join agreed a on a.dispute_id = d.id and a.leg = run.leg and a.place = 1 and a.rivals = 1
group by d.id, d.experiment_id, d.pair_no, run.leg, a.content_sha256
having count(*) > 1 or bool_or(run.claimed);
comment on column dispute_leg.agreed_sha256 is 'The one content that two independent workers (key and name, not set aside) delivered; null when there is none or when there are two.';

-- --- builds that play differently ---

alter table session
    add column architecture text not null default '' check (octet_length(architecture) < 64),
    add column compiler text not null default '' check (octet_length(compiler) < 64);
comment on column session.architecture is 'The worker''s machine as uname(2) calls it; empty = not told.';
comment on column session.compiler is 'What compiled its engine; empty = not told.';

create table divergence (
    dispute_id bigint primary key,
    experiment_id bigint not null references experiment (id) on delete cascade,
    pair_no bigint not null,
    trait text not null check (trait in ('architecture', 'build')),
    sides text not null,
    found_at timestamptz not null default now()
);
create index divergence_experiment on divergence (experiment_id);
comment on table divergence is 'Disputes in which every worker of one architecture, or of one build, says one thing and every one of another something else: the build is divergent, and nobody is charged.';
comment on column divergence.dispute_id is 'The dispute.';
comment on column divergence.experiment_id is 'Its experiment.';
comment on column divergence.pair_no is 'Its pair.';
comment on column divergence.trait is 'What the two sides differ in: architecture, or build (the engine''s and what compiled it).';
comment on column divergence.sides is 'Who plays what: values that play alike are joined by `+`, the sides by `/`.';
comment on column divergence.found_at is 'When it was found.';
grant select on divergence to kroo_coordinator, kroo_trainer, kroo_reader;

create function dispute_split(dispute bigint, leg integer, content bytea, session bigint) returns table (trait text, sides text)
language sql stable security definer set search_path = kroo, pg_temp as $$
    with said as (
        select r.leg, r.content_sha256 as content, r.session_id from dispute_run r where r.dispute_id = dispute_split.dispute
        union
        select dispute_split.leg, dispute_split.content, dispute_split.session where dispute_split.content is not null
    ), differing as (
        select s.leg from said s group by s.leg having count(distinct s.content) > 1
    ), run as (
        select t.trait, t.value, said.leg, said.content
        from said join differing using (leg) join session s on s.id = said.session_id
            cross join lateral (values ('architecture', s.architecture), ('build', case when s.compiler <> '' then s.engine_build || ', ' || s.compiler else '' end)) t (trait, value)
    ), told as (
        select run.trait, run.leg, run.value, count(distinct run.content) as contents, min(encode(run.content, 'hex')) as content
        from run group by run.trait, run.leg, run.value
    ), clean as (
        select told.trait from told group by told.trait having bool_and(told.contents = 1) and bool_and(told.value <> '')
    ), side as (
        select told.trait, told.leg, string_agg(told.value, ' + ' order by told.value) as alike
        from told join clean using (trait) group by told.trait, told.leg, told.content
    )
    select side.trait, string_agg(distinct side.alike, ' / ') from side
    where side.leg = (select min(differing.leg) from differing)
    group by side.trait order by side.trait limit 1
$$;
comment on function dispute_split(bigint, integer, bytea, bigint) is
    'The trait by which the runs of a dispute (and one more, not stored: leg, content, session) split exactly: each of its values has said one thing, and not all the same. No row when there is none, or when a worker has not told it.';

create function divergence_note(dispute bigint, leg integer, content bytea, session bigint) returns boolean
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    split record;
    row divergence;
begin
    select * into split from dispute_split(divergence_note.dispute, divergence_note.leg, divergence_note.content,
        divergence_note.session);
    if not found then
        return false;
    end if;
    insert into divergence (dispute_id, experiment_id, pair_no, trait, sides)
    select d.id, d.experiment_id, d.pair_no, split.trait, split.sides from dispute d where d.id = divergence_note.dispute
    on conflict do nothing returning * into row;
    if found then
        insert into event (kind, experiment_id, text) values ('build-divergent', row.experiment_id,
            format('pair %s is played differently by %s: %s; nobody is charged for it', row.pair_no, row.trait, row.sides));
    end if;
    return true;
end
$$;
comment on function divergence_note(bigint, integer, bytea, bigint) is
    'Marks a dispute as divergent when it splits by a trait (dispute_split), with an event; true when it does.';

create or replace function charge_losers(dispute bigint) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    charged bigint;
begin
    if divergence_note(charge_losers.dispute, null, null, null) then
        return 0;
    end if;
    with loser as (
        select distinct on (s.peer, s.name) d.id, d.experiment_id, d.pair_no, r.leg, r.session_id, s.peer, s.name, r.claimed
        from dispute d join dispute_leg l on l.dispute_id = d.id
            join dispute_run r on r.dispute_id = d.id and r.leg = l.leg and r.content_sha256 <> l.agreed_sha256
            join session s on s.id = r.session_id
        where d.id = charge_losers.dispute
        order by s.peer, s.name, r.claimed, r.leg
    ), row as (
        insert into charge (dispute_id, experiment_id, pair_no, leg, session_id, peer, name, claimed)
        select * from loser on conflict do nothing returning *
    ), told as (
        insert into event (kind, experiment_id, session_id, text)
        select 'worker-charged', row.experiment_id, row.session_id,
            format('worker %s (%s) stands alone with its game of pair %s leg %s: two independent workers agree on another',
                row.name, row.peer, row.pair_no, row.leg)
        from row returning 1
    )
    select count(*) into charged from told;
    return charged;
end
$$;

create or replace function charge_late(experiment bigint, pair bigint, leg integer, session bigint, moves text, claimed boolean) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    charged bigint;
    settled bigint;
    content bytea;
begin
    select d.id into settled from dispute d
    where d.experiment_id = charge_late.experiment and d.pair_no = pair and d.state = 'settled'
        and d.settlement ~ '^(kept|replaced)'
        and not exists (select from game g where g.experiment_id = charge_late.experiment and g.pair_no = pair
            and g.leg = charge_late.leg and g.moves = charge_late.moves);
    if not found then
        return 0;
    end if;
    select r.content_sha256 into content from dispute_run r
    where r.dispute_id = settled and r.leg = charge_late.leg and r.moves = charge_late.moves limit 1;
    if divergence_note(settled, charge_late.leg, coalesce(content, sha256(convert_to(charge_late.moves, 'UTF8'))),
        charge_late.session) then
        return 0;
    end if;
    with row as (
        insert into charge (dispute_id, experiment_id, pair_no, leg, session_id, peer, name, claimed)
        select settled, charge_late.experiment, pair, charge_late.leg, s.id, s.peer, s.name, charge_late.claimed
        from session s where s.id = charge_late.session
        on conflict do nothing returning *
    ), told as (
        insert into event (kind, experiment_id, session_id, text)
        select 'worker-charged', row.experiment_id, row.session_id,
            format('worker %s (%s) delivers another game of pair %s leg %s than two independent workers agreed on',
                row.name, row.peer, row.pair_no, row.leg)
        from row returning 1
    )
    select count(*) into charged from told;
    return charged;
end
$$;

-- As before (012); and when the runs split by architecture or build with two workers on either side, no further run
-- can settle it.
create or replace function dispute_settle(experiment bigint, pair bigint) returns text
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    dispute_found dispute;
    unsettled bigint;
    worst bigint;
    others bigint;
    stands boolean;
    outcome text;
    rivals boolean;
begin
    select * into dispute_found from dispute d
    where d.experiment_id = experiment and d.pair_no = pair and d.state = 'open' for update;
    if not found then
        return 'none';
    end if;
    -- What a tune has counted has moved its parameters, and these have played since.
    select e.kind = 'tune' and dispute_found.was_counted or exists (select from verdict v where v.experiment_id = experiment) into stands
    from experiment e where e.id = experiment;
    select count(*) filter (where l.agreed_sha256 is null), max(l.runs) filter (where l.agreed_sha256 is null)
    into unsettled, worst from dispute_leg l where l.dispute_id = dispute_found.id;
    if unsettled > 0 then
        select exists (select from (
                select r.leg, r.content_sha256 from dispute_run r join session s on s.id = r.session_id
                where r.dispute_id = dispute_found.id and not exists (select from flagged_session f where f.session_id = s.id)
                group by r.leg, r.content_sha256 having count(distinct (s.peer, s.name)) >= 2) word
            group by word.leg having count(*) > 1) into rivals;
        if worst < 5 + dispute_found.runs_before and not rivals then
            return 'open';
        end if;
        outcome := case when divergence_note(dispute_found.id, null, null, null) then 'divergent'
            when worst >= 5 + dispute_found.runs_before then 'blocked' else 'open' end;
        update audit a set state = 'differed', closed_at = now()
        where outcome <> 'open' and stands and a.experiment_id = experiment and a.pair_no = pair and a.state = 'open';
        return outcome;
    end if;
    select count(*) into others from dispute_leg l join game g on g.experiment_id = experiment and g.pair_no = pair
        and g.leg = l.leg
    where l.dispute_id = dispute_found.id
        and game_content_sha256(g.moves, g.scores, g.result, g.reason, g.south, g.north, g.claimed) <> l.agreed_sha256;
    outcome := case when others = 0 then 'kept' when stands then 'outvoted' else 'replaced' end;
    if outcome = 'replaced' then
        perform dispute_replace(dispute_found.id);
    end if;
    update dispute d set state = 'settled', settled_at = now(), settlement = outcome || ': two independent workers agree'
    where d.id = dispute_found.id;
    update audit a set state = 'differed', closed_at = now()
    where a.experiment_id = experiment and a.pair_no = pair and a.state = 'open';
    perform charge_losers(dispute_found.id);
    return outcome;
end
$$;
comment on function dispute_settle(bigint, bigint) is
    'Settles a dispute when two independent workers agree on every disputed leg: kept, replaced, outvoted (a verdict stands on the other game), open, blocked, divergent (blocked, for builds differ); none when there is no open dispute.';

create function dispute_replace(dispute bigint) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    replaced bigint;
begin
    update game g set moves = r.moves, plies = octet_length(r.moves), scores = r.scores, result = r.result, reason = r.reason,
        south = r.south, north = r.north, a_half_points = r.a_half_points, claimed = r.claimed, nodes = r.nodes,
        time_ms = r.time_ms, attempt = r.attempt, lease_id = r.lease_id, session_id = r.session_id
    from dispute_leg l
        join lateral (select * from dispute_run x where x.dispute_id = l.dispute_id and x.leg = l.leg
            and x.content_sha256 = l.agreed_sha256 and not exists (select from flagged_session f where f.session_id = x.session_id)
            order by x.recorded_at, x.session_id, x.attempt limit 1) r on true
    where l.dispute_id = dispute_replace.dispute and g.experiment_id = l.experiment_id and g.pair_no = l.pair_no
        and g.leg = l.leg
        and game_content_sha256(g.moves, g.scores, g.result, g.reason, g.south, g.north, g.claimed) <> l.agreed_sha256;
    get diagnostics replaced = row_count;
    return replaced;
end
$$;
comment on function dispute_replace(bigint) is 'Puts the agreed games of a dispute in the place of those that are stored; how many.';

-- --- a verdict that was withdrawn goes on ---

create table verdict_past as select v.*, ''::text as withdrawn_reason, now() as withdrawn_at, ''::text as resumed_by,
    now() as resumed_at from verdict v with no data;
alter table verdict_past add foreign key (experiment_id) references experiment (id) on delete cascade,
    alter column experiment_id set not null, alter column withdrawn_reason set not null,
    alter column withdrawn_at set not null, alter column resumed_by set not null, alter column resumed_at set not null,
    add primary key (experiment_id, resumed_at);
do $$
declare
    name text;
    remark text;
begin
    for name, remark in select a.attname, col_description(a.attrelid, a.attnum) from pg_attribute a
        where a.attrelid = 'kroo.verdict'::regclass and a.attnum > 0 and not a.attisdropped loop
        execute format('comment on column kroo.verdict_past.%I is %L', name, remark);
    end loop;
end
$$;
comment on table verdict_past is 'Verdicts that were withdrawn, of experiments that an operator let go on afterwards: as they were written.';
comment on column verdict_past.withdrawn_reason is 'Why it was withdrawn.';
comment on column verdict_past.withdrawn_at is 'When.';
comment on column verdict_past.resumed_by is 'Who let the experiment go on.';
comment on column verdict_past.resumed_at is 'When.';
create trigger verdict_past_immutable before update on verdict_past for each row execute function refuse_change();
grant select on verdict_past to kroo_coordinator, kroo_trainer, kroo_reader;

-- What it promoted was promoted; that its verdict was there is checked when it happens (promotion_needs_verdict).
alter table promotion drop constraint promotion_experiment_id_fkey,
    add foreign key (experiment_id) references experiment (id);
create index promotion_by_experiment on promotion (experiment_id);

create or replace function verdict_announce() returns trigger
language plpgsql set search_path = kroo, pg_temp as $$
begin
    insert into hook_run (experiment_id, command)
    select e.id, e.on_finish from experiment e where e.id = new.experiment_id and e.on_finish <> ''
    on conflict (experiment_id) do update set state = 'due', due_at = now(), started_at = null, ended_at = null,
        outcome = '', claim = null;
    perform pg_notify('kroo', json_build_object('experiment', new.experiment_id, 'verdict', new.verdict)::text);
    return null;
end
$$;
grant update (due_at) on hook_run to kroo_coordinator;

create function verdict_is_withdrawn(experiment bigint) returns boolean
language sql stable security definer set search_path = kroo, pg_temp as $$
    select exists (select from verdict_withdrawn w join experiment e on e.id = w.experiment_id
        where w.experiment_id = verdict_is_withdrawn.experiment and e.state = 'finished')
$$;
comment on function verdict_is_withdrawn(bigint) is 'The experiment is finished, and its verdict withdrawn.';

create function experiment_reopen(experiment bigint, caller text) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    perform from experiment e where e.id = experiment_reopen.experiment for update;
    if not verdict_is_withdrawn(experiment_reopen.experiment) then
        raise exception 'the verdict of experiment % is not withdrawn', experiment using errcode = 'check_violation';
    end if;
    insert into verdict_past
    select v.*, w.reason, w.withdrawn_at, caller, clock_timestamp()
    from verdict v join verdict_withdrawn w using (experiment_id) where v.experiment_id = experiment_reopen.experiment;
    perform set_config('kroo.deleting', experiment_reopen.experiment::text, true);
    delete from verdict v where v.experiment_id = experiment_reopen.experiment;
    perform set_config('kroo.deleting', '', true);
    delete from verdict_withdrawn w where w.experiment_id = experiment_reopen.experiment;
    update experiment e set state = 'running', state_reason = '', ended_at = null where e.id = experiment_reopen.experiment;
    -- The agreed games count now; where a worker that agreed is set aside since, there may be none.
    perform dispute_replace(d.id) from dispute d
    where d.experiment_id = experiment_reopen.experiment and d.settlement like 'outvoted%';
    update dispute d set settlement = 'replaced: two independent workers agree'
    where d.experiment_id = experiment_reopen.experiment and d.settlement like 'outvoted%'
        and not exists (select from dispute_leg l where l.dispute_id = d.id and l.agreed_sha256 is null);
    return games_set_aside(experiment_reopen.experiment);
end
$$;
comment on function experiment_reopen(bigint, text) is
    'Lets an experiment go on whose verdict is withdrawn: the verdict becomes one of verdict_past, the games of workers set aside leave the count. The counters are the caller''s. How many games that were.';

revoke all on function dispute_split(bigint, integer, bytea, bigint), divergence_note(bigint, integer, bytea, bigint),
    dispute_replace(bigint), verdict_is_withdrawn(bigint), experiment_reopen(bigint, text) from public;
grant execute on function verdict_is_withdrawn(bigint), experiment_reopen(bigint, text) to kroo_coordinator;
