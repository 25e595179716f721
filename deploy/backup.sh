#!/bin/sh
# Backups of a Kroo database. Each is written under a temporary name, checked, synced and renamed: what has its name is whole.
#
#   deploy/backup.sh dump FOLDER        everything as it is at this moment, as one file: FOLDER/kroo-TIME.dump (pg_dump)
#   deploy/backup.sh base FOLDER        the server's files: FOLDER/base-TIME (pg_basebackup); with the log archived after it,
#                                       any later moment can be restored
#   deploy/backup.sh wal FILE NAME FOLDER    for archive_command: keeps one file of the log as FOLDER/NAME
#   deploy/backup.sh keep N FOLDER      removes all dumps and base backups but the newest N of each, and log from before them
#
# The database is KROO_DATABASE, a libpq connection string; for `base`, of a role that may replicate. Prints the new file.
set -eu

database=${KROO_DATABASE:-}
refuse() {
    echo "backup.sh: $*" >&2
    exit 1
}
usage() {
    sed -n 's/^#   //p' "$0" >&2
    exit 2
}
need_database() {
    [ -n "$database" ] || refuse "no database: set KROO_DATABASE to its connection string"
}
# A program of PostgreSQL: on the path, or the newest of Debian's.
run() {
    program=$1
    shift
    path=$(command -v "$program" || ls -d /usr/lib/postgresql/*/bin/"$program" 2>/dev/null | sort -V | tail -n 1)
    [ -n "$path" ] || refuse "no $program: install PostgreSQL's client programs"
    "$path" "$@"
}
name_for() { date -u +%Y%m%dT%H%M%SZ; }

dump() {
    need_database
    final=$1/kroo-$(name_for).dump
    [ ! -e "$final" ] || refuse "$final is there already"
    fresh=$final.new
    trap 'rm -f "$fresh" "$fresh.list"' EXIT
    run pg_dump --format=custom --schema=kroo --no-password --dbname="$database" --file="$fresh"
    run pg_restore --list "$fresh" >"$fresh.list" # reads it back
    grep -q 'TABLE DATA kroo migration' "$fresh.list" || refuse "the dump has no schema kroo: is this Kroo's database?"
    sync "$fresh"
    mv "$fresh" "$final"
    sync "$1"
    echo "$final"
}

base() {
    need_database
    final=$1/base-$(name_for)
    [ ! -e "$final" ] || refuse "$final is there already"
    fresh=$final.new
    trap 'rm -rf "$fresh"' EXIT
    run pg_basebackup --dbname="$database" --pgdata="$fresh" --wal-method=stream --checkpoint=fast --no-password
    run pg_verifybackup --quiet "$fresh"
    mv "$fresh" "$final"
    sync "$1"
    echo "$final"
}

# PostgreSQL may archive the same file twice; another one of the same name is never overwritten.
wal() {
    if [ -e "$3/$2" ]; then
        cmp -s "$1" "$3/$2" || refuse "$3/$2 is there and differs: is the folder another server's?"
        exit 0
    fi
    fresh=$3/$2.new.$$
    trap 'rm -f "$fresh"' EXIT
    cp "$1" "$fresh"
    sync "$fresh"
    mv "$fresh" "$3/$2"
    sync "$3"
}

newest_first() { find "$2" -maxdepth 1 -name "$1" ! -name '*.new' | sort -r; }
keep() {
    case $1 in '' | 0 | *[!0-9]*) refuse "keep how many? a whole number from 1" ;; esac
    newest_first 'kroo-*.dump' "$2" | tail -n +$(($1 + 1)) | while read -r old; do rm -f "$old"; done
    newest_first 'base-*' "$2" | tail -n +$(($1 + 1)) | while read -r old; do rm -rf "$old"; done
    oldest=$(newest_first 'base-*' "$2" | tail -n 1)
    [ -n "$oldest" ] && [ -d "$2/wal" ] || exit 0
    first=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$oldest/backup_label")
    [ -n "$first" ] && run pg_archivecleanup "$2/wal" "$first"
}

[ $# -ge 2 ] || usage
verb=$1
shift
case $verb in
dump | base) [ $# -eq 1 ] || usage ;;
wal) [ $# -eq 3 ] || usage ;;
keep) [ $# -eq 2 ] || usage ;;
*) usage ;;
esac
for folder; do :; done # the last argument
[ -d "$folder" ] || refuse "$folder is no folder: make it first"
umask 077
$verb "$@"
