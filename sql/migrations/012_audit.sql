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
    on conflict do nothing returning pair_no
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
        select distinct on (s.peer, s.name) d.id, d.experiment_id, d.pair_no, r.leg, r.session_id, s.peer, s.name
        from dispute d join dispute_leg l on l.dispute_id = d.id
            join dispute_run r on r.dispute_id = d.id and r.leg = l.leg and r.content_sha256 <> l.agreed_sha256
            join session s on s.id = r.session_id
        where d.id = charge_losers.dispute
        order by s.peer, s.name, r.leg
    ), row as (
        insert into charge (dispute_id, experiment_id, pair_no, leg, session_id, peer, name)
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

create function charge_late(experiment bigint, pair bigint, leg integer, session bigint, moves text) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    charged bigint;
begin
    with row as (
        insert into charge (dispute_id, experiment_id, pair_no, leg, session_id, peer, name)
        select d.id, d.experiment_id, d.pair_no, charge_late.leg, s.id, s.peer, s.name
        from dispute d, session s
        where d.experiment_id = charge_late.experiment and d.pair_no = pair and d.state = 'settled'
            and d.settlement not like 'outvoted%' and s.id = session
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
comment on function charge_late(bigint, bigint, integer, bigint, text) is
    'A game came that differs from one on which a settled dispute agreed: its worker is charged.';

-- As before (010); and the loser is charged, an audit of the pair is closed, and where a verdict is written the games it
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
    charge_late(bigint, bigint, integer, bigint, text) from public;
grant execute on function audit_secret_read(), audit_begin(bigint, bigint, bigint[]),
    audit_agree(bigint, bigint, integer, bigint), audit_waive(bigint), audit_end(bigint, bigint),
    audit_ask(bigint, integer, text), audit_begin_request(bigint, bigint[]), replay_wanted(bigint, bigint[]),
    replay_lease(bigint, bigint, bigint, integer, bigint), replay_lease_drop(),
    charge_late(bigint, bigint, integer, bigint, text) to kroo_coordinator;
grant select on audit, audit_request, charge, audit_progress, worker_charge to kroo_coordinator, kroo_trainer, kroo_reader;
