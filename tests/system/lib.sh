# What the system tests share: TAP, a private cluster in a folder of its own, waiting for conditions. Sourced
# by tests/system/test_*.sh, which run from anywhere. Everything started is stopped at exit.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${KROO_BUILD:-$root/build}
kroo=$build/kroo
PATH=$build:$PATH
unset KROO_CONFIG KROO_DIR KROO_DATABASE KROO_ENDPOINT KROO_KEY KROO_SERVER_KEY

# Machines that run tests are busy and of any speed: timed play is for all of them here.
export KROO_TIMED_SLOW=0 KROO_TIMED_SPREAD=1000000 KROO_TIMED_LOAD=1000000

work=$(mktemp -d /tmp/kroo-test.XXXXXX)
dir=$work/c
tests=0 failures=0
mkfifo "$work/never"
exec 9<>"$work/never" # reading it with a time-out waits without work

cleanup() {
    status=$?
    trap - EXIT INT TERM
    for cluster in "$work"/*/kroo.conf; do
        [ -e "$cluster" ] && "$kroo" down --dir "$(dirname "$cluster")" >/dev/null 2>&1
    done
    jobs -p | xargs -r kill -9 2>/dev/null
    for link in "$work"/*/postgres; do
        [ -L "$link" ] && rm -rf "$(readlink "$link")"
    done
    rm -rf "$work"
    if [ "$status" -eq 0 ] && [ "$failures" -gt 0 ]; then status=1; fi
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# ok NAME COMMAND...: the command succeeds.
ok() {
    name=$1
    shift
    tests=$((tests + 1))
    if "$@"; then
        echo "ok $tests - $name"
    else
        failures=$((failures + 1))
        echo "not ok $tests - $name"
    fi
}
# is NAME ACTUAL EXPECTED
is() {
    tests=$((tests + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $tests - $1"
    else
        failures=$((failures + 1))
        echo "not ok $tests - $1"
        printf '# got      %s\n# expected %s\n' "$2" "$3"
    fi
}
# fails NAME STATUS PATTERN COMMAND...: ends with STATUS and says PATTERN (extended regular expression).
fails() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    said=$("$@" 2>&1 </dev/null)
    got=$?
    tests=$((tests + 1))
    if [ "$got" -eq "$wanted" ] && printf '%s\n' "$said" | grep -Eqi -- "$pattern"; then
        echo "ok $tests - $name"
    else
        failures=$((failures + 1))
        echo "not ok $tests - $name"
        printf '# exit status %s (expected %s), said: %s\n# expected to say: %s\n' "$got" "$wanted" \
            "$(printf '%s' "$said" | head -c 600)" "$pattern"
    fi
}
# wait_until SECONDS COMMAND...: until it succeeds; fails at the deadline.
wait_until() {
    until_s=$(($(date +%s) + $1))
    shift
    while ! "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$until_s" ] || return 1
        read -r -t 0.1 -u 9 || :
    done
}
done_testing() { echo "1..$tests"; }

# One value from the cluster's database.
sql() { "$kroo" sql --dir "${cluster_dir:-$dir}" -XAtq -c "$1"; }
pid_of() { cut -d' ' -f1 "${cluster_dir:-$dir}/run/$1.pid"; }
postgres_pid() { head -n 1 "${cluster_dir:-$dir}/postgres/data/postmaster.pid"; }
# player NAME FAULT: a player with this fault (tests/players/player.c) in the file $work/NAME.
player() {
    { cat "$build/tests/players/player" && printf '\n#player %s\n' "$2"; } >"$work/$1" && chmod +x "$work/$1"
}
