#!/usr/bin/env bash
# The end of an experiment is told once: by a NOTIFY in the verdict's transaction, and by a hook that runs exactly once,
# however many end at once and whenever the coordinator dies.
. "$(dirname "$0")/lib.sh"
k() { command=$1 && shift && "$kroo" "$command" --dir "$dir" "$@"; }
mkdir -m 755 "$work/hooks"
log=$work/hooks.log
cat >"$work/hooks/tell" <<'END'
#!/bin/sh
echo "$KROO_EXPERIMENT $KROO_KIND $KROO_VERDICT $KROO_PAIRS $2" >>"$1"
END
cat >"$work/hooks/linger" <<'END'
#!/bin/sh
echo "$KROO_EXPERIMENT lingers" >>"$1"
exec tail --pid="$2" -f /dev/null
END
printf '#!/bin/sh\nexit 4\n' >"$work/hooks/fail"
chmod 755 "$work/hooks/"*

ok "a private cluster without hooks" "$kroo" up --dir "$dir" --workers 1
fails "takes no command" 1 'runs no hooks' k selfplay --pairs 2 --nodes 50 --on-finish "tell $log x"
kill -9 "$(pid_of coordinator)"
export KROO_HOOKS=$work/hooks
ok "one with hooks" "$kroo" up --dir "$dir" --workers 1
fails "runs only what its operator put there" 1 'no hook "rm"' k selfplay --pairs 2 --nodes 50 --on-finish 'rm -rf var'
fails "and no shell" 1 'letters, digits' k selfplay --pairs 2 --nodes 50 --on-finish 'tell $(id)'

# Somebody listens while three experiments end within a second.
mkfifo "$work/ask"
"$kroo" sql --dir "$dir" -XAtq <"$work/ask" >"$work/heard" 2>&1 &
exec 8>"$work/ask"
echo 'listen kroo;' >&8
k pause "$(k selfplay --weights starting --pairs 100k --nodes 50 --seed 1 --key held)" >/dev/null
ids=
for seed in 1 2 3; do
    ids="$ids $(k match starting starting --nodes-a 60 --nodes-b 50 --pairs 2 --seed $seed --on-finish "tell $log $seed" 2>/dev/null)"
done
told() { [ "$(wc -l <"$log")" -ge "$1" ]; }
ok "three hooks run" wait_until 30 told 3
set -- $ids
is "each once, and knows what of" "$(sort "$log")" "$(for seed in 1 2 3; do echo "$1 match undecided 2 $seed" && shift; done | sort)"
hears() { echo 'select 1;' >&8 && [ "$(grep -c 'Asynchronous notification "kroo"' "$work/heard")" -eq 3 ]; }
ok "three notifications are heard" wait_until 10 hears
set -- $ids
ok "that say which and how" grep -q "{\"experiment\" : $1, \"verdict\" : \"undecided\"}" "$work/heard"
exec 8>&-
ended() { [ "$(sql "select count(*) from hook_run where state = '$1'")" -ge "$2" ]; }
ok "and it is written down" wait_until 10 ended succeeded 3

# A stop is an end, too; what fails is told.
id=$(k selfplay --weights starting --pairs 100k --nodes 50 --seed 4 --on-finish fail)
k stop "$id" >/dev/null
ok "a hook fails" wait_until 10 ended failed 1
is "which the event log tells" "$(sql "select text from event where kind = 'hook-failed'")" "fail: exit status 4"

# The coordinator dies while a hook runs, and while one is due.
id=$(k selfplay --weights starting --pairs 100k --nodes 50 --seed 5 --on-finish "linger $log $(pid_of coordinator)")
k stop "$id" >/dev/null
ok "a hook runs for long" wait_until 10 told 4
kill -9 "$(pid_of coordinator)"
sql "update hook_run set state = 'due', started_at = null, ended_at = null, claim = null where experiment_id = $1" >/dev/null
ok "another coordinator" "$kroo" up --dir "$dir" --workers 1
ok "runs what was due" wait_until 10 told 5
ok "and says that it did not see the end of the other" wait_until 10 ended unknown 1
is "which it does not start again" "$(grep -c "^$id " "$log")" 1
is "a hook goes with its experiment" "$(k delete "$id" --yes >/dev/null && sql "select count(*) from hook_run where experiment_id = $id")" 0
done_testing
