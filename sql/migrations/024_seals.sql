-- Who signed what workers run (DESIGN section 1, promise 7): seals of engines, sets and sources.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table artifact_seal (
    sha256 bytea not null references artifact (sha256),
    public_key bytea not null check (octet_length(public_key) = 32),
    kind text not null check (kind in ('engine', 'engine-set', 'source')),
    architecture text not null check (architecture ~ '^[a-z0-9_]{1,15}$'),
    name text not null check (name ~ '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}$'),
    signature bytea not null check (octet_length(signature) = 64),
    signed_by text not null check (signed_by <> '' and octet_length(signed_by) < 64),
    signed_at timestamptz not null default now(),
    primary key (sha256, public_key)
);
comment on table artifact_seal is 'Signatures of artifacts that workers run. The database takes them as they come; workers check them.';
comment on column artifact_seal.sha256 is 'The artifact.';
comment on column artifact_seal.public_key is 'Ed25519 public key of the signer.';
comment on column artifact_seal.kind is 'What was signed as: engine (a program), engine-set, or source.';
comment on column artifact_seal.architecture is 'Of a program, as uname -m says it; any for scripts, sets and sources.';
comment on column artifact_seal.name is 'What the signer called it.';
comment on column artifact_seal.signature is 'Over the lines `kroo artifact seal 1`, `sha256 HEX`, `kind ...`, `architecture ...`, `name ...`, each ended by a line feed.';
comment on column artifact_seal.signed_by is 'Who stored it.';
comment on column artifact_seal.signed_at is 'When.';

alter table fault drop constraint fault_kind_check,
    add constraint fault_kind_check check (kind in ('start', 'self-test', 'build', 'overtime', 'unsigned', 'illegal-move', 'deadline', 'crash'));
comment on column fault.kind is 'start (before its first move: no game), self-test (it answers otherwise than where it was added), build (its sources cannot be built), overtime (the game did not end within its bound: no game), unsigned (no key that the worker trusts has signed it), or how its game was lost: illegal-move, deadline, crash.';

grant select on artifact_seal to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on artifact_seal to kroo_coordinator;
