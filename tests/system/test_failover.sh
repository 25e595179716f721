#!/usr/bin/env bash
# The leader dies, freezes, and loses its database to a replica, under load: the second coordinator serves within half a
# minute, the first stands down when it wakes, and what was acknowledged under synchronous replication is on the
# replica that is promoted. Both sides find each other by lists: endpoints in the worker, hosts in libpq's string.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../fault/lib.sh"
slots=3 pairs=1500
as_owner() { # of the database's files
    if [ "$(id -u)" -eq 0 ]; then (cd / && runuser -u kroo -- "$@"); else (cd / && "$@"); fi
}
drop_replica() { [ -d "${replica:-}" ] && as_owner "$bin/pg_ctl" -D "$replica/data" -s -m immediate stop; rm -rf "${replica:-}"; }
trap 'kill_all; drop_replica; cleanup' EXIT

# --- a primary and a replica that has everything before it is acknowledged ---
ok "a primary" start_database
primary=$(conninfo_of)
socket=${primary#host=} socket=${socket%% *}
bin=$(dirname "$(readlink -f "/proc/$(postgres_pid)/exe")")
replica=$(mktemp -d /tmp/kroo-replica.XXXXXX)
if [ "$(id -u)" -eq 0 ]; then chown kroo "$replica"; fi
ok "a replica is made" as_owner "$bin/pg_basebackup" -h "$socket" -U kroo_admin -D "$replica/data" -R -c fast --no-sync
ok "and follows" as_owner "$bin/pg_ctl" -D "$replica/data" -s -w -t 60 -l "$replica/log" \
    -o "-c unix_socket_directories=$replica -c primary_conninfo='host=$socket user=kroo_admin'" start
on_replica() { psql -XAtq "host=$replica dbname=kroo user=kroo_admin" -c "$1"; }
follows() { [ "$(sql "select count(*) from pg_stat_replication where state = 'streaming' and sync_state = 'sync'")" = 1 ]; }
sql "alter system set synchronous_standby_names = '*'" && sql "select pg_reload_conf()" >/dev/null
ok "in step" wait_until 30 follows
conninfo_of() { echo "host=$socket,$replica dbname=kroo user=kroo_admin"; }
fails "no coordinator leads on a replica" 124 "read-only" timeout 3 kroo-coordinator \
    --database "host=$replica dbname=kroo user=kroo_admin" --endpoint "ipc://$work/replica.sock"
fails "even where it is told to connect" 124 "is a replica: promote it" timeout 3 kroo-coordinator \
    --database "host=$replica dbname=kroo user=kroo_admin target_session_attrs=any" --endpoint "ipc://$work/replica.sock"

# --- the leader is killed ---
leads() { grep -q ' listening ' "$work/coordinator-$1.log"; }
start coordinator-1
ok "a coordinator leads" wait_until 30 leads 1
start coordinator-2
ok "a second one waits" wait_until 30 grep -q 'another coordinator leads' "$work/coordinator-2.log"
for worker in 1 2 3; do start worker-$worker; done
create selfplay 1 $pairs
before=0
ok "games come" wait_until 60 moved
kill_now coordinator-1
killed_ms=$(date +%s%3N)
before=$(stored)
ok "the leader killed, the second serves" wait_until 30 moved
echo "# first games $(($(date +%s%3N) - killed_ms)) ms after the kill"
is "who led is written down" "$(sql "select count(*) from leadership")" 2

# --- the leader freezes ---
start coordinator-1
ok "the killed one waits behind it" wait_until 30 sh -c "tail -n 2 $work/coordinator-1.log | grep -q 'another coordinator leads'"
kill -STOP "${pids[coordinator-2]}"
killed_ms=$(date +%s%3N)
ok "the leader frozen, the other leads" wait_until 40 sh -c "[ \$(grep -c ' listening ' $work/coordinator-1.log) -ge 2 ]"
echo "# leads $(($(date +%s%3N) - killed_ms)) ms after the freeze"
kill -CONT "${pids[coordinator-2]}"
ok "awake again, it stands down" wait_until 30 grep -q 'stood-down.*another coordinator\|database-refused.*has led since' "$work/coordinator-2.log"
before=$(stored)
ok "and games come" wait_until 60 moved

# --- the primary is lost ---
if is_finished; then create selfplay 2 $pairs && before=0 && wait_until 60 moved; fi
kill_now coordinator-2 # or either of the two could lead on what is promoted
as_owner "$bin/pg_ctl" -D "$(readlink -f "$dir/postgres")/data" -s -m immediate stop
acknowledged=$(cat "$work"/worker-*.log | sed -n 's/.* acknowledged .*accepted=\([0-9]*\).*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }')
found=$(on_replica "select count(*) from kroo.game")
ok "every acknowledged game is on the replica ($acknowledged of $found)" test "$found" -ge "$acknowledged"
as_owner "$bin/pg_ctl" -D "$replica/data" -s -w promote
on_replica "alter system set synchronous_standby_names = ''" && on_replica "select pg_reload_conf()" >/dev/null
sql() { on_replica "set search_path = kroo; $1"; }
ok "its replica promoted, the leader reads everything anew" wait_until 40 grep -q 'timeline 2' "$work/coordinator-1.log"
before=$(stored)
ok "and games come" wait_until 60 moved
ok "to the end" wait_until 120 is_finished
is "every pair is there once and counted once" \
    "$(sql "select concat_ws(' ', count(*), count(distinct (pair_no, leg)), (select concat_ws(' ', games_stored, prefix_pairs, wins + draws + losses) from experiment_counter where experiment_id = $id)) from game where experiment_id = $id")" \
    "$((2 * pairs)) $((2 * pairs)) $((2 * pairs)) $pairs $((2 * pairs))"
ok "kroo verify agrees" env KROO_DATABASE="$(conninfo_of)" "$kroo" verify
done_testing
