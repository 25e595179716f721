#!/usr/bin/env bash
# What `make install` puts where: programs that run, man pages and completions that say what --help says, sound units.
. "$(dirname "$0")/lib.sh"

stage=$work/stage
ok "it installs into a staging folder" make -s -C "$root" BUILD="$build" install PREFIX=/opt/kroo DESTDIR="$stage"
place=$stage/opt/kroo
programs='kroo kroo-coordinator kroo-engine kroo-train kroo-worker'
is "the programs are there" "$(LC_ALL=C ls "$place/bin" | xargs)" "$programs"
is "each with its man page" "$(printf '%s\n' "$place"/share/man/man1/*.1 | sed 's|.*/||; s/\.1$//' | LC_ALL=C sort | xargs)" "$programs"
runs() { for program in $programs; do "$place/bin/$program" --version >/dev/null || return 1; done; }
ok "they run from there" runs

# --- man pages against the programs ---
said=$(mandoc -Tlint "$place"/share/man/man1/*.1 2>&1)
is "mandoc has nothing to say" "$said" ""
# Every command and option that --help knows, with its text, is on the page.
compare() { # PROGRAM
    mandoc -Tascii -O width=500 "$place/share/man/man1/$1.1" | sed 's/.\x08//g' | tr -s ' \t\n' ' ' >"$work/page"
    sh "$root/deploy/manual/walk.sh" "$place/bin" "$1" >"$work/$1.help"
    awk '/^ +(-[^ ], )?--[^ ]/ { match($0, /--[^ ]+/); print substr($0, RSTART, RLENGTH) } /^@@/ { print substr($0, 4) }' \
        "$work/$1.help" | sort -u >"$work/wanted"
    awk -v program="$1" 'NR == FNR { page = $0; next }
        !index(page, $0) { print "# " program ": not on its page: " $0; missing = 1 } END { exit missing }' \
        "$work/page" "$work/wanted" || return 1
    [ "$(wc -l <"$work/wanted")" -gt 10 ]
}
for program in $programs; do
    ok "the page of $program has every command and option of --help" compare "$program"
done
is "kroo's page explains each of its commands" "$(grep -c '^\.SS' "$place/share/man/man1/kroo.1")" \
    "$(grep -c '^@@ kroo ' "$work/kroo.help")"
listed=$("$kroo" --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p')
have_pages() { for word in $listed; do grep -q "^\.SS \"kroo $(echo "$word" | sed 's/-/\\\\-/')\"" "$place/share/man/man1/kroo.1" || return 1; done; }
ok "those that kroo --help lists" have_pages

# --- completions ---
complete_words() { # WORD...: what bash would offer for the last one
    bash -c '. "$1"; shift; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kroo; echo "${COMPREPLY[*]}"' \
        - "$place/share/bash-completion/completions/kroo" "$@"
}
ok "bash can read them" bash -n "$place/share/bash-completion/completions/kroo"
is "it completes commands" "$(complete_words kroo roundr)" roundrobin
is "and what is below them" "$(complete_words /usr/bin/kroo key "")" "new allow revoke ls"
is "and options" "$(complete_words kroo-worker --exit)" "--exit-when-idle="
is "names, too" "$(complete_words kroo query endi) $(complete_words kroo query open)" "endings openings"
ok "and those an option takes" grep -q '^    --book) echo books ;;' "$place/share/bash-completion/completions/kroo"
is "the page says what an exit status means" "$(mandoc -Tascii "$place/share/man/man1/kroo.1" | sed 's/.\x08//g' | sed -n '/^EXIT STATUS/,/^[A-Z]* [A-Z]*$/p' | grep -cE '^ +[0-3] ')" 4
is "behind an equals sign it leaves files to the shell" "$(complete_words kroo run --config = x)" ""
if command -v zsh >/dev/null; then
    ok "zsh can read its own" zsh -n "$place/share/zsh/vendor-completions/_kroo"
fi

# --- systemd units ---
units=$place/lib/systemd/system
ok "units name the installed programs" grep -q '^ExecStart=/opt/kroo/bin/kroo-coordinator ' "$units/kroo-coordinator.service"
verify() { # the programs stand in the stage only
    mkdir -p "$work/units"
    for unit in kroo-coordinator.service kroo-worker@.service; do
        sed "s|/opt/kroo|$place|; s/^Documentation=.*//" "$units/$unit" >"$work/units/$unit"
    done
    said=$(systemd-analyze verify "$work/units/kroo-coordinator.service" "$work/units/kroo-worker@.service" 2>&1 |
        grep -F "$work/units" || :)
    [ -z "$said" ] || { echo "# $said" && return 1; }
}
ok "systemd-analyze verifies them" verify
exposed() { systemd-analyze security --offline=true --threshold="$2" "$units/$1" >/dev/null; }
ok "the coordinator's exposure is 1.5 at most" exposed kroo-coordinator.service 15
ok "a worker's 3.5: it runs players in namespaces of their own" exposed kroo-worker@.service 35

# --- a real notification socket ---
"$kroo" up --dir "$dir" --database-only >/dev/null
cat >"$work/supervisor.py" <<'PYTHON'
import os, signal, socket, subprocess, sys, time
path, command = sys.argv[1], sys.argv[2:]
listen = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listen.bind(path)
listen.settimeout(60)
child = subprocess.Popen(command, env=dict(os.environ, NOTIFY_SOCKET=path, WATCHDOG_USEC="900000"))
def hear(wanted):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if wanted in listen.recv(4096).decode().split("\n"):
                return True
        except TimeoutError:
            break
    return False
def fed_for(seconds):
    """No gap of the watchdog's length but on a machine that is busy: told apart by what comes afterwards."""
    return all(hear("WATCHDOG=1") for _ in range(5))
print("ready", hear("READY=1"))
print("fed", fed_for(3))
child.send_signal(signal.SIGSTOP) # hangs: nothing may come any more
listen.settimeout(1.5)
try:
    while True: # what it had sent before
        listen.recv(4096)
except TimeoutError:
    print("silent", True)
listen.settimeout(60)
child.send_signal(signal.SIGCONT)
print("fed again", hear("WATCHDOG=1"))
child.terminate()
print("stopping", hear("STOPPING=1"))
print("status", child.wait(60))
PYTHON
is "the supervisor hears READY, the watchdog while the loop turns, STOPPING" "$(python3 "$work/supervisor.py" "$work/notify" \
    "$build/kroo-coordinator" --config "$dir/kroo.conf" 2>"$work/coordinator.log" | xargs)" \
    "ready True fed True silent True fed again True stopping True status 0"
done_testing
