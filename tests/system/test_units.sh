#!/usr/bin/env bash
# The shipped systemd units under a real systemd: sandbox, readiness, watchdog, draining. The manager is root's own
# user manager, which needs no booted machine. It can neither give a unit a user of its own (DynamicUser) nor hand it a
# key (LoadCredential): the coordinator runs as a root without capabilities, workers as another user, and they read their
# keys themselves.
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip "only root may make a control group for a manager of its own"
id games >/dev/null 2>&1 || skip "there is no user games"
[ -x /lib/systemd/systemd ] || skip "systemd is not installed"
# Mounts of ours (another /run) go with us.
if [ -z "${KROO_UNITS_INSIDE:-}" ]; then
    exec env KROO_UNITS_INSIDE=1 unshare --mount "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

mount -t tmpfs tmpfs /run 2>/dev/null || skip "no mounts here"
ok "a database" "$kroo" up --dir "$dir" --database-only
(cd "$(readlink "$dir/postgres")" && chmod 755 . run && chmod 777 run/.s.PGSQL.*[0-9]) # without capabilities root is like others
groups=
for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
    [ -e "$hierarchy/cgroup.procs" ] || continue
    group=$hierarchy/kroo-test-$$
    mkdir "$group" 2>/dev/null && echo $$ >"$group/cgroup.procs" || skip "no control groups of our own here"
    groups="$groups $group"
done
runtime=/run/kroo-manager
mkdir -p /run/systemd/system "$runtime/units" "$runtime/home/.config" /run/systemd/inaccessible/dir
(cd /run/systemd/inaccessible && touch reg && mkfifo fifo && mknod chr c 0 0 && mknod blk b 0 0 && chmod 000 *)
control() { env XDG_RUNTIME_DIR="$runtime" systemctl --user "$@"; }
property() { control show -P "$2" "$1"; }

# Programs, settings and keys where a private /tmp does not hide them, and the units with their paths.
place=/run/kroo-place
mkdir -p "$place/bin" "$place/keys"
cp "$build/kroo-coordinator" "$build/kroo-worker" "$place/bin"
ok "keys" eval '"$kroo" key new coordinator --out "$place" && "$kroo" key new worker --out "$place" &&
    "$kroo" key allow --dir "$dir" node1 "$place/worker.pub" --role worker'
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cp -p "$place/coordinator.key" "$place/keys/kroo-coordinator"
cp -p "$place/worker.key" "$place/keys/kroo-worker"
chown games "$place/keys/kroo-worker"
printf '%s\nendpoint = tcp://127.0.0.1:%s\nmetrics = 0\nterm_ms = 4000\nprogress_ms = 300\n' \
    "$(grep ^database "$dir/kroo.conf")" "$port" >"$place/coordinator.conf"
printf 'endpoint = tcp://127.0.0.1:%s\nserver_key = %s\n' "$port" "$place/coordinator.pub" >"$place/worker.conf"
for unit in kroo-coordinator.service kroo-worker@.service; do
    sed "s|/usr/bin/|$place/bin/|; s|/etc/kroo/|$place/|; s|--state /var/lib/|--state %S/|
        s/^User=kroo-worker.*/User=games/; s/^User=kroo-c.*//; s/^Type=.*/&\nStandardError=append:\/run\/kroo-place\/log/; /^DynamicUser=/d; /^LoadCredential=/d; s|%d/key|$place/keys/%p|; /^Wants=\|^After=\|^RemoveIPC=/d
        s/^WatchdogSec=.*/WatchdogSec=2/; s/^RestartSec=.*/RestartSec=1/" "$root/deploy/systemd/$unit" >"$runtime/units/$unit"
done
# A worker that measures its machine makes no turn meanwhile.
sed -i 's/^WatchdogSec=.*/WatchdogSec=6/' "$runtime/units/kroo-worker@.service"
env -i PATH="$PATH" HOME="$runtime/home" XDG_RUNTIME_DIR="$runtime" SYSTEMD_UNIT_PATH="$runtime/units:" \
    /lib/systemd/systemd --user --log-target=console >"$work/systemd.log" 2>&1 &
manager=$!
leave() {
    control stop 'kroo-*' >/dev/null 2>&1
    kill "$manager" 2>/dev/null
    wait "$manager" 2>/dev/null
    for group in $groups; do echo $$ >"$(dirname "$group")/cgroup.procs"; done
    find $groups -depth -type d -exec rmdir {} + 2>/dev/null
    cleanup
}
trap leave EXIT
answers() { control is-system-running | grep -Eq 'running|degraded'; }
wait_until 30 answers || skip "no manager comes up here: $(tail -n 1 "$work/systemd.log")"

# The machine's own manager hears every user; this one hears workers that are not root once they reach its socket.
chmod 711 "$runtime" "$runtime/systemd" && chmod 777 "$runtime/systemd/notify"

# --- the coordinator ---
ok "the coordinator starts within its sandbox" control start kroo-coordinator
if [ "$failures" -gt 0 ]; then
    control status -n 0 kroo-coordinator | sed 's/^/# /'
    tail -n 20 "$place/log" | sed 's/^/# /'
    exit 1
fi
is "systemd heard READY" "$(property kroo-coordinator ActiveState)" active
is "its state is the unit's" "$(property kroo-coordinator StatusText)" "leading; listening on tcp://127.0.0.1:$port"
first=$(property kroo-coordinator MainPID)
is "no privilege can be gained in it" "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$first/status")" 1
is "and its calls are filtered" "$(sed -n 's/^Seccomp:\t//p' "/proc/$first/status")" 2

# --- a worker, and a player that is not ours, in namespaces of its own within the unit's ---
ok "an operator's key" eval '"$kroo" key new operator --out "$place" && "$kroo" key allow --dir "$dir" me "$place/operator.pub" --role operator'
launch() {
    KROO_ENDPOINT=tcp://127.0.0.1:$port KROO_KEY=$place/operator.key KROO_SERVER_KEY=$place/coordinator.pub \
        "$kroo" match --dir "$dir" "$@"
}
ok "a worker starts within its sandbox" control start kroo-worker@1
id=$(launch starting starting --pairs 10 --nodes-a 60 --nodes-b 50 --seed 4 2>/dev/null)
finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
ok "and plays" wait_until 60 finished
is "its state is the unit's" "$(property kroo-worker@1 StatusText)" "ready; tcp://127.0.0.1:$port"
is "programs that are not ours are confined there as anywhere" \
    "$(sed -n 's/.* confinement programs="\([a-z]*\)".*/\1/p' "$place/log" | head -n 1)" namespaces
grep -h confinement "$place/log" | head -n 1 | sed 's/^/# /'

# --- the watchdog ---
restarts() { [ "$(property kroo-coordinator NRestarts)" -ge 1 ] && [ "$(property kroo-coordinator ActiveState)" = active ]; }
[ "$first" -gt 1 ] && kill -STOP "$first"
ok "a loop that hangs is killed by the watchdog and started anew" wait_until 60 restarts
is "as another process" "$([ "$(property kroo-coordinator MainPID)" != "$first" ] && echo another)" another
id=$(launch starting starting --pairs 10 --nodes-a 60 --nodes-b 50 --seed 5 2>/dev/null)
ok "the worker comes back to it and plays on" wait_until 60 finished

frozen=$(property kroo-worker@1 MainPID)
[ "$frozen" -gt 1 ] && kill -STOP "$frozen"
renewed() { [ "$(property kroo-worker@1 NRestarts)" -ge 1 ] && [ "$(property kroo-worker@1 ActiveState)" = active ]; }
ok "a worker that hangs is killed by the watchdog and started anew" wait_until 60 renewed
id=$(launch starting starting --pairs 10 --nodes-a 60 --nodes-b 50 --seed 6 2>/dev/null)
ok "and plays again" wait_until 60 finished

# --- the end ---
ok "a worker is stopped" control stop kroo-worker@1
is "in order" "$(property kroo-worker@1 Result)" success
ok "and the coordinator" control stop kroo-coordinator
is "after draining, status 0" "$(property kroo-coordinator Result) $(property kroo-coordinator ExecMainStatus)" "success 0"
ok "kroo verify finds no difference" "$kroo" verify --dir "$dir"
done_testing
