-- When a worker's speed was measured, what speed an experiment's limits of time are meant for, by how much they
-- were scaled for each lease; and games that do not end.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

alter table session add column measured_at timestamptz;
update session set measured_at = started_at where speed > 0;
comment on column session.measured_at is 'When the bench behind speed, spread_ppm and load_ppm was made: at its start, and again while it was idle or before timed play; null = not measured.';
comment on column session.speed is 'Nodes a second of one play thread in the fixed bench, the latest one; 0 = not measured.';
comment on column session.load_ppm is 'Load average a core of its machine before the bench, its own play left out, in millionths.';
comment on column session.scale_ppm is 'By the latest bench and the cluster''s reference speed, limits of time are multiplied by so many millionths, so that a fast machine and a slow one search as much; each lease tells its own.';

create table reference_speed (
    version integer primary key generated always as identity,
    nodes_per_second bigint not null check (nodes_per_second between 0 and 4294967295),
    since timestamptz not null default now()
);
comment on table reference_speed is 'The speed that limits of time are meant for, by default: one row for each value the cluster has had (the coordinator''s setting reference_speed). The newest version counts for new experiments.';
comment on column reference_speed.version is 'Number of the value, ascending.';
comment on column reference_speed.nodes_per_second is 'Nodes a second of a play thread in the fixed bench; 0 = nothing is scaled.';
comment on column reference_speed.since is 'From when on it counted.';

insert into reference_speed (nodes_per_second) values (3000000);

alter table experiment add column reference_speed bigint check (reference_speed between 0 and 4294967295);
comment on column experiment.reference_speed is 'Its limits of time are meant for a worker of so many nodes a second, and scaled for all others: the same from its first game to its last. 0 = nothing is scaled, null = it has no limits of time.';
update experiment e set reference_speed = 3000000 from player a, player b
    where a.id = e.player_a and b.id = e.player_b
    and (a.options ?| array['time_ms', 'clock_ms'] or b.options ?| array['time_ms', 'clock_ms']);

alter table lease add column scale_ppm bigint check (scale_ppm > 0);
comment on column lease.scale_ppm is 'Under this lease limits of time were multiplied by so many millionths: the experiment''s reference speed by the worker''s; null = it has none.';

alter table fault drop constraint fault_kind_check;
alter table fault add constraint fault_kind_check
    check (kind in ('start', 'self-test', 'build', 'overtime', 'illegal-move', 'deadline', 'crash'));
comment on column fault.kind is 'start (before its first move: no game), self-test (it answers otherwise than where it was added), build (its sources cannot be built), overtime (the game did not end within its bound: no game), or how its game was lost: illegal-move, deadline, crash.';

grant update (speed, spread_ppm, load_ppm, measured_at) on session to kroo_coordinator;
grant select, insert on reference_speed to kroo_coordinator;
grant select on reference_speed to kroo_trainer, kroo_reader;
