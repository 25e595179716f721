#!/usr/bin/env bash
# Backup and restore, both ways: a dump into an empty database, and a base backup with the archived log up to a moment
# before somebody's mistake. What comes back is what was there, `kroo verify` agrees, and a coordinator plays on.
. "$(dirname "$0")/lib.sh"
backup=$root/deploy/backup.sh restore=$root/deploy/restore.sh
as_owner() { # of the database's files
    if [ "$(id -u)" -eq 0 ]; then (cd / && runuser -u kroo -- env KROO_DATABASE="${KROO_DATABASE:-}" "$@"); else (cd / && "$@"); fi
}
store=$(mktemp -d /tmp/kroo-backup.XXXXXX)
mkdir "$store/wal"
if [ "$(id -u)" -eq 0 ]; then chown -R kroo "$store"; fi
put_away() {
    [ -e "$store/data/postmaster.pid" ] && as_owner "$bin/pg_ctl" -D "$store/data" -s -m immediate stop
    rm -rf "$store"
    cleanup
}
trap put_away EXIT

finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
play() {
    id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 40 --nodes 60 --seed "$1" --audit 10%)
    wait_until 60 finished
}
digest() { # of all games and counters of a database
    psql -XAtq "$1" -c "select md5(string_agg(g::text, '' order by experiment_id, pair_no, leg)) from kroo.game g" \
        -c "select md5(string_agg(c::text, '' order by experiment_id)) from kroo.experiment_counter c"
}
ok "a private cluster" "$kroo" up --dir "$dir" --workers 0
conninfo=$(sed -n 's/^database = //p' "$dir/kroo.conf")
socket=${conninfo#host=} socket=${socket%% *}
"$kroo" down --dir "$dir" >/dev/null
data=$(readlink -f "$dir/postgres")/data
printf "archive_mode = on\narchive_command = '%s wal %%p %%f %s/wal'\n" "$backup" "$store" >>"$data/postgresql.conf"
ok "that archives its log" "$kroo" up --dir "$dir" --workers 2
bin=$(dirname "$(readlink -f "/proc/$(postgres_pid)/exe")")
export KROO_DATABASE=$conninfo
play 1

# --- a dump ---
fails "a dump without a folder" 1 'no folder' "$backup" dump "$work/nowhere"
fails "or without a database" 1 'KROO_DATABASE' env KROO_DATABASE= "$backup" dump "$work"
mkdir "$work/dumps"
file=$("$backup" dump "$work/dumps")
was=$(digest "$conninfo")
ok "is one file" test -s "$file"
is "and nothing half is beside it" "$(find "$work/dumps" -type f | wc -l)" 1
base=$(as_owner "$backup" base "$store")
ok "a base backup is a folder" test -f "$base/backup_label"
play 2
second=$(digest "$conninfo")
psql -XAtq "$conninfo" -c 'create database again'
again=${conninfo/dbname=kroo/dbname=again}
ok "the dump goes into an empty database" test "$(KROO_DATABASE=$again "$restore" dump "$file" | tail -n 1)" = "restored: 1 experiments, 80 games"
is "with every game as it was" "$(digest "$again")" "$was"
ok "kroo verify agrees" env KROO_DATABASE="$again" "$kroo" verify
fails "a second time it is refused" 1 'already' env KROO_DATABASE="$again" "$restore" dump "$file"
ok "the schema is that of these programs" env KROO_DATABASE="$again" "$kroo" migrate

# --- and a coordinator plays on there ---
kroo-coordinator --config "$dir/kroo.conf" --database "$again" --endpoint "ipc://$work/again.sock" 2>"$work/again.log" &
ok "a coordinator leads on it" wait_until 30 grep -q ' listening ' "$work/again.log"
kroo-worker --endpoint "ipc://$work/again.sock" --name late --slots 1 --state "$work/late" 2>"$work/late.log" &
KROO_ENDPOINT=ipc://$work/again.sock "$kroo" selfplay --weights starting --pairs 20 --nodes 60 --seed 9 >/dev/null
more() { [ "$(psql -XAtq "$again" -c "select count(*) from kroo.game")" = 120 ]; }
ok "games come" wait_until 60 more
ok "kroo verify agrees" env KROO_DATABASE="$again" "$kroo" verify

# --- a moment before a mistake ---
moment=$(psql -XAtq "$conninfo" -c 'select clock_timestamp()')
psql -XAtq "$conninfo" -c 'delete from kroo.game where experiment_id = 1'
fails "somebody deletes games" 1 'difference' "$kroo" verify
segment=$(psql -XAtq "$conninfo" -c 'select pg_walfile_name(pg_switch_wal())')
ok "the log is archived" wait_until 30 test -e "$store/wal/$segment"
fails "nothing is overwritten" 1 'already' as_owner "$restore" base "$base" "$store/wal"
ok "the base backup is laid out" as_owner "$restore" base "$base" "$store/data" "$store/wal" "$moment"
"$kroo" down --dir "$dir" >/dev/null
ok "its server starts" as_owner "$bin/pg_ctl" -D "$store/data" -s -w -t 60 -l "$store/log" -o "-c unix_socket_directories=$store" start
back="host=$store dbname=kroo user=kroo_admin"
is_open() { [ "$(psql -XAtq "$back" -c 'select pg_is_in_recovery()')" = f ]; }
ok "and opens" wait_until 60 is_open
is "with every game as it was at that moment" "$(digest "$back")" "$second"
ok "kroo verify agrees" env KROO_DATABASE="$back" "$kroo" verify

# --- what is old goes ---
newer=$store/base-99990101T000000Z
as_owner cp -a "$base" "$newer"
first=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$base/backup_label")
as_owner touch "$store/wal/000000010000000000000000"
ok "all but the newest are removed" as_owner "$backup" keep 1 "$store"
is "of the base backups" "$(find "$store" -maxdepth 1 -name 'base-*')" "$newer"
is "and the log from before it" "$(find "$store/wal" -type f -name '0*' -printf '%f\n' | sort | head -n 1)" "$first"
done_testing
