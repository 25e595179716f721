-- id=number: everything about one experiment; the figures of `kroo show`
-- finished by web_finish_experiment
with e as (
    select e.*, c.games_stored, v.experiment_id is not null as has_verdict,
        coalesce(v.counted_pairs, c.prefix_pairs) as pairs, coalesce(v.repeated_pairs, c.repeated_pairs) as repeated,
        coalesce(v.ll, c.ll) as ll, coalesce(v.ld, c.ld) as ld, coalesce(v.dd, c.dd) as dd, coalesce(v.wl, c.wl) as wl,
        coalesce(v.dw, c.dw) as dw, coalesce(v.ww, c.ww) as ww, coalesce(v.wins, c.wins) as wins,
        coalesce(v.draws, c.draws) as draws, coalesce(v.losses, c.losses) as losses, coalesce(v.llr, c.llr) as llr,
        v.verdict, v.by, v.reason, v.written_at, v.formula_version, v.lower, v.upper, v.llr as verdict_llr
    from experiment e join experiment_counter c on c.experiment_id = e.id left join verdict v on v.experiment_id = e.id
    where e.id = $1::bigint
), side as (
    select p.id, json_build_object('weights', w.number, 'name', w.name, 'sha256', encode(w.sha256, 'hex'),
        'build', p.engine_build, 'engine', coalesce(n.name, 'built-in'), 'tables', t.name, 'options', p.options) as player
    from player p join weights w on w.sha256 = p.weights_sha256
        left join engine n on n.sha256 = p.engine_sha256 left join endgame_table t on t.sha256 = p.tables_sha256
    where p.id in (select player_a from e union all select player_b from e)
), share as (
    select coalesce(s.name, 'not recorded') as worker, coalesce(p.name, s.peer) as peer, sum(g.games)::bigint as games,
        sum(g.faults)::bigint as faults
    from session_game_count g left join session s on s.id = g.session_id left join peer p on p.public_key = s.peer
    where g.experiment_id = $1::bigint group by 1, 2
)
select json_build_object(
    'id', e.id, 'kind', e.kind, 'state', e.state, 'state_reason', e.state_reason, 'rules', e.rules, 'seed', e.seed::text,
    'opening_plies', e.opening_plies, 'noise_ppm', e.noise_ppm, 'with_scores', e.with_scores, 'planned_pairs', e.planned_pairs,
    'priority', e.priority, 'share', e.share, 'core_cap', e.core_cap, 'tags', e.tags, 'key', e.idempotency_key, 'note', e.note,
    'created_by', e.created_by, 'created_at', round(extract(epoch from e.created_at)),
    'ended_at', round(extract(epoch from e.ended_at)),
    'seconds', round(extract(epoch from coalesce(e.ended_at, now()) - e.created_at)),
    'a', (select player from side where id = e.player_a), 'b', (select player from side where id = e.player_b),
    'book', (select json_build_object('name', name, 'openings', openings) from book where sha256 = e.book_sha256),
    'adjudication', (select name from endgame_table where sha256 = e.adjudication_sha256),
    'resign_score', e.resign_score, 'resign_plies', e.resign_plies, 'audit_ppm', e.audit_ppm,
    'pairs', e.pairs, 'repeated_pairs', e.repeated, 'counts', json_build_array(e.ll, e.ld, e.dd, e.wl, e.dw, e.ww),
    'wins', e.wins, 'draws', e.draws, 'losses', e.losses, 'games_stored', e.games_stored,
    'verdict', case when e.has_verdict then json_build_object('verdict', e.verdict, 'pairs', e.pairs, 'by', e.by,
        'reason', e.reason, 'written_at', round(extract(epoch from e.written_at)), 'formula_version', e.formula_version,
        'lower', e.lower, 'upper', e.upper, 'llr', e.verdict_llr) end,
    'left', (select case when r.pairs_left is not null then json_build_object('pairs', r.pairs_left, 'is_expected', r.is_expected,
        'pairs_per_minute', r.pairs_per_minute, 'seconds', r.seconds_left) end from experiment_rate r where r.experiment_id = e.id),
    'workers', (select count(distinct l.session_id) from lease l where l.experiment_id = e.id and l.state = 'open'),
    'open_leases', (select count(*) from lease l where l.experiment_id = e.id and l.state = 'open'),
    'open_disputes', (select count(*) from dispute d where d.experiment_id = e.id and d.state = 'open'),
    'reproducible', (select reproducible from experiment_reproducible r where r.experiment_id = e.id),
    'endings', (select coalesce(json_agg(x order by x.games desc, x.reason), '[]') from (
        select reason, games, share, south_wins, draws, north_wins, mean_plies from endings_by_reason
        where experiment_id = e.id) x),
    'lengths', (select coalesce(json_agg(x order by x.from_plies), '[]') from (
        select plies / 10 * 10 as from_plies, sum(games)::bigint as games, sum(draws)::bigint as draws
        from game_length_histogram where experiment_id = e.id group by 1 order by 1 limit 200) x),
    'openings', (select coalesce(json_agg(x order by x.wl desc, x.opening), '[]') from (
        select opening, pairs, ll, ld, dd, wl, dw, ww, a_score from opening_pairs where experiment_id = e.id and wl > 0
        order by wl desc, opening limit 12) x),
    'shares', (select coalesce(json_agg(x order by x.games desc, x.worker), '[]') from (
        select * from share order by games desc, worker limit 50) x),
    'workers_ever', (select count(*) from share),
    'fault_kinds', (select coalesce(json_agg(x order by x.faults desc, x.kind), '[]') from (
        select kind, side, count(*) as faults from fault where experiment_id = e.id group by 1, 2) x),
    'faults', (select coalesce(json_agg(x order by x.id desc), '[]') from (
        select id, round(extract(epoch from recorded_at)) as at, pair_no as pair, leg, side, kind, engine, worker, why
        from fault_report where experiment_id = e.id order by id desc limit 12) x),
    'audits', (select coalesce(json_agg(x order by x.request_id), '[]') from (
        select request_id, share_ppm, pairs, agreed, differed, open, unplayed from audit_progress
        where experiment_id = e.id order by request_id limit 20) x),
    'events', (select coalesce(json_agg(x order by x.id desc), '[]') from (
        select id, round(extract(epoch from at)) as at, kind, text from event where experiment_id = e.id
        order by id desc limit 15) x))::text as document,
    e.kind, e.has_verdict::integer as has_verdict, e.ll, e.ld, e.dd, e.wl, e.dw, e.ww, e.llr, e.sprt_model, e.elo0, e.elo1,
    e.alpha, e.beta, e.batch
from e
