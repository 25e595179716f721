-- Many players: gauntlets, round robins, pools, progressions, whose every pairing is an ordinary match; and presets.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table tournament (
    id bigint generated always as identity primary key,
    name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
    kind text not null check (kind in ('gauntlet', 'roundrobin', 'pool', 'progression')),
    rules text not null check (octet_length(rules) < 160),
    specification jsonb not null check (jsonb_typeof(specification -> 'match') = 'array'),
    planned_rounds integer not null default 1 check (planned_rounds > 0),
    created_by text not null default '' check (octet_length(created_by) < 64),
    created_at timestamptz not null default now()
);
comment on table tournament is 'Tournaments: many players whose matches are rated together.';
comment on column tournament.id is 'Number of the tournament.';
comment on column tournament.name is 'Its name; part of the idempotency key of each of its matches.';
comment on column tournament.kind is 'gauntlet (the first player against each other one), roundrobin (each against each), pool (rounds where they tell most), progression (releases of a line against a fixed player).';
comment on column tournament.rules is 'Canonical text of the rule set.';
comment on column tournament.specification is 'What all its matches have in common: `match` are options of `kroo match`, the seed among them. Of a pool also `batch`, `lag`, `pairs`, `seed`. Never changed.';
comment on column tournament.planned_rounds is 'Rounds that were asked for; of a pool it may be raised.';
comment on column tournament.created_by is 'Who made it.';
comment on column tournament.created_at is 'When it was made.';

create table tournament_player (
    tournament_id bigint not null references tournament (id),
    number integer not null check (number >= 0),
    name text not null check (name <> '' and octet_length(name) < 64),
    weights_sha256 bytea not null check (octet_length(weights_sha256) = 32),
    settings jsonb not null default '[]' check (jsonb_typeof(settings) = 'array'),
    anchor_elo double precision check (anchor_elo between -100000 and 100000),
    since_round integer not null default 1 check (since_round > 0),
    added_by text not null default '' check (octet_length(added_by) < 64),
    added_at timestamptz not null default now(),
    primary key (tournament_id, number),
    unique (tournament_id, name),
    unique (tournament_id, weights_sha256, settings)
);
create unique index tournament_player_anchor on tournament_player (tournament_id) where anchor_elo is not null;
comment on table tournament_player is 'Who takes part in a tournament.';
comment on column tournament_player.tournament_id is 'The tournament.';
comment on column tournament_player.number is 'Its number in it, from 0.';
comment on column tournament_player.name is 'Its name in it.';
comment on column tournament_player.weights_sha256 is 'Its weights.';
comment on column tournament_player.settings is 'What else it has of its own, as `key=value`: nodes, depth, time, clock, engine, tables, option.';
comment on column tournament_player.anchor_elo is 'Rating that it has by definition; null = not the anchor.';
comment on column tournament_player.since_round is 'First round in which it can be paired.';
comment on column tournament_player.added_by is 'Who added it.';
comment on column tournament_player.added_at is 'When.';

create table tournament_pairing (
    tournament_id bigint not null references tournament (id),
    round integer not null check (round > 0),
    a integer not null,
    b integer not null,
    pairs bigint not null check (pairs > 0),
    experiment_id bigint references experiment (id),
    made_at timestamptz not null default now(),
    primary key (tournament_id, round, a, b),
    foreign key (tournament_id, a) references tournament_player (tournament_id, number),
    foreign key (tournament_id, b) references tournament_player (tournament_id, number),
    constraint tournament_pairing_of_two check (a <> b)
);
create index tournament_pairing_experiment on tournament_pairing (experiment_id);
comment on table tournament_pairing is 'Who meets whom, each in a match of its own.';
comment on column tournament_pairing.tournament_id is 'The tournament.';
comment on column tournament_pairing.round is 'The round, from 1; gauntlets and round robins have one.';
comment on column tournament_pairing.a is 'Number of the player that is player a of the match.';
comment on column tournament_pairing.b is 'Number of the other.';
comment on column tournament_pairing.pairs is 'Pairs of the match.';
comment on column tournament_pairing.experiment_id is 'The match; null = not made yet.';
comment on column tournament_pairing.made_at is 'When the pairing was decided.';

create view tournament_score as
select p.tournament_id, t.name as tournament, p.round, p.a, p.b, p.experiment_id, s.first, s.second, s.pairs
from tournament_pairing p
    join tournament t on t.id = p.tournament_id
    join pair_score s on s.experiment_id = p.experiment_id;
comment on view tournament_score is 'How the counted pairs of each pairing of a tournament came out: what ratings are made of.';
comment on column tournament_score.tournament_id is 'The tournament.';
comment on column tournament_score.tournament is 'Its name.';
comment on column tournament_score.round is 'The round.';
comment on column tournament_score.a is 'Number of player a.';
comment on column tournament_score.b is 'Number of player b.';
comment on column tournament_score.experiment_id is 'The match.';
comment on column tournament_score.first is 'Half points of player a (0, 1, 2) in the game where it moved first.';
comment on column tournament_score.second is 'Its half points in the game where b moved first.';
comment on column tournament_score.pairs is 'Pairs that came out so.';

create view tournament_progress as
select t.id, t.name, t.kind, t.rules,
    (select count(*) from tournament_player q where q.tournament_id = t.id) as players,
    max(p.round) as round, t.planned_rounds, count(p.tournament_id) as pairings, count(p.experiment_id) as matches,
    count(*) filter (where e.state = 'finished') as finished, count(*) filter (where e.state = 'running') as running,
    coalesce(sum(c.counted_pairs), 0)::bigint as counted_pairs, coalesce(sum(p.pairs), 0)::bigint as planned_pairs,
    t.created_by, t.created_at
from tournament t
    left join tournament_pairing p on p.tournament_id = t.id
    left join experiment e on e.id = p.experiment_id
    left join experiment_counted c on c.experiment_id = p.experiment_id
group by t.id;
comment on view tournament_progress is 'How far each tournament has come.';
comment on column tournament_progress.id is 'Number of the tournament.';
comment on column tournament_progress.name is 'Its name.';
comment on column tournament_progress.kind is 'gauntlet, roundrobin, pool or progression.';
comment on column tournament_progress.rules is 'Canonical text of the rule set.';
comment on column tournament_progress.players is 'How many take part.';
comment on column tournament_progress.round is 'Its last round; null = none yet.';
comment on column tournament_progress.planned_rounds is 'Rounds asked for.';
comment on column tournament_progress.pairings is 'Pairings decided.';
comment on column tournament_progress.matches is 'Of these, how many have their match.';
comment on column tournament_progress.finished is 'Matches that have finished.';
comment on column tournament_progress.running is 'Matches under way.';
comment on column tournament_progress.counted_pairs is 'Pairs counted in all of them.';
comment on column tournament_progress.planned_pairs is 'Pairs that they were made for.';
comment on column tournament_progress.created_by is 'Who made it.';
comment on column tournament_progress.created_at is 'When it was made.';

create view progression as
select t.name as progression, t.specification ->> 'line' as line, p.a as release, r.name, r.weights_sha256,
    w.number as weights, f.name as against, p.experiment_id, e.state, c.counted_pairs as pairs, v.elo, v.elo_lo, v.elo_hi,
    v.los, r.added_at
from tournament t
    join tournament_pairing p on p.tournament_id = t.id
    join tournament_player r on r.tournament_id = t.id and r.number = p.a
    join tournament_player f on f.tournament_id = t.id and f.number = p.b
    left join weights w on w.sha256 = r.weights_sha256
    left join experiment e on e.id = p.experiment_id
    left join experiment_counted c on c.experiment_id = p.experiment_id
    left join verdict v on v.experiment_id = p.experiment_id
where t.kind = 'progression';
comment on view progression is 'Each release of a line against one fixed player.';
comment on column progression.progression is 'Name of the series.';
comment on column progression.line is 'The line.';
comment on column progression.release is 'Number of the release in the series, in order of promotion.';
comment on column progression.name is 'Its name in it.';
comment on column progression.weights_sha256 is 'Its weights.';
comment on column progression.weights is 'Their number.';
comment on column progression.against is 'The fixed player.';
comment on column progression.experiment_id is 'The match; null = not made yet.';
comment on column progression.state is 'State of the match.';
comment on column progression.pairs is 'Pairs counted.';
comment on column progression.elo is 'Lead over the fixed player in logistic Elo; null = not finished.';
comment on column progression.elo_lo is 'Lower end of its 95 % interval.';
comment on column progression.elo_hi is 'Upper end of its 95 % interval.';
comment on column progression.los is 'Likelihood that the release is the stronger.';
comment on column progression.added_at is 'When the release entered the series.';

create table preset (
    name text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
    version integer not null check (version > 0),
    summary text not null check (summary <> '' and octet_length(summary) < 512),
    options jsonb not null check (jsonb_typeof(options) = 'array' and jsonb_array_length(options) > 0),
    added_by text not null default '' check (octet_length(added_by) < 64),
    added_at timestamptz not null default now(),
    primary key (name, version)
);
comment on table preset is 'Named sets of options for `kroo match --preset NAME`; a change is a new version, and the latest one is meant.';
comment on column preset.name is 'Its name.';
comment on column preset.version is 'Its version, from 1.';
comment on column preset.summary is 'What it is for.';
comment on column preset.options is 'Options of `kroo match`; what stands on the command line goes before them.';
comment on column preset.added_by is 'Who added this version; empty = it came with Kroo.';
comment on column preset.added_at is 'When.';

insert into preset (name, version, summary, options) values
    ('short', 1, 'a first look at a change: few nodes, a test for 10 normalized Elo',
     '["--nodes=500", "--sprt", "--model=normalized", "--elo0=0", "--elo1=10", "--max-pairs=20000"]'),
    ('long', 1, 'what passed the short one, with ten times the nodes',
     '["--nodes=5000", "--sprt", "--model=normalized", "--elo0=0", "--elo1=10", "--max-pairs=20000"]'),
    ('non-regression', 1, 'a change that should cost nothing: accepted unless it loses 10 normalized Elo',
     '["--nodes=1000", "--sprt", "--model=normalized", "--elo0=-10", "--elo1=0", "--max-pairs=20000"]');

-- Noise makes games to learn from; between two players it would be no match.
alter table experiment add constraint experiment_noise check (kind <> 'match' or noise_ppm = 0 or player_a = player_b);

grant select on tournament, tournament_player, tournament_pairing, tournament_score, tournament_progress, progression,
    preset to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on tournament, tournament_player, tournament_pairing, preset to kroo_coordinator;
grant update (planned_rounds) on tournament to kroo_coordinator;
grant update (experiment_id) on tournament_pairing to kroo_coordinator;
