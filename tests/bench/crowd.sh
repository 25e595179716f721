#!/usr/bin/env bash
# `make crowd`: what one coordinator and its PostgreSQL on this machine take from thousands of workers. Synthetic
# workers, the real protocol, every game replayed and committed, fsync on. Fifteen minutes; figures are for reading
# (deploy/SCALE.md), and nothing fails but what must hold at any speed: no game refused or lost, the verification
# clean, everybody back after a kill.
#
#   KROO_CROWD="2000 10000"   numbers of workers
#   KROO_CROWD_SECONDS=90     of each
#   KROO_CROWD_RATE=5         games a second of each worker
. "$(dirname "$0")/../system/lib.sh"
set -e -o pipefail
shopt -s inherit_errexit
export KROO_DIR=$dir
crowd=$build/bench/crowd
trap 'failed=$?; set +e; (exit "$failed"); cleanup' EXIT

pid_of() { pgrep -f -- "kroo-coordinator --config $dir/kroo.conf"; }
backends() { psql -qAtX -d "$(sed -n 's/^database = //p' "$dir/kroo.conf")" -c "$1"; }
# Seconds of processor time of a process; of the backend that writes games.
cpu() { awk '{ print ($14 + $15) / 100 }' "/proc/$1/stat"; }
loop_cpu() { awk '{ print ($14 + $15) / 100 }' "/proc/$1/task/$1/stat"; } # the event loop is the first thread
writer_pid() { backends "select pid from pg_stat_activity where application_name like 'kroo%' order by backend_start limit 1"; }
rss_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
endpoint() { sed -n 's/^endpoint = //p' "$dir/kroo.conf"; }

last_says() { [ "$(tail -n 1 "$work/lines" | jq "$1")" = true ]; }

# played WORKERS SECONDS RATE: a crowd on a new experiment; processor time a game beside its last line.
played() {
    "$kroo" match starting starting --nodes-a 100 --nodes-b 120 --pairs 20000000 --audit 0 >"$work/id" 2>/dev/null
    coordinator=$(pid_of) backend=$(writer_pid)
    before=$(cpu "$coordinator") before_loop=$(loop_cpu "$coordinator") before_backend=$(cpu "$backend")
    "$crowd" "$(endpoint)" "$1" --rate "$3" --seconds "$2" --every 10 >"$work/lines"
    after=$(cpu "$coordinator") after_loop=$(loop_cpu "$coordinator") after_backend=$(cpu "$backend")
    tail -n 1 "$work/lines" | jq -c --argjson workers "$1" --argjson cpu "$(jq -n "$after - $before")" \
        --argjson loop "$(jq -n "$after_loop - $before_loop")" \
        --argjson backend "$(jq -n "$after_backend - $before_backend")" --argjson rss "$(rss_kib "$coordinator")" \
        '{workers: $workers} + . + {coordinator_us_per_game: (1e6 * $cpu / (.games + 1)),
          loop_us_per_game: (1e6 * $loop / (.games + 1)),
          backend_us_per_game: (1e6 * $backend / (.games + 1)), coordinator_rss_kib: $rss}'
    "$kroo" stop "$(tail -n 1 "$work/id")" >/dev/null
}

"$kroo" up --workers 0 >/dev/null
say() { printf '%s\n' "$*"; }
say "# rss of the coordinator alone: $(rss_kib "$(pid_of)") KiB"
for workers in ${KROO_CROWD:-2000 10000}; do
    played "$workers" "${KROO_CROWD_SECONDS:-90}" "${KROO_CROWD_RATE:-5}"
done

say "# a coordinator killed under 2,000 workers"
"$kroo" match starting starting --nodes-a 100 --nodes-b 120 --pairs 20000000 --audit 0 >"$work/id" 2>/dev/null
"$crowd" "$(endpoint)" 2000 --rate "${KROO_CROWD_RATE:-5}" --seconds 150 --every 5 >"$work/lines" &
load=$!
wait_until 60 last_says '.welcome == 2000'
kill -9 "$(pid_of)"
killed=$(date +%s)
"$kroo" up --workers 0 >/dev/null
wait_until 120 last_says '.welcome == 2000 and .losses >= 2000'
say "{\"back_after_seconds\":$(($(date +%s) - killed))}"
wait "$load"
tail -n 1 "$work/lines"
acknowledged=$(tail -n 1 "$work/lines" | jq '.games + .duplicates')
id=$(tail -n 1 "$work/id")
stored=$(backends "select count(*) from kroo.game where experiment_id = $id")
say "{\"acknowledged\":$acknowledged,\"stored\":$stored}"
[ "$stored" -ge "$(tail -n 1 "$work/lines" | jq .games)" ]
"$kroo" stop "$id" >/dev/null
"$kroo" verify "$id"
