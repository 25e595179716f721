#!/bin/sh
# The pgTAP tests: each file of tests/sql/ in a fresh migrated database of a private cluster. Speaks TAP.
#   tests/sql/run.sh [FILE...]         all files without arguments
#   tests/sql/run.sh --document        writes sql/SCHEMA.md anew
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cluster.sh
trap cluster_stop EXIT
trap 'exit 130' INT TERM HUP
cluster_start || exit 1
PGHOST=$cluster_directory PGUSER=kroo PGOPTIONS='-c client_min_messages=warning'
export PGHOST PGUSER PGOPTIONS
# migrate DATABASE FIRST LAST: applies the files of these numbers.
migrate() {
    for migration in sql/migrations/[0-9]*.sql; do
        number=$(basename "$migration" | cut -c 1-3)
        [ "$number" -lt "$2" ] || [ "$number" -gt "$3" ] || psql -qX1 -v ON_ERROR_STOP=1 "$1" -f "$migration" || exit 1
    done
}
psql -qX -v ON_ERROR_STOP=1 postgres -c 'create database model' || exit 1
migrate model 001 999
psql -qX -v ON_ERROR_STOP=1 model -c 'create extension pgtap schema public' || exit 1
documented() { printf '%s\n' "$(psql -qXAt model -f sql/document.sql)"; }
if [ "${1:-}" = --document ]; then
    documented >build/SCHEMA.sql.md && mv build/SCHEMA.sql.md sql/SCHEMA.md
    exit
fi
# The extension as it was built, without installing it: what CREATE EXTENSION does, by hand.
extension=${KROO_BUILD:-build}/extension
load_extension() {
    cp "$extension/kroo_oware.so" "$cluster_directory/" && chmod 755 "$cluster_directory/kroo_oware.so" &&
        { echo 'set search_path = kroo;'
            sed -e "s|MODULE_PATHNAME|$cluster_directory/kroo_oware.so|; s|@extschema@|kroo|g; /^.echo/d" \
                sql/extension/kroo_oware--1.0.sql; } | psql -qX -v ON_ERROR_STOP=1 test_oware
}
status=0
if [ $# -eq 0 ]; then
    if diff sql/SCHEMA.md /dev/fd/3 3<<EOF
$(documented)
EOF
    then
        echo 'ok - sql/SCHEMA.md tells of every table, view, function and column'
    else
        echo 'not ok - sql/SCHEMA.md tells of every table, view, function and column'
        status=1
    fi
fi
[ $# -gt 0 ] || set -- tests/sql/*.sql
run_oware=no
for file in "$@"; do
    name=$(basename "$file" .sql)
    if [ "$name" = oware ] && ! [ -e "$extension/kroo_oware.so" ]; then
        echo "ok - tests/sql/oware.sql # SKIP there is no $extension/kroo_oware.so: make extension"
        continue
    fi
    if [ "$name" = backfill ]; then # a database that grew up with its schema
        psql -qX -v ON_ERROR_STOP=1 postgres -c 'create database test_backfill' || exit 1
        migrate test_backfill 001 008
        psql -qX test_backfill -f tests/sql/backfill.psql && migrate test_backfill 009 999 &&
            psql -qX -v ON_ERROR_STOP=1 test_backfill -c 'create extension pgtap schema public' || exit 1
    else
        psql -qX -v ON_ERROR_STOP=1 postgres -c "create database \"test_$name\" template model" || exit 1
    fi
    if [ "$name" = oware ]; then
        load_extension || exit 1
        run_oware=yes
    fi
    pg_prove --verbose --dbname "test_$name" "$file" || status=1
done
# And as a user has it, where it is installed: .ci/run installs it.
if [ "$run_oware" = yes ] && [ -e "$(pg_config --sharedir)/extension/kroo_oware.control" ]; then
    if psql -qX -v ON_ERROR_STOP=1 postgres -c 'create database test_installed template model' &&
        [ "$(psql -qXAt -v ON_ERROR_STOP=1 test_installed -c 'create extension kroo_oware schema kroo' \
            -c "select count(*) from kroo.oware_positions('FcE')" -c 'select count(*) from kroo.game_positions(1)' \
            -c 'drop extension kroo_oware')" = '4
0' ]; then
        echo 'ok - CREATE EXTENSION kroo_oware'
    else
        echo 'not ok - CREATE EXTENSION kroo_oware'
        status=1
    fi
elif [ "$run_oware" = yes ]; then
    echo 'ok - CREATE EXTENSION kroo_oware # SKIP it is not installed: make install-extension'
fi
exit $status
