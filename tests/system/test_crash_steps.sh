#!/usr/bin/env bash
# Promise 2, step by step: workers and coordinators die by SIGKILL at each named step of their work (tests/fault/killer.c),
# PostgreSQL with a commit under way, a coordinator and a worker that drain, `kroo migrate` in and between migrations. Every
# pair is there once and counted once. `make fault RUNS=200` does the same at random.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../fault/lib.sh"
trap 'kill_all; cleanup' EXIT
slots=2 pairs=900

# --- a migration killed: what was committed stays, the next run goes on ---
ok "a database server" start_database
conninfo=$(conninfo_of)
fresh=${conninfo/dbname=kroo/dbname=torn}
admin() { psql -XAtq "$fresh" -c "$1" 2>/dev/null; }
migrated() { admin "select string_agg(number::text, ',' order by number) from kroo.migration"; }
torn() { # STEP COUNT: it died, not ended
    echo "$1 $2" >"$work/migrate.order"
    { LD_PRELOAD=$killer KROO_KILL_FILE=$work/migrate.order KROO_DATABASE=$fresh "$kroo" migrate; } >>"$work/migrate.log" 2>&1
    [ $? -eq 137 ]
}
psql -XAtq "$conninfo" -c 'create database torn'
ok "kroo migrate dies before its first commit" torn commit 1
is "and has left nothing" "$(admin "select count(*) from pg_namespace where nspname = 'kroo'")" 0
ok "then in the third migration" torn commit 3
is "which is not there" "$(migrated)" 1,2
ok "then behind its second commit" torn committed 2
is "which is" "$(migrated)" 1,2,3,4
ok "undisturbed it goes on to the end" test "$(KROO_DATABASE=$fresh "$kroo" migrate | tail -n 1)" = "$(($(ls "$root"/sql/migrations/*.sql | wc -l) - 4)) applied"
is "and the schema is the other database's" \
    "$(psql -XAtq "$fresh" -c 'select md5(string_agg(number || sha256, $$,$$ order by number)) from kroo.migration')" \
    "$(sql 'select md5(string_agg(number || sha256, $$,$$ order by number)) from migration')"

# --- every step of a worker's and a coordinator's life ---
# shellcheck disable=SC2119
for name in coordinator-1 worker-1 worker-2; do start $name; done
create selfplay 1 $pairs
died_at() { grep -q "killer: dies at $2\$" "$work/$1.log"; }
dies_and_returns() { # NAME STEP COUNT
    order "$1" "$2" "$3"
    wait_until 20 is_dead "$1" && died_at "$1" "$2" && start "$1"
}
begun() { [ "$(stored)" -gt 0 ]; }
# Steps that come only with work under way: when an experiment is over, the next begins.
at_step() {
    if is_finished; then
        is "the experiment before is whole" "$(wrong_with $pairs)" ""
        number=$((${number:-1} + 1))
        create selfplay $number $pairs
        wait_until 30 begun
    fi
    ok "$1 dies at $2" dies_and_returns "$1" "$2" "$3"
}
for step in write half-write sync synced before-results sent-results heard-ack heard-grant; do
    at_step worker-1 $step 2
done
for step in heard-results begin copy commit commit-sent committed before-ack sent-ack before-grant sent-grant; do
    at_step coordinator-1 $step 2
done

# --- while it drains ---
if is_finished; then create selfplay 50 $pairs && wait_until 30 begun; fi
order coordinator-1 commit 2
kill -TERM "${pids[coordinator-1]}"
ok "a coordinator told to leave ends, killed at a commit or done" wait_until 20 is_dead coordinator-1
start coordinator-1
order worker-2 before-results 1
kill -TERM "${pids[worker-2]}"
ok "and so does a worker" wait_until 20 is_dead worker-2
start worker-2

# --- PostgreSQL with a COMMIT under way: it stands on disk, and nobody was told ---
create selfplay 60 $pairs && wait_until 30 begun # whatever is left of the one before
sql "alter system set synchronous_standby_names = 'nobody'" && sql "select pg_reload_conf()" >/dev/null
in_commit() { [ "$(psql -XAtq "$conninfo" -c "select count(*) from pg_stat_activity where application_name = 'kroo-coordinator' and wait_event = 'SyncRep'")" = 1 ]; }
ok "a commit waits in PostgreSQL" wait_until 20 in_commit
kill -9 "$(psql -XAtq "$conninfo" -c "select pid from pg_stat_activity where wait_event = 'SyncRep' limit 1")"
recovered() { sql "alter system reset synchronous_standby_names" && [ "$(sql "select pg_reload_conf()")" = t ]; }
ok "which crashes, recovers and waits for nobody any more" wait_until 30 recovered
none_runs() { [ "$(sql "select count(*) from experiment where state <> 'finished'")" = 0 ]; }
ok "everything is delivered" wait_until 120 none_runs
is "every pair is there once and counted once" "$(wrong_with $pairs)" ""
ok "kroo verify agrees on everything" "$kroo" verify --dir "$dir"
is "no lease is left open" "$(sql "select count(*) from lease where state = 'open'")" 0
done_testing
