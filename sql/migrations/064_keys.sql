-- A change of the allow-list is known to the coordinator at once, and whoever made it can see that it is.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table peer_version (
    only_row boolean primary key default true check (only_row),
    version bigint not null default 1 check (version > 0),
    in_force bigint not null default 0 check (in_force <= version),
    in_force_at timestamptz
);
insert into peer_version default values;
comment on table peer_version is 'How often the allow-list (table peer) was changed, and up to which change the coordinator goes by it. One row.';
comment on column peer_version.only_row is 'Always true: there is one row.';
comment on column peer_version.version is 'Grows with each statement that changes peer.';
comment on column peer_version.in_force is 'The leading coordinator goes by the list as it was at this version: no message that it reads from then on is judged by an older one.';
comment on column peer_version.in_force_at is 'When it said so.';
grant select on peer_version to kroo_coordinator, kroo_trainer, kroo_reader;
grant update (in_force, in_force_at) on peer_version to kroo_coordinator;

create function peer_changed() returns trigger
language plpgsql security definer set search_path = kroo, pg_temp as $$
begin
    update peer_version set version = version + 1;
    notify kroo_peer;
    return null;
end
$$;
revoke execute on function peer_changed() from public;
comment on function peer_changed() is 'With each change of peer: the next version, and a NOTIFY on channel `kroo_peer`.';
create trigger peer_changed after insert or update or delete on peer for each statement execute function peer_changed();
