-- What workers have and can, how fast experiments go, and how long they will take.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

alter table session
    add column tags text not null default '' check (octet_length(tags) < 256),
    add column speed bigint not null default 0 check (speed >= 0),
    add column spread_ppm bigint not null default 0 check (spread_ppm >= 0),
    add column load_ppm bigint not null default 0 check (load_ppm >= 0),
    add column scale_ppm bigint not null default 1000000 check (scale_ppm > 0);
comment on column session.tags is 'What the worker has, comma separated: its machine''s and its user''s names.';
comment on column session.speed is 'Nodes a second of one play thread in the fixed bench at its start; 0 = not measured.';
comment on column session.spread_ppm is 'How far the bench''s runs lay apart, in millionths of their median.';
comment on column session.load_ppm is 'Load average a core of its machine before the bench, in millionths.';
comment on column session.scale_ppm is 'Limits of time were multiplied by so many millionths in this session, so that a fast machine and a slow one search as much.';

-- A mean that forgets: games and seconds, both shrinking by e in five minutes.
alter table experiment_counter
    add column rate_games double precision not null default 0,
    add column rate_seconds double precision not null default 0,
    add column rate_at timestamptz;
comment on column experiment_counter.rate_games is 'Games that came in the last minutes, older ones counting less: by e less in five minutes.';
comment on column experiment_counter.rate_seconds is 'The time in which they came, weighed alike; 0 = not known yet.';
comment on column experiment_counter.rate_at is 'When these two were brought up to date; null = no game has come yet.';

create function sprt_pairs_left(c experiment_counter, e experiment) returns double precision
    language plpgsql stable set search_path = kroo, pg_temp as $$
declare
    n double precision := c.ll + c.ld + c.dd + c.wl + c.dw + c.ww;
    mean double precision;
    variance double precision;
    step double precision; -- score1 - score0
    middle double precision; -- of the two
    below double precision := ln(e.beta / (1 - e.alpha)) - c.llr;
    above double precision := ln((1 - e.beta) / e.alpha) - c.llr;
    drift double precision; -- of the LLR, a pair
    h double precision; -- twice the drift by the variance of a pair's step
    accepted double precision;
begin
    if e.sprt_model is null or n < 16 then return null; end if;
    if below >= 0 or above <= 0 then return 0; end if;
    mean := (0.25 * c.ld + 0.5 * (c.dd + c.wl) + 0.75 * c.dw + c.ww) / n;
    variance := (0.0625 * c.ld + 0.25 * (c.dd + c.wl) + 0.5625 * c.dw + c.ww) / n - mean * mean;
    if variance <= 1e-9 then return null; end if;
    if e.sprt_model = 'logistic' then
        step := 1 / (1 + 10 ^ (-e.elo1 / 400)) - 1 / (1 + 10 ^ (-e.elo0 / 400));
        middle := (1 / (1 + 10 ^ (-e.elo1 / 400)) + 1 / (1 + 10 ^ (-e.elo0 / 400))) / 2;
    else
        step := (e.elo1 - e.elo0) * sqrt(2 * variance) * ln(10) / 800;
        middle := 0.5 + (e.elo0 + e.elo1) / 2 * sqrt(2 * variance) * ln(10) / 800;
    end if;
    drift := step * (mean - middle) / variance;
    h := 2 * drift * variance / (step * step);
    if abs(h) * greatest(above, -below) < 1e-6 then
        return -below * above * variance / (step * step);
    end if;
    if h > 0 then
        accepted := (1 - exp(greatest(h * below, -700))) / (1 - exp(greatest(-h * (above - below), -700)));
    else
        accepted := (exp(greatest(h * above, -700)) - exp(greatest(h * (above - below), -700)))
            / (1 - exp(greatest(h * (above - below), -700)));
    end if;
    return (above * accepted + below * (1 - accepted)) / drift;
end
$$;
comment on function sprt_pairs_left is 'Pairs that a sequential test is expected to need still, if the difference is the one seen so far: Brownian motion from the LLR to its bounds, without overshoot. Null without a test, or before 16 pairs say anything.';

create view experiment_rate as
select x.experiment_id, x.is_expected, x.pairs_left, x.pairs_per_minute,
    case when x.pairs_per_minute > 0 then 60 * x.pairs_left / x.pairs_per_minute end as seconds_left
from (
    select e.id as experiment_id, t.pairs is not null as is_expected,
        case when e.state in ('running', 'blocked', 'pending', 'paused') then
            round(least(case when t.pairs is not null then greatest(t.pairs - (c.games_stored / 2 - c.prefix_pairs), 0) end,
                greatest(e.planned_pairs - c.games_stored / 2, 0)))::bigint
        end as pairs_left,
        case when e.state = 'running' and c.rate_seconds > 1 then
            30 * c.rate_games * f.kept / (c.rate_seconds * f.kept + 300 * (1 - f.kept))
        end as pairs_per_minute
    from experiment e
        join experiment_counter c on c.experiment_id = e.id
        left join lateral (select sprt_pairs_left(c, e) as pairs where e.state = 'running' and e.sprt_model is not null) t on true
        left join lateral (select exp(-least(greatest(extract(epoch from now() - c.rate_at), 0), 30000) / 300)::double precision as kept) f on true
) x;
comment on view experiment_rate is 'How fast each experiment goes, and what is left of it.';
comment on column experiment_rate.experiment_id is 'The experiment.';
comment on column experiment_rate.is_expected is 'Whether what is left is an expectation: of a sequential test, by the difference seen so far. Otherwise it is the rest of the plan.';
comment on column experiment_rate.pairs_left is 'Pairs to play still; null once it has ended.';
comment on column experiment_rate.pairs_per_minute is 'Measured over the last minutes; null = not known, or it does not run.';
comment on column experiment_rate.seconds_left is 'Pairs left by that speed; null = not known.';

revoke all on function sprt_pairs_left from public;
grant execute on function sprt_pairs_left to kroo_coordinator, kroo_trainer, kroo_reader;
grant update (scale_ppm) on session to kroo_coordinator;
grant update (rate_games, rate_seconds, rate_at) on experiment_counter to kroo_coordinator;
grant select on experiment_rate to kroo_coordinator, kroo_trainer, kroo_reader;
