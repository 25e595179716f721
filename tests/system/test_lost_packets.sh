#!/usr/bin/env bash
# Packets between workers and coordinator are dropped by the kernel, both ways, for shorter and for longer than a
# heartbeat lasts: nothing is lost or counted twice, and work goes on afterwards. In a network namespace of its own, with
# nftables; needs root.
. "$(dirname "$0")/lib.sh"
export KROO_TERM_MS=5000 KROO_PROGRESS_MS=300

skip() {
    echo "ok 1 - packets dropped # skip $1"
    echo "1..1"
    trap - EXIT
    rm -rf "$work"
    exit 0
}
space=kroo-test-$$
[ "$(id -u)" -eq 0 ] || skip "a network namespace needs root"
command -v ip >/dev/null && command -v nft >/dev/null || skip "ip and nft are not installed (iproute2, nftables)"
ip netns add "$space" 2>/dev/null || skip "this machine allows no network namespace"
put_away() {
    status=$?
    ip netns pids "$space" | xargs -r kill -9 2>/dev/null
    ip netns del "$space"
    (exit $status)
    cleanup
}
trap put_away EXIT
within() { ip netns exec "$space" "$@"; }
within ip link set lo up
within nft add table inet cut && within nft add chain inet cut out '{ type filter hook output priority 0; }' ||
    { ip netns del "$space" && skip "nftables does not work in a namespace here"; }

stored() { sql "select games_stored from experiment_counter where experiment_id = $id"; }
moved() { [ "$(stored)" -gt "$before" ] || finished; }
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
drop() { within nft add rule inet cut out tcp dport 7710 drop && within nft add rule inet cut out tcp sport 7710 drop; }
mend() { within nft flush chain inet cut out; }
dropped_ms() { [ $(($(date +%s%3N) - dropped)) -ge "$1" ]; }

ok "a database" "$kroo" up --dir "$dir" --database-only
within kroo-coordinator --database "$(sed -n 's/^database = //p' "$dir/kroo.conf")" \
    --endpoint "tcp://127.0.0.1:7710,$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")" 2>"$work/coordinator.log" &
ok "a coordinator in a network of its own" wait_until 30 grep -q ' listening endpoint=ipc' "$work/coordinator.log"
for worker in 1 2; do
    within kroo-worker --endpoint tcp://127.0.0.1:7710 --name "w-$worker" --slots 1 --no-pin --state "$work/w-$worker" \
        2>"$work/w-$worker.log" &
done
for longest in 3000 17000; do
    id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 400 --nodes 200 --seed $longest)
    before=0
    ok "games come" wait_until 30 moved
    drop
    dropped=$(date +%s%3N)
    ok "packets are dropped for $longest ms" wait_until 60 dropped_ms $longest
    before=$(stored)
    mend
    ok "then games come again" wait_until 60 moved
    ok "to the end" wait_until 120 finished
    is "every pair is there once and counted once" \
        "$(sql "select concat_ws(' ', count(*), count(distinct (pair_no, leg)), (select concat_ws(' ', games_stored, prefix_pairs, wins + draws + losses) from experiment_counter where experiment_id = $id), (select count(*) from dispute)) from game where experiment_id = $id")" \
        '800 800 800 400 800 0'
done
ok "kroo verify agrees" "$kroo" verify --dir "$dir"
is "the workers are the same" "$(sql "select count(*) from session where name like 'w-%'")" 2
done_testing
