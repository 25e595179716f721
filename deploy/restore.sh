#!/bin/sh
# Restores what deploy/backup.sh has kept. Afterwards: `kroo migrate` (if the programs are newer), `kroo verify`, then the
# coordinator.
#
#   deploy/restore.sh dump FILE                    into the empty database KROO_DATABASE, as a role that may create roles
#   deploy/restore.sh base FOLDER DATA [WAL [TIME]]    makes DATA, a folder of a server, from a base backup; with WAL, the
#                                                  folder of archived log, up to its end or up to TIME, as '2026-11-30 12:00:00+00'
#
# `base` says how to start the server; it then reads the log and opens by itself. DATA belongs to whom runs this: the
# user that PostgreSQL runs as. Nothing that is there is overwritten.
set -eu

refuse() {
    echo "restore.sh: $*" >&2
    exit 1
}
usage() {
    sed -n 's/^#   //p' "$0" >&2
    exit 2
}
run() {
    program=$1
    shift
    path=$(command -v "$program" || ls -d /usr/lib/postgresql/*/bin/"$program" 2>/dev/null | sort -V | tail -n 1)
    [ -n "$path" ] || refuse "no $program: install PostgreSQL's client programs"
    "$path" "$@"
}
query() { run psql --no-psqlrc --no-password --tuples-only --no-align --quiet --set ON_ERROR_STOP=1 --dbname="$database" "$@"; }

# Roles belong to the server, not to a database's dump: those of migration 001, where they are not there.
make_roles() {
    query --output=/dev/null <<'SQL'
do $$
declare
    role_name text;
begin
    foreach role_name in array array['kroo_owner', 'kroo_coordinator', 'kroo_trainer', 'kroo_reader'] loop
        if not exists (select from pg_roles where rolname = role_name) then
            execute format('create role %I %s', role_name, case role_name when 'kroo_owner' then 'nologin' else 'login' end);
        end if;
    end loop;
    if not (select rolsuper from pg_roles where rolname = current_user) then
        execute format('grant kroo_owner to %I', current_user);
    end if;
    execute format('grant temporary on database %I to kroo_coordinator', current_database());
    execute format('grant connect on database %I to kroo_coordinator, kroo_trainer, kroo_reader', current_database());
    execute format('grant create on database %I to kroo_owner', current_database());
end
$$;
SQL
}

dump() {
    database=${KROO_DATABASE:-}
    [ -n "$database" ] || refuse "no database: set KROO_DATABASE to the connection string of an empty one (createdb makes it)"
    [ -r "$1" ] || refuse "$1 cannot be read"
    [ "$(query --command="select count(*) from pg_namespace where nspname = 'kroo'")" = 0 ] ||
        refuse "this database has a schema kroo already: give an empty one"
    list=$(mktemp)
    trap 'rm -f "$list"' EXIT
    # The server's extension is offered again by `kroo migrate`, in the version that this server has.
    run pg_restore --list "$1" | grep -v ' EXTENSION ' >"$list"
    make_roles
    run pg_restore --single-transaction --exit-on-error --no-password --use-list="$list" --dbname="$database" "$1"
    query --output=/dev/null --command='analyze'
    query --command="select 'restored: ' || (select count(*) from kroo.experiment) || ' experiments, ' || (select count(*) from kroo.game) || ' games'"
}

base() {
    [ -f "$1/backup_label" ] || refuse "$1 is no base backup: it has no backup_label"
    [ ! -e "$2" ] || refuse "$2 is there already: move it away first"
    [ -z "${3:-}" ] || [ -d "$3" ] || refuse "$3 is no folder"
    run pg_verifybackup --quiet "$1" || refuse "$1 is not what was backed up"
    fresh=$2.new
    rm -rf "$fresh"
    trap 'rm -rf "$fresh"' EXIT
    cp -a "$1" "$fresh"
    chmod 700 "$fresh"
    if [ -n "${3:-}" ]; then
        wal=$(cd "$3" && pwd)
        {
            echo "restore_command = 'cp \"$wal/%f\" \"%p\"'"
            echo "recovery_target_action = 'promote'"
            [ -z "${4:-}" ] || echo "recovery_target_time = '$4'"
            echo "archive_mode = off # set it on again when this server is the one that counts"
        } >>"$fresh/postgresql.auto.conf"
        : >"$fresh/recovery.signal"
    fi
    sync "$fresh/backup_label"
    mv "$fresh" "$2"
    trap - EXIT
    echo "restored into $2; start it: pg_ctl -D $2 -w start"
}

[ $# -ge 2 ] || usage
verb=$1
shift
case $verb in
dump) [ $# -eq 1 ] || usage ;;
base) [ $# -ge 2 ] && [ $# -le 4 ] || usage ;;
*) usage ;;
esac
$verb "$@"
