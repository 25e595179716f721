-- Pairs that other workers play again, and the workers that stood alone (DESIGN sections 5 and 7).

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table audit_secret (
    only_row boolean primary key default true check (only_row),
    secret bytea not null check (octet_length(secret) = 32)
);
comment on table audit_secret is 'What decides which pairs are audited; nobody but the owner reads it, the coordinator through audit_secret_read().';
comment on column audit_secret.only_row is 'There is one row.';
comment on column audit_secret.secret is 'Key of the hash over (experiment, pair, request); made with the schema, never shown.';
insert into audit_secret (secret)
select sha256(string_agg(uuid_send(gen_random_uuid()), '')) from generate_series(1, 4);

create table audit_request (
    id bigint generated always as identity primary key,
    experiment_id bigint not null references experiment (id) on delete cascade,
    share_ppm integer not null check (share_ppm between 1 and 1000000),
    requested_by text not null check (requested_by <> '' and octet_length(requested_by) < 64),
    requested_at timestamptz not null default now(),
    opened_at timestamptz,
    pairs bigint check (pairs >= 0),
    constraint audit_request_opened check ((opened_at is null) = (pairs is null))
);
create index audit_request_experiment on audit_request (experiment_id);
create index audit_request_waiting on audit_request (id) where opened_at is null;
comment on table audit_request is 'Finished experiments of which a share is to be played again.';
comment on column audit_request.id is 'Number of the request.';
comment on column audit_request.experiment_id is 'The experiment.';
comment on column audit_request.share_ppm is 'Share of its counted pairs, in millionths.';
comment on column audit_request.requested_by is 'Who asked.';
comment on column audit_request.requested_at is 'When.';
comment on column audit_request.opened_at is 'When the coordinator chose the pairs; null = not yet.';
comment on column audit_request.pairs is 'How many it chose; null = not yet.';

create table audit (
    experiment_id bigint not null references experiment (id) on delete cascade,
    pair_no bigint not null check (pair_no >= 0),
    request_id bigint not null default 0 check (request_id >= 0),
    state text not null default 'open' check (state in ('open', 'agreed', 'differed', 'unplayed')),
    opened_at timestamptz not null default now(),
    closed_at timestamptz,
    session_leg0 bigint,
    session_leg1 bigint,
    primary key (experiment_id, pair_no, request_id),
    constraint audit_closed check ((state = 'open') = (closed_at is null))
);
create index audit_open on audit (experiment_id, pair_no) where state = 'open';
comment on table audit is 'Pairs chosen to be played again by another worker and compared, moves and scores. A row appears once both games of the pair are stored.';
comment on column audit.experiment_id is 'The experiment.';
comment on column audit.pair_no is 'The pair.';
comment on column audit.request_id is 'The request it was chosen for (audit_request); 0 = by the experiment''s own share.';
comment on column audit.state is 'open, agreed (another worker played the same two games), differed (it became a dispute, which is settled), unplayed (nobody else was there when the verdict was due).';
comment on column audit.opened_at is 'When the pair was chosen.';
comment on column audit.closed_at is 'When it was closed; null = open.';
comment on column audit.session_leg0 is 'Session that played leg 0 alike; null = none yet.';
comment on column audit.session_leg1 is 'Session that played leg 1 alike; null = none yet.';

create table charge (
    id bigint generated always as identity primary key,
    dispute_id bigint not null,
    experiment_id bigint not null,
    pair_no bigint not null,
    leg smallint not null check (leg in (0, 1)),
    session_id bigint not null,
    peer text not null,
    name text not null,
    claimed boolean not null,
    charged_at timestamptz not null default now(),
    unique (dispute_id, peer, name)
);
create index charge_worker on charge (name, peer);
comment on table charge is 'Workers that stood alone in a settled dispute: two independent ones agreed on another game. Kept when the experiment is deleted.';
comment on column charge.id is 'Number of the charge.';
comment on column charge.dispute_id is 'The dispute.';
comment on column charge.experiment_id is 'Its experiment.';
comment on column charge.pair_no is 'Its pair.';
comment on column charge.leg is 'The (first) game that was another.';
comment on column charge.session_id is 'The session that delivered it.';
comment on column charge.peer is 'Who that was: public key, `local` or `loopback`.';
comment on column charge.name is 'The name the worker gave itself.';
comment on column charge.claimed is 'Its game ended by what no replay can show: a program failed there alone.';
comment on column charge.charged_at is 'When.';

alter table lease add column again boolean not null default false;
comment on column lease.again is 'One pair that is played already, for an audit or a dispute.';

-- --- what the coordinator does; it has no other right to these tables ---

create function audit_secret_read() returns bytea
language sql stable security definer set search_path = kroo, pg_temp as $$ select secret from audit_secret $$;
comment on function audit_secret_read() is 'The secret behind the choice of audited pairs, for the coordinator.';

create function audit_begin(experiment bigint, request bigint, pairs bigint[]) returns setof bigint
language sql security definer set search_path = kroo, pg_temp as $$
    insert into audit (experiment_id, pair_no, request_id)
    select audit_begin.experiment, p, request from unnest(pairs) p
    where not exists (select from dispute d where d.experiment_id = audit_begin.experiment and d.pair_no = p)
    on conflict (experiment_id, pair_no, request_id) do update set state = 'open', opened_at = now(), closed_at = null,
        session_leg0 = null, session_leg1 = null where audit.state = 'unplayed'
    returning pair_no
$$;
comment on function audit_begin(bigint, bigint, bigint[]) is
    'Chooses pairs for an audit; those chosen already, and those in dispute, on which two workers agree before they count, are left out.';

create function audit_agree(experiment bigint, pair bigint, leg integer, session bigint) returns boolean
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    update audit a set session_leg0 = case when audit_agree.leg = 0 then session else a.session_leg0 end,
        session_leg1 = case when audit_agree.leg = 1 then session else a.session_leg1 end
    where a.experiment_id = experiment and a.pair_no = pair and a.state = 'open'
        and exists (select from game g left join session one on one.id = g.session_id, session other
            where g.experiment_id = experiment and g.pair_no = pair and g.leg = audit_agree.leg and other.id = session
                and (one.peer, one.name) is distinct from (other.peer, other.name));
    update audit a set state = 'agreed', closed_at = now()
    where a.experiment_id = experiment and a.pair_no = pair and a.state = 'open' and a.session_leg0 is not null
        and a.session_leg1 is not null and not exists (select from dispute d
            where d.experiment_id = experiment and d.pair_no = pair and d.state = 'open');
    return found;
end
$$;
comment on function audit_agree(bigint, bigint, integer, bigint) is
    'A session delivered the stored game again: it counts for the audit if another worker stored it. True when that closed the audit.';

create function audit_waive(experiment bigint) returns setof bigint
language sql security definer set search_path = kroo, pg_temp as $$
    update audit a set state = 'unplayed', closed_at = now()
    where a.experiment_id = audit_waive.experiment and a.request_id = 0 and a.state = 'open'
        and not exists (select from dispute d where d.experiment_id = audit_waive.experiment
            and d.pair_no = a.pair_no and d.state = 'open')
    returning a.pair_no
$$;
comment on function audit_waive(bigint) is
    'Gives up the open audits of an experiment, because no other worker is there; disputes stay.';

create function audit_end(experiment bigint, counted bigint) returns text
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
        then format('%s of %s audited pairs were not played again: no other worker was there', unplayed, chosen)
        else '' end;
end
$$;
comment on function audit_end(bigint, bigint) is
    'Closes what is open of an experiment''s own audit when its verdict is written, and says what of the counted pairs was not audited.';

create function audit_ask(experiment bigint, share_ppm integer, caller text) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    experiment_state text;
    experiment_kind text;
    timed boolean;
    counted bigint;
    number bigint;
begin
    select e.state, e.kind, exists (select from player p where p.id in (e.player_a, e.player_b)
            and ((p.options ->> 'time_ms')::bigint > 0 or (p.options ->> 'clock_ms')::bigint > 0)), c.counted_pairs
    into experiment_state, experiment_kind, timed, counted
    from experiment e join experiment_counted c on c.experiment_id = e.id where e.id = audit_ask.experiment;
    if not found then
        raise exception 'there is no experiment %', experiment using errcode = 'foreign_key_violation';
    elsif experiment_state not in ('finished', 'stopped') then
        raise exception 'experiment % is %: its own audit goes on with it, others are for finished ones', experiment,
            experiment_state using errcode = 'check_violation';
    elsif experiment_kind = 'tune' then
        raise exception 'experiment % is a tune: its players changed with its results; audit the match at its end', experiment
            using errcode = 'check_violation';
    elsif timed then
        raise exception 'experiment % was played under time limits: no game of it comes out the same again', experiment
            using errcode = 'check_violation';
    elsif counted::numeric * share_ppm / 1000000 > 100000 then
        raise exception 'that would be % pairs; 100000 at once are the most: give a smaller share',
            round(counted::numeric * share_ppm / 1000000) using errcode = 'check_violation';
    end if;
    insert into audit_request (experiment_id, share_ppm, requested_by)
    values (audit_ask.experiment, audit_ask.share_ppm, caller) returning id into number;
    insert into event (kind, experiment_id, text) values ('audit-requested', audit_ask.experiment,
        format('%s asked for %s %% of the pairs to be played again', caller, share_ppm / 10000.0));
    return number;
end
$$;
comment on function audit_ask(bigint, integer, text) is
    'Asks for a share of a finished experiment''s pairs to be played again; the coordinator takes notice. The number of the request.';

create function audit_begin_request(request bigint, pairs bigint[]) returns setof bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    experiment bigint;
begin
    update audit_request r set opened_at = now(), pairs = cardinality(audit_begin_request.pairs)
    where r.id = request and r.opened_at is null returning r.experiment_id into experiment;
    if found then
        return query select * from audit_begin(experiment, request, audit_begin_request.pairs);
    end if;
end
$$;
comment on function audit_begin_request(bigint, bigint[]) is 'Opens the audits of a request, once.';

create function replay_wanted(experiment bigint, pairs bigint[]) returns table (pair_no bigint, is_disputed boolean,
    peer text, name text)
language sql stable security definer set search_path = kroo, pg_temp as $$
    with wanted as (
        select a.pair_no from audit a where a.experiment_id = replay_wanted.experiment and a.state = 'open'
        union
        select d.pair_no from dispute d where d.experiment_id = replay_wanted.experiment and d.state = 'open'
            and d.was_counted
            and (select coalesce(max(l.runs), 0) from dispute_leg l where l.dispute_id = d.id
                and l.agreed_sha256 is null) < 5 + d.runs_before
    ), run as (
        select w.pair_no, g.session_id from wanted w join game g on g.experiment_id = replay_wanted.experiment
            and g.pair_no = w.pair_no
        union
        select w.pair_no, r.session_id from wanted w
            join dispute d on d.experiment_id = replay_wanted.experiment and d.pair_no = w.pair_no
            join dispute_run r on r.dispute_id = d.id
    )
    select distinct run.pair_no, exists (select from dispute d where d.experiment_id = replay_wanted.experiment
            and d.pair_no = run.pair_no and d.state = 'open'), s.peer, s.name
    from run left join session s on s.id = run.session_id
    where replay_wanted.pairs is null or run.pair_no = any(replay_wanted.pairs)
    order by run.pair_no
$$;
comment on function replay_wanted(bigint, bigint[]) is
    'Pairs that wait to be played again, for an audit or because a dispute arose after they counted, with each worker that has played them.';

create function replay_lease(lease bigint, experiment bigint, pair bigint, attempt integer, session bigint) returns void
language sql security definer set search_path = kroo, pg_temp as $$
    insert into lease (id, experiment_id, first_pair, pair_count, attempt, session_id, again)
    values (lease, experiment, pair, 1, attempt, session, true) on conflict (id) do nothing
$$;
comment on function replay_lease(bigint, bigint, bigint, integer, bigint) is 'A pair goes out to be played again.';

create function replay_lease_drop() returns void
language sql security definer set search_path = kroo, pg_temp as $$
    update lease set state = 'released', ended_at = now() where again and state = 'open'
$$;
comment on function replay_lease_drop() is
    'When a coordinator starts: pairs to be played again go out anew; what comes of the old leases is taken all the same.';

create function charge_losers(dispute bigint) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    charged bigint;
begin
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
comment on function charge_losers(bigint) is 'Charges the workers whose game is not the agreed one, with an event each; their number.';

create function charge_late(experiment bigint, pair bigint, leg integer, session bigint, moves text, claimed boolean) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    charged bigint;
begin
    with row as (
        insert into charge (dispute_id, experiment_id, pair_no, leg, session_id, peer, name, claimed)
        select d.id, d.experiment_id, d.pair_no, charge_late.leg, s.id, s.peer, s.name, charge_late.claimed
        from dispute d, session s
        where d.experiment_id = charge_late.experiment and d.pair_no = pair and d.state = 'settled'
            and d.settlement ~ '^(kept|replaced)' and s.id = session
            and not exists (select from game g where g.experiment_id = charge_late.experiment and g.pair_no = pair
                and g.leg = charge_late.leg and g.moves = charge_late.moves)
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
comment on function charge_late(bigint, bigint, integer, bigint, text, boolean) is
    'A game came that differs from one on which a settled dispute agreed: its worker is charged.';

-- As before (004), with five runs more after each resumption; and the loser is charged, an audit of the pair is closed, and where a verdict is written the games it
-- counted stay as they are.
create or replace function dispute_settle(experiment bigint, pair bigint) returns text
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    dispute_found dispute;
    unsettled bigint;
    worst bigint;
    others bigint;
    stands boolean;
    outcome text;
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
    if unsettled > 0 and worst >= 5 + dispute_found.runs_before then
        update audit a set state = 'differed', closed_at = now()
        where stands and a.experiment_id = experiment and a.pair_no = pair and a.state = 'open';
        return 'blocked';
    elsif unsettled > 0 then
        return 'open';
    end if;
    select count(*) into others from dispute_leg l join game g on g.experiment_id = experiment and g.pair_no = pair
        and g.leg = l.leg
    where l.dispute_id = dispute_found.id
        and game_content_sha256(g.moves, g.scores, g.result, g.reason, g.south, g.north, g.claimed) <> l.agreed_sha256;
    outcome := case when others = 0 then 'kept' when stands then 'outvoted' else 'replaced' end;
    update game g set moves = r.moves, plies = octet_length(r.moves), scores = r.scores, result = r.result, reason = r.reason,
        south = r.south, north = r.north, a_half_points = r.a_half_points, claimed = r.claimed, nodes = r.nodes,
        time_ms = r.time_ms, attempt = r.attempt, lease_id = r.lease_id, session_id = r.session_id
    from dispute_leg l
        join lateral (select * from dispute_run x where x.dispute_id = l.dispute_id and x.leg = l.leg
            and x.content_sha256 = l.agreed_sha256 order by x.recorded_at, x.session_id, x.attempt limit 1) r on true
    where outcome = 'replaced' and l.dispute_id = dispute_found.id and g.experiment_id = experiment and g.pair_no = pair
        and g.leg = l.leg
        and game_content_sha256(g.moves, g.scores, g.result, g.reason, g.south, g.north, g.claimed) <> l.agreed_sha256;
    update dispute d set state = 'settled', settled_at = now(), settlement = outcome || ': two independent workers agree'
    where d.id = dispute_found.id;
    update audit a set state = 'differed', closed_at = now()
    where a.experiment_id = experiment and a.pair_no = pair and a.state = 'open';
    perform charge_losers(dispute_found.id);
    return outcome;
end
$$;
comment on function dispute_settle(bigint, bigint) is
    'Settles a dispute when two independent workers agree on every disputed leg: kept, replaced, outvoted (a verdict stands on the other game), open, blocked; none when there is no open dispute.';

-- --- for people ---

create view audit_progress as
select a.experiment_id, a.request_id, coalesce(r.share_ppm, e.audit_ppm) as share_ppm, r.requested_by, r.requested_at,
    count(*) as pairs, count(*) filter (where a.state = 'agreed') as agreed,
    count(*) filter (where a.state = 'differed') as differed, count(*) filter (where a.state = 'open') as open,
    count(*) filter (where a.state = 'unplayed') as unplayed, max(a.closed_at) as last_closed_at
from audit a join experiment e on e.id = a.experiment_id left join audit_request r on r.id = a.request_id
group by a.experiment_id, a.request_id, coalesce(r.share_ppm, e.audit_ppm), r.requested_by, r.requested_at
union all
select r.experiment_id, r.id, r.share_ppm, r.requested_by, r.requested_at, 0, 0, 0, 0, 0, r.opened_at
from audit_request r where not exists (select from audit a where a.experiment_id = r.experiment_id and a.request_id = r.id);
comment on view audit_progress is 'How far each audit has come: one row for an experiment''s own, one for each request.';
comment on column audit_progress.experiment_id is 'The experiment.';
comment on column audit_progress.request_id is 'The request; 0 = the experiment''s own audit.';
comment on column audit_progress.share_ppm is 'Share of the pairs, in millionths.';
comment on column audit_progress.requested_by is 'Who asked; null = part of the specification.';
comment on column audit_progress.requested_at is 'When; null = part of the specification.';
comment on column audit_progress.pairs is 'Pairs chosen so far.';
comment on column audit_progress.agreed is 'Another worker played the same games.';
comment on column audit_progress.differed is 'Became disputes, which are settled.';
comment on column audit_progress.open is 'Not played again yet, or in dispute.';
comment on column audit_progress.unplayed is 'Given up, because no other worker was there.';
comment on column audit_progress.last_closed_at is 'When the last one was closed.';

create view worker_charge as
select c.peer, p.name as peer_name, c.name, count(*) as charges, count(distinct c.experiment_id) as experiments,
    min(c.charged_at) as first_at, max(c.charged_at) as last_at
from charge c left join peer p on p.public_key = c.peer
group by c.peer, p.name, c.name;
comment on view worker_charge is 'Workers that stood alone in settled disputes.';
comment on column worker_charge.peer is 'Public key, `local` or `loopback`.';
comment on column worker_charge.peer_name is 'Name in the allow-list; null = not in it.';
comment on column worker_charge.name is 'Name the worker gives itself.';
comment on column worker_charge.charges is 'Disputes in which it stood alone.';
comment on column worker_charge.experiments is 'In how many experiments.';
comment on column worker_charge.first_at is 'The first time.';
comment on column worker_charge.last_at is 'The last time.';

revoke all on function audit_secret_read(), audit_begin(bigint, bigint, bigint[]),
    audit_agree(bigint, bigint, integer, bigint), audit_waive(bigint), audit_end(bigint, bigint),
    audit_ask(bigint, integer, text), audit_begin_request(bigint, bigint[]), replay_wanted(bigint, bigint[]),
    replay_lease(bigint, bigint, bigint, integer, bigint), replay_lease_drop(), charge_losers(bigint),
    charge_late(bigint, bigint, integer, bigint, text, boolean) from public;
grant execute on function audit_secret_read(), audit_begin(bigint, bigint, bigint[]),
    audit_agree(bigint, bigint, integer, bigint), audit_waive(bigint), audit_end(bigint, bigint),
    audit_ask(bigint, integer, text), audit_begin_request(bigint, bigint[]), replay_wanted(bigint, bigint[]),
    replay_lease(bigint, bigint, bigint, integer, bigint), replay_lease_drop(),
    charge_late(bigint, bigint, integer, bigint, text, boolean) to kroo_coordinator;
grant select on audit, audit_request, charge, audit_progress, worker_charge to kroo_coordinator, kroo_trainer, kroo_reader;

-- A sequential test that has decided counts no further while its verdict waits for audits.
create or replace function counters_recompute(experiment bigint) returns table (games_stored bigint, prefix_pairs bigint,
    ll bigint, ld bigint, dd bigint, wl bigint, dw bigint, ww bigint, wins bigint, draws bigint, losses bigint)
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
        select n.first, n.second, n.first + n.second as points from numbered n
        where n.place = n.pair_no and n.pair_no < (
            select least(e.planned_pairs, v.counted_pairs, case when v.experiment_id is null and e.sprt_model is not null
                and (exists (select from audit a where a.experiment_id = e.id and a.state = 'open'
                        and a.pair_no < c.prefix_pairs)
                    or exists (select from dispute d where d.experiment_id = e.id and d.state = 'open' and d.was_counted))
                then c.prefix_pairs end)
            from experiment e left join experiment_counter c on c.experiment_id = e.id
                left join verdict v on v.experiment_id = e.id
            where e.id = counters_recompute.experiment)
    )
    select (select coalesce(sum(legs), 0)::bigint from pair), count(*),
        count(*) filter (where points = 0),
        count(*) filter (where points = 1),
        count(*) filter (where first = 1 and second = 1),
        count(*) filter (where points = 2 and first <> second),
        count(*) filter (where points = 3),
        count(*) filter (where points = 4),
        count(*) filter (where first = 2) + count(*) filter (where second = 2),
        count(*) filter (where first = 1) + count(*) filter (where second = 1),
        count(*) filter (where first = 0) + count(*) filter (where second = 0)
    from prefix
$$;
comment on function counters_recompute(bigint) is
    'An experiment''s counters, computed from its stored games alone; counted pairs end where its verdict says, or where a verdict that waits for audits will.';

-- --- workers that are set aside ---

create table worker_flag (
    id bigint generated always as identity primary key,
    peer text check (peer <> ''),
    name text check (name <> ''),
    kind text not null check (kind in ('hand', 'charge', 'statistics', 'failures')),
    reason text not null check (octet_length(reason) < 512),
    set_aside_by text not null check (set_aside_by <> ''),
    set_aside_at timestamptz not null default now(),
    judged_at timestamptz,
    restored_by text,
    restored_at timestamptz,
    constraint worker_flag_somebody check (peer is not null or name is not null),
    constraint worker_flag_restored check ((restored_at is null) = (restored_by is null))
);
create unique index worker_flag_active on worker_flag (coalesce(peer, ''), coalesce(name, '')) where restored_at is null;
comment on table worker_flag is 'Workers that are set aside: no leases, and no game of theirs counts in what still runs. Nothing is deleted.';
comment on column worker_flag.id is 'Number of the flag.';
comment on column worker_flag.peer is 'Public key, `local` or `loopback`; null = whatever the key.';
comment on column worker_flag.name is 'Name the worker gives itself; null = whatever the name.';
comment on column worker_flag.kind is 'Why: hand (a user), charge (it stood alone in a dispute), statistics (its results differ from the fleet''s), failures (programs fail there and nowhere else: its games stand).';
comment on column worker_flag.reason is 'The same in words.';
comment on column worker_flag.set_aside_by is 'Who did it.';
comment on column worker_flag.set_aside_at is 'When.';
comment on column worker_flag.judged_at is 'When the verdicts with games of its were looked at; null = not yet.';
comment on column worker_flag.restored_by is 'Who let it work again; null = it is set aside.';
comment on column worker_flag.restored_at is 'When.';

create view worker_set_aside as
select f.id, f.peer, p.name as peer_name, f.name, f.kind, f.reason, f.set_aside_by, f.set_aside_at, f.restored_by,
    f.restored_at
from worker_flag f left join peer p on p.public_key = f.peer;
comment on view worker_set_aside is 'Who is or was set aside, why, and by whom.';
comment on column worker_set_aside.id is 'Number of the flag.';
comment on column worker_set_aside.peer is 'Public key, `local` or `loopback`; null = whatever the key.';
comment on column worker_set_aside.peer_name is 'Its name in the allow-list; null = not in it.';
comment on column worker_set_aside.name is 'Name the worker gives itself; null = whatever the name.';
comment on column worker_set_aside.kind is 'hand, charge, statistics or failures.';
comment on column worker_set_aside.reason is 'Why.';
comment on column worker_set_aside.set_aside_by is 'Who did it.';
comment on column worker_set_aside.set_aside_at is 'When.';
comment on column worker_set_aside.restored_by is 'Who let it work again; null = it is set aside.';
comment on column worker_set_aside.restored_at is 'When.';

create view flagged_session as
select s.id as session_id, min(f.id) as flag_id
from session s join worker_flag f on f.restored_at is null and f.kind <> 'failures'
    and (f.peer is null or f.peer = s.peer) and (f.name is null or f.name = s.name)
group by s.id;
comment on view flagged_session is 'Sessions of workers whose games are set aside.';
comment on column flagged_session.session_id is 'The session.';
comment on column flagged_session.flag_id is 'The flag (worker_flag).';

create table game_set_aside as select 0::bigint as flag_id, now() as set_aside_at, g.* from game g with no data;
alter table game_set_aside alter column flag_id set not null, alter column set_aside_at set default now(),
    add column more jsonb not null default '{}';
create index game_set_aside_pair on game_set_aside (experiment_id, pair_no, leg);
do $$
declare
    name text;
    remark text;
begin
    for name, remark in select a.attname, col_description(a.attrelid, a.attnum) from pg_attribute a
        where a.attrelid = 'kroo.game'::regclass and a.attnum > 0 and not a.attisdropped loop
        execute format('comment on column kroo.game_set_aside.%I is %L', name, remark);
    end loop;
end
$$;
comment on table game_set_aside is 'Games of experiments that ran when their worker was set aside; their pairs were played again by others.';
comment on column game_set_aside.flag_id is 'The flag (worker_flag).';
comment on column game_set_aside.more is 'What later releases store of a game besides.';
comment on column game_set_aside.set_aside_at is 'When the game was taken out of `game`.';

create table verdict_withdrawn (
    experiment_id bigint primary key references experiment (id) on delete cascade,
    reason text not null check (reason <> ''),
    withdrawn_at timestamptz not null default now()
);
comment on table verdict_withdrawn is 'Verdicts that what is known now would change. The verdict''s row stays as it was written; it promotes nothing any more.';
comment on column verdict_withdrawn.experiment_id is 'The experiment.';
comment on column verdict_withdrawn.reason is 'Why.';
comment on column verdict_withdrawn.withdrawn_at is 'When.';
create trigger verdict_withdrawn_immutable before update on verdict_withdrawn for each row execute function refuse_change();

create function promotion_not_withdrawn() returns trigger
language plpgsql set search_path = kroo, pg_temp as $$
declare
    why text;
begin
    select w.reason into why from verdict_withdrawn w where w.experiment_id = new.experiment_id;
    if found then
        raise exception 'the verdict of experiment % is withdrawn: %', new.experiment_id, why using errcode = 'check_violation';
    end if;
    return new;
end
$$;
comment on function promotion_not_withdrawn() is 'A withdrawn verdict promotes nothing.';
create trigger promotion_by_standing_verdict before insert on promotion for each row execute function promotion_not_withdrawn();

-- What a verdict's pairs say with what is known now, for whoever judges it again.
create view verdict_standing as
select g.experiment_id, g.pair_no, g.leg, coalesce(o.a_half_points, g.a_half_points) as a_half_points,
    o.a_half_points is distinct from g.a_half_points and o.a_half_points is not null as is_outvoted
from verdict v
    join game g on g.experiment_id = v.experiment_id and g.pair_no < v.counted_pairs
    left join lateral (
        select r.a_half_points from dispute d join dispute_leg l on l.dispute_id = d.id and l.leg = g.leg
            join dispute_run r on r.dispute_id = d.id and r.leg = l.leg and r.content_sha256 = l.agreed_sha256
        where d.experiment_id = g.experiment_id and d.pair_no = g.pair_no and d.settlement like 'outvoted%' limit 1) o on true
where not exists (select from game h join flagged_session f on f.session_id = h.session_id
    where h.experiment_id = g.experiment_id and h.pair_no = g.pair_no);
comment on view verdict_standing is 'The games that a verdict counted as they would count now: pairs of workers set aside left out, outvoted games as the agreed ones.';
comment on column verdict_standing.experiment_id is 'The experiment.';
comment on column verdict_standing.pair_no is 'The pair.';
comment on column verdict_standing.leg is 'The game of the pair.';
comment on column verdict_standing.a_half_points is 'Player a''s score: 0 lost, 1 drawn, 2 won.';
comment on column verdict_standing.is_outvoted is 'The stored game says otherwise.';

-- What the trainer reads.
create view game_trusted as
select g.* from game_counted g
where not exists (select from flagged_session f where f.session_id = g.session_id)
    and not exists (select from dispute d where d.experiment_id = g.experiment_id and d.pair_no = g.pair_no
        and d.settlement like 'outvoted%');
comment on view game_trusted is 'The games that count, without those of workers set aside and those that were outvoted: what is learned from.';
do $$
declare
    name text;
    remark text;
begin
    for name, remark in select a.attname, col_description(a.attrelid, a.attnum) from pg_attribute a
        where a.attrelid = 'kroo.game'::regclass and a.attnum > 0 and not a.attisdropped loop
        execute format('comment on column kroo.game_trusted.%I is %L', name, remark);
    end loop;
end
$$;

create view weights_affected as
select p.weights, w.name, p.distance, p.ancestor, p.training_run_id, p.experiment_id, p.worker, p.worker_peer,
    sum(p.games)::bigint as games
from weights_provenance p join weights w on w.number = p.weights join flagged_session f on f.session_id = p.session_id
group by p.weights, w.name, p.distance, p.ancestor, p.training_run_id, p.experiment_id, p.worker, p.worker_peer;
comment on view weights_affected is 'Weights in whose lineage a fit learned from games of a worker that is set aside.';
comment on column weights_affected.weights is 'Number of the weights.';
comment on column weights_affected.name is 'Their name.';
comment on column weights_affected.distance is 'Fits between them and the ancestor whose fit it was; 0 = their own.';
comment on column weights_affected.ancestor is 'Number of that ancestor.';
comment on column weights_affected.training_run_id is 'Its fit.';
comment on column weights_affected.experiment_id is 'Where the games are from.';
comment on column weights_affected.worker is 'The worker''s name.';
comment on column weights_affected.worker_peer is 'Its key, `local` or `loopback`.';
comment on column weights_affected.games is 'Games of that range that it played.';

create function worker_put_aside(peer text, name text, kind text, reason text, caller text) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    number bigint;
begin
    insert into worker_flag (peer, name, kind, reason, set_aside_by)
    values (worker_put_aside.peer, worker_put_aside.name, worker_put_aside.kind, worker_put_aside.reason, caller)
    on conflict do nothing returning id into number;
    if found then
        insert into event (kind, text) values ('worker-set-aside', format('worker %s%s set aside by %s: %s',
            coalesce(worker_put_aside.name, 'with key ' || worker_put_aside.peer),
            case when worker_put_aside.name is not null and worker_put_aside.peer is not null
                then format(' (%s)', worker_put_aside.peer) else '' end, caller, worker_put_aside.reason));
    end if;
    return number;
end
$$;
comment on function worker_put_aside(text, text, text, text, text) is
    'Sets a worker aside, by key, name or both; null when it is set aside already.';

create function worker_restore(peer text, name text, caller text) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    restored bigint;
begin
    update worker_flag f set restored_at = now(), restored_by = caller
    where f.restored_at is null and (f.name = worker_restore.name or (f.peer = worker_restore.peer));
    get diagnostics restored = row_count;
    if restored > 0 then
        insert into event (kind, text) values ('worker-restored', format('worker %s restored by %s',
            coalesce(worker_restore.name, worker_restore.peer), caller));
    end if;
    return restored;
end
$$;
comment on function worker_restore(text, text, text) is 'Lets a worker that was set aside work again; how many flags that ended.';

create function worker_put_charged_aside() returns bigint
language sql security definer set search_path = kroo, pg_temp as $$
    select count(worker_put_aside(c.peer, c.name, 'charge', format('stood alone in %s settled disputes, the last of experiment %s',
        c.charges, c.experiment_id), 'the coordinator'))
    from (
        -- Another game is a lie or a broken machine; a program may fail once by chance.
        select c.peer, c.name, count(*) as charges, max(c.experiment_id) as experiment_id from charge c
        where not exists (select from worker_flag f where (f.peer is null or f.peer = c.peer)
            and (f.name is null or f.name = c.name) and (f.restored_at is null or f.restored_at >= c.charged_at))
        group by c.peer, c.name having count(*) filter (where not c.claimed) > 0 or count(*) >= 3
    ) c
$$;
comment on function worker_put_charged_aside() is
    'Sets aside whoever was charged since it was last restored: with another game once, with a program that failed there alone three times.';

create function games_to_set_aside() returns setof bigint
language sql stable security definer set search_path = kroo, pg_temp as $$
    select distinct r.experiment_id
    from flagged_session f join session_rollup r on r.session_id = f.session_id join experiment e on e.id = r.experiment_id
    where r.games > 0 and e.state not in ('finished', 'stopped') and e.kind <> 'tune'
$$;
comment on function games_to_set_aside() is 'Experiments that go on and have games of workers that are set aside.';

create function games_set_aside(experiment bigint) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    taken bigint;
    pairs bigint;
begin
    perform from experiment e where e.id = experiment and e.state not in ('finished', 'stopped') for update;
    if not found then
        return 0;
    end if;
    with gone as (
        delete from game g using flagged_session f
        where g.experiment_id = experiment and g.session_id = f.session_id
        returning f.flag_id, g.experiment_id, g.pair_no, g.leg, g.attempt, g.lease_id, g.session_id, g.moves, g.plies,
            g.scores, g.result, g.reason, g.south, g.north, g.a_half_points, g.claimed, g.nodes, g.time_ms, g.stored_at,
            g.first_move, to_jsonb(g) - array['experiment_id', 'pair_no', 'leg', 'attempt', 'lease_id', 'session_id', 'moves',
                'plies', 'scores', 'result', 'reason', 'south', 'north', 'a_half_points', 'claimed', 'nodes', 'time_ms',
                'stored_at', 'first_move'] as more
    ), kept as (
        insert into game_set_aside (flag_id, experiment_id, pair_no, leg, attempt, lease_id, session_id, moves, plies, scores,
            result, reason, south, north, a_half_points, claimed, nodes, time_ms, stored_at, first_move, more)
        select * from gone returning pair_no
    ), shut as (
        update audit a set state = 'unplayed', closed_at = now()
        where a.experiment_id = experiment and a.request_id = 0 and a.state <> 'unplayed'
            and a.pair_no in (select pair_no from kept)
    ), moot as (
        update dispute d set state = 'settled', settled_at = now(), settlement = 'set aside: played anew by others'
        where d.experiment_id = experiment and d.state = 'open' and d.pair_no in (select pair_no from kept)
    )
    select count(*), count(distinct pair_no) into taken, pairs from kept;
    if taken > 0 then
        insert into event (kind, experiment_id, text) values ('games-set-aside', experiment,
            format('%s games of %s pairs are set aside with their worker: others play these pairs', taken, pairs));
    end if;
    return taken;
end
$$;
comment on function games_set_aside(bigint) is
    'Moves the games of workers that are set aside from `game` to game_set_aside; how many. The counters are the caller''s.';

create function verdicts_to_judge() returns setof bigint
language sql stable security definer set search_path = kroo, pg_temp as $$
    select distinct r.experiment_id
    from worker_flag w join session s on (w.peer is null or w.peer = s.peer) and (w.name is null or w.name = s.name)
        join session_rollup r on r.session_id = s.id join verdict v on v.experiment_id = r.experiment_id
        join experiment e on e.id = r.experiment_id
    where w.restored_at is null and w.kind <> 'failures' and w.judged_at is null and r.games > 0 and e.kind = 'match'
        and v.verdict <> 'aborted' and not exists (select from verdict_withdrawn x where x.experiment_id = v.experiment_id)
$$;
comment on function verdicts_to_judge() is 'Matches with a verdict that counts games of workers set aside since.';

create function flags_judged() returns void
language sql security definer set search_path = kroo, pg_temp as $$
    update worker_flag set judged_at = now() where judged_at is null and restored_at is null
$$;
comment on function flags_judged() is 'The verdicts of all flags were looked at.';

create function verdict_withdraw(experiment bigint, reason text) returns boolean
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    insert into verdict_withdrawn (experiment_id, reason) values (verdict_withdraw.experiment, verdict_withdraw.reason)
    on conflict do nothing;
    if found then
        insert into event (kind, experiment_id, text)
        values ('verdict-withdrawn', verdict_withdraw.experiment, verdict_withdraw.reason);
    end if;
    return found;
end
$$;
comment on function verdict_withdraw(bigint, text) is 'Withdraws a verdict; its row stays.';

create function worker_results(experiment bigint) returns table (peer text, name text, won bigint, lost bigint, equal bigint)
language sql stable security definer set search_path = kroo, pg_temp as $$
    select s.peer, s.name, count(*) filter (where points > 2), count(*) filter (where points < 2),
        count(*) filter (where points = 2)
    from (
        select min(g.session_id) as session_id, sum(g.a_half_points) as points
        from game g where g.experiment_id = worker_results.experiment
        group by g.pair_no having count(*) = 2 and min(g.session_id) = max(g.session_id)
    ) pair join session s on s.id = pair.session_id
    group by s.peer, s.name
$$;
comment on function worker_results(bigint) is 'The pairs of an experiment that each worker played alone, by outcome for player a.';

create view game_repeats as
select experiment_id, sum(legs)::bigint as games, count(distinct south_a) + count(distinct south_b) as distinct_games,
    count(*) filter (where legs = 2) as pairs,
    count(*) filter (where legs = 2) - count(distinct south_a || south_b) filter (where legs = 2) as repeated_pairs
from (
    select g.experiment_id, g.pair_no, count(*) as legs, min(md5(g.moves)) filter (where g.leg = 0) as south_a,
        min(md5(g.moves)) filter (where g.leg = 1) as south_b
    from game g group by g.experiment_id, g.pair_no
) pair group by experiment_id;
comment on view game_repeats is 'How many different games an experiment has. Players that do not vary repeat a pair whenever its opening comes again: such a pair is no new evidence. Ask with `where experiment_id = N`.';
comment on column game_repeats.experiment_id is 'The experiment.';
comment on column game_repeats.games is 'Games stored.';
comment on column game_repeats.distinct_games is 'Different lists of moves among them, each place in a pair (leg) on its own.';
comment on column game_repeats.pairs is 'Pairs with both games.';
comment on column game_repeats.repeated_pairs is 'Of these, pairs whose two games are those of another one, the first left out.';

revoke all on function promotion_not_withdrawn(), worker_put_aside(text, text, text, text, text), worker_restore(text, text, text),
    worker_put_charged_aside(), games_to_set_aside(), games_set_aside(bigint), verdicts_to_judge(), flags_judged(),
    verdict_withdraw(bigint, text), worker_results(bigint) from public;
grant execute on function worker_put_aside(text, text, text, text, text), worker_restore(text, text, text),
    worker_put_charged_aside(), games_to_set_aside(), games_set_aside(bigint), verdicts_to_judge(), flags_judged(),
    verdict_withdraw(bigint, text), worker_results(bigint) to kroo_coordinator;
grant update (was_counted) on dispute to kroo_coordinator;
grant select on worker_flag, worker_set_aside, flagged_session, game_set_aside, verdict_withdrawn, verdict_standing,
    game_trusted, weights_affected, game_repeats to kroo_coordinator, kroo_trainer, kroo_reader;
