-- Tunes: parameters moved by the results of their own pairs (STATISTICS, SPSA). One experiment of kind `tune` each.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table tune (
    experiment_id bigint primary key references experiment (id) on delete cascade,
    batch_pairs integer not null check (batch_pairs between 1 and 65536),
    lag integer not null check (lag between 1 and 64),
    batches bigint not null check (batches > 0),
    parameters integer not null check (parameters between 1 and 8192),
    tuned_sha256 bytea references weights (sha256),
    tuned_options text,
    match_id bigint references experiment (id),
    constraint tune_tuned check ((tuned_sha256 is null) = (tuned_options is null)),
    constraint tune_match check (match_id is null or tuned_sha256 is not null)
);
create index tune_tuned_sha256 on tune (tuned_sha256);
create index tune_match_id on tune (match_id);
comment on table tune is 'What `kroo tune` tunes: one row for each experiment of kind tune.';
comment on column tune.experiment_id is 'The experiment.';
comment on column tune.batch_pairs is 'Pairs of a batch: two players play them before the parameters move.';
comment on column tune.lag is 'The players of batch b rest on the batches up to b - lag.';
comment on column tune.batches is 'Batches planned.';
comment on column tune.parameters is 'How many parameters it has.';
comment on column tune.tuned_sha256 is 'Weights that came of it; null = not ended.';
comment on column tune.tuned_options is 'Options that came of it, one `Name=Value` a line; null = not ended.';
comment on column tune.match_id is 'Match of tuned against start; null = none.';

create table tune_parameter (
    experiment_id bigint not null references tune (experiment_id) on delete cascade,
    number integer not null check (number >= 0),
    name text not null check (name <> '' and octet_length(name) < 48),
    start double precision not null,
    low double precision not null,
    high double precision not null,
    c_end double precision not null check (c_end > 0),
    r_end double precision not null check (r_end > 0),
    primary key (experiment_id, number),
    constraint tune_parameter_range check (low < high and start between low and high)
);
comment on table tune_parameter is 'Parameters of a tune.';
comment on column tune_parameter.experiment_id is 'The tune.';
comment on column tune_parameter.number is 'Place of the parameter in `tune_batch.theta`, counted from 0.';
comment on column tune_parameter.name is 'Name of a parameter of the weights, a pattern of several that move together, or the name of an option.';
comment on column tune_parameter.start is 'Value it starts from (of several that move together: 0, what is added to each).';
comment on column tune_parameter.low is 'Least value.';
comment on column tune_parameter.high is 'Largest value.';
comment on column tune_parameter.c_end is 'Step of the players to either side at the end of the plan.';
comment on column tune_parameter.r_end is 'Learning rate at the end of the plan.';

create table tune_batch (
    experiment_id bigint not null references tune (experiment_id) on delete cascade,
    batch_no bigint not null check (batch_no >= 0),
    weights_a bytea not null check (octet_length(weights_a) = 32),
    weights_b bytea not null check (octet_length(weights_b) = 32),
    options_a text not null default '' check (octet_length(options_a) < 1024),
    options_b text not null default '' check (octet_length(options_b) < 1024),
    won integer check (won >= 0),
    lost integer check (lost >= 0),
    theta double precision[],
    applied_at timestamptz,
    primary key (experiment_id, batch_no),
    constraint tune_batch_applied check ((won is null) = (lost is null) and (won is null) = (applied_at is null)),
    constraint tune_batch_theta check (theta is null or won is not null)
);
create index tune_batch_kept on tune_batch (experiment_id, batch_no) where theta is not null;
create index tune_batch_weights_a on tune_batch (weights_a);
create index tune_batch_weights_b on tune_batch (weights_b);
comment on table tune_batch is 'Batches of the tunes whose players are known, each with its result once its pairs are counted.';
comment on column tune_batch.experiment_id is 'The tune.';
comment on column tune_batch.batch_no is 'Batch b is the pairs from b * batch_pairs on.';
comment on column tune_batch.weights_a is 'Weights of player a in this batch, by sha256; made again from theta when they are wanted.';
comment on column tune_batch.weights_b is 'Weights of player b.';
comment on column tune_batch.options_a is 'Options of player a, one `Name=Value` a line.';
comment on column tune_batch.options_b is 'Options of player b.';
comment on column tune_batch.won is 'Games that player a won; null = not all counted yet.';
comment on column tune_batch.lost is 'Games that player a lost.';
comment on column tune_batch.theta is 'All parameters once this batch is applied. Of n applied batches the latest 256 are kept and every step-th before, step the least power of two that leaves at most 256; null = thinned (or not applied yet): it follows from the one kept before and the results.';
comment on column tune_batch.applied_at is 'When it was applied.';

create view tune_now as
select p.experiment_id, p.number, p.name, p.start, b.theta[p.number + 1] as value, p.low, p.high,
    b.theta[p.number + 1] - p.start as change, p.c_end, p.r_end, b.batch_no + 1 as batches
from tune_parameter p
    cross join lateral (
        select batch_no, theta from tune_batch t
        where t.experiment_id = p.experiment_id and t.theta is not null
        order by batch_no desc limit 1) b;
comment on view tune_now is 'Where each parameter of a tune stands after the latest applied batch; no row before the first.';
comment on column tune_now.experiment_id is 'The tune.';
comment on column tune_now.number is 'Number of the parameter.';
comment on column tune_now.name is 'Its name.';
comment on column tune_now.start is 'Where it started.';
comment on column tune_now.value is 'Where it stands.';
comment on column tune_now.low is 'Least value.';
comment on column tune_now.high is 'Largest value.';
comment on column tune_now.change is 'Value minus start.';
comment on column tune_now.c_end is 'Step of the players at the end.';
comment on column tune_now.r_end is 'Learning rate at the end.';
comment on column tune_now.batches is 'Batches applied.';

create view tune_history as
select b.experiment_id, b.batch_no, (b.batch_no + 1) * t.batch_pairs as pairs, p.name,
    b.theta[p.number + 1] as value, b.won, b.lost, b.applied_at
from tune_batch b
    join tune t on t.experiment_id = b.experiment_id
    join tune_parameter p on p.experiment_id = b.experiment_id
where b.theta is not null;
comment on view tune_history is 'Values of the parameters over time, as far as they are kept.';
comment on column tune_history.experiment_id is 'The tune.';
comment on column tune_history.batch_no is 'Batch after which it had this value.';
comment on column tune_history.pairs is 'Pairs applied by then.';
comment on column tune_history.name is 'Name of the parameter.';
comment on column tune_history.value is 'Its value.';
comment on column tune_history.won is 'Games of the batch that player a won.';
comment on column tune_history.lost is 'Games that player a lost.';
comment on column tune_history.applied_at is 'When the batch was applied.';

-- In a tune the players are those of the pair's batch: a fault without its parameters says little.
create view fault_player as
select f.id,
    coalesce(case f.side when 'a' then b.weights_a when 'b' then b.weights_b end, p.weights_sha256) as weights_sha256,
    coalesce(case f.side when 'a' then b.options_a when 'b' then b.options_b end,
        (select string_agg(o, E'\n' order by n) from jsonb_array_elements_text(p.options -> 'set') with ordinality s (o, n)),
        '') as options
from fault f
    join experiment e on e.id = f.experiment_id
    left join player p on p.id = case f.side when 'a' then e.player_a when 'b' then e.player_b end
    left join tune t on t.experiment_id = f.experiment_id
    left join tune_batch b on b.experiment_id = f.experiment_id and b.batch_no = f.pair_no / t.batch_pairs;
comment on view fault_player is 'What the player of a fault played with: of a tune the parameters of its batch.';
comment on column fault_player.id is 'Number of the fault.';
comment on column fault_player.weights_sha256 is 'Its weights; null = side not known.';
comment on column fault_player.options is 'Its options, one `Name=Value` a line.';

grant select on tune, tune_parameter, tune_batch, tune_now, tune_history, fault_player to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on tune, tune_parameter, tune_batch to kroo_coordinator;
grant update (tuned_sha256, tuned_options, match_id) on tune to kroo_coordinator;
grant update (won, lost, theta, applied_at) on tune_batch to kroo_coordinator;

comment on column experiment_progress.kind is 'selfplay, match or tune.';
comment on column experiment_verdict.kind is 'selfplay, match or tune.';
