-- Settling disputes (DESIGN section 7): under a node limit two agreeing runs by independent workers decide.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

-- One row a leg with more than one content: the content that independent workers agree on, if any.
create view dispute_leg as
with run as (
    select r.dispute_id, r.leg, r.content_sha256, count(distinct (s.peer, s.name)) as workers, count(*) as runs
    from dispute_run r join session s on s.id = r.session_id
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
having count(*) > 1;
comment on view dispute_leg is 'Legs of disputed pairs for which more than one content came: how many runs, and what two independent workers agree on.';
comment on column dispute_leg.dispute_id is 'The dispute.';
comment on column dispute_leg.experiment_id is 'Its experiment.';
comment on column dispute_leg.pair_no is 'The disputed pair.';
comment on column dispute_leg.leg is '0: player a is South; 1: player b is South.';
comment on column dispute_leg.contents is 'Different contents seen.';
comment on column dispute_leg.runs is 'Runs recorded.';
comment on column dispute_leg.agreed_sha256 is 'The one content that two independent workers (key and name) delivered; null when there is none or when there are two.';

-- `kept`: the stored games stand. `replaced`: other games were agreed on and are stored now. `open`: play it again.
-- `blocked`: five runs of a leg did not settle it.
create function dispute_settle(experiment bigint, pair bigint) returns text
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    dispute_found dispute;
    unsettled bigint;
    worst bigint;
    replaced bigint;
    outcome text;
begin
    select * into dispute_found from dispute d
    where d.experiment_id = experiment and d.pair_no = pair and d.state = 'open' for update;
    if not found then
        return 'kept';
    end if;
    select count(*) filter (where l.agreed_sha256 is null), max(l.runs) filter (where l.agreed_sha256 is null)
    into unsettled, worst from dispute_leg l where l.dispute_id = dispute_found.id;
    if unsettled > 0 then
        return case when worst >= 5 then 'blocked' else 'open' end;
    end if;
    update game g set moves = r.moves, plies = octet_length(r.moves), scores = r.scores, result = r.result, reason = r.reason,
        south = r.south, north = r.north, a_half_points = r.a_half_points, claimed = r.claimed, nodes = r.nodes,
        time_ms = r.time_ms, attempt = r.attempt, lease_id = r.lease_id, session_id = r.session_id
    from dispute_leg l
        join lateral (select * from dispute_run x where x.dispute_id = l.dispute_id and x.leg = l.leg
            and x.content_sha256 = l.agreed_sha256 order by x.recorded_at, x.session_id, x.attempt limit 1) r on true
    where l.dispute_id = dispute_found.id and g.experiment_id = experiment and g.pair_no = pair and g.leg = l.leg
        and game_content_sha256(g.moves, g.scores, g.result, g.reason, g.south, g.north, g.claimed) <> l.agreed_sha256;
    get diagnostics replaced = row_count;
    outcome := case when replaced > 0 then 'replaced' else 'kept' end;
    update dispute d set state = 'settled', settled_at = now(),
        settlement = outcome || ': two independent workers agree'
    where d.id = dispute_found.id;
    return outcome;
end
$$;
comment on function dispute_settle(bigint, bigint) is
    'Settles a dispute when two independent workers agree on every disputed leg: kept, replaced, open or blocked.';

revoke all on function dispute_settle(bigint, bigint) from public;
grant select on dispute_leg to kroo_coordinator, kroo_trainer, kroo_reader;
grant execute on function dispute_settle(bigint, bigint) to kroo_coordinator;
