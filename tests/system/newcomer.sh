#!/usr/bin/env bash
# A newcomer's first minutes: a bare Debian of this machine's release, a fresh clone of what is committed here, and README.md
# followed word for word, block after block, in one shell. `make newcomer`; needs root and debootstrap. The transcript is
# build/newcomer.txt. `make check` is left out (the CI runs it) unless KROO_NEWCOMER_CHECK=1.
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip "only root can make a Debian in a folder"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
# Mounts of ours go with us.
if [ -z "${KROO_NEWCOMER_INSIDE:-}" ]; then
    exec env KROO_NEWCOMER_INSIDE=1 unshare --mount "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

transcript=$build/newcomer.txt
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
bare=$work/bare
inside() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root TERM=dumb \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS=/srv/certificates} "$@"; }
leave() {
    inside sh -c 'cd /root/kroo && build/kroo down' >/dev/null 2>&1
    umount -l "$bare/proc" "$bare/dev/shm" 2>/dev/null
    cleanup
}
trap leave EXIT

bare_debian() { debootstrap --variant=minbase "$release" "$bare" "$mirror" >"$work/debootstrap.log" 2>&1; }
ok "a bare Debian" bare_debian
rm -rf "$bare/etc/apt"
cp -a /etc/apt "$bare/etc/apt"
cp /etc/resolv.conf "$bare/etc/resolv.conf" 2>/dev/null
[ -z "${NODE_EXTRA_CA_CERTS:-}" ] || cp -L "$NODE_EXTRA_CA_CERTS" "$bare/srv/certificates"
mount -t proc proc "$bare/proc"
mkdir -p "$bare/dev/shm"
mount -t tmpfs shm "$bare/dev/shm"
git clone -q --bare "$root" "$bare/srv/kroo.git"

# The shell of the newcomer: reads blocks from files, shows each command behind a prompt and then what it says, with the
# minutes since the beginning before each block. A command ends where bash would take it as whole.
cat >"$bare/srv/follow" <<'FOLLOW'
began=$(date +%s)
whole() { case $1 in *\\) return 1 ;; esac; ! [[ $(bash -n <<<"$1" 2>&1) ]]; }
for block in "$@"; do
    printf '\n[minute %s]\n' "$((($(date +%s) - began) / 60))"
    command= prompt='$'
    while IFS= read -r line <&3 || [ -n "$line" ]; do
        printf '%s %s\n' "$prompt" "$line"
        command=$command${command:+$'\n'}$line prompt='>'
        whole "$command" || continue
        if [ "$command" = 'make check' ] && [ -z "$CHECK" ]; then
            echo '(every test: left out here)'
        else
            eval "$command" || { printf '[exit status %s: %s]\n' "$?" "${block##*/}"; exit 1; }
        fi
        command= prompt='$'
    done 3<"$block"
done
printf '\n[minute %s: done]\n' "$((($(date +%s) - began) / 60))"
FOLLOW
mkdir "$bare/srv/blocks"
awk -v folder="$bare/srv/blocks/" '
    inside && /^```/ { close(file); inside = 0; next }
    inside { print > file; next }
    /^```/ { inside = 1; file = $0 == "```sh" ? sprintf("%sREADME.md:%04d", folder, NR + 1) : "/dev/null" }
' "$root/README.md"
printf '%s\n' 'apt-get update -qq' 'apt-get install -y -qq --no-install-recommends git ca-certificates make >/dev/null 2>&1' \
    'git clone -q /srv/kroo.git kroo' 'cd kroo' >"$bare/srv/blocks/0"
follow() {
    inside sh -c "cd /root && CHECK='${KROO_NEWCOMER_CHECK:-}' exec bash -o pipefail /srv/follow /srv/blocks/*" \
        >"$transcript" 2>&1 </dev/null
}
ok "README.md, followed word for word" follow || tail -n 30 "$transcript" | sed 's/^/# /'
is "each block was come to" "$(grep -c '^\[minute' "$transcript")" "$(($(ls "$bare/srv/blocks" | wc -l) + 1))"
is "with a proof at its end" "$(grep -c 'accepted' "$transcript" | sed 's/^[1-9].*/some/')" some
is "and nothing left running" "$(for exe in /proc/[0-9]*/exe; do readlink "$exe"; done 2>/dev/null | grep -c "^$bare")" 0
echo "# the transcript: $transcript"
done_testing
