-- Programs as players: what they answer, what keeps them in, what they did wrong, and what was played twice (DESIGN
-- sections 5 and 7).

set local role kroo_owner;
set local search_path = kroo, pg_temp;

alter table engine add column signature text not null default '' check (signature ~ '^[0-9a-f]{0,16}$');
comment on column engine.signature is 'Digest of what it answers to fixed positions, found when it was added: each worker asks again before it plays; empty = it did not repeat itself, or it is older than this check.';

alter table engine add column architectures text not null default '' check (octet_length(architectures) < 128);
comment on column engine.architectures is 'Where it is several artifacts: the architectures it has binaries for, and source where it has a recipe; empty = one program.';
comment on column engine.sha256 is 'sha256 of the executable, in `artifact`; where it is several artifacts, of the text that names them.';

alter table session add column confinement text not null default '' check (octet_length(confinement) < 32);
comment on column session.confinement is 'What keeps players'' programs in on that machine: namespaces (no network, no files but their own), or limits only; empty = not told.';

create table fault (
    id bigint generated always as identity primary key,
    experiment_id bigint not null references experiment (id) on delete cascade,
    session_id bigint not null,
    kind text not null check (kind in ('start', 'self-test', 'build', 'illegal-move', 'deadline', 'crash')),
    side text check (side in ('a', 'b')),
    pair_no bigint check (pair_no >= 0),
    leg smallint check (leg in (0, 1)),
    attempt integer check (attempt > 0),
    moves text collate "C" not null default '' check (moves ~ '^[A-Fa-f]*$' and octet_length(moves) <= 16384),
    why text not null default '' check (octet_length(why) <= 1024),
    recorded_at timestamptz not null default now(),
    constraint fault_game_whole check ((pair_no is null) = (leg is null) and (pair_no is null) = (attempt is null)),
    constraint fault_once unique (experiment_id, pair_no, leg, session_id, attempt, kind)
);
comment on table fault is 'What players'' programs did wrong, as their workers told it.';
comment on column fault.id is 'Number of the fault: kroo replay-fault takes it.';
comment on column fault.experiment_id is 'The experiment.';
comment on column fault.session_id is 'The session that saw it.';
comment on column fault.kind is 'start (before its first move: no game), self-test (it answers otherwise than where it was added), build (its sources cannot be built), or how its game was lost: illegal-move, deadline, crash.';
comment on column fault.side is 'Whose program: player a or b; null = not known.';
comment on column fault.pair_no is 'The pair; null = no game.';
comment on column fault.leg is 'The game of the pair; null = no game.';
comment on column fault.attempt is 'Attempt number of its lease; null = no game.';
comment on column fault.moves is 'The moves that led there, opening included.';
comment on column fault.why is 'What happened, in a sentence.';
comment on column fault.recorded_at is 'When it was recorded.';

create view fault_report as
select f.id, f.experiment_id, f.pair_no, f.leg, f.side,
    coalesce(g.name, case when p.engine_sha256 is null then 'built-in' else left(encode(p.engine_sha256, 'hex'), 12) end) as engine,
    p.engine_sha256, f.kind, octet_length(f.moves) as ply, f.moves, f.why, e.seed, s.name as worker, s.peer, f.session_id,
    f.attempt, f.recorded_at
from fault f
    join experiment e on e.id = f.experiment_id
    left join player p on p.id = case f.side when 'a' then e.player_a when 'b' then e.player_b end
    left join engine g on g.sha256 = p.engine_sha256
    left join session s on s.id = f.session_id;
comment on view fault_report is 'Faults of players'' programs, with player, worker and seed.';
comment on column fault_report.id is 'Number of the fault.';
comment on column fault_report.experiment_id is 'The experiment.';
comment on column fault_report.pair_no is 'The pair; null = no game.';
comment on column fault_report.leg is 'The game of the pair; null = no game.';
comment on column fault_report.side is 'Whose program: player a or b; null = not known.';
comment on column fault_report.engine is 'Name of that player''s engine; null = side not known.';
comment on column fault_report.engine_sha256 is 'Its sha256; null = the built-in one.';
comment on column fault_report.kind is 'As in fault.';
comment on column fault_report.ply is 'Moves that led there.';
comment on column fault_report.moves is 'These moves, opening included.';
comment on column fault_report.why is 'What happened, in a sentence.';
comment on column fault_report.seed is 'Seed of the experiment: with pair and leg it fixes the game.';
comment on column fault_report.worker is 'The worker''s name.';
comment on column fault_report.peer is 'Its key, `local` or `loopback`.';
comment on column fault_report.session_id is 'Its session.';
comment on column fault_report.attempt is 'Attempt number of the lease.';
comment on column fault_report.recorded_at is 'When it was recorded.';

-- --- played twice ---

create view pair_agreed as
select distinct d.experiment_id, d.pair_no
from dispute d
    join lateral (
        select r.leg from dispute_run r join session s on s.id = r.session_id
        where r.dispute_id = d.id group by r.leg, r.content_sha256 having count(distinct (s.peer, s.name)) >= 2
    ) agreed on true
where d.state = 'settled'
group by d.experiment_id, d.pair_no, d.id
having count(distinct agreed.leg) = 2
union
select a.experiment_id, a.pair_no from audit a where a.state = 'agreed';
comment on view pair_agreed is 'Pairs of which two independent workers delivered the same two games, for an audit or in a dispute.';
comment on column pair_agreed.experiment_id is 'The experiment.';
comment on column pair_agreed.pair_no is 'The pair.';

create view engine_proof as
select g.name, g.sha256, coalesce(a.pairs, 0) as agreed_pairs, coalesce(d.pairs, 0) as doubtful_pairs,
    case when coalesce(d.pairs, 0) > 0 then 'contradicted' when coalesce(a.pairs, 0) > 0 then 'proven' else 'not proven' end
        as reproducible
from engine g
    left join lateral (
        select count(*) as pairs from pair_agreed x join experiment e on e.id = x.experiment_id
        where exists (select from player p where p.id in (e.player_a, e.player_b) and p.engine_sha256 = g.sha256)
    ) a on true
    left join lateral (
        select count(*) as pairs from dispute x join experiment e on e.id = x.experiment_id
        where x.state = 'open' and e.state = 'blocked'
            and exists (select from player p where p.id in (e.player_a, e.player_b) and p.engine_sha256 = g.sha256)
    ) d on true;
comment on view engine_proof is 'Whether an engine has played the same pairs alike on two machines.';
comment on column engine_proof.name is 'The engine.';
comment on column engine_proof.sha256 is 'Its sha256.';
comment on column engine_proof.agreed_pairs is 'Pairs with it that two independent workers (key and name) played alike, moves and scores.';
comment on column engine_proof.doubtful_pairs is 'Pairs with it on which no two workers agree, in experiments blocked for that.';
comment on column engine_proof.reproducible is 'proven (some agreed, none is doubtful), not proven (never compared), contradicted.';

create view experiment_reproducible as
select e.id as experiment_id,
    case when bool_or(coalesce(p.options ->> 'time_ms', '0') <> '0' or coalesce(p.options ->> 'clock_ms', '0') <> '0') then 'no'
        when count(f.name) = 0 then 'yes'
        when bool_or(f.reproducible = 'contradicted') then 'contradicted'
        when bool_or(f.reproducible = 'not proven') then 'not proven'
        else 'proven' end as reproducible,
    coalesce(string_agg(distinct f.name, ', ' order by f.name) filter (where f.reproducible <> 'proven'), '') as engines
from experiment e
    join player p on p.id in (e.player_a, e.player_b)
    left join engine_proof f on f.sha256 = p.engine_sha256
group by e.id;
comment on view experiment_reproducible is 'Whether an experiment''s games would come again.';
comment on column experiment_reproducible.experiment_id is 'The experiment.';
comment on column experiment_reproducible.reproducible is 'yes (the built-in engine under limits of nodes or plies), proven, not proven or contradicted (other programs: engine_proof), no (limits of time).';
comment on column experiment_reproducible.engines is 'The engines that are not proven.';

grant select on fault, fault_report, pair_agreed, engine_proof, experiment_reproducible to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on fault to kroo_coordinator;
