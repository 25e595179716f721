-- Players that are other programs, and endgame tables (DESIGN sections 3, 7 and 12).

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table engine (
    name text primary key check (name ~ '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}$' and name <> 'built-in'),
    sha256 bytea not null unique references artifact (sha256),
    program text not null default '' check (octet_length(program) < 256),
    options text not null default '' check (octet_length(options) <= 16384),
    note text not null default '' check (octet_length(note) < 512),
    added_by text not null check (added_by <> '' and octet_length(added_by) < 64),
    added_at timestamptz not null default now()
);
comment on table engine is 'Programs that can play besides the built-in engine: other builds of it, run as a process.';
comment on column engine.name is 'Name given by a user.';
comment on column engine.sha256 is 'sha256 of the executable, in `artifact`.';
comment on column engine.program is 'What it calls itself (`id name`).';
comment on column engine.options is 'Its options as it listed them, one a line.';
comment on column engine.note is 'Free text.';
comment on column engine.added_by is 'Who added it.';
comment on column engine.added_at is 'When.';

create table endgame_table (
    name text primary key check (name ~ '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}$'),
    sha256 bytea not null unique check (octet_length(sha256) = 32),
    artifact_sha256 bytea references artifact (sha256),
    rules text not null check (octet_length(rules) < 160),
    rule_set text generated always as (split_part(rules, ',', 1)) stored references rule_set (name),
    convention text not null,
    seeds integer not null check (seeds between 0 and 24),
    size bigint not null check (size > 0),
    note text not null default '' check (octet_length(note) < 512),
    added_by text not null check (added_by <> '' and octet_length(added_by) < 64),
    added_at timestamptz not null default now(),
    constraint endgame_table_artifact check (artifact_sha256 = sha256)
);
create index endgame_table_artifact_sha256 on endgame_table (artifact_sha256);
comment on table endgame_table is 'Endgame tables that players can use.';
comment on column endgame_table.name is 'Name given by a user.';
comment on column endgame_table.sha256 is 'sha256 of the file.';
comment on column endgame_table.artifact_sha256 is 'The same where the file is in `artifact` and workers fetch it; null = too large: each worker is given the file (kroo-worker --tables).';
comment on column endgame_table.rules is 'Canonical text of the rules of its family.';
comment on column endgame_table.rule_set is 'Its preset.';
comment on column endgame_table.convention is 'What an endless play is worth.';
comment on column endgame_table.seeds is 'Boards of up to so many seeds.';
comment on column endgame_table.size is 'Bytes.';
comment on column endgame_table.note is 'Free text.';
comment on column endgame_table.added_by is 'Who added it.';
comment on column endgame_table.added_at is 'When.';

alter table player
    add column engine_sha256 bytea generated always as (decode(options ->> 'engine', 'hex')) stored
        references engine (sha256),
    add column tables_sha256 bytea generated always as (decode(options ->> 'tables', 'hex')) stored
        references endgame_table (sha256),
    add constraint player_options check (jsonb_typeof(options -> 'set') = 'array');
create index player_engine on player (engine_sha256);
create index player_tables on player (tables_sha256);
comment on table player is 'Players: an engine, weights, endgame tables and options, each once.';
comment on column player.engine_build is 'The build of the workers that host it: rules, openings, and the built-in engine.';
comment on column player.options is 'Its limits: nodes, depth, time_ms of a move (0 = none), hash_kib of the transposition table; where they are not the usual ones: engine and tables (sha256 in hex), set (array of `Name=Value` sent to the engine).';
comment on column player.engine_sha256 is 'The program that plays; null = the built-in engine.';
comment on column player.tables_sha256 is 'Its endgame tables; null = none.';

create or replace view experiment_progress as
select e.id, e.kind, e.state, e.state_reason, e.rules, e.planned_pairs, c.prefix_pairs, c.games_stored,
    c.ll, c.ld, c.dd, c.wl, c.dw, c.ww, c.wins, c.draws, c.losses,
    e.sprt_model, e.elo0, e.elo1, e.alpha, e.beta, e.batch, c.llr, v.verdict, v.counted_pairs,
    a.id as player_a, wa.number as weights_a, wa.name as weights_a_name,
    b.id as player_b, wb.number as weights_b, wb.name as weights_b_name,
    (select count(*) from lease l where l.experiment_id = e.id and l.state = 'open') as open_leases,
    (select count(*) from dispute d where d.experiment_id = e.id and d.state = 'open') as open_disputes,
    e.priority, e.note, e.created_by, e.created_at, e.ended_at, c.updated_at,
    na.name as engine_a, nb.name as engine_b, ta.name as tables_a, tb.name as tables_b
from experiment e
    join experiment_counter c on c.experiment_id = e.id
    join player a on a.id = e.player_a
    join player b on b.id = e.player_b
    join weights wa on wa.sha256 = a.weights_sha256
    join weights wb on wb.sha256 = b.weights_sha256
    left join engine na on na.sha256 = a.engine_sha256
    left join engine nb on nb.sha256 = b.engine_sha256
    left join endgame_table ta on ta.sha256 = a.tables_sha256
    left join endgame_table tb on tb.sha256 = b.tables_sha256
    left join verdict v on v.experiment_id = e.id;
comment on column experiment_progress.engine_a is 'Name of player a''s engine; null = the built-in one.';
comment on column experiment_progress.engine_b is 'Name of player b''s engine; null = the built-in one.';
comment on column experiment_progress.tables_a is 'Name of player a''s endgame tables; null = none.';
comment on column experiment_progress.tables_b is 'Name of player b''s endgame tables; null = none.';

-- A claimed ending waits, like a difference, until two independent workers say the same.
create or replace view dispute_leg as
with run as (
    select r.dispute_id, r.leg, r.content_sha256, count(distinct (s.peer, s.name)) as workers, count(*) as runs,
        bool_or(r.claimed) as claimed
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
having count(*) > 1 or bool_or(run.claimed);
comment on view dispute_leg is 'Legs of disputed pairs for which more than one content came, or a claimed ending: how many runs, and what two independent workers agree on.';
comment on table dispute is 'Pairs with two different contents for one game, or with an ending that no replay can show; the prefix waits for them.';
comment on column dispute.reason is 'What differed, or what is claimed.';

grant select on engine, endgame_table to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on engine, endgame_table to kroo_coordinator;
