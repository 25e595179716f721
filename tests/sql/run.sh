#!/bin/sh
# The pgTAP tests: each file of tests/sql/ in a fresh migrated database of a private cluster. Speaks TAP.
#   tests/sql/run.sh [FILE...]         all files without arguments
#   tests/sql/run.sh --document        writes the second half of sql/README.md anew
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cluster.sh
trap cluster_stop EXIT
trap 'exit 130' INT TERM HUP
cluster_start || exit 1
PGHOST=$cluster_directory PGUSER=kroo PGOPTIONS='-c client_min_messages=warning'
export PGHOST PGUSER PGOPTIONS
psql -qX -v ON_ERROR_STOP=1 postgres -c 'create database model' || exit 1
for file in sql/migrations/[0-9]*.sql; do
    psql -qX1 -v ON_ERROR_STOP=1 model -f "$file" || exit 1
done
psql -qX -v ON_ERROR_STOP=1 model -c 'create extension pgtap schema public' || exit 1
documented() { printf '%s\n' "$(psql -qXAt model -f sql/document.sql)"; }
if [ "${1:-}" = --document ]; then
    { sed '/^## Tables$/,$d' sql/README.md && documented; } >build/README.sql.md && mv build/README.sql.md sql/README.md
    exit
fi
status=0
if [ $# -eq 0 ]; then
    if sed -n '/^## Tables$/,$p' sql/README.md | diff - /dev/fd/3 3<<EOF
$(documented)
EOF
    then
        echo 'ok - sql/README.md tells of every table, view, function and column'
    else
        echo 'not ok - sql/README.md tells of every table, view, function and column'
        status=1
    fi
fi
[ $# -gt 0 ] || set -- tests/sql/*.sql
for file in "$@"; do
    name=$(basename "$file" .sql)
    psql -qX -v ON_ERROR_STOP=1 postgres -c "create database \"test_$name\" template model" || exit 1
    pg_prove --verbose --dbname "test_$name" "$file" || status=1
done
exit $status
