-- What people do to experiments: pausing, approval, deletion, hooks, and what stays of it.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

-- A submitter may ask for experiments; somebody else says whether they run.
alter table peer drop constraint peer_role_check,
    add constraint peer_role_check check (role in ('worker', 'operator', 'submitter', 'viewer'));
comment on column peer.role is 'What the key may do: worker (take leases), operator (everything), submitter (ask for experiments that an operator approves), viewer (look).';
alter table experiment
    add column submitter text not null default '' check (octet_length(submitter) < 64);
comment on column experiment.submitter is 'Public key of who asked for it, where it had to wait for another''s approval; empty = it had not.';
grant update (note, submitter) on experiment to kroo_coordinator;

-- Absurd numbers are refused here too, whoever writes.
alter table experiment
    add constraint experiment_planned_pairs_most check (planned_pairs <= 1000000000),
    add constraint experiment_priority_bounds check (priority between -1000 and 1000);
alter table player
    add constraint player_limits check (
        coalesce((options ->> 'nodes')::numeric, 0) between 0 and 9223372036854775807
        and coalesce((options ->> 'depth')::numeric, 0) between 0 and 1000
        and coalesce((options ->> 'time_ms')::numeric, 0) between 0 and 86400000
        and coalesce((options ->> 'clock_ms')::numeric, 0) between 0 and 86400000
        and coalesce((options ->> 'increment_ms')::numeric, 0) between 0 and 86400000
        and coalesce((options ->> 'hash_kib')::numeric, 0) between 0 and 16777216);

-- A blocked experiment that is resumed counts the runs of its disputes afresh (dispute_settle in 012).
alter table dispute add column runs_before integer not null default 0 check (runs_before >= 0);
comment on column dispute.runs_before is 'Runs of a leg that were there when its experiment was last resumed: five more may follow.';
grant update (runs_before) on dispute to kroo_coordinator;

-- --- the end of an experiment is told, and may run a command ---

create table hook_run (
    experiment_id bigint primary key references experiment (id) on delete cascade,
    command text not null check (command <> '' and octet_length(command) < 512),
    state text not null default 'due' check (state in ('due', 'started', 'succeeded', 'failed', 'unknown')),
    due_at timestamptz not null default now(),
    started_at timestamptz,
    ended_at timestamptz,
    outcome text not null default '' check (octet_length(outcome) < 512),
    claim bigint,
    constraint hook_run_started check ((state = 'due') = (started_at is null)),
    constraint hook_run_ended check ((state in ('due', 'started')) = (ended_at is null))
);
create index hook_run_open on hook_run (state, experiment_id) where state in ('due', 'started');
comment on table hook_run is 'Commands that the coordinator runs when an experiment ends (`--on-finish`), each started at most once.';
comment on column hook_run.experiment_id is 'The experiment that ended.';
comment on column hook_run.command is 'Name of the hook and its arguments.';
comment on column hook_run.state is 'due, started, succeeded, failed, unknown (the coordinator ended while it ran; it is not started again).';
comment on column hook_run.due_at is 'When the verdict was written.';
comment on column hook_run.started_at is 'When it was about to be started; null = not yet.';
comment on column hook_run.ended_at is 'When it ended; null = not yet.';
comment on column hook_run.claim is 'Which claim of a coordinator it was started under; null = not yet.';
comment on column hook_run.outcome is 'How it ended, in words.';
grant select on hook_run to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on hook_run to kroo_coordinator;
grant update (state, started_at, ended_at, outcome, claim) on hook_run to kroo_coordinator;

create function verdict_announce() returns trigger
language plpgsql set search_path = kroo, pg_temp as $$
begin
    insert into hook_run (experiment_id, command)
    select e.id, e.on_finish from experiment e where e.id = new.experiment_id and e.on_finish <> '';
    perform pg_notify('kroo', json_build_object('experiment', new.experiment_id, 'verdict', new.verdict)::text);
    return null;
end
$$;
comment on function verdict_announce() is 'With each verdict: a NOTIFY on channel `kroo` ({"experiment": 7, "verdict": "accepted"}), and the experiment''s hook becomes due.';
create trigger verdict_announced after insert on verdict for each row execute function verdict_announce();

-- --- deletion ---

-- Rows that belong to an experiment go with it, and say so by `on delete cascade`. Every other table that refers to an
-- experiment or to its verdict descends from it, and keeps it.
alter table experiment_counter drop constraint experiment_counter_experiment_id_fkey,
    add foreign key (experiment_id) references experiment (id) on delete cascade;
alter table lease drop constraint lease_experiment_id_fkey,
    add foreign key (experiment_id) references experiment (id) on delete cascade;
alter table dispute drop constraint dispute_experiment_id_fkey,
    add foreign key (experiment_id) references experiment (id) on delete cascade;
alter table dispute_run drop constraint dispute_run_dispute_id_fkey,
    add foreign key (dispute_id) references dispute (id) on delete cascade;
alter table verdict drop constraint verdict_experiment_id_fkey,
    add foreign key (experiment_id) references experiment (id) on delete cascade;

create table deleted_experiment (
    id bigint primary key,
    kind text not null,
    state text not null,
    verdict text,
    games bigint not null check (games >= 0),
    counted_pairs bigint not null check (counted_pairs >= 0),
    specification jsonb not null,
    created_by text not null,
    created_at timestamptz not null,
    deleted_by text not null check (deleted_by <> ''),
    deleted_at timestamptz not null default now(),
    reason text not null default ''
);
comment on table deleted_experiment is 'What stays of a deleted experiment: its number is never used again, and totals do not fall.';
comment on column deleted_experiment.id is 'Number it had.';
comment on column deleted_experiment.kind is 'Its kind.';
comment on column deleted_experiment.state is 'Its last state.';
comment on column deleted_experiment.verdict is 'Its verdict; null = none.';
comment on column deleted_experiment.games is 'Games that were removed.';
comment on column deleted_experiment.counted_pairs is 'Pairs of them that counted.';
comment on column deleted_experiment.specification is 'Its row in `experiment`.';
comment on column deleted_experiment.created_by is 'Who had asked for it.';
comment on column deleted_experiment.created_at is 'When.';
comment on column deleted_experiment.deleted_by is 'Who deleted it.';
comment on column deleted_experiment.deleted_at is 'When.';
comment on column deleted_experiment.reason is 'Why.';
create trigger deleted_experiment_immutable before update or delete on deleted_experiment
    for each row execute function refuse_change();
grant select on deleted_experiment to kroo_coordinator, kroo_trainer, kroo_reader;

-- A verdict is never changed, and goes only with its experiment; nobody but the owner may delete at all.
create or replace function refuse_change() returns trigger
language plpgsql set search_path = kroo, pg_temp as $$
begin
    if tg_op = 'DELETE' and tg_level = 'ROW' and tg_table_name = 'verdict' then
        if current_setting('kroo.deleting', true) = old.experiment_id::text then
            return old;
        end if;
    end if;
    raise exception '% is immutable: % refused', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end
$$;

-- What descends from an experiment, a line each.
create function experiment_descendants(experiment bigint) returns setof text
language plpgsql stable security definer set search_path = kroo, pg_temp as $$
declare
    link record;
    rows bigint;
begin
    return query
        select format('training run %s was fitted to its games%s', t.id, ', for weights #' || w.number)
        from training_run t left join weights w on w.sha256 = t.weights_sha256
        where t.manifest @> jsonb_build_array(jsonb_build_object('experiment', experiment)) order by t.id;
    for link in
        select c.conrelid::regclass as holder, a.attname as holder_column
        from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
        where c.contype = 'f' and c.confrelid in ('kroo.experiment'::regclass, 'kroo.verdict'::regclass)
            and c.confdeltype <> 'c' and c.conparentid = 0 and cardinality(c.conkey) = 1
        order by 1, 2
    loop
        execute format('select count(*) from %s where %I = $1', link.holder, link.holder_column) into rows using experiment;
        if rows > 0 then
            return next format('%s of table %s, by %s', case when rows = 1 then 'a row' else rows || ' rows' end,
                link.holder, link.holder_column);
        end if;
    end loop;
end
$$;
comment on function experiment_descendants(bigint) is
    'What descends from an experiment and keeps it from being deleted: fits to its games, promotions, loops, and whatever else refers to it, a line each.';

create function experiment_delete(experiment bigint, by text, reason text) returns bigint
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
    select e.id, e.kind, e.state, v.verdict, c.games_stored, coalesce(v.counted_pairs, c.prefix_pairs), to_jsonb(e),
        e.created_by, e.created_at, experiment_delete.by, experiment_delete.reason
    from experiment e join experiment_counter c on c.experiment_id = e.id left join verdict v on v.experiment_id = e.id
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
comment on function experiment_delete(bigint, text, text) is
    'Deletes an experiment that has ended, its partition of `game` and every row that belongs to it, unless something descends from it; returns the games removed.';
revoke all on function experiment_delete(bigint, text, text), experiment_descendants(bigint), verdict_announce() from public;
grant execute on function experiment_delete(bigint, text, text) to kroo_coordinator;
grant execute on function experiment_descendants(bigint) to kroo_coordinator, kroo_trainer, kroo_reader;

create view lifetime as
select count(*) as experiments, count(*) filter (where deleted) as deleted_experiments,
    coalesce(sum(games), 0)::bigint as games, coalesce(sum(games) filter (where deleted), 0)::bigint as deleted_games,
    coalesce(sum(pairs), 0)::bigint as counted_pairs
from (
    select false as deleted, c.games_stored as games, coalesce(v.counted_pairs, c.prefix_pairs) as pairs
    from experiment_counter c left join verdict v on v.experiment_id = c.experiment_id
    union all
    select true, games, counted_pairs from deleted_experiment
) everything;
comment on view lifetime is 'What this cluster has ever done, deleted experiments included: these totals never fall.';
comment on column lifetime.experiments is 'Experiments made.';
comment on column lifetime.deleted_experiments is 'Those of them that were deleted.';
comment on column lifetime.games is 'Games stored, ever.';
comment on column lifetime.deleted_games is 'Those of them that went with their experiment.';
comment on column lifetime.counted_pairs is 'Pairs that counted.';

create view verdict_by_user as
select created_by, kind, count(*) as experiments, count(*) filter (where verdict = 'accepted') as accepted,
    count(*) filter (where verdict = 'rejected') as rejected, count(*) filter (where verdict = 'undecided') as undecided,
    count(*) filter (where verdict = 'aborted') as aborted, count(*) filter (where verdict is null) as open
from (
    select e.created_by, e.kind, v.verdict from experiment e left join verdict v on v.experiment_id = e.id
    union all
    select created_by, kind, verdict from deleted_experiment
) everything
group by created_by, kind;
comment on view verdict_by_user is 'How each user''s experiments ended. Tests that their owner stops on seeing the LLR do not keep their error rates: `aborted` tells how often.';
comment on column verdict_by_user.created_by is 'Who asked for them.';
comment on column verdict_by_user.kind is 'Kind of experiment.';
comment on column verdict_by_user.experiments is 'All of them, deleted ones included.';
comment on column verdict_by_user.accepted is 'Accepted by their test.';
comment on column verdict_by_user.rejected is 'Rejected by their test.';
comment on column verdict_by_user.undecided is 'Played to their limit.';
comment on column verdict_by_user.aborted is 'Stopped by a user.';
comment on column verdict_by_user.open is 'Without a verdict.';
grant select on lifetime, verdict_by_user to kroo_coordinator, kroo_trainer, kroo_reader;
