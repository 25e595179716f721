-- Kroo's tables: what was asked for, who played it, every game, and what was concluded.
-- Applied in one transaction by sql/migrate.c as a role that may create roles and schemas.

do $$
declare
    role_name text;
    login text;
begin
    foreach role_name in array array['kroo_owner', 'kroo_coordinator', 'kroo_trainer', 'kroo_reader'] loop
        login := case when role_name = 'kroo_owner' then 'nologin' else 'login' end;
        begin
            if not exists (select from pg_roles where rolname = role_name) then
                execute format('create role %I %s', role_name, login);
            end if;
        exception when duplicate_object then
            null; -- another database of this cluster was migrated at the same moment
        end;
    end loop;
    -- Without superuser rights the tables can only be given to a role one is a member of.
    if not (select rolsuper from pg_roles where rolname = current_user) then
        execute format('grant kroo_owner to %I', current_user);
    end if;
end
$$;

create schema if not exists kroo;
alter schema kroo owner to kroo_owner;
set local role kroo_owner;
set local search_path = kroo, pg_temp;
comment on schema kroo is 'Oware played, learned and proved: see sql/README.md.';

create table migration (
    number integer primary key check (number > 0),
    name text not null,
    sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    applied_at timestamptz not null default now()
);
comment on table migration is 'The migrations applied to this schema; a changed or unknown one is refused.';
comment on column migration.number is 'The number the file name starts with.';
comment on column migration.name is 'File name without folder.';
comment on column migration.sha256 is 'Hex sha256 of the file''s text.';
comment on column migration.applied_at is 'When it was applied.';

create table rule_set (
    name text primary key,
    summary text not null,
    slam text not null check (slam in ('captures-nothing', 'void-at-six', 'illegal', 'rest-to-opponent', 'keep-last',
        'keep-first', 'allowed', 'last-resort')),
    feeding text not null check (feeding in ('must', 'none', 'if-any')),
    leftovers text not null check (leftovers in ('own-row', 'stay')),
    stop_leftovers text not null check (stop_leftovers in ('own-row', 'stay')),
    repetitions integer not null check (repetitions between 0 and 1000),
    quiet_limit integer not null check (quiet_limit between 0 and 10000),
    unfed_loses boolean not null
);
comment on table rule_set is 'The preset rule sets; an experiment names one, perhaps with overrides.';
comment on column rule_set.name is 'Name of the preset, the part of `rules` before the first comma.';
comment on column rule_set.summary is 'What sets it apart, for people.';
comment on column rule_set.slam is 'What happens to a capture that would take every seed of the opponent.';
comment on column rule_set.feeding is 'Duty to feed an empty opponent: must, none, or if-any move leaves it a seed.';
comment on column rule_set.leftovers is 'Seeds on the board when nobody can move: own-row (each side takes its own) or stay.';
comment on column rule_set.stop_leftovers is 'The same on repetition or quiet limit.';
comment on column rule_set.repetitions is 'Occurrences of a position that end the game; 0 = never.';
comment on column rule_set.quiet_limit is 'Plies without a capture that end the game; 0 = never.';
comment on column rule_set.unfed_loses is 'At any end, two seeds or more facing an empty row lose, before the score is looked at.';

insert into rule_set (name, slam, feeding, leftovers, stop_leftovers, repetitions, quiet_limit, unfed_loses, summary)
values
    ('site', 'captures-nothing', 'must', 'own-row', 'own-row', 3, 500, false,
     'grand slams capture nothing; an empty opponent must be fed; threefold repetition; 500 quiet plies'),
    ('international', 'captures-nothing', 'must', 'own-row', 'own-row', 3, 0, false,
     'as site, without the limit of quiet plies'),
    ('school', 'captures-nothing', 'none', 'own-row', 'stay', 0, 200, false,
     'no duty to feed; an empty row at the start of a turn ends the game; 200 quiet plies, then stores stay'),
    ('ghana', 'void-at-six', 'must', 'own-row', 'own-row', 3, 0, false,
     'a slam is void only when it would take all six houses; threefold repetition'),
    ('togo', 'void-at-six', 'must', 'own-row', 'own-row', 3, 0, true,
     'as ghana; at any end a side with two seeds or more facing an empty row loses'),
    ('auale', 'captures-nothing', 'must', 'own-row', 'own-row', 2, 0, false,
     'as site, ended by the first repetition, without the limit of quiet plies'),
    ('slam-illegal', 'illegal', 'must', 'own-row', 'own-row', 3, 500, false,
     'as site; a grand slam is no legal move'),
    ('slam-rest-to-opponent', 'rest-to-opponent', 'must', 'own-row', 'own-row', 3, 500, false,
     'as site; a grand slam captures and what is left on the board goes to the opponent'),
    ('slam-keep-last', 'keep-last', 'must', 'own-row', 'own-row', 3, 500, false,
     'as site; a grand slam captures all but the house of the last seed'),
    ('slam-keep-first', 'keep-first', 'must', 'own-row', 'own-row', 3, 500, false,
     'as site; a grand slam captures all but the captured house nearest to a (A)'),
    ('slam-allowed', 'allowed', 'must', 'own-row', 'own-row', 3, 500, false,
     'as site; a grand slam captures everything'),
    ('awari', 'last-resort', 'if-any', 'own-row', 'own-row', 0, 0, false,
     'a move must leave the opponent a seed if any move does; no end by repetition: for endgame tables');

-- No key that opens anything is stored in this database: public halves only.
create table peer (
    public_key text primary key check (public_key ~ '^[0-9a-zA-Z.:+=^!/*?&<>()\[\]{}@%$#-]{40}$'),
    name text not null check (name <> '' and octet_length(name) < 64),
    role text not null check (role in ('worker', 'operator', 'viewer')),
    allowed_at timestamptz not null default now(),
    allowed_by text not null,
    revoked_at timestamptz,
    revoked_by text,
    constraint peer_revoked_by_somebody check ((revoked_at is null) = (revoked_by is null))
);
comment on table peer is 'The allow-list: who may speak to the coordinator.';
comment on column peer.public_key is 'CURVE public key in z85, 40 letters.';
comment on column peer.name is 'Name given by the operator.';
comment on column peer.role is 'What the key may do: worker (take leases), operator (everything), viewer (look).';
comment on column peer.allowed_at is 'When it was (last) allowed.';
comment on column peer.allowed_by is 'Who allowed it.';
comment on column peer.revoked_at is 'When it was revoked; null = allowed.';
comment on column peer.revoked_by is 'Who revoked it; null = allowed.';

create table engine_build (
    name text primary key check (name <> '' and octet_length(name) < 64),
    first_seen_at timestamptz not null default now()
);
comment on table engine_build is 'Builds of the engine that play: equal sources have equal names.';
comment on column engine_build.name is 'Name and digest of the engine''s sources.';
comment on column engine_build.first_seen_at is 'When this database first met it.';

create table artifact (
    sha256 bytea primary key check (octet_length(sha256) = 32),
    kind text not null check (kind in ('weights', 'engine', 'book', 'table')),
    size bigint not null check (size > 0),
    content bytea not null,
    stored_at timestamptz not null default now(),
    constraint artifact_size check (octet_length(content) = size),
    constraint artifact_sha256 check (sha256(content) = sha256)
);
alter table artifact alter column content set storage external;
comment on table artifact is 'Files that travel by content: weights, engine builds, books, endgame tables.';
comment on column artifact.sha256 is 'sha256 of the content: its name.';
comment on column artifact.kind is 'weights, engine, book or table.';
comment on column artifact.size is 'Bytes.';
comment on column artifact.content is 'The file.';
comment on column artifact.stored_at is 'When it was stored.';

create table training_run (
    id bigint generated always as identity primary key,
    state text not null check (state in ('finished', 'refused', 'failed')),
    started_at timestamptz not null,
    finished_at timestamptz not null default now(),
    rules text not null,
    kind text not null check (kind in ('table', 'net', 'features')),
    seed numeric(20, 0) not null check (seed between 0 and 18446744073709551615),
    threads integer not null check (threads > 0),
    core_type text not null,
    blas text not null,
    trainer_build text not null,
    parent_sha256 bytea check (octet_length(parent_sha256) = 32),
    weights_sha256 bytea check (octet_length(weights_sha256) = 32),
    data_sha256 bytea check (octet_length(data_sha256) = 32),
    lambda double precision not null check (lambda between 0 and 1),
    ridge double precision not null check (ridge >= 0 and ridge < 'infinity'),
    scale double precision check (scale > 0 and scale < 'infinity'),
    options jsonb not null default '{}' check (jsonb_typeof(options) = 'object'),
    manifest jsonb not null check (jsonb_typeof(manifest) = 'array'),
    games bigint not null check (games >= 0),
    positions bigint not null check (positions >= 0),
    rows_merged bigint not null check (rows_merged between 0 and positions),
    train_loss_before double precision,
    train_loss_after double precision,
    validation_loss_before double precision,
    validation_loss_after double precision,
    validation_gain_se double precision,
    curve jsonb not null default '[]' check (jsonb_typeof(curve) = 'array'),
    reason text not null default '',
    constraint training_run_times check (finished_at >= started_at),
    constraint training_run_made_weights check ((state = 'finished') = (weights_sha256 is not null)),
    constraint training_run_refused_why check (state = 'finished' or reason <> '')
);
create index training_run_weights on training_run (weights_sha256);
comment on table training_run is 'Fits, with everything needed to repeat one and get the same file; inserted when a fit ends.';
comment on column training_run.id is 'Number of the run.';
comment on column training_run.state is 'finished (weights were made), refused (bad data or no gain), failed (an error).';
comment on column training_run.started_at is 'When it started.';
comment on column training_run.finished_at is 'When it ended.';
comment on column training_run.rules is 'Canonical text of the rule set of all its games.';
comment on column training_run.kind is 'Kind of weights fitted: table, net or features.';
comment on column training_run.seed is 'Seed of the split and of every random choice.';
comment on column training_run.threads is 'Number of threads.';
comment on column training_run.core_type is 'Processor type the linear algebra library chose its kernels for.';
comment on column training_run.blas is 'Name, version and configuration of that library.';
comment on column training_run.trainer_build is 'Name and digest of the trainer''s sources.';
comment on column training_run.parent_sha256 is 'Weights it started from or was compared with; null = none.';
comment on column training_run.weights_sha256 is 'Weights it made; null unless finished.';
comment on column training_run.data_sha256 is 'sha256 of the training data as read, in order; null when none was read.';
comment on column training_run.lambda is 'Share of the result in the target; the rest is the search score.';
comment on column training_run.ridge is 'Ridge added to the diagonal.';
comment on column training_run.scale is 'Hundredths of a seed in one unit of log odds, as fitted on (score, result).';
comment on column training_run.options is 'Every other option: filters, caps, iterations.';
comment on column training_run.manifest is 'The closed set of data: array of {experiment, first_pair, pair_count}.';
comment on column training_run.games is 'Games read.';
comment on column training_run.positions is 'Positions used, before merging.';
comment on column training_run.rows_merged is 'Distinct positions, the rows of the fit.';
comment on column training_run.train_loss_before is 'Mean loss of the parent on the training games.';
comment on column training_run.train_loss_after is 'Mean loss of the new weights on the training games.';
comment on column training_run.validation_loss_before is 'Mean loss of the parent on the validation games.';
comment on column training_run.validation_loss_after is 'Mean loss of the new weights on the validation games.';
comment on column training_run.validation_gain_se is 'Standard error, by game, of the paired difference before - after on the validation games.';
comment on column training_run.curve is 'Losses step by step, for a plot.';
comment on column training_run.reason is 'Why it was refused or failed; empty otherwise.';

create table weights (
    number bigint generated always as identity primary key,
    sha256 bytea not null unique references artifact (sha256),
    kind text check (kind in ('table', 'net', 'features')),
    rules text check (rules <> '' and octet_length(rules) < 160),
    rule_set text generated always as (split_part(rules, ',', 1)) stored references rule_set (name),
    name text not null default '' check (octet_length(name) < 64),
    parent_sha256 bytea check (octet_length(parent_sha256) = 32),
    training_run_id bigint references training_run (id),
    stored_at timestamptz not null default now(),
    constraint weights_not_own_parent check (parent_sha256 <> sha256)
);
create index weights_name on weights (name) where name <> '';
create index weights_parent on weights (parent_sha256);
-- A run and its weights name each other; both are there at COMMIT.
alter table training_run add foreign key (weights_sha256) references weights (sha256) deferrable initially deferred;
comment on table weights is 'Weights of evaluations, by number and by hash.';
comment on column weights.number is 'Short number for people.';
comment on column weights.sha256 is 'sha256 of the weights file, in `artifact`.';
comment on column weights.kind is 'table, net or features.';
comment on column weights.rules is 'Canonical text of the rule set they were made for.';
comment on column weights.rule_set is 'Its preset.';
comment on column weights.name is 'Name given by a user; empty = none. Need not be unique.';
comment on column weights.parent_sha256 is 'Weights they were fitted from; may be unknown here. null = none.';
comment on column weights.training_run_id is 'The fit that made them; null = brought from elsewhere.';
comment on column weights.stored_at is 'When they were stored.';

create table player (
    id bigint generated always as identity primary key,
    engine_build text not null references engine_build (name),
    weights_sha256 bytea not null references weights (sha256),
    options jsonb not null check (jsonb_typeof(options) = 'object'),
    unique (engine_build, weights_sha256, options)
);
comment on table player is 'Players: an engine build, weights and options, each once.';
comment on column player.id is 'Number of the player.';
comment on column player.engine_build is 'The engine that plays.';
comment on column player.weights_sha256 is 'The weights it plays with.';
comment on column player.options is 'Its limits: nodes, depth, time_ms of a move (0 = none) and hash_kib of the transposition table.';

create table experiment (
    id bigint generated always as identity primary key,
    kind text not null check (kind in ('selfplay', 'match')),
    state text not null default 'running' check (state in ('running', 'finished', 'stopped', 'blocked')),
    state_reason text not null default '',
    rules text not null check (octet_length(rules) < 160),
    rule_set text generated always as (split_part(rules, ',', 1)) stored references rule_set (name),
    seed numeric(20, 0) not null check (seed between 0 and 18446744073709551615),
    opening_plies integer not null check (opening_plies between 0 and 64),
    noise_ppm integer not null check (noise_ppm between 0 and 1000000),
    player_a bigint not null references player (id),
    player_b bigint not null references player (id),
    planned_pairs bigint not null check (planned_pairs > 0),
    sprt_model text check (sprt_model in ('normalized', 'logistic')),
    elo0 double precision,
    elo1 double precision,
    alpha double precision,
    beta double precision,
    batch integer,
    with_scores boolean not null,
    priority integer not null default 0,
    idempotency_key text unique check (idempotency_key <> '' and octet_length(idempotency_key) < 64),
    note text not null default '' check (octet_length(note) < 512),
    created_by text not null default '' check (octet_length(created_by) < 64),
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    constraint experiment_sprt_whole check (num_nulls(sprt_model, elo0, elo1, alpha, beta, batch) in (0, 6)),
    constraint experiment_sprt_is_a_match check (sprt_model is null or kind = 'match'),
    constraint experiment_sprt_bounds check (sprt_model is null or (elo0 < elo1 and elo0 >= -1000 and elo1 <= 1000)),
    constraint experiment_sprt_errors check (sprt_model is null or (alpha > 0 and beta > 0 and alpha + beta < 1)),
    constraint experiment_sprt_batch check (batch > 0),
    constraint experiment_blocked_why check (state <> 'blocked' or state_reason <> ''),
    constraint experiment_ended check ((ended_at is not null) = (state in ('finished', 'stopped')))
);
create index experiment_open on experiment (id) where state in ('running', 'blocked');
create index experiment_player_a on experiment (player_a);
create index experiment_player_b on experiment (player_b);
comment on table experiment is 'What was asked for: an immutable specification, and its state.';
comment on column experiment.id is 'Number of the experiment.';
comment on column experiment.kind is 'selfplay (games to learn from) or match (player a against player b).';
comment on column experiment.state is 'running, finished (it has its verdict), stopped (by a user), blocked (cannot go on: state_reason).';
comment on column experiment.state_reason is 'Why it is in this state, where there is something to say.';
comment on column experiment.rules is 'Canonical text of the rule set.';
comment on column experiment.rule_set is 'Its preset.';
comment on column experiment.seed is 'Openings and random choices of pair k are a pure function of (seed, k).';
comment on column experiment.opening_plies is 'Random plies at the start of a pair.';
comment on column experiment.noise_ppm is 'Share of later plies played at random, in millionths.';
comment on column experiment.player_a is 'Player a: South in leg 0. Scores are from its view.';
comment on column experiment.player_b is 'Player b: South in leg 1; the same as a in self-play.';
comment on column experiment.planned_pairs is 'Pairs to play; under a sequential test the most there can be.';
comment on column experiment.sprt_model is 'Elo scale of the sequential test: normalized or logistic; null = no test.';
comment on column experiment.elo0 is 'Hypothesis 0: player a is this much stronger.';
comment on column experiment.elo1 is 'Hypothesis 1.';
comment on column experiment.alpha is 'Probability of accepting under hypothesis 0.';
comment on column experiment.beta is 'Probability of rejecting under hypothesis 1.';
comment on column experiment.batch is 'Pairs between two evaluations of the test.';
comment on column experiment.with_scores is 'The games carry the search score of each ply.';
comment on column experiment.priority is 'Higher is served first.';
comment on column experiment.idempotency_key is 'Sent by the client so that asking twice creates one experiment.';
comment on column experiment.note is 'Free text.';
comment on column experiment.created_by is 'Who asked for it.';
comment on column experiment.created_at is 'When.';
comment on column experiment.ended_at is 'When it was finished or stopped.';

create table experiment_counter (
    experiment_id bigint primary key references experiment (id),
    games_stored bigint not null default 0,
    prefix_pairs bigint not null default 0,
    ll bigint not null default 0 check (ll >= 0),
    ld bigint not null default 0 check (ld >= 0),
    dd bigint not null default 0 check (dd >= 0),
    wl bigint not null default 0 check (wl >= 0),
    dw bigint not null default 0 check (dw >= 0),
    ww bigint not null default 0 check (ww >= 0),
    wins bigint not null default 0,
    draws bigint not null default 0,
    losses bigint not null default 0,
    llr double precision not null default 0 check (llr > '-infinity' and llr < 'infinity'),
    updated_at timestamptz not null default now(),
    constraint experiment_counter_pairs check (ll + ld + dd + wl + dw + ww = prefix_pairs),
    constraint experiment_counter_wins check (wins = 2 * ww + dw + wl),
    constraint experiment_counter_draws check (draws = ld + dw + 2 * dd),
    constraint experiment_counter_losses check (losses = 2 * ll + ld + wl),
    constraint experiment_counter_stored check (games_stored >= 2 * prefix_pairs)
) with (fillfactor = 50);
comment on table experiment_counter is 'Counters of the prefix that counts, written in the transaction that stores the games; see verify_counters().';
comment on column experiment_counter.experiment_id is 'The experiment.';
comment on column experiment_counter.games_stored is 'Rows in `game`, counted or not.';
comment on column experiment_counter.prefix_pairs is 'Pairs that count: finished, without a gap, from pair 0.';
comment on column experiment_counter.ll is 'Pairs player a lost twice.';
comment on column experiment_counter.ld is 'Pairs with a loss and a draw of player a.';
comment on column experiment_counter.dd is 'Pairs drawn twice.';
comment on column experiment_counter.wl is 'Pairs with a win and a loss: the opening decided.';
comment on column experiment_counter.dw is 'Pairs with a draw and a win of player a.';
comment on column experiment_counter.ww is 'Pairs player a won twice.';
comment on column experiment_counter.wins is 'Games of these pairs won by player a.';
comment on column experiment_counter.draws is 'Games of these pairs drawn.';
comment on column experiment_counter.losses is 'Games of these pairs lost by player a.';
comment on column experiment_counter.llr is 'Log likelihood ratio of the sequential test at its last evaluation; 0 without a test.';
comment on column experiment_counter.updated_at is 'When they last changed.';

create table session (
    id bigint primary key check (id > 0),
    peer text not null check (peer <> ''),
    name text not null,
    engine_build text not null,
    slots integer not null check (slots >= 0),
    started_at timestamptz not null default now(),
    ended_at timestamptz
);
create index session_peer on session (peer);
comment on table session is 'Workers'' sessions with the coordinator.';
comment on column session.id is 'Number of the session, given by the coordinator.';
comment on column session.peer is 'Who it is: the public key in z85, `local` or `loopback`.';
comment on column session.name is 'The name the worker gives itself.';
comment on column session.engine_build is 'The engine it plays with.';
comment on column session.slots is 'Games it plays at once.';
comment on column session.started_at is 'When it said hello.';
comment on column session.ended_at is 'When it said goodbye or was given up; null = open.';

create table lease (
    id bigint primary key check (id > 0),
    experiment_id bigint not null references experiment (id),
    first_pair bigint not null check (first_pair >= 0),
    pair_count integer not null check (pair_count > 0),
    attempt integer not null check (attempt > 0),
    session_id bigint not null references session (id),
    state text not null default 'open' check (state in ('open', 'done', 'expired', 'released')),
    granted_at timestamptz not null default now(),
    ended_at timestamptz,
    constraint lease_ended check ((ended_at is null) = (state = 'open'))
) with (fillfactor = 70);
create index lease_open on lease (id) where state = 'open';
create index lease_range on lease (experiment_id, first_pair);
create index lease_session on lease (session_id);
comment on table lease is 'Ranges of pairs handed to sessions.';
comment on column lease.id is 'Number of the lease, given by the coordinator.';
comment on column lease.experiment_id is 'The experiment.';
comment on column lease.first_pair is 'First pair of the range.';
comment on column lease.pair_count is 'Pairs in the range.';
comment on column lease.attempt is 'How many times these pairs have been handed out, this time included.';
comment on column lease.session_id is 'The session they were handed to.';
comment on column lease.state is 'open, done (all results came), expired (no progress), released (given back).';
comment on column lease.granted_at is 'When it was granted.';
comment on column lease.ended_at is 'When it ended; null = open.';

-- The fact table. Each experiment has a partition of its own, made by game_partition_create(). The primary key
-- carries what the statistics views need, so that they read the index and not the games.
create table game (
    experiment_id bigint not null,
    pair_no bigint not null,
    leg smallint not null,
    attempt integer not null,
    lease_id bigint not null,
    session_id bigint not null,
    moves text collate "C" not null,
    plies integer not null,
    scores bytea,
    result text collate "C" not null,
    reason text collate "C" not null,
    south smallint not null,
    north smallint not null,
    a_half_points smallint not null,
    claimed boolean not null,
    nodes bigint not null,
    time_ms integer not null,
    stored_at timestamptz not null default now(),
    first_move text collate "C" not null generated always as (left(moves, 1)) stored,
    primary key (experiment_id, pair_no, leg)
        include (a_half_points, plies, south, north, claimed, result, reason, first_move),
    constraint game_pair_no check (pair_no >= 0),
    constraint game_leg check (leg in (0, 1)),
    constraint game_attempt check (attempt > 0),
    constraint game_plies check (plies = octet_length(moves) and plies <= 16384),
    constraint game_moves check (moves ~ '^(?:[A-F][a-f])*[A-F]?$'),
    constraint game_scores check (octet_length(scores) = 2 * plies),
    constraint game_seeds check (south >= 0 and north >= 0 and south + north <= 48),
    constraint game_result check (result in ('south', 'north', 'draw')),
    constraint game_reason check (
        case
            when reason = 'majority' then greatest(south, north) >= 25
            when reason = 'even' then south = 24 and north = 24
            when reason in ('unfed', 'resign', 'deadline', 'illegal-move', 'crash') then result <> 'draw'
            else reason in ('no-move', 'repetition', 'quiet-limit', 'agreed')
        end),
    constraint game_result_by_stores check (
        reason in ('unfed', 'resign', 'deadline', 'illegal-move', 'crash')
        or result = case when south > north then 'south' when south < north then 'north' else 'draw' end),
    constraint game_claimed check (
        claimed = (reason in ('agreed', 'resign', 'deadline', 'illegal-move', 'crash'))),
    constraint game_half_points check (
        a_half_points = case when result = 'draw' then 1 when (result = 'south') = (leg = 0) then 2 else 0 end),
    constraint game_cost check (nodes >= 0 and time_ms >= 0)
) partition by range (experiment_id);
-- SP-GiST and not a B-tree: a B-tree refuses entries above a third of a page, and games of 5,000 plies are ordinary.
create index game_moves on game using spgist (moves);
comment on table game is 'Every game, one row each; one partition for each experiment. Counted games: view game_counted.';
comment on column game.experiment_id is 'The experiment.';
comment on column game.pair_no is 'The pair, from 0.';
comment on column game.leg is '0: player a is South; 1: player b is South.';
comment on column game.attempt is 'Attempt number of the lease it came from.';
comment on column game.lease_id is 'The lease it came from; 0 = none.';
comment on column game.session_id is 'The session that played it; 0 = none.';
comment on column game.moves is 'The moves as letters, South''s A..F and North''s a..f in turn: like ''FcE%'' uses an index.';
comment on column game.plies is 'Number of moves.';
comment on column game.scores is 'The mover''s search score of each ply, int16 little-endian in hundredths of a seed; -32768 = none. null = not asked for.';
comment on column game.result is 'south, north or draw, as the coordinator''s replay computed it.';
comment on column game.reason is 'How it ended: majority, even, no-move, repetition, quiet-limit, unfed; claimed: agreed, resign, deadline, illegal-move, crash.';
comment on column game.south is 'Seeds in South''s store at the end, leftovers taken.';
comment on column game.north is 'Seeds in North''s store at the end, leftovers taken.';
comment on column game.a_half_points is 'Player a''s score: 0 lost, 1 drawn, 2 won.';
comment on column game.claimed is 'The ending is one no replay can show.';
comment on column game.nodes is 'Search nodes of both players.';
comment on column game.time_ms is 'Wall-clock time of the game.';
comment on column game.stored_at is 'When the transaction that stored it began.';
comment on column game.first_move is 'South''s first move, in the primary key''s index for first_move_score.';

create table dispute (
    id bigint generated always as identity primary key,
    experiment_id bigint not null references experiment (id),
    pair_no bigint not null check (pair_no >= 0),
    state text not null default 'open' check (state in ('open', 'settled')),
    was_counted boolean not null,
    reason text not null,
    opened_at timestamptz not null default now(),
    settled_at timestamptz,
    settlement text,
    unique (experiment_id, pair_no),
    constraint dispute_settled check ((state = 'settled') = (settled_at is not null and settlement is not null))
);
create index dispute_open on dispute (experiment_id, pair_no) where state = 'open';
comment on table dispute is 'Pairs with two different contents for one game; the prefix waits for them.';
comment on column dispute.id is 'Number of the dispute.';
comment on column dispute.experiment_id is 'The experiment.';
comment on column dispute.pair_no is 'The pair.';
comment on column dispute.state is 'open or settled.';
comment on column dispute.was_counted is 'The prefix had passed the pair when the dispute was opened, so it does not wait for it.';
comment on column dispute.reason is 'What differed.';
comment on column dispute.opened_at is 'When it was opened.';
comment on column dispute.settled_at is 'When it was settled.';
comment on column dispute.settlement is 'How it was settled.';

create table dispute_run (
    dispute_id bigint not null references dispute (id),
    leg smallint not null check (leg in (0, 1)),
    session_id bigint not null,
    attempt integer not null,
    content_sha256 bytea not null check (octet_length(content_sha256) = 32),
    lease_id bigint not null,
    moves text collate "C" not null,
    scores bytea,
    result text not null,
    reason text not null,
    south smallint not null,
    north smallint not null,
    a_half_points smallint not null,
    claimed boolean not null,
    nodes bigint not null,
    time_ms integer not null,
    recorded_at timestamptz not null default now(),
    primary key (dispute_id, leg, session_id, attempt, content_sha256)
);
comment on table dispute_run is 'Every run of a disputed pair''s games: the stored one, those that differ, those that agree.';
comment on column dispute_run.dispute_id is 'The dispute.';
comment on column dispute_run.leg is 'The game of the pair.';
comment on column dispute_run.session_id is 'The session that played this run.';
comment on column dispute_run.attempt is 'Attempt number of its lease.';
comment on column dispute_run.content_sha256 is 'sha256 over moves, scores, result, reason, stores and claim: runs agree when equal.';
comment on column dispute_run.lease_id is 'The lease it came from.';
comment on column dispute_run.moves is 'As in game.';
comment on column dispute_run.scores is 'As in game.';
comment on column dispute_run.result is 'As in game.';
comment on column dispute_run.reason is 'As in game.';
comment on column dispute_run.south is 'As in game.';
comment on column dispute_run.north is 'As in game.';
comment on column dispute_run.a_half_points is 'As in game.';
comment on column dispute_run.claimed is 'As in game.';
comment on column dispute_run.nodes is 'As in game.';
comment on column dispute_run.time_ms is 'As in game.';
comment on column dispute_run.recorded_at is 'When it was recorded.';

create table verdict (
    experiment_id bigint primary key references experiment (id),
    verdict text not null check (verdict in ('accepted', 'rejected', 'undecided', 'aborted')),
    games_stored bigint not null,
    counted_pairs bigint not null,
    ll bigint not null check (ll >= 0),
    ld bigint not null check (ld >= 0),
    dd bigint not null check (dd >= 0),
    wl bigint not null check (wl >= 0),
    dw bigint not null check (dw >= 0),
    ww bigint not null check (ww >= 0),
    wins bigint not null,
    draws bigint not null,
    losses bigint not null,
    count_order text not null default 'LL,LD,DD,WL,DW,WW',
    sprt_model text,
    elo0 double precision,
    elo1 double precision,
    alpha double precision,
    beta double precision,
    batch integer,
    llr double precision check (llr > '-infinity' and llr < 'infinity'),
    lower double precision,
    upper double precision,
    elo double precision,
    elo_lo double precision,
    elo_hi double precision,
    nelo double precision,
    los double precision check (los between 0 and 1),
    formula_version integer not null check (formula_version > 0),
    by text not null default '',
    reason text not null default '',
    written_at timestamptz not null default now(),
    constraint verdict_pairs check (ll + ld + dd + wl + dw + ww = counted_pairs),
    constraint verdict_wins check (wins = 2 * ww + dw + wl),
    constraint verdict_draws check (draws = ld + dw + 2 * dd),
    constraint verdict_losses check (losses = 2 * ll + ld + wl),
    constraint verdict_stored check (games_stored >= 2 * counted_pairs),
    constraint verdict_sprt_whole check (
        num_nulls(sprt_model, elo0, elo1, alpha, beta, batch, llr, lower, upper) in (0, 9)),
    constraint verdict_by_test check (verdict not in ('accepted', 'rejected') or sprt_model is not null),
    constraint verdict_aborted_by check ((verdict = 'aborted') = (by <> ''))
);
comment on table verdict is 'How an experiment ended: written once, never changed.';
comment on column verdict.experiment_id is 'The experiment.';
comment on column verdict.verdict is 'accepted, rejected (by the sequential test), undecided (pair limit reached), aborted (by a user).';
comment on column verdict.games_stored is 'Rows in `game` when it was written.';
comment on column verdict.counted_pairs is 'Pairs 0 .. counted_pairs - 1 count, no others.';
comment on column verdict.ll is 'Pairs player a lost twice.';
comment on column verdict.ld is 'Pairs with a loss and a draw of player a.';
comment on column verdict.dd is 'Pairs drawn twice.';
comment on column verdict.wl is 'Pairs with a win and a loss: the opening decided.';
comment on column verdict.dw is 'Pairs with a draw and a win of player a.';
comment on column verdict.ww is 'Pairs player a won twice.';
comment on column verdict.wins is 'Games of these pairs won by player a.';
comment on column verdict.draws is 'Games of these pairs drawn.';
comment on column verdict.losses is 'Games of these pairs lost by player a.';
comment on column verdict.count_order is 'Order of the six counts in every formula.';
comment on column verdict.sprt_model is 'Elo scale of the test; null = no test.';
comment on column verdict.elo0 is 'Hypothesis 0 of the test.';
comment on column verdict.elo1 is 'Hypothesis 1 of the test.';
comment on column verdict.alpha is 'Error probability of the test under hypothesis 0.';
comment on column verdict.beta is 'Error probability of the test under hypothesis 1.';
comment on column verdict.batch is 'Pairs between two evaluations of the test.';
comment on column verdict.llr is 'Log likelihood ratio at the last evaluation.';
comment on column verdict.lower is 'The test rejects at or below this.';
comment on column verdict.upper is 'The test accepts at or above this.';
comment on column verdict.elo is 'Estimate of player a''s lead in logistic Elo; biased after a sequential test. null = not estimated.';
comment on column verdict.elo_lo is 'Lower end of its 95 % interval.';
comment on column verdict.elo_hi is 'Upper end of its 95 % interval.';
comment on column verdict.nelo is 'The lead in normalized Elo.';
comment on column verdict.los is 'Likelihood that player a is the stronger.';
comment on column verdict.formula_version is 'Version of the formulas these numbers come from.';
comment on column verdict.by is 'Who aborted it; empty otherwise.';
comment on column verdict.reason is 'Remark.';
comment on column verdict.written_at is 'When it was written.';

create table promotion (
    id bigint generated always as identity primary key,
    line text not null check (line <> '' and octet_length(line) < 64),
    weights_sha256 bytea not null references weights (sha256),
    experiment_id bigint references verdict (experiment_id),
    by text not null check (by <> ''),
    reason text not null default '',
    promoted_at timestamptz not null default now()
);
create index promotion_line on promotion (line, id desc);
create unique index promotion_experiment on promotion (line, experiment_id) where experiment_id is not null;
comment on table promotion is 'Champions of the training lines, one row for each change; never changed.';
comment on column promotion.id is 'Number of the promotion: the epoch workers hear of.';
comment on column promotion.line is 'The training line.';
comment on column promotion.weights_sha256 is 'Its champion from now on.';
comment on column promotion.experiment_id is 'The match whose accepted verdict promotes; null = promoted by hand.';
comment on column promotion.by is 'Who promoted.';
comment on column promotion.reason is 'Why.';
comment on column promotion.promoted_at is 'When.';

create table event (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    kind text not null check (kind <> ''),
    experiment_id bigint,
    session_id bigint,
    text text not null
);
create index event_at on event using brin (at) with (autosummarize = on);
create index event_experiment on event (experiment_id, id) where experiment_id is not null;
comment on table event is 'The log: what happened, for people.';
comment on column event.id is 'Number of the event.';
comment on column event.at is 'When.';
comment on column event.kind is 'One word: what it is about.';
comment on column event.experiment_id is 'The experiment it concerns; null = none.';
comment on column event.session_id is 'The session it concerns; null = none.';
comment on column event.text is 'One line.';

create function refuse_change() returns trigger
language plpgsql set search_path = kroo, pg_temp as $$
begin
    raise exception '% is immutable: % refused', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end
$$;
comment on function refuse_change() is 'Trigger of the immutable tables.';
create trigger verdict_immutable before update or delete on verdict for each row execute function refuse_change();
create trigger verdict_not_emptied before truncate on verdict execute function refuse_change();
create trigger promotion_immutable before update or delete on promotion for each row execute function refuse_change();
create trigger promotion_not_emptied before truncate on promotion execute function refuse_change();

create function promotion_needs_verdict() returns trigger
language plpgsql set search_path = kroo, pg_temp as $$
declare
    outcome text;
    promotable bytea;
begin
    if new.experiment_id is null then
        return new;
    end if;
    select v.verdict, p.weights_sha256 into outcome, promotable
    from experiment e join player p on p.id = e.player_a left join verdict v on v.experiment_id = e.id
    where e.id = new.experiment_id;
    if outcome is distinct from 'accepted' then
        raise exception 'experiment % does not promote: its verdict is %', new.experiment_id,
            coalesce(outcome, 'not written') using errcode = 'check_violation';
    end if;
    if promotable <> new.weights_sha256 then
        raise exception 'experiment % promotes weights %, not %', new.experiment_id,
            left(encode(promotable, 'hex'), 12), left(encode(new.weights_sha256, 'hex'), 12)
            using errcode = 'check_violation';
    end if;
    return new;
end
$$;
comment on function promotion_needs_verdict() is 'A match promotes its player a, and only with the verdict accepted.';
create trigger promotion_by_verdict before insert on promotion for each row execute function promotion_needs_verdict();

create function game_partition_create(experiment bigint) returns text
language plpgsql security definer set search_path = kroo, pg_temp as $$
declare
    name text := format('game_%s', experiment);
begin
    if not exists (select from experiment e where e.id = game_partition_create.experiment) then
        raise exception 'experiment % is unknown', experiment using errcode = 'foreign_key_violation';
    end if;
    if to_regclass('kroo.' || name) is not null then
        return name;
    end if;
    -- Made apart and attached: that does not wait for those who read other experiments. Vacuumed early, so that
    -- index-only scans see a young experiment's pages as visible.
    execute format('create table kroo.%I (like kroo.game including defaults including generated including constraints '
        'including storage including comments) with (autovacuum_vacuum_insert_threshold = 5000, '
        'autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)', name);
    execute format('alter table kroo.game attach partition kroo.%I for values from (%s) to (%s)', name, experiment,
        experiment + 1);
    return name;
end
$$;
comment on function game_partition_create(bigint) is
    'Makes the partition of `game` for an experiment, as the owner, so that the coordinator needs no right to create tables.';

create function game_content_sha256(moves text, scores bytea, result text, reason text, south smallint, north smallint,
    claimed boolean) returns bytea
language sql immutable parallel safe set search_path = kroo, pg_temp as $$
    select sha256(sha256(coalesce(scores, '')) || convert_to(concat_ws('|', moves,
        scores is null, result, reason, south, north, claimed), 'UTF8'))
$$;
comment on function game_content_sha256(text, bytea, text, text, smallint, smallint, boolean) is
    'Hash of all that two runs of one game must have in common.';
