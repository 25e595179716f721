-- Leases are told before their row stands, so that no answer waits for a commit. Their numbers must never come twice
-- all the same, whatever rows a crash took: they come out of blocks that were reserved by a commit before.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table lease_number (
    only_row boolean primary key default true check (only_row),
    reserved bigint not null check (reserved > 0)
);
comment on table lease_number is 'One row: which numbers of leases are taken.';
comment on column lease_number.only_row is 'Always true.';
comment on column lease_number.reserved is 'Every number below may have been told to a worker, with a row in lease or without.';
insert into lease_number (reserved) select coalesce(max(id), 0) + 1 from lease;

grant select on lease_number to kroo_coordinator, kroo_trainer, kroo_reader;
grant update (reserved) on lease_number to kroo_coordinator;
