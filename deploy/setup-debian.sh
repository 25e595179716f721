#!/bin/sh
# Installs what Kroo needs on Debian 12 and nothing that is there already. Quiet; says what it installs.
#   deploy/setup-debian.sh           to build, run and test
#   deploy/setup-debian.sh --run     to build and run: what `make demo` asks for
#   deploy/setup-debian.sh --list    only names what is missing (after --run: to build and run)
# Run as root, or as a user with sudo.
set -eu

# To build and run.
packages='gcc make pkg-config
libzmq3-dev libmicrohttpd-dev libprotobuf-c-dev protobuf-c-compiler libsodium-dev libjansson-dev
libpq-dev postgresql-15 postgresql-client-15 libopenblas-dev liblapacke-dev jq procps npm emscripten'
# To test as well.
tests='clang clang-format libclang-rt-14-dev git curl iproute2 nftables dpkg-dev
postgresql-server-dev-15 postgresql-15-pgtap libtap-parser-sourcehandler-pgtap-perl libcmocka-dev
prometheus mandoc systemd bash-completion slurmctld slurmd slurm-client python3 python3-yaml openjdk-17-jdk-headless
chromium fonts-dejavu-core'
if [ "${1:-}" = --run ]; then shift; else packages="$packages $tests"; fi
# Of them, those that Debian would start, and start again at each boot: Kroo's tests start their own.
daemons='prometheus slurmctld slurmd munge'

missing=
for package in $packages; do
    [ "$package" = npm ] && command -v npm >/dev/null 2>&1 && continue # anybody's will do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
if [ "${1:-}" = --list ]; then
    printf '%s\n' $missing
    exit 0
fi
[ -n "$missing" ] || exit 0

root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "setup: these packages are missing, and installing them needs root or sudo:$missing" >&2
        exit 1
    }
    root=sudo
fi
[ -r /etc/debian_version ] || {
    echo "setup: not a Debian system; install the equivalents of:$missing" >&2
    exit 1
}
# Debian's package would start a server of its own on port 5432; Kroo has no use for it.
if ! [ -e /etc/postgresql-common/createcluster.conf ]; then
    $root mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' | $root tee /etc/postgresql-common/createcluster.conf >/dev/null
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
fresh=
for daemon in $daemons; do
    dpkg-query -W -f='${db:Status-Status}\n' "$daemon" 2>/dev/null | grep -qx installed || fresh="$fresh $daemon"
done
policy=/usr/sbin/policy-rc.d
if ! [ -e "$policy" ]; then
    trap 'rm -f "$log"; $root rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | $root tee "$policy" >/dev/null
    $root chmod 755 "$policy"
fi
fail() {
    tail -n 20 "$log" >&2
    echo "setup: apt-get failed" >&2
    exit 1
}
install() {
    $root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get install --no-install-recommends \
        -o Dpkg::Options::=--force-confold "$@" $missing </dev/null
}
$root apt-get update -qq >"$log" 2>&1 || fail
size=$(install --assume-no 2>/dev/null | sed -n 's/^Need to get \([^/]*B\).*/, \1 to fetch/p')
echo "setup: installing$missing"
echo "setup: $(printf '%s\n' $missing | wc -l) packages and what they need$size; this takes minutes"
install -y -qq >"$log" 2>&1 || fail
for daemon in $fresh; do
    $root systemctl disable "$daemon" >/dev/null 2>&1 || :
done
