#!/usr/bin/env bash
# Installs the packages on a bare Debian of this machine's release and plays there: `make deb-test`. Needs root and
# debootstrap; a few minutes. The Debian is made anew each time in a folder of /tmp and removed.
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip "only root can make a Debian in a folder"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
# Mounts of ours go with us.
if [ -z "${KROO_DEB_TEST_INSIDE:-}" ]; then
    exec env KROO_DEB_TEST_INSIDE=1 unshare --mount "$0" "$@"
fi
. "$(dirname "$0")/../../tests/system/lib.sh"

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
bare=$work/bare
inside() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} "$@"; }
leave() {
    inside kroo down --dir /srv/farm >/dev/null 2>&1
    umount -l "$bare/proc" "$bare/dev/shm" 2>/dev/null
    cleanup
}
trap leave EXIT

bare_debian() { debootstrap --variant=minbase "$release" "$bare" "$mirror" >"$work/debootstrap.log" 2>&1; }
ok "a bare Debian" bare_debian
rm -rf "$bare/etc/apt"
cp -a /etc/apt "$bare/etc/apt"
cp /etc/resolv.conf "$bare/etc/resolv.conf" 2>/dev/null
mount -t proc proc "$bare/proc"
mkdir -p "$bare/dev/shm"
mount -t tmpfs shm "$bare/dev/shm"
mkdir -p "$bare/etc/postgresql-common"
echo 'create_main_cluster = false' >"$bare/etc/postgresql-common/createcluster.conf"
printf '#!/bin/sh\nexit 101\n' >"$bare/usr/sbin/policy-rc.d"
chmod 755 "$bare/usr/sbin/policy-rc.d"
cp "$build"/deb/*.deb "$bare/root"

inside apt-get update -qq >"$work/apt.log" 2>&1
worker_alone() { inside sh -c 'apt-get install -y -qq --no-install-recommends /root/kroo-worker_*.deb' >>"$work/apt.log" 2>&1; }
ok "a worker installs alone" worker_alone || tail "$work/apt.log"
is "without a database or linear algebra" "$(inside dpkg-query -W -f '${Package}\n' 'libpq5' 'libopenblas*' 2>/dev/null)" ""
ok "and runs" inside kroo-worker --version
rest() { inside sh -c 'apt-get install -y -qq --no-install-recommends /root/kroo_*.deb postgresql-15' >>"$work/apt.log" 2>&1; }
ok "the rest installs" rest || tail "$work/apt.log"
versions() { for p in kroo kroo-coordinator kroo-engine kroo-train; do inside "$p" --version || return 1; done; }
ok "every program runs" versions
ok "a private cluster starts" inside kroo up --dir /srv/farm --workers 2
ok "a match plays" inside kroo match --dir /srv/farm starting starting --pairs 20 --nodes-a 300 --nodes-b 200 --seed 1 --wait
ok "kroo verify is clean" inside kroo verify --dir /srv/farm 1
is "every game is there" "$(inside kroo sql --dir /srv/farm -XAtqc 'select count(*) from game')" 40
ok "it stops" inside kroo down --dir /srv/farm
files_hold() { inside dpkg --verify kroo kroo-worker; }
is "the files are as packed" "$(files_hold)" ""
echo 'slots = 1' >>"$bare/etc/kroo/worker.conf"
ok "it is removed" inside dpkg --remove kroo kroo-worker
is "people's settings stay" "$(grep -c 'slots = 1' "$bare/etc/kroo/worker.conf")" 1
ok "and purged" inside dpkg --purge kroo kroo-worker
is "without leavings" "$(ls -d "$bare"/etc/kroo "$bare"/usr/bin/kroo* "$bare"/lib/systemd/system/kroo* 2>/dev/null)" ""
done_testing
