#!/bin/sh
# A private PostgreSQL for tests: its own folder and unix socket, no TCP, gone when its user is gone.
#
#   sh tests/cluster.sh run PROGRAM [ARGUMENT...]   starts one, runs PROGRAM with KROO_TEST_DATABASE (a conninfo) and
#                                                   KROO_TEST_CLUSTER (its folder) set, and takes it away again
#   sh tests/cluster.sh kill|start DIRECTORY        pulls its plug (as a crash would), and starts it again
#   . tests/cluster.sh; cluster_start; ... cluster_stop       the same from a script
#
# Run as root, the server belongs to the unprivileged user `kroo`, made when absent. CLUSTER_OPTIONS holds further
# settings, as `-c name=value`.

cluster_bin() {
    for cluster_path in /usr/lib/postgresql/*/bin; do
        [ -x "$cluster_path/initdb" ] && cluster_found=$cluster_path
    done
    [ -n "${cluster_found:-}" ] || cluster_found=$(dirname "$(command -v initdb || echo /none/initdb)")
    [ -x "$cluster_found/initdb" ] || {
        echo 'tests/cluster.sh: no PostgreSQL server found: install postgresql' >&2
        return 1
    }
    printf '%s\n' "$cluster_found"
}

# Runs a command as the server's user, from a folder that user may be in.
cluster_as() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && exec runuser -u kroo -- env LC_ALL=C "$@")
    else
        (cd / && exec env LC_ALL=C "$@")
    fi
}

# cluster_start: makes a cluster; sets cluster_directory and cluster_conninfo.
cluster_start() {
    cluster_tools=$(cluster_bin) || return 1
    cluster_directory=$(mktemp -d "${CLUSTER_TMP:-/tmp}/kroo-pg.XXXXXX") || return 1
    if [ "$(id -u)" -eq 0 ]; then
        id kroo >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin kroo 2>/dev/null ||
            id kroo >/dev/null || return 1
        chown kroo "$cluster_directory"
    fi
    cluster_conninfo="host=$cluster_directory user=kroo dbname=postgres"
    cluster_as "$cluster_tools/initdb" -N -A trust -U kroo -E UTF8 --locale=C.UTF-8 -D "$cluster_directory/data" \
        >"$cluster_directory/initdb.log" 2>&1 || {
        cat "$cluster_directory/initdb.log" >&2
        return 1
    }
    cluster_resume "$cluster_directory"
}

# cluster_resume DIRECTORY: starts the server of a cluster that is there.
cluster_resume() {
    cluster_tools=$(cluster_bin) || return 1
    cluster_as "$cluster_tools/pg_ctl" -D "$1/data" -w -t 60 -s -l "$1/server.log" \
        -o "-c dynamic_shared_memory_type=mmap -c listen_addresses= -c unix_socket_directories=$1 -c unix_socket_permissions=0700 ${CLUSTER_OPTIONS:-}" \
        start >/dev/null || {
        tail -n 20 "$1/server.log" >&2
        return 1
    }
}

# cluster_kill DIRECTORY: the server stops without a checkpoint, as after a crash.
cluster_kill() {
    cluster_tools=$(cluster_bin) || return 1
    cluster_as "$cluster_tools/pg_ctl" -D "$1/data" -w -t 60 -s -m immediate stop >/dev/null
}

# cluster_stop: ends the cluster of cluster_start and removes it.
cluster_stop() {
    [ -n "${cluster_directory:-}" ] || return 0
    if [ -f "$cluster_directory/data/postmaster.pid" ]; then
        cluster_kill "$cluster_directory" 2>/dev/null
    fi
    rm -rf "$cluster_directory"
    cluster_directory=
}

cluster_main() {
    case ${1:-} in
    run)
        shift
        trap cluster_stop EXIT
        trap 'exit 130' INT TERM HUP
        cluster_start || exit 1
        KROO_TEST_DATABASE=$cluster_conninfo KROO_TEST_CLUSTER=$cluster_directory "$@"
        exit $?
        ;;
    kill) cluster_kill "$2" ;;
    start) cluster_resume "$2" ;;
    *)
        echo 'usage: tests/cluster.sh run PROGRAM [ARGUMENT...] | kill DIRECTORY | start DIRECTORY' >&2
        exit 2
        ;;
    esac
}

case ${0##*/} in
cluster.sh) cluster_main "$@" ;;
esac
