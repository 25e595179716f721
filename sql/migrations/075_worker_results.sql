-- What workers' pairs came to is read a range at a time, so that a look at a large experiment holds no commit up.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create function worker_results(experiment bigint, first_pair bigint, end_pair bigint)
returns table (peer text, name text, won bigint, lost bigint, equal bigint)
language sql stable security definer set search_path = kroo, pg_temp as $$
    select s.peer, s.name, count(*) filter (where points > 2), count(*) filter (where points < 2),
        count(*) filter (where points = 2)
    from (
        select min(g.session_id) as session_id, sum(g.a_half_points) as points
        from game g where g.experiment_id = worker_results.experiment
            and g.pair_no >= worker_results.first_pair and g.pair_no < worker_results.end_pair
        group by g.pair_no having count(*) = 2 and min(g.session_id) = max(g.session_id)
    ) pair join session s on s.id = pair.session_id
    group by s.peer, s.name order by s.peer collate "C", s.name collate "C"
$$;
comment on function worker_results(bigint, bigint, bigint) is 'The pairs from first_pair up to end_pair (not included) of an experiment that each worker played alone, by outcome for player a; in order of peer and name.';

drop function worker_results(bigint);
revoke all on function worker_results(bigint, bigint, bigint) from public;
grant execute on function worker_results(bigint, bigint, bigint) to kroo_coordinator;
