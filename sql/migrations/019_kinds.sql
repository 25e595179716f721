-- What people do to a tournament as a whole.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

alter table tournament
    add column state text not null default 'running' check (state in ('running', 'paused', 'stopped')),
    add column state_reason text not null default '' check (octet_length(state_reason) < 512),
    add column priority integer check (priority between -1000 and 1000),
    add column note text not null default '' check (octet_length(note) < 512);
comment on column tournament.state is 'running, paused (no further match is made), stopped (for good). Each match has a state of its own.';
comment on column tournament.state_reason is 'Who paused or stopped it, and why.';
comment on column tournament.priority is 'Priority that was given to all its matches, and that further ones get; null = as `specification` says.';
comment on column tournament.note is 'What people wrote about it.';
grant update (state, state_reason, priority, note) on tournament to kroo_coordinator;

create or replace view tournament_progress as
select t.id, t.name, t.kind, t.rules,
    (select count(*) from tournament_player q where q.tournament_id = t.id) as players,
    max(p.round) as round, t.planned_rounds, count(p.tournament_id) as pairings, count(p.experiment_id) as matches,
    count(*) filter (where e.state = 'finished') as finished, count(*) filter (where e.state = 'running') as running,
    coalesce(sum(c.counted_pairs), 0)::bigint as counted_pairs, coalesce(sum(p.pairs), 0)::bigint as planned_pairs,
    t.created_by, t.created_at,
    t.state, count(*) filter (where e.state = 'paused') as paused, count(*) filter (where e.state = 'stopped') as stopped,
    count(*) filter (where e.state in ('blocked', 'pending')) as held, t.note
from tournament t
    left join tournament_pairing p on p.tournament_id = t.id
    left join experiment e on e.id = p.experiment_id
    left join experiment_counted c on c.experiment_id = p.experiment_id
group by t.id;
comment on column tournament_progress.state is 'running, paused or stopped, as a whole.';
comment on column tournament_progress.paused is 'Matches that are paused.';
comment on column tournament_progress.stopped is 'Matches that were stopped.';
comment on column tournament_progress.held is 'Matches that are blocked, or wait for approval.';
comment on column tournament_progress.note is 'What people wrote about it.';
