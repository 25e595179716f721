-- Who led: a coordinator that loses its connection may go on only when nobody has led since.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table leadership (
    epoch bigint generated always as identity primary key,
    led_at timestamptz not null default now(),
    build text not null,
    host text not null,
    process integer not null check (process > 0)
);
comment on table leadership is 'Each time a coordinator began to lead; the last one leads, or led last.';
comment on column leadership.epoch is 'Counts the leaders; gaps mean nothing.';
comment on column leadership.led_at is 'When it began.';
comment on column leadership.build is 'Its engine build.';
comment on column leadership.host is 'The machine it ran on.';
comment on column leadership.process is 'Its process number there.';

grant select on leadership to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on leadership to kroo_coordinator;
