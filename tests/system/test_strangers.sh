#!/usr/bin/env bash
# Promise 7: whatever bytes come to the port, from whomever, the workers go on and every game of theirs counts; the
# coordinator does not grow. And many workers behind one address are many workers.
. "$(dirname "$0")/lib.sh"
load=$build/bench/load
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=8} # of a sanitizer build, which would keep what is freed
port=$((20000 + $$ % 20000))

counters() {
    sql "select games_stored, prefix_pairs, wins + draws + losses from experiment_counter where experiment_id = $id"
}
resident_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$coordinator/status"; }
throw() { # FILE: at the port, until all is taken or the other end hangs up
    cat "$1" >"/dev/tcp/127.0.0.1/$port"
}

ok "a database" "$kroo" up --dir "$dir" --database-only
conninfo=$(sed -n 's/^database = //p' "$dir/kroo.conf")
kroo-coordinator --database "$conninfo" --endpoint "tcp://127.0.0.1:$port" 2>"$work/coordinator.log" &
coordinator=$!
ok "a coordinator on a loopback port" wait_until 20 grep -q listening "$work/coordinator.log"
export KROO_ENDPOINT=tcp://127.0.0.1:$port

# --- what strangers throw ---
head -c 200000 /dev/zero | tr '\000' '\356' >"$work/ee"
head -c 200000 /dev/urandom >"$work/random"
head -c 2000000 /dev/zero >"$work/zeros"
printf 'GET /metrics HTTP/1.1\r\nHost: kroo\r\n\r\n' >"$work/http"
printf '\377\0\0\0\0\0\0\0\1\177\3' >"$work/half-greeting"
greeting() { printf '\377\0\0\0\0\0\0\0\1\177\3\0%s' "$1"; head -c "$((20 - ${#1}))" /dev/zero; printf '\0'; head -c 31 /dev/zero; }
greeting NULL >"$work/greeting"
{ greeting NULL; printf '\004\046\005READY\013Socket-Type\0\0\0\006DEALER\010Identity\0\0\0\0'; } >"$work/ready"
{ cat "$work/ready"; printf '\002\377\377\377\377\377\377\377\377'; cat "$work/ee"; } >"$work/endless-frame"
{ cat "$work/ready"; printf '\000\310'; head -c 200 "$work/random"; } >"$work/frame-of-noise"
{ cat "$work/ready"; for part in $(seq 2000); do printf '\001\001x'; done; } >"$work/many-parts"
greeting CURVE >"$work/curve"
printf '\026\003\001\002\000\001\000\001\374\003\003' >"$work/tls"

id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 30000 --nodes 100 --seed 1)
"$load" "$KROO_ENDPOINT" 10 32 >"$work/load" 2>&1 &
loading=$!
begun() { [ "$(sql "select games_stored > 0 from experiment_counter where experiment_id = $id")" = t ]; }
ok "ten workers play" wait_until 20 begun
before=$(resident_kib)
held=()
for connection in $(seq 100); do
    exec {fd}<>"/dev/tcp/127.0.0.1/$port" && held+=("$fd")
    [ $((connection % 2)) -eq 0 ] && cat "$work/half-greeting" >&"$fd" 2>/dev/null
done
is "a hundred connections are held open and say nothing, or half a greeting" "${#held[@]}" 100
rounds=0
while kill -0 $loading 2>/dev/null || [ $rounds -lt 3 ]; do
    for noise in ee random zeros http half-greeting greeting ready endless-frame frame-of-noise many-parts curve tls; do
        throw "$work/$noise" 2>/dev/null
    done
    rounds=$((rounds + 1))
    [ $rounds -lt 500 ] || break
done
wait $loading
is "the workers end in order" "$?" 0
is "each of their games was taken" "$(jq -c '[.games, .duplicates, .refused]' "$work/load")" '[60000,0,0]'
is "and counts" "$(counters)" '60000|30000|60000'
ok "in a storm of $rounds times twelve kinds of noise" test $rounds -ge 3
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
ok "it is the same coordinator" kill -0 $coordinator
after=$(resident_kib)
ok "which grew by less than 64 MiB ($before KiB, $after KiB)" test $((after - before)) -lt 65536
is "nothing of that became a session" "$("$kroo" status --json | jq '[.workers[] | select(.name | startswith("load-") | not)] | length')" 0
for fd in "${held[@]}"; do exec {fd}>&-; done

# --- many workers behind one address ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 10000 --nodes 100 --seed 2)
said=$("$load" "$KROO_ENDPOINT" 200 8 --name lab --pairs 8)
is "two hundred workers from one address all work" "$(jq -c '[.workers, .games, .refused]' <<<"$said")" '[200,20000,0]'
is "and everything counts" "$(counters)" '20000|10000|20000'
is "under two hundred names" \
    "$(sql "select count(distinct s.name) from session s where s.name like 'lab-%'")" 200
ok "all of which had leases" test "$(sql "select count(distinct session_id) from lease where experiment_id = $id")" -ge 150
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
done_testing
