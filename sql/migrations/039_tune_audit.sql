-- Audits of tunes: their pairs are played again like a match's. What has been counted has moved the parameters, and
-- stands (dispute_settle: outvoted); the tune says how often that was so.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create or replace function audit_ask(experiment bigint, share_ppm integer, caller text) returns bigint
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    experiment_state text;
    timed boolean;
    counted bigint;
    number bigint;
begin
    select e.state, exists (select from player p where p.id in (e.player_a, e.player_b)
            and ((p.options ->> 'time_ms')::bigint > 0 or (p.options ->> 'clock_ms')::bigint > 0)), c.counted_pairs
    into experiment_state, timed, counted
    from experiment e join experiment_counted c on c.experiment_id = e.id where e.id = audit_ask.experiment;
    if not found then
        raise exception 'there is no experiment %', experiment using errcode = 'foreign_key_violation';
    elsif experiment_state not in ('finished', 'stopped') then
        raise exception 'experiment % is %: its own audit goes on with it, others are for finished ones', experiment,
            experiment_state using errcode = 'check_violation';
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

create function tune_outvoted(experiment bigint) returns bigint
language sql stable security definer set search_path = kroo, pg_temp as $$
    select count(*) from dispute d join tune t on t.experiment_id = d.experiment_id
    where d.experiment_id = tune_outvoted.experiment and d.settlement like 'outvoted%'
$$;
comment on function tune_outvoted(bigint) is
    'Pairs of a tune that had moved its parameters when two other workers agreed on other games: the parameters rest on what was stored.';
revoke all on function tune_outvoted(bigint) from public;
grant execute on function tune_outvoted(bigint) to kroo_coordinator, kroo_trainer, kroo_reader;
