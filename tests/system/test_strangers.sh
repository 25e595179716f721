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

# --- peers by the book that speak nonsense, hundreds of them ---
peak_kib() { awk '/^VmHWM/ { print $2 }' "/proc/$coordinator/status"; }
descriptors() { ls "/proc/$coordinator/fd" | wc -l; }
counter() { "$kroo" status --json | jq ".counters.$1"; }
mkfifo "$work/siege-lasts"
besiege() { # PORT CONNECTIONS KIND [FILE...]: until lift_siege
    "$build/tests/system/siege" "$@" <"$work/siege-lasts" >"$work/siege" &
    siege=$!
    exec 8>"$work/siege-lasts"
}
lift_siege() { exec 8>&-; wait $siege; } # whoever is started meanwhile must not hold 8
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 6000 --nodes 100 --seed 3)
besiege "$port" 200 peers "$root"/tests/vectors/proto/v1/*.bin "$root"/tests/fuzz/proto/corpus/message/*
many_malformed() { [ "$(counter malformed)" -gt 3000 ]; }
ok "two hundred peers say what no peer of ours says" wait_until 60 many_malformed
"$load" "$KROO_ENDPOINT" 10 32 >"$work/load" 2>&1
is "the ten workers end in order meanwhile" "$?" 0
is "each of their games was taken" "$(jq -c '[.games, .duplicates, .refused]' "$work/load")" '[12000,0,0]'
lift_siege
is "and counts" "$(counters)" '12000|6000|12000'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
# Stated in SECURITY.md: 1 MiB for each peer that listens to nothing, 64 MiB for its own work.
ok "it is the same coordinator, whose memory never passed 264 MiB ($(peak_kib) KiB)" test "$(peak_kib)" -lt 270336
few_open() { [ "$(descriptors)" -lt 60 ]; }
ok "their connections are gone" wait_until 30 few_open
ok "and its log is short ($(wc -l <"$work/coordinator.log") lines)" test "$(wc -l <"$work/coordinator.log")" -lt 1000

# --- many workers behind one address ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 10000 --nodes 100 --seed 2)
said=$("$load" "$KROO_ENDPOINT" 200 8 --name lab --pairs 8)
is "two hundred workers from one address all work" "$(jq -c '[.workers, .games, .refused]' <<<"$said")" '[200,20000,0]'
is "and everything counts" "$(counters)" '20000|10000|20000'
is "under two hundred names" \
    "$(sql "select count(distinct s.name) from session s where s.name like 'lab-%'")" 200
ok "all of which had leases" test "$(sql "select count(distinct session_id) from lease where experiment_id = $id")" -ge 150
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

# --- thousands of strangers at a port with keys ---
kill $coordinator && wait $coordinator
mkdir -m 700 "$work/keys"
for name in coordinator node; do "$kroo" key new $name --out "$work/keys" >/dev/null 2>&1; done
"$kroo" key allow --dir "$dir" node "$work/keys/node.pub" --role worker >/dev/null
hidden=ipc://$dir/run/own.sock
mkdir -p -m 700 "$dir/run"
kroo-coordinator --database "$conninfo" --endpoint "tcp://127.0.0.1:$port,$hidden" --key "$work/keys/coordinator.key" 2>"$work/guarded.log" &
coordinator=$!
ok "a coordinator with keys" wait_until 20 grep -q listening "$work/guarded.log"
export KROO_ENDPOINT=$hidden
before=$(peak_kib)
besiege "$port" 1500 strangers
stormed() { [ "$(descriptors)" -gt 500 ]; }
ok "is besieged by fifteen hundred strangers" wait_until 60 stormed
# One after the other: the ten play at random, so their games would contradict a worker's of the same pair.
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 40 --nodes 100 --seed 4)
KROO_ENDPOINT=tcp://127.0.0.1:$port kroo-worker --key "$work/keys/node.key" --server-key "$work/keys/coordinator.pub" \
    --name through --slots 1 --state "$work/through" 2>"$work/through.log" 8>&- &
through=$!
ok "a worker with a key comes through them and plays to the end" wait_until 120 finished
kill $through && wait $through
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 3000 --nodes 100 --seed 5)
"$load" "$hidden" 10 32 >"$work/load" 2>&1
is "ten workers play on beside them" "$?" 0
ok "to the end" wait_until 60 finished
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
# Stated in SECURITY.md: 48 KiB for each stranger's connection, 64 MiB for its own work.
ok "memory stays within 48 KiB a connection and 64 MiB ($before KiB, at most $(peak_kib) KiB)" \
    test "$(($(peak_kib) - before))" -lt $((1500 * 48 + 65536))
lift_siege
ok "the strangers were shut out again and again ($(jq -c . "$work/siege"))" test "$(jq .closed "$work/siege")" -gt 500
is "none of them became a peer" "$(counter malformed)|$(counter say_hello)" '0|null'
ok "their connections are gone" wait_until 30 few_open
ok "and the log is short" test "$(wc -l <"$work/guarded.log")" -lt 300
kill $coordinator && wait $coordinator

# --- a peer that says too much ---
KROO_PEER_RATE=20 kroo-coordinator --database "$conninfo" --endpoint "$hidden" 2>"$work/rationed.log" &
coordinator=$!
ok "a coordinator that takes twenty messages a second" wait_until 20 grep -q listening "$work/rationed.log"
"$build/tests/system/liar" "$hidden" flood >"$work/flood"
is "refuses what is beyond, and says so" "$(sed -n 2p "$work/flood")" \
    "flood: not all served: BUSY: more than 20 messages a second came over this connection: wait for answers; with a time to wait"
is "who waits is served again" "$(sed -n 3p "$work/flood")" "after it: STATUS_REPLY"
ok "it is counted, and noted" test "$(counter noisy)" -gt 0 -a "$(grep -c peer-noisy "$work/rationed.log")" -gt 0
done_testing
