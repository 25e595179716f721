-- id=number: LLR and Elo of a match over its counted pairs, in pair order, at most about 500 points
-- finished by web_finish_curve
-- Up to 200,000 pairs are counted one by one, at ends of batches; of more, the segments that are rolled up.
with e as (
    select e.id, e.sprt_model, e.elo0, e.elo1, e.alpha, e.beta, coalesce(e.batch, 1) as batch, x.counted_pairs
    from experiment e join experiment_counted x on x.experiment_id = e.id where e.id = $1::bigint
), pair as (
    select row_number() over (order by p.pair_no) as n, p.first, p.second
    from (select g.pair_no, max(g.a_half_points) filter (where g.leg = 0) as first,
            max(g.a_half_points) filter (where g.leg = 1) as second
        from game_counted g where g.experiment_id = $1::bigint and (select counted_pairs from e) <= 200000
        group by g.pair_no having count(*) = 2) p
), step as (
    select e.batch * greatest(1, ceil((select count(*) from pair)::numeric / e.batch / 480)::bigint) as size from e
), part as (
    select (pair.n - 1) / step.size as place, count(*) as pairs,
        count(*) filter (where first + second = 0) as ll, count(*) filter (where first + second = 1) as ld,
        count(*) filter (where first = 1 and second = 1) as dd,
        count(*) filter (where first + second = 2 and first <> 1) as wl,
        count(*) filter (where first + second = 3) as dw, count(*) filter (where first + second = 4) as ww
    from pair, step group by 1
    union all
    select r.segment / s.size, sum(p00 + p01 + p02 + p10 + p11 + p12 + p20 + p21 + p22), sum(p00), sum(p01 + p10), sum(p11),
        sum(p02 + p20), sum(p12 + p21), sum(p22)
    from pair_rollup r, (select greatest(1, ceil(counted_pairs / 32768.0 / 480)::bigint) as size from e) s
    where r.experiment_id = $1::bigint and (select counted_pairs from e) > 200000 group by 1
)
select sum(pairs) over w as pairs, sum(ll) over w as ll, sum(ld) over w as ld, sum(dd) over w as dd, sum(wl) over w as wl,
    sum(dw) over w as dw, sum(ww) over w as ww, e.sprt_model, e.elo0, e.elo1, e.alpha, e.beta, e.batch
from part, e window w as (order by place) order by place
