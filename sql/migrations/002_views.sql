-- The public interface: views and functions, documented column by column.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

-- How far each experiment counts: its verdict once there is one, the running prefix before.
create view experiment_counted as
select c.experiment_id, coalesce(v.counted_pairs, c.prefix_pairs) as counted_pairs
from experiment_counter c left join verdict v using (experiment_id);
comment on view experiment_counted is 'How many pairs of an experiment count.';
comment on column experiment_counted.experiment_id is 'The experiment.';
comment on column experiment_counted.counted_pairs is 'Pairs 0 .. counted_pairs - 1 count.';

create view game_counted as
select g.*
from game g join experiment_counted c using (experiment_id)
where g.pair_no < c.counted_pairs
    and not exists (select from dispute d where d.experiment_id = g.experiment_id and d.pair_no = g.pair_no
        and d.state = 'open');
comment on view game_counted is 'The games that count, open disputes left out.';
do $$
declare
    name text;
    remark text;
begin
    for name, remark in select a.attname, col_description(a.attrelid, a.attnum) from pg_attribute a
        where a.attrelid = 'kroo.game'::regclass and a.attnum > 0 and not a.attisdropped loop
        execute format('comment on column kroo.game_counted.%I is %L', name, remark);
    end loop;
end
$$;

create view experiment_progress as
select e.id, e.kind, e.state, e.state_reason, e.rules, e.planned_pairs, c.prefix_pairs, c.games_stored,
    c.ll, c.ld, c.dd, c.wl, c.dw, c.ww, c.wins, c.draws, c.losses,
    e.sprt_model, e.elo0, e.elo1, e.alpha, e.beta, e.batch, c.llr, v.verdict, v.counted_pairs,
    a.id as player_a, wa.number as weights_a, wa.name as weights_a_name,
    b.id as player_b, wb.number as weights_b, wb.name as weights_b_name,
    (select count(*) from lease l where l.experiment_id = e.id and l.state = 'open') as open_leases,
    (select count(*) from dispute d where d.experiment_id = e.id and d.state = 'open') as open_disputes,
    e.priority, e.note, e.created_by, e.created_at, e.ended_at, c.updated_at
from experiment e
    join experiment_counter c on c.experiment_id = e.id
    join player a on a.id = e.player_a
    join player b on b.id = e.player_b
    join weights wa on wa.sha256 = a.weights_sha256
    join weights wb on wb.sha256 = b.weights_sha256
    left join verdict v on v.experiment_id = e.id;
comment on view experiment_progress is 'One row for each experiment: what it is and how far it has come.';
comment on column experiment_progress.id is 'Number of the experiment.';
comment on column experiment_progress.kind is 'selfplay or match.';
comment on column experiment_progress.state is 'running, finished, stopped or blocked.';
comment on column experiment_progress.state_reason is 'Why, where there is something to say.';
comment on column experiment_progress.rules is 'Canonical text of the rule set.';
comment on column experiment_progress.planned_pairs is 'Pairs to play, or the most there can be.';
comment on column experiment_progress.prefix_pairs is 'Pairs finished without a gap from pair 0.';
comment on column experiment_progress.games_stored is 'Rows in game, counted or not.';
comment on column experiment_progress.ll is 'Pairs player a lost twice.';
comment on column experiment_progress.ld is 'Pairs with a loss and a draw of player a.';
comment on column experiment_progress.dd is 'Pairs drawn twice.';
comment on column experiment_progress.wl is 'Pairs with a win and a loss.';
comment on column experiment_progress.dw is 'Pairs with a draw and a win of player a.';
comment on column experiment_progress.ww is 'Pairs player a won twice.';
comment on column experiment_progress.wins is 'Games won by player a.';
comment on column experiment_progress.draws is 'Games drawn.';
comment on column experiment_progress.losses is 'Games lost by player a.';
comment on column experiment_progress.sprt_model is 'Elo scale of the sequential test; null = no test.';
comment on column experiment_progress.elo0 is 'Hypothesis 0 of the test.';
comment on column experiment_progress.elo1 is 'Hypothesis 1 of the test.';
comment on column experiment_progress.alpha is 'Error probability under hypothesis 0.';
comment on column experiment_progress.beta is 'Error probability under hypothesis 1.';
comment on column experiment_progress.batch is 'Pairs between two evaluations.';
comment on column experiment_progress.llr is 'Log likelihood ratio at the last evaluation.';
comment on column experiment_progress.verdict is 'The verdict; null = none yet.';
comment on column experiment_progress.counted_pairs is 'Pairs the verdict counts; null = no verdict yet.';
comment on column experiment_progress.player_a is 'Number of player a.';
comment on column experiment_progress.weights_a is 'Number of its weights.';
comment on column experiment_progress.weights_a_name is 'Name of its weights.';
comment on column experiment_progress.player_b is 'Number of player b.';
comment on column experiment_progress.weights_b is 'Number of its weights.';
comment on column experiment_progress.weights_b_name is 'Name of its weights.';
comment on column experiment_progress.open_leases is 'Ranges handed out and not finished.';
comment on column experiment_progress.open_disputes is 'Pairs in dispute.';
comment on column experiment_progress.priority is 'Higher is served first.';
comment on column experiment_progress.note is 'Free text.';
comment on column experiment_progress.created_by is 'Who asked for it.';
comment on column experiment_progress.created_at is 'When it was created.';
comment on column experiment_progress.ended_at is 'When it was finished or stopped.';
comment on column experiment_progress.updated_at is 'When its counters last changed.';

create view experiment_verdict as
select v.experiment_id, e.kind, e.rules, v.verdict, v.counted_pairs, 2 * v.counted_pairs as counted_games,
    v.games_stored - 2 * v.counted_pairs as uncounted_games, v.ll, v.ld, v.dd, v.wl, v.dw, v.ww, v.wins, v.draws,
    v.losses, v.sprt_model, v.elo0, v.elo1, v.alpha, v.beta, v.batch, v.llr, v.lower, v.upper, v.elo, v.elo_lo,
    v.elo_hi, v.nelo, v.los, v.count_order, v.formula_version, v.by, v.reason, v.written_at
from verdict v join experiment e on e.id = v.experiment_id;
comment on view experiment_verdict is 'The verdicts, with what they are about.';
comment on column experiment_verdict.experiment_id is 'The experiment.';
comment on column experiment_verdict.kind is 'selfplay or match.';
comment on column experiment_verdict.rules is 'Canonical text of the rule set.';
comment on column experiment_verdict.verdict is 'accepted, rejected, undecided or aborted.';
comment on column experiment_verdict.counted_pairs is 'Pairs that count.';
comment on column experiment_verdict.counted_games is 'Games that count.';
comment on column experiment_verdict.uncounted_games is 'Games stored when it was written that do not count.';
comment on column experiment_verdict.ll is 'Pairs player a lost twice.';
comment on column experiment_verdict.ld is 'Pairs with a loss and a draw of player a.';
comment on column experiment_verdict.dd is 'Pairs drawn twice.';
comment on column experiment_verdict.wl is 'Pairs with a win and a loss.';
comment on column experiment_verdict.dw is 'Pairs with a draw and a win of player a.';
comment on column experiment_verdict.ww is 'Pairs player a won twice.';
comment on column experiment_verdict.wins is 'Games won by player a.';
comment on column experiment_verdict.draws is 'Games drawn.';
comment on column experiment_verdict.losses is 'Games lost by player a.';
comment on column experiment_verdict.sprt_model is 'Elo scale of the sequential test; null = no test.';
comment on column experiment_verdict.elo0 is 'Hypothesis 0 of the test.';
comment on column experiment_verdict.elo1 is 'Hypothesis 1 of the test.';
comment on column experiment_verdict.alpha is 'Error probability under hypothesis 0.';
comment on column experiment_verdict.beta is 'Error probability under hypothesis 1.';
comment on column experiment_verdict.batch is 'Pairs between two evaluations.';
comment on column experiment_verdict.llr is 'Log likelihood ratio at the last evaluation.';
comment on column experiment_verdict.lower is 'The test rejects at or below this.';
comment on column experiment_verdict.upper is 'The test accepts at or above this.';
comment on column experiment_verdict.elo is 'Estimated lead of player a, logistic Elo; biased after a sequential test.';
comment on column experiment_verdict.elo_lo is 'Lower end of its 95 % interval.';
comment on column experiment_verdict.elo_hi is 'Upper end of its 95 % interval.';
comment on column experiment_verdict.nelo is 'The lead in normalized Elo.';
comment on column experiment_verdict.los is 'Likelihood that player a is the stronger.';
comment on column experiment_verdict.count_order is 'Order of the six counts in every formula.';
comment on column experiment_verdict.formula_version is 'Version of the formulas.';
comment on column experiment_verdict.by is 'Who aborted it.';
comment on column experiment_verdict.reason is 'Remark.';
comment on column experiment_verdict.written_at is 'When it was written.';

create view champion as
select distinct on (p.line) p.line, p.id as epoch, w.number as weights, w.name, p.weights_sha256, w.kind, w.rules,
    p.experiment_id, p.by, p.reason, p.promoted_at
from promotion p join weights w on w.sha256 = p.weights_sha256
order by p.line, p.id desc;
comment on view champion is 'The weights each training line plays with now.';
comment on column champion.line is 'The training line.';
comment on column champion.epoch is 'Number of the promotion.';
comment on column champion.weights is 'Number of the weights.';
comment on column champion.name is 'Their name.';
comment on column champion.weights_sha256 is 'Their hash.';
comment on column champion.kind is 'table, net or features.';
comment on column champion.rules is 'The rule set they were made for.';
comment on column champion.experiment_id is 'The match that promoted them; null = promoted by hand.';
comment on column champion.by is 'Who promoted them.';
comment on column champion.reason is 'Why.';
comment on column champion.promoted_at is 'When.';

create view weights_lineage as
with recursive ancestor (sha256, ancestor_sha256, distance) as (
    select sha256, sha256, 0 from weights
    union all
    select a.sha256, w.parent_sha256, a.distance + 1
    from ancestor a join weights w on w.sha256 = a.ancestor_sha256
    where w.parent_sha256 is not null
) cycle ancestor_sha256 set is_cycle using path
select w.number as weights, a.sha256, w.name, a.distance, p.number as ancestor, a.ancestor_sha256,
    p.name as ancestor_name, p.training_run_id, t.games as training_games, p.stored_at
from ancestor a
    join weights w on w.sha256 = a.sha256
    left join weights p on p.sha256 = a.ancestor_sha256
    left join training_run t on t.id = p.training_run_id
where not a.is_cycle;
comment on view weights_lineage is 'Each weights with all its ancestors, itself at distance 0.';
comment on column weights_lineage.weights is 'Number of the weights.';
comment on column weights_lineage.sha256 is 'Their hash.';
comment on column weights_lineage.name is 'Their name.';
comment on column weights_lineage.distance is 'Fits between the ancestor and them.';
comment on column weights_lineage.ancestor is 'Number of the ancestor; null = not in this database.';
comment on column weights_lineage.ancestor_sha256 is 'Hash of the ancestor.';
comment on column weights_lineage.ancestor_name is 'Name of the ancestor.';
comment on column weights_lineage.training_run_id is 'The fit that made the ancestor; null = none known.';
comment on column weights_lineage.training_games is 'Games of that fit.';
comment on column weights_lineage.stored_at is 'When the ancestor was stored here.';

create view worker_session as
select s.id, s.peer, p.name as peer_name, s.name, s.engine_build, s.slots, s.started_at, s.ended_at,
    coalesce(l.open_leases, 0) as open_leases, coalesce(l.done_leases, 0) as done_leases,
    coalesce(l.lost_leases, 0) as lost_leases, coalesce(l.done_pairs, 0) as done_pairs
from session s
    left join peer p on p.public_key = s.peer
    left join lateral (
        select count(*) filter (where state = 'open') as open_leases,
            count(*) filter (where state = 'done') as done_leases,
            count(*) filter (where state in ('expired', 'released')) as lost_leases,
            coalesce(sum(pair_count) filter (where state = 'done'), 0)::bigint as done_pairs
        from lease where session_id = s.id
    ) l on true;
comment on view worker_session is 'Workers'' sessions and their leases.';
comment on column worker_session.id is 'Number of the session.';
comment on column worker_session.peer is 'Public key, `local` or `loopback`.';
comment on column worker_session.peer_name is 'Name in the allow-list; null = not in it.';
comment on column worker_session.name is 'Name the worker gives itself.';
comment on column worker_session.engine_build is 'Its engine.';
comment on column worker_session.slots is 'Games it plays at once.';
comment on column worker_session.started_at is 'When it said hello.';
comment on column worker_session.ended_at is 'When it ended; null = open.';
comment on column worker_session.open_leases is 'Leases it holds.';
comment on column worker_session.done_leases is 'Leases it finished.';
comment on column worker_session.lost_leases is 'Leases it let lapse or gave back.';
comment on column worker_session.done_pairs is 'Pairs in the leases it finished.';

-- The three questions below are asked with `where experiment_id = N`; they read the primary key's index alone.
create view first_move_score as
select experiment_id, first_move, count(*) as games,
    count(*) filter (where result = 'south') as south_wins,
    count(*) filter (where result = 'draw') as draws,
    count(*) filter (where result = 'north') as north_wins,
    round(avg(case result when 'south' then 1 when 'draw' then 0.5 else 0 end), 4) as south_score
from game_counted
where plies > 0
group by experiment_id, first_move;
comment on view first_move_score is 'How South fares after each first move, counted games.';
comment on column first_move_score.experiment_id is 'The experiment.';
comment on column first_move_score.first_move is 'South''s first move.';
comment on column first_move_score.games is 'Games that began with it.';
comment on column first_move_score.south_wins is 'Won by South.';
comment on column first_move_score.draws is 'Drawn.';
comment on column first_move_score.north_wins is 'Won by North.';
comment on column first_move_score.south_score is 'South''s mean score, a draw as half a point.';

create view endings_by_reason as
select experiment_id, reason, count(*) as games,
    round(count(*) / sum(count(*)) over (partition by experiment_id), 4) as share,
    count(*) filter (where result = 'south') as south_wins,
    count(*) filter (where result = 'draw') as draws,
    count(*) filter (where result = 'north') as north_wins,
    round(avg(plies), 1) as mean_plies
from game_counted
group by experiment_id, reason;
comment on view endings_by_reason is 'How games ended, counted games.';
comment on column endings_by_reason.experiment_id is 'The experiment.';
comment on column endings_by_reason.reason is 'The ending.';
comment on column endings_by_reason.games is 'Games that ended so.';
comment on column endings_by_reason.share is 'Their share of the experiment''s games.';
comment on column endings_by_reason.south_wins is 'Won by South.';
comment on column endings_by_reason.draws is 'Drawn.';
comment on column endings_by_reason.north_wins is 'Won by North.';
comment on column endings_by_reason.mean_plies is 'Their mean length.';

create view game_length as
select experiment_id, count(*) as games, min(plies) as shortest,
    percentile_disc(0.1) within group (order by plies) as tenth,
    percentile_disc(0.5) within group (order by plies) as median,
    round(avg(plies), 1) as mean,
    percentile_disc(0.9) within group (order by plies) as ninetieth,
    max(plies) as longest
from game_counted
group by experiment_id;
comment on view game_length is 'Lengths of games in plies, counted games.';
comment on column game_length.experiment_id is 'The experiment.';
comment on column game_length.games is 'Games.';
comment on column game_length.shortest is 'The shortest.';
comment on column game_length.tenth is 'One in ten is no longer than this.';
comment on column game_length.median is 'Half are no longer than this.';
comment on column game_length.mean is 'Mean length.';
comment on column game_length.ninetieth is 'Nine in ten are no longer than this.';
comment on column game_length.longest is 'The longest.';

-- The prefix: the n-th finished pair in pair order has the number n - 1 as long as there is no gap. A pair in
-- dispute is not finished, unless the prefix had passed it before, or the verdict stood.
create function counters_recompute(experiment bigint) returns table (games_stored bigint, prefix_pairs bigint,
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
            select least(e.planned_pairs, v.counted_pairs)
            from experiment e left join verdict v on v.experiment_id = e.id
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
    'An experiment''s counters, computed from its stored games alone; counted pairs end where its verdict says.';

create function verify_counters(experiment bigint) returns table (experiment_id bigint, source text, counter text,
    recorded bigint, recomputed bigint)
language sql stable set search_path = kroo, pg_temp as $$
    with computed as (select r.* from counters_recompute(experiment) r),
    checked (source, counter, recorded, recomputed) as (
        select 'experiment_counter', x.* from computed r
            left join experiment_counter c on c.experiment_id = verify_counters.experiment,
        lateral (values ('games_stored', c.games_stored, r.games_stored), ('prefix_pairs', c.prefix_pairs, r.prefix_pairs),
            ('ll', c.ll, r.ll), ('ld', c.ld, r.ld), ('dd', c.dd, r.dd), ('wl', c.wl, r.wl), ('dw', c.dw, r.dw),
            ('ww', c.ww, r.ww), ('wins', c.wins, r.wins), ('draws', c.draws, r.draws),
            ('losses', c.losses, r.losses)) x
        union all
        select 'verdict', x.* from computed r
            join verdict c on c.experiment_id = verify_counters.experiment,
        lateral (values ('counted_pairs', c.counted_pairs, r.prefix_pairs), ('ll', c.ll, r.ll), ('ld', c.ld, r.ld),
            ('dd', c.dd, r.dd), ('wl', c.wl, r.wl), ('dw', c.dw, r.dw), ('ww', c.ww, r.ww), ('wins', c.wins, r.wins),
            ('draws', c.draws, r.draws), ('losses', c.losses, r.losses)) x
    )
    select verify_counters.experiment, c.source, c.counter, c.recorded, c.recomputed from checked c
$$;
comment on function verify_counters(bigint) is
    'Each counter of an experiment as recorded and as recomputed from its games; right when the two are equal in every row.';

create view counter_difference as
select v.experiment_id, v.source, v.counter, v.recorded, v.recomputed
from experiment e, lateral verify_counters(e.id) v
where v.recorded is distinct from v.recomputed;
comment on view counter_difference is 'Counters that are not what the stored games add up to: none, or something is broken.';
comment on column counter_difference.experiment_id is 'The experiment.';
comment on column counter_difference.source is 'Where it is recorded: experiment_counter or verdict.';
comment on column counter_difference.counter is 'Which counter.';
comment on column counter_difference.recorded is 'What is recorded.';
comment on column counter_difference.recomputed is 'What the stored games add up to.';
