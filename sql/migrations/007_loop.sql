-- Learning loops: generations of self-play, fit and gate that `kroo loop` drives, each step an experiment or a fit of its own.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table learning_loop (
    id bigint generated always as identity primary key,
    name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
    line text not null check (line <> '' and octet_length(line) < 64),
    rules text not null check (octet_length(rules) < 160),
    specification jsonb not null check (jsonb_typeof(specification) = 'object'),
    first_sha256 bytea not null check (octet_length(first_sha256) = 32),
    planned_generations integer not null check (planned_generations > 0),
    state text not null default 'running' check (state in ('running', 'stopping', 'stopped', 'finished')),
    created_by text not null default '' check (octet_length(created_by) < 64),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);
comment on table learning_loop is 'Learning loops, as `kroo loop run` drives them.';
comment on column learning_loop.id is 'Number of the loop.';
comment on column learning_loop.name is 'Its name; part of the idempotency key of each of its experiments.';
comment on column learning_loop.line is 'Training line whose champion plays and is replaced.';
comment on column learning_loop.rules is 'Canonical text of the rule set.';
comment on column learning_loop.specification is 'What every generation does: pairs, nodes, noise, window, lambda, bounds of the gate. Never changed.';
comment on column learning_loop.first_sha256 is 'Champion when the loop began; what every generation is compared with.';
comment on column learning_loop.planned_generations is 'How many generations were asked for; may be raised.';
comment on column learning_loop.state is 'running (or interrupted: run it again to go on), stopping (ends after its step), stopped, finished.';
comment on column learning_loop.created_by is 'Who made it.';
comment on column learning_loop.created_at is 'When it was made.';
comment on column learning_loop.updated_at is 'When its state last changed.';

create table generation (
    loop_id bigint not null references learning_loop (id),
    number integer not null check (number > 0),
    champion_sha256 bytea not null check (octet_length(champion_sha256) = 32),
    selfplay_id bigint references experiment (id),
    training_run_id bigint references training_run (id),
    candidate_sha256 bytea references weights (sha256),
    gate_id bigint references experiment (id),
    first_match_id bigint references experiment (id),
    outcome text check (outcome in ('promoted', 'kept', 'refused')),
    reason text not null default '',
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (loop_id, number),
    constraint generation_ended check ((ended_at is null) = (outcome is null)),
    constraint generation_refused_why check (outcome is distinct from 'refused' or reason <> '')
);
create index generation_selfplay on generation (selfplay_id);
create index generation_gate on generation (gate_id);
create index generation_first_match on generation (first_match_id);
comment on table generation is 'Generations of the loops: which experiments and fit each consists of, filled in step by step.';
comment on column generation.loop_id is 'The loop.';
comment on column generation.number is 'Generations are counted from 1.';
comment on column generation.champion_sha256 is 'Champion when it began: who plays, and whom the candidate must beat.';
comment on column generation.selfplay_id is 'Experiment of its self-play; null = not made yet.';
comment on column generation.training_run_id is 'Its fit; null = not ended yet.';
comment on column generation.candidate_sha256 is 'Weights the fit made; null = none.';
comment on column generation.gate_id is 'Match of the candidate against the champion; null = not made yet.';
comment on column generation.first_match_id is 'Match of the candidate against the loop''s first champion; null = not made.';
comment on column generation.outcome is 'promoted, kept (the champion stays), refused (no candidate came of the fit); null = not ended.';
comment on column generation.reason is 'Why it was refused; empty otherwise.';
comment on column generation.started_at is 'When it began.';
comment on column generation.ended_at is 'When it ended; null = not yet.';

create view learning_curve as
select l.name as loop, g.number as generation, l.line, g.outcome, g.selfplay_id, c.games_stored as games,
    sum(c.games_stored) over (partition by g.loop_id order by g.number) as games_so_far,
    t.positions, t.validation_loss_before as loss_before, t.validation_loss_after as loss_after,
    w.number as candidate, g.gate_id, v.counted_pairs as gate_pairs, v.verdict as gate_verdict, v.elo as gate_elo,
    v.elo_lo as gate_elo_lo, v.elo_hi as gate_elo_hi, v.llr as gate_llr, g.first_match_id,
    f.counted_pairs as first_pairs, f.elo as first_elo, f.elo_lo as first_elo_lo, f.elo_hi as first_elo_hi,
    extract(epoch from coalesce(g.ended_at, now()) - g.started_at)::double precision / 3600 as hours,
    g.reason, g.started_at, g.ended_at
from generation g
    join learning_loop l on l.id = g.loop_id
    left join experiment_counter c on c.experiment_id = g.selfplay_id
    left join training_run t on t.id = g.training_run_id
    left join weights w on w.sha256 = g.candidate_sha256
    left join verdict v on v.experiment_id = g.gate_id
    left join verdict f on f.experiment_id = g.first_match_id;
comment on view learning_curve is 'What each generation of a learning loop cost and gained.';
comment on column learning_curve.loop is 'Name of the loop.';
comment on column learning_curve.generation is 'Number of the generation.';
comment on column learning_curve.line is 'Training line of the loop.';
comment on column learning_curve.outcome is 'promoted, kept, refused; null = not ended.';
comment on column learning_curve.selfplay_id is 'Experiment of its self-play.';
comment on column learning_curve.games is 'Games of this self-play.';
comment on column learning_curve.games_so_far is 'Games of self-play of this generation and those before.';
comment on column learning_curve.positions is 'Positions its fit used.';
comment on column learning_curve.loss_before is 'Validation loss of the champion.';
comment on column learning_curve.loss_after is 'Validation loss of the candidate.';
comment on column learning_curve.candidate is 'Number of the candidate weights.';
comment on column learning_curve.gate_id is 'Match of the candidate against the champion.';
comment on column learning_curve.gate_pairs is 'Pairs counted in it.';
comment on column learning_curve.gate_verdict is 'Its verdict.';
comment on column learning_curve.gate_elo is 'The candidate''s lead over the champion in logistic Elo; biased after a sequential test.';
comment on column learning_curve.gate_elo_lo is 'Lower end of its 95 % interval.';
comment on column learning_curve.gate_elo_hi is 'Upper end of its 95 % interval.';
comment on column learning_curve.gate_llr is 'Log-likelihood ratio of the gate.';
comment on column learning_curve.first_match_id is 'Match of the candidate against the loop''s first champion.';
comment on column learning_curve.first_pairs is 'Pairs counted in it.';
comment on column learning_curve.first_elo is 'The candidate''s lead over the first champion in logistic Elo.';
comment on column learning_curve.first_elo_lo is 'Lower end of its 95 % interval.';
comment on column learning_curve.first_elo_hi is 'Upper end of its 95 % interval.';
comment on column learning_curve.hours is 'Hours from its start to its end or now, pauses included.';
comment on column learning_curve.reason is 'Why it was refused.';
comment on column learning_curve.started_at is 'When it began.';
comment on column learning_curve.ended_at is 'When it ended.';

grant select on learning_loop, generation, learning_curve to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on learning_loop, generation to kroo_trainer;
grant update (planned_generations, state, updated_at) on learning_loop to kroo_trainer;
grant update (selfplay_id, training_run_id, candidate_sha256, gate_id, first_match_id, outcome, reason, ended_at)
    on generation to kroo_trainer;
