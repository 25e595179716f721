#!/usr/bin/env bash
# Full disks: a worker's state folder, the database's tables, the database's log. Everybody waits, says why, and goes
# on when there is room again; nothing is lost or counted twice. Needs small file systems, so root.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load
export KROO_TERM_MS=60000 KROO_PROGRESS_MS=300

mkdir "$work/small"
if ! mount -t tmpfs -o size=200k tmpfs "$work/small" 2>/dev/null; then
    echo "ok 1 - full disks # skip mounting a small file system is not allowed here"
    echo "1..1"
    tests=1
    exit 0
fi
mounted="$work/small"
put_away() {
    status=$?
    trap - EXIT INT TERM
    jobs -p | xargs -r kill -9 2>/dev/null
    "$kroo" down --dir "$dir" >/dev/null 2>&1
    for place in $mounted; do umount -l "$place"; done
    (exit $status)
    cleanup
}
trap put_away EXIT

counters() {
    sql "select games_stored, prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id"
}
stored_many() { [ "$(sql "select games_stored > 500 from experiment_counter where experiment_id = $id")" = t ]; }
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
# Leaves KIB on the file system of FOLDER; the rest is a file named ballast.
leave() {
    rm -f "$1/ballast"
    free=$(df -k --output=avail "$1" | tail -n 1)
    head -c $(((free - $2) * 1024)) /dev/zero >"$1/ballast" 2>/dev/null
}

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
conninfo=$(sed -n 's/^database = //p' "$dir/kroo.conf")

# --- a worker without room for weights ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 6000 --nodes 60 --seed 1)
worker() { kroo-worker --endpoint "$endpoint" --name small --slots 2 --state "$work/small" 2>"$work/$1.log" & }
mkdir "$work/small/spool" "$work/small/artifacts" "$work/small/refused"
leave "$work/small" 0
worker no-weights
player=$!
ok "without room the weights are not stored, which is said" \
    wait_until 20 grep -Eq "lease-given-back.*weights.*No space" "$work/no-weights.log"
is "no cut or empty file is left" "$(find "$work/small/artifacts" -type f | wc -l)" 0
ok "the worker lives" kill -0 $player
kill -TERM $player
wait $player
is "and leaves in order" $? 0
rm "$work/small/ballast"

# --- a worker without room for results ---
worker no-spool
player=$!
ok "with room it plays" wait_until 20 stored_many
kill -STOP "$(pid_of coordinator)"
leave "$work/small" 0
ok "with the coordinator out of reach its spool fills the disk; play pauses" \
    wait_until 30 grep -Eq "spool-refuses.*No space" "$work/no-spool.log"
rm "$work/small/ballast"
kill -CONT "$(pid_of coordinator)"
ok "when results are taken again it goes on" wait_until 20 grep -q spool-takes "$work/no-spool.log"
ok "to the end" wait_until 120 finished
is "everything is there and counted once" "$(counters)" '12000|6000|12000'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
kill -TERM $player
wait $player

# --- a database without room ---
"$kroo" down --dir "$dir" >/dev/null 2>&1
data=$(readlink -f "$dir/postgres")/data
printf 'max_wal_size = 64MB\nwal_recycle = off\n' >>"$data/postgresql.conf"
on_small() { # FOLDER MIB: it lies on a file system of its own from now on
    mv "$1" "$1.moved"
    mkdir "$1"
    mount -t tmpfs -o "size=$2m,mode=700" tmpfs "$1"
    mounted="$mounted $1"
    cp -a "$1.moved/." "$1"
    chown --reference="$1.moved" "$1"
}
on_small "$data/base" 120
on_small "$data/pg_wal" 160
"$kroo" up --dir "$dir" --database-only >/dev/null 2>&1
mkdir -m 700 "$work/run"
endpoint=ipc://$work/run/c.sock
KROO_TERM_MS=4000 kroo-coordinator --database "$conninfo" --endpoint "$endpoint" 2>"$work/coordinator.log" &
coordinator=$!
ok "a cluster on small disks" wait_until 30 grep -q listening "$work/coordinator.log"

run_out() { # FOLDER SEED: games are delivered while FOLDER has almost no room
    id=$(KROO_ENDPOINT=$endpoint "$kroo" selfplay --dir "$dir" --weights starting --pairs 6000 --nodes 100 --seed "$2")
    leave "$1" 3000
    seen=$(wc -l <"$work/coordinator.log")
    "$load" "$endpoint" 4 64 --same >"$work/load" 2>&1 &
    loading=$!
}
without_room() { tail -n +"$((seen + 1))" "$work/coordinator.log" | grep -Eq "database-down"; }
# A lease whose grant came when nobody waited for it any more lapses first.
played_out() { "$load" "$endpoint" 4 64 --name later --same >>"$work/load" && finished; }
delivered() { # what run_out began ends as it must
    wait $loading
    ok "all is played at last" wait_until 60 played_out
    is "every game was taken, and none refused" \
        "$(jq -sc '[(map(.games + .duplicates) | add) >= 12000, (map(.refused) | add), (map(.conflicts) | add)]' "$work/load")" \
        '[true,0,0]'
    is "everything is there and counted once" "$(counters)" '12000|6000|12000'
    ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
    ok "the coordinator is the same" kill -0 $coordinator
}

run_out "$data/base" 2
ok "without room for tables the coordinator waits" wait_until 30 without_room
ok "and says why" grep -q "database-down.*No space left" "$work/coordinator.log"
ok "the workers wait too" kill -0 $loading
rm "$data/base/ballast"
delivered

# Little is left in the last segment there is, and no checkpoint is due that would remove or make one.
sql checkpoint
used_up() {
    sql "select pg_wal_lsn_diff(lsn, '0/0')::bigint % 16777216 > 15000000 and pg_walfile_name(lsn) = max(name)
        from pg_current_wal_insert_lsn() lsn, pg_ls_waldir() group by lsn"
}
for message in $(seq 200); do
    [ "$(used_up)" = t ] && break
    sql "select pg_logical_emit_message(true, 'ballast', repeat('x', 400000))" >/dev/null
done
ok "the log's last segment is used up" test "$(used_up)" = t
run_out "$data/pg_wal" 3
ok "without room for its log the database falls" wait_until 30 without_room
ok "the workers wait" kill -0 $loading
rm "$data/pg_wal/ballast"
ok "with room it starts again" wait_until 60 "$kroo" up --dir "$dir" --database-only
delivered
kill -TERM $coordinator
wait $coordinator
is "the coordinator ends in order" $? 0
done_testing
