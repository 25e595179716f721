-- More kinds of experiment and more that a specification can say (STATISTICS, DESIGN sections 5 and 7).

set local role kroo_owner;
set local search_path = kroo, pg_temp;

alter table artifact drop constraint artifact_kind_check,
    add constraint artifact_kind_check check (kind in ('weights', 'engine', 'book', 'table', 'tune', 'source'));
comment on column artifact.kind is 'weights, engine, book, table, tune (what a tune tunes) or source (an archive that an engine is built from).';

alter table experiment
    add column book_sha256 bytea references artifact (sha256),
    add column adjudication_sha256 bytea references endgame_table (sha256),
    add column resign_score integer not null default 0 check (resign_score between 0 and 4800),
    add column resign_plies integer not null default 0 check (resign_plies between 0 and 1000),
    add column resign_playout_ppm integer not null default 0 check (resign_playout_ppm between 0 and 1000000),
    add column tune_sha256 bytea references artifact (sha256),
    add column audit_ppm integer not null default 0 check (audit_ppm between 0 and 1000000),
    add column share integer not null default 100 check (share between 1 and 1000000),
    add column core_cap integer not null default 0 check (core_cap >= 0),
    add column tags text not null default '' check (octet_length(tags) < 256),
    add column on_finish text not null default '' check (octet_length(on_finish) < 512),
    drop constraint experiment_kind_check,
    add constraint experiment_kind_check check (kind in ('selfplay', 'match', 'tune')),
    drop constraint experiment_state_check,
    add constraint experiment_state_check check (
        state in ('running', 'finished', 'stopped', 'blocked', 'pending', 'paused')),
    add constraint experiment_resign_whole check ((resign_score = 0) = (resign_plies = 0)),
    add constraint experiment_resign_playout check (resign_score > 0 or resign_playout_ppm = 0),
    add constraint experiment_tune check ((kind = 'tune') = (tune_sha256 is not null));
drop index experiment_open;
create index experiment_open on experiment (id) where state in ('running', 'blocked', 'pending', 'paused');
create index experiment_book on experiment (book_sha256) where book_sha256 is not null;
create index experiment_adjudication on experiment (adjudication_sha256) where adjudication_sha256 is not null;
create index experiment_tune_sha256 on experiment (tune_sha256) where tune_sha256 is not null;

comment on column experiment.kind is 'selfplay (games to learn from), match (player a against player b) or tune (parameters moved by the results of their own pairs).';
comment on column experiment.state is 'running, finished (it has its verdict), stopped (by a user), blocked (cannot go on: state_reason), pending (waits for approval), paused (by a user).';
comment on column experiment.book_sha256 is 'Book that the openings come from; null = opening_plies random plies.';
comment on column experiment.adjudication_sha256 is 'Endgame tables that end a game once its outcome is proven; null = games are played to their end.';
comment on column experiment.resign_score is 'A side that finds itself so many hundredths of a seed behind resigns; 0 = nobody resigns.';
comment on column experiment.resign_plies is 'For so many of its own moves in a row.';
comment on column experiment.resign_playout_ppm is 'Share of resigned games, in millionths, that are played out to see who would have won.';
comment on column experiment.tune_sha256 is 'What a tune tunes, in `artifact`; null unless kind is tune.';
comment on column experiment.audit_ppm is 'Share of the pairs, in millionths, that another worker plays again.';
comment on column experiment.share is 'Of core time, beside others of the same priority.';
comment on column experiment.core_cap is 'Most cores that may work for it at once; 0 = no bound.';
comment on column experiment.tags is 'What a worker must have to get its pairs: words, comma separated.';
comment on column experiment.on_finish is 'Hook that the coordinator runs when it ends; empty = none.';
comment on column player.options is 'Its limits: nodes, depth, time_ms of a move (0 = none), hash_kib of the transposition table; where they are not the usual ones: clock_ms and increment_ms (of a whole game), engine and tables (sha256 in hex), set (array of `Name=Value` sent to the engine).';
