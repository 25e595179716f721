#!/usr/bin/env bash
# `make soak`: a cluster under steady work for long, and what its processes hold meanwhile.
#
#   tests/fault/soak.sh SECONDS      (1200 by default)
#
# Two real workers and a crowd of synthetic ones play; experiments are made, finished, stopped and deleted all the time; a
# worker and the coordinator are restarted in between. Resident memory, descriptors and threads of every process are
# sampled, and of PostgreSQL's backends the memory that is their own. The rule: of the samples of a kind since the last
# restart of its process, the second half is fitted by a line; what that line grows by from its first sample to its last
# must be below a tenth of its mean, or below the slack of its kind (memory 8 MiB, and of the coordinator 64 bytes for each
# game that was stored in that time besides: what it remembers of running experiments; descriptors 8, threads 2). At the
# end nothing may be lost: `kroo verify` is clean.
. "$(dirname "$0")/../system/lib.sh"
set -o pipefail
seconds=${1:-1200}
crowd=$build/bench/crowd
samples=$work/samples
export KROO_DIR=$dir

endpoint() { sed -n 's/^endpoint = //p' "$dir/kroo.conf"; }
say() { printf '# %5d s  %s\n' "$(($(date +%s) - began))" "$*"; }
now() { echo $(($(date +%s%3N) - began_ms)); }

# sample NAME PID: time, name, process, own resident KiB, descriptors, threads.
sample() {
    local memory files threads
    memory=$(awk '/^(RssAnon|RssFile)/ { kib += $2 } END { print kib + 0 }' "/proc/$2/status" 2>/dev/null) || return 0
    threads=$(awk '/^Threads/ { print $2 }' "/proc/$2/status" 2>/dev/null) || return 0
    files=$(find "/proc/$2/fd" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
    [ -n "$threads" ] && printf '%s %s %s %s %s %s\n' "$(now)" "$1" "$2" "$memory" "$files" "$threads" >>"$samples"
}
# The backends of the coordinator; those of passing commands come and go.
backends() { sql "select case when application_name = 'kroo-coordinator' then 'writer' else 'herald' end, pid from pg_stat_activity where application_name in ('kroo-coordinator', 'kroo-coordinator-keys')"; }
sample_all() {
    sample coordinator "$(pid_of coordinator)"
    for worker in 1 2; do sample "worker-$worker" "$(pid_of "worker-$worker")"; done
    sample postmaster "$(postgres_pid)"
    while IFS='|' read -r name pid; do sample "backend:$name" "$pid"; done < <(backends 2>/dev/null)
}

# Experiments come and go: each turn one is made, the one before it is stopped, the one before that deleted.
turn=0 made=() deleted=0
turn_over() {
    local id
    turn=$((turn + 1))
    id=$("$kroo" match starting starting --nodes-a 100 --nodes-b 120 --pairs "$((turn % 3 == 0 ? 40 : 100000))" --audit 0 \
        --seed "$turn" --key "soak-$turn" 2>/dev/null | head -n 1) && [ -n "$id" ] && made+=("$id")
    [ "${#made[@]}" -lt 2 ] || "$kroo" stop "${made[-2]}" >/dev/null 2>&1
    [ "${#made[@]}" -lt 4 ] || { "$kroo" delete "${made[0]}" --yes >/dev/null 2>&1 && deleted=$((deleted + 1)) && made=("${made[@]:1}"); }
}

ok "a cluster" "$kroo" up --workers 2
began=$(date +%s) began_ms=$(date +%s%3N)
turn_over
"$crowd" "$(endpoint)" "${KROO_SOAK_CROWD:-50}" --rate "${KROO_SOAK_RATE:-2}" --seconds "$seconds" --every 5 >"$work/crowd" 2>&1 &
load=$!
plays() { [ -s "$work/crowd" ] && [ "$(tail -n 1 "$work/crowd" | jq .games)" -gt 0 ]; }
ok "a crowd plays" wait_until 60 plays
pause_s=$((seconds / 120 > 0 ? seconds / 120 : 1))
restarted=
while [ $(($(date +%s) - began)) -lt "$seconds" ]; do
    sample_all
    turn_over
    if [ -z "$restarted" ] && [ $(($(date +%s) - began)) -ge $((seconds / 4)) ]; then
        say "the coordinator is killed, and a worker"
        kill -9 "$(pid_of coordinator)" "$(pid_of worker-2)"
        "$kroo" up --workers 2 >/dev/null 2>&1
        restarted=$(now)
        games_then=$(sql "select coalesce(sum(games_stored), 0) from experiment_counter")
    fi
    read -r -t "$pause_s" -u 9 || :
done
wait "$load"
status=$?
# What it delivers for an experiment that was deleted meanwhile is refused, and it ends with 1 for that.
ok "the crowd ends, refused no more than a game in ten" \
    test "$status" -le 1 -a "$(tail -n 1 "$work/crowd" | jq '.refused * 10 <= .games')" = true
games_now=$(sql "select coalesce(sum(games_stored), 0) from experiment_counter")
say "$turn experiments made, $deleted deleted; $(tail -n 1 "$work/crowd" | jq -c '{games, losses, refused}')"
ok "experiments were made and deleted, the coordinator restarted" test "$deleted" -ge 2 -a -n "$restarted"

# What each process held since the restart, and its growth over the second half.
awk -v restarted="$restarted" '
    $1 > restarted && $3 != last[$2] { last[$2] = $3; count[$2] = 0 }
    $1 > restarted { n = ++count[$2]; at[$2, n] = $1; for (i = 4; i <= 6; i++) value[$2, n, i] = $i }
    END {
        split("kib descriptors threads", kinds)
        for (name in count)
            for (i = 4; i <= 6; i++) {
                from = int(count[name] / 2) + 1; n = count[name] - from + 1
                if (n < 3) continue
                sx = sy = sxx = sxy = 0; least = most = value[name, from, i]
                for (k = from; k <= count[name]; k++) {
                    x = (at[name, k] - at[name, from]) / 1000; y = value[name, k, i]
                    sx += x; sy += y; sxx += x * x; sxy += x * y
                    if (y < least) least = y; if (y > most) most = y
                }
                spread = n * sxx - sx * sx
                slope = spread > 0 ? (n * sxy - sx * sy) / spread : 0
                span = (at[name, count[name]] - at[name, from]) / 1000
                printf "%s %s %d %.0f %.0f %.1f %.1f\n", name, kinds[i - 3], n, least, most, sy / n, slope * span
            }
    }' "$samples" | sort >"$work/table"
printf '# %-16s %-12s %8s %10s %10s %10s %10s\n' process what samples least most mean growth
sed 's/^/# /' "$work/table" | awk '{ printf "# %-16s %-12s %8s %10s %10s %10s %10s\n", $2, $3, $4, $5, $6, $7, $8 }'
remembered_kib=$((64 * (games_now > games_then ? games_now - games_then : 0) / 1024))
not_flat() {
    awk -v remembered="$remembered_kib" '{
        slack = $2 == "kib" ? 8192 + ($1 == "coordinator" ? remembered : 0) : $2 == "descriptors" ? 8 : 2
        if ($7 > slack && $7 > $6 / 10) print $1, $2, "grew by", $7
    }' "$work/table"
}
ok "there are samples of coordinator, workers, and the writer's backend" \
    test "$(cut -d' ' -f1 "$work/table" | sort -u | grep -cE '^(coordinator|worker-[12]|backend:writer)$')" -eq 4
is "memory, descriptors and threads are flat over the second half" "$(not_flat)" ""
for id in "${made[@]}"; do "$kroo" stop "$id" >/dev/null 2>&1; done
ok "kroo verify finds no difference" "$kroo" verify
done_testing
[ "$failures" -eq 0 ]
