-- The web page: the coordinator reads for it as kroo_reader, and what each minute brought is kept.

do $$
begin
    execute 'grant kroo_reader to kroo_coordinator';
exception when insufficient_privilege then
    raise exception 'the role that migrates may not grant kroo_reader to kroo_coordinator'
        using hint = 'let a superuser run: grant kroo_reader to kroo_coordinator';
end
$$;
set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table experiment_minute (
    experiment_id bigint not null references experiment (id) on delete cascade,
    minute timestamptz not null,
    games_stored bigint not null,
    prefix_pairs bigint not null,
    primary key (experiment_id, minute)
);
create index experiment_minute_at on experiment_minute using brin (minute) with (autosummarize = on);
comment on table experiment_minute is 'How far each experiment was at the end of each minute in which it got on, but the last one: read experiment_by_minute.';
comment on column experiment_minute.experiment_id is 'The experiment.';
comment on column experiment_minute.minute is 'When that minute began.';
comment on column experiment_minute.games_stored is 'Games stored by its end.';
comment on column experiment_minute.prefix_pairs is 'Pairs counted by its end.';

-- The first news of a minute closes the one before: one small row a minute, and nothing in between.
create function experiment_minute_close() returns trigger
language plpgsql set search_path = kroo, pg_temp as $$
begin
    insert into experiment_minute as m values (old.experiment_id, date_trunc('minute', old.updated_at), old.games_stored,
        old.prefix_pairs)
    on conflict (experiment_id, minute) do update set games_stored = greatest(m.games_stored, excluded.games_stored),
        prefix_pairs = excluded.prefix_pairs;
    return null;
end
$$;
comment on function experiment_minute_close() is 'Keeps what an experiment''s counters were at the end of the minute before.';
create trigger experiment_minute_over after update on experiment_counter for each row
    when (old.games_stored > 0 and date_trunc('minute', new.updated_at) > date_trunc('minute', old.updated_at))
    execute function experiment_minute_close();

create view experiment_by_minute as
select experiment_id, minute, games_stored, prefix_pairs from experiment_minute
union all
select experiment_id, date_trunc('minute', updated_at), games_stored, prefix_pairs from experiment_counter
where games_stored > 0;
comment on view experiment_by_minute is 'How far each experiment was at the end of each minute in which it got on; the last one is as it is now.';
comment on column experiment_by_minute.experiment_id is 'The experiment.';
comment on column experiment_by_minute.minute is 'When that minute began.';
comment on column experiment_by_minute.games_stored is 'Games stored by its end.';
comment on column experiment_by_minute.prefix_pairs is 'Pairs counted by its end.';

create function games_by_time(since timestamptz, step interval) returns table (at timestamptz, games bigint)
language sql stable set search_path = kroo, pg_temp as $$
    with line as (
        select b.experiment_id, b.minute, b.games_stored
            - coalesce(lag(b.games_stored) over (partition by b.experiment_id order by b.minute),
                case when e.created_at >= games_by_time.since then 0 else b.games_stored end) as games
        from experiment_by_minute b join experiment e on e.id = b.experiment_id
        where b.minute >= games_by_time.since - interval '1 hour'
    )
    select date_bin(games_by_time.step, l.minute, games_by_time.since), sum(l.games)::bigint
    from line l where l.minute >= games_by_time.since and l.games > 0 group by 1 order by 1
$$;
comment on function games_by_time(timestamptz, interval) is
    'Games stored in each step from a moment on, steps without any left out; by the minute.';

revoke all on function experiment_minute_close(), games_by_time(timestamptz, interval) from public;
grant execute on function games_by_time(timestamptz, interval) to kroo_coordinator, kroo_trainer, kroo_reader;
grant execute on function experiment_minute_close() to kroo_coordinator;
grant select on experiment_minute, experiment_by_minute to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert, update on experiment_minute to kroo_coordinator;
