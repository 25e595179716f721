#!/usr/bin/env bash
# What people see: tables that fit, colours only where they belong, suggestions, and `kroo watch` on a real terminal, which
# is given back on every way out.
. "$(dirname "$0")/lib.sh"

terminal() { python3 "$root/tests/system/terminal.py"; } # steps on standard input; prints "ok"
unset NO_COLOR COLUMNS

# --- without a cluster ---
cd "$work" || exit 1
started=$(date +%s%N)
ok "kroo alone tells what to do first" sh -c '"$0" >"$1" && grep -q "kroo up" "$1"' "$kroo" "$work/first"
ok "within a second" test $((($(date +%s%N) - started) / 1000000)) -lt 1000
fails "watching nothing is no connection" 3 'kroo up' "$kroo" watch
fails "a misspelt option hears the right one" 2 'did you mean --limit' "$kroo" ls --limti 5
fails "also behind another one's value" 2 'did you mean --nodes' "$kroo" match a b --note --limti --ndoes 5
fails "a value may look like an option" 3 'kroo up' "$kroo" selfplay --pairs 5 --note --limti
fails "a wild option does not" 2 'no option --xyzzy: .kroo ls --help' "$kroo" ls --xyzzy
fails "a state that is none" 2 'did you mean running' "$kroo" ls --state runing
fails "a colour that is none" 2 'auto, always or never' "$kroo" ls --color=sometimes
is "what goes wrong is JSON where JSON is asked for" "$("$kroo" ls --limit x --json 2>&1 | jq -r .error)" '--limit takes a whole number from 1 to 1000000, not "x"'
is "a refused option, too" "$("$kroo" --json lss 2>&1 | jq -r 'keys[0]')" error
is "and a missing connection" "$("$kroo" ls --json 2>&1 | jq -r '.error | test("kroo up")')" true

ok "a private cluster starts" "$kroo" up --dir "$dir" --workers 1 --web off
export KROO_DIR=$dir
id=$("$kroo" selfplay --pairs 4 --nodes 50 --seed 1 --note 'a note of some length, so that a table of experiments is wider than most terminals are' --wait 2>/dev/null | head -n 1)
cp "$(command -v kroo-engine)" "$work/program"
"$kroo" engine add "$work/program" --name today >/dev/null 2>&1

# --- names ---
fails "unknown weights hear near ones" 1 'did you mean "starting"' "$kroo" selfplay --pairs 2 --weights startign
fails "an unknown engine" 1 'did you mean "today"' "$kroo" match starting starting --engine-a tody --pairs 2
fails "an unknown preset" 1 'did you mean "short"' "$kroo" match starting starting --preset shrot
fails "an unknown query" 2 'did you mean endings' "$kroo" query endigns 1
fails "an unknown experiment hears the last one" 1 "no experiment 4711 .the last one is $id" "$kroo" show 4711
is "names can be listed" "$("$kroo" names engines | xargs)" "today built-in"
is "and counted on" "$("$kroo" names experiments --json)" "[\"$id\"]"
is "a noun is a noun in any number" "$("$kroo" engines list --json | jq -r '.[].name')" today

# --- pipes, colours, widths ---
is "a pipe gets everything, in no colour" "$("$kroo" ls | grep -c "wider than most terminals are$")" 1
is "unless it asks" "$("$kroo" ls --color=always | grep -c $'\033\[1m')" 1
is "a terminal gets colours and its width; NO_COLOR none" "$(terminal <<STEPS
size 30 72
type clear\n
await READY> 
type $kroo ls\n
await \x1b[1m
await finished
await READY> 
width 72
type NO_COLOR=1 $kroo ls; echo DO''NE\n
await DONE
absent \x1b[1m
absent most terminals
type COLUMNS=200 NO_COLOR=1 $kroo ls; echo DO''NE\n
await wider than most
await DONE
type $kroo ls --color=never; echo DO''NE\n
await DONE
absent \x1b[1m
type TERM=dumb $kroo ls; echo DO''NE\n
await DONE
absent \x1b[1m
STEPS
)" ok
"$kroo" note "$id" "$(printf 'bell\a escape\033[31m')" >/dev/null 2>&1
is "no note steers the terminal" "$("$kroo" ls | LC_ALL=C grep -c $'\033\|\a')" 0

# --- kroo watch ---
enter='\x1b[?1049h' leave='\x1b[?1049l'
long=$("$kroo" selfplay --pairs 100k --nodes 3000 2>/dev/null)
is "lines where there is no terminal" "$("$kroo" watch --times 2 --every 1 | grep -c "database up, coordinator up, 1 workers.*; $long running")" 2
is "or lines of JSON" "$("$kroo" watch --times 1 --json | jq -c '[.database_is_up, .coordinator_is_up, .database.open[0].id]')" "[true,true,$long]"
is "a screen that stays while database and coordinator go and come, resizes, stops, goes on, and ends by q" "$(terminal <<STEPS
type stty -a | md5sum >$work/before; echo DO''NE\n
await DONE
type $kroo watch\n
await $enter
await q quits
await Open experiments
await Workers
size 20 60
await playing
size 40 100
run kill -9 $(pid_of coordinator)
await coordinator \x1b[0m\x1b[31maway
run "$kroo" up --dir $dir --workers 1
await coordinator \x1b[0m\x1b[32mup
run "$kroo" down --dir $dir
await database    \x1b[0m\x1b[31maway
run "$kroo" up --dir $dir --workers 1
await database    \x1b[0m\x1b[32mup
type \x1a
await $leave
await Stopped
type fg\n
await $enter
await Open experiments
type q
await $leave
type echo status \$?; stty -a | md5sum >$work/after; echo DO''NE\n
await status 0
await DONE
run cmp $work/before $work/after
type $kroo watch $long; echo status \$?\n
await $enter
await experiment $long
await pairs a minute
type \x03
await $leave
await goes on
await status 0
type (echo \$BASHPID >$work/pid; exec $kroo watch); echo status \$?; stty -a | md5sum >$work/after; echo DO''NE\n
await Open experiments
run kill -TERM \$(cat $work/pid)
await $leave
await status 143
await DONE
run cmp $work/before $work/after
type $kroo watch $long; echo status \$?\n
await experiment $long
run "$kroo" stop $long
await $leave
await aborted
await status 1
STEPS
)" ok
done_testing
