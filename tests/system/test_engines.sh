#!/usr/bin/env bash
# Other programs as players: added with a look at what they are, fetched and run by the workers, the same games as the
# built-in engine's under a node limit. What becomes of those that fail: test_faults.sh.
. "$(dirname "$0")/lib.sh"
engine=$build/kroo-engine
export KROO_MOVE_MS=3000

run_match() { id=$("$kroo" match starting starting --dir "$dir" "$@" 2>"$work/said" | head -n 1) && [ -n "$id" ]; }
games() {
    sql "select pair_no, leg, moves, result, reason, south, north from game_counted where experiment_id = $1 order by 1, 2"
}
state_is() { [ "$(sql "select state from experiment where id = $id")" = "$1" ]; }
settled() { sql "select string_agg(distinct settlement, ';') from dispute where experiment_id = $id"; }
reasons() { sql "select string_agg(distinct reason || ' ' || claimed, ';' order by reason || ' ' || claimed) from game_counted where experiment_id = $id"; }
# The processes of this cluster's engines.
engines() { pgrep -f "^$dir/worker-[0-9]+/engines/"; }

ok "a private cluster" "$kroo" up --dir "$dir" --workers 2

# --- adding ---
ok "this build can be added" "$kroo" engine add "$engine" --name same --note "this very build" --dir "$dir"
ok "twice, too" "$kroo" engine add "$engine" --name same --dir "$dir"
is "and is there once" "$("$kroo" engine ls --dir "$dir" --json | jq -r '.[] | "\(.name) \(.note) \(.sha256)"')" \
    "same this very build $(sha256sum "$engine" | cut -d' ' -f1)"
is "with the signature of its answers" "$(sql "select signature ~ '^[0-9a-f]{16}$' from engine")" t
is "with its options" "$(sql "select options like '%option name TablesFile type string%' from engine")" t
player other fair
fails "another file under a taken name is refused" 1 "taken by another file" \
    "$kroo" engine add "$work/other" --name same --dir "$dir"
fails "the same file under another name" 1 "under the name same" "$kroo" engine add "$engine" --name again --dir "$dir"
fails "built-in is no name" 1 "give another" "$kroo" engine add "$engine" --name built-in --dir "$dir"
fails "nor is ../x" 1 "is no name" "$kroo" engine add "$engine" --name ../x --dir "$dir"
cp "$engine" "$work/plain" && chmod -x "$work/plain"
fails "what is not executable" 1 "chmod \+x" "$kroo" engine add "$work/plain" --name x --dir "$dir"
printf 'nonsense' >"$work/text" && chmod +x "$work/text"
fails "what cannot be run" 1 "cannot be run" "$kroo" engine add "$work/text" --name x --dir "$dir"
printf '#!/bin/sh\necho hello; echo broken >&2; exit 3\n' >"$work/quits" && chmod +x "$work/quits"
fails "what ends" 1 'exited with status 3, and wrote "broken' "$kroo" engine add "$work/quits" --name x --dir "$dir"
fails "/bin/true is no engine" 1 "exited with status 0" "$kroo" engine add /bin/true --name x --dir "$dir"
fails "nor is /bin/cat" 1 "did not answer in time" timeout 60 "$kroo" engine add /bin/cat --name x --dir "$dir"
player mute mute-isready-1
fails "what never says readyok" 1 "no .readyok" timeout 60 "$kroo" engine add "$work/mute" --name x --dir "$dir"
player flood flood-uci-1
fails "what says too much" 1 "more than any program" timeout 60 "$kroo" engine add "$work/flood" --name x --dir "$dir"
fails "a file that is not there" 1 "No such file" "$kroo" engine add "$work/absent" --name x --dir "$dir"
: >"$work/empty"
fails "an empty one" 1 "is empty" "$kroo" engine add "$work/empty" --name x --dir "$dir"
is "none of them is left" "$(sql "select count(*) from engine")|$(sql "select count(*) from artifact where kind = 'engine'")" '1|1'

# --- the same games ---
ok "the built-in engine plays itself" run_match --nodes-a 500 --nodes-b 200 --pairs 12 --seed 3 --wait
games "$id" >"$work/built-in.games"
built_in=$id
# Not twice, which would prove something: no audit, and one core leaves no second lease of the last pairs.
ok "this build as a process plays it" run_match --nodes-a 500 --nodes-b 200 --engine-a same --pairs 12 --seed 3 --audit 0 --cap 1 --wait
games "$id" >"$work/process.games"
ok "the same games, move by move" cmp "$work/built-in.games" "$work/process.games"
is "all of them" "$(wc -l <"$work/process.games")" 24
process=$id
ok "kroo show says that nothing is proven yet" grep -q 'reproducible not proven' <("$kroo" show --dir "$dir" "$process")
ok "and on both sides" run_match --nodes-a 500 --nodes-b 200 --engine same --pairs 12 --seed 3 --wait
games "$id" >"$work/both.games"
ok "the same again" cmp "$work/built-in.games" "$work/both.games"
ok "each worker tested it first" grep -rq "engine-tested engine=$(sha256sum "$engine" | cut -d' ' -f1) signature=$(sql "select signature from engine where name = 'same'")" "$dir/log"
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$process"
ok "kroo replay plays a game again with the engine from the database" "$kroo" replay --dir "$dir" "$process" 5 1
ok "kroo show names the engine" grep -q 'engine same (' <("$kroo" show --dir "$dir" "$process")
ok "kroo ls, too" grep -q 'by same' <("$kroo" ls --dir "$dir")
ok "and the export has its hash" grep -q "engine:$(sha256sum "$engine" | cut -d' ' -f1)" \
    <("$kroo" games --dir "$dir" "$process" --pairs 0)
is "the copy that runs cannot be written, and lies in a closed folder" "$(stat -c %a "$dir"/worker-?/engines/* "$dir"/worker-1 | sort -u | paste -sd' ')" '555 700'
ok "self-play by an engine, with scores" "$kroo" selfplay --dir "$dir" --weights starting --engine same --nodes 200 --pairs 4 --seed 1 --wait
is "which are stored" "$(sql "select bool_and(octet_length(scores) = 2 * plies) from game where experiment_id = (select max(id) from experiment)")" t

# --- several artifacts for one name: by architecture, and from sources ---
cp "$engine" "$work/foreign" && printf '\377\0' | dd of="$work/foreign" bs=1 seek=18 conv=notrunc 2>/dev/null
fails "a program for a machine without a name is none of a set" 1 "known architecture" "$kroo" engine add "$engine" "$work/foreign" --name x --dir "$dir"
case $(uname -m) in aarch64) code='\76' ;; *) code='\267' ;; esac
printf "$code\\0" | dd of="$work/foreign" bs=1 seek=18 conv=notrunc 2>/dev/null
fails "nor is a second one for the same" 1 "second binary for" "$kroo" engine add "$engine" "$work/other" --name x --dir "$dir"
fails "one that nobody here can try" 1 "Exec format error|none of them runs" "$kroo" engine add "$work/foreign" --name x --dir "$dir"
ok "an engine for two architectures" "$kroo" engine add "$work/foreign" "$engine" --name both --dir "$dir" 2>"$work/said"
ok "of which one was not tried" grep -q "it was not tried on this machine" "$work/said"
is "is one with the signature of the one that was" "$(sql "select count(distinct signature), string_agg(architectures, '') ~ '^[a-z0-9_]+ [a-z0-9_]+$' from engine where name in ('same', 'both')")" '1|t'
ok "it plays" run_match --nodes-a 500 --nodes-b 200 --engine-a both --pairs 12 --seed 3 --audit 100 --wait
ok "and is proven by two workers" wait_until 60 grep -q 'reproducible proven' <("$kroo" show --dir "$dir" "$id")
games "$id" >"$work/both-arch.games"
ok "the same games" cmp "$work/built-in.games" "$work/both-arch.games"
ok "kroo replay takes the binary for this machine" "$kroo" replay --dir "$dir" "$id" 5 1

mkdir "$work/tree" && cp "$engine" "$work/tree/made-before" && tar -C "$work" -cf "$work/source.tar" tree
fails "sources that make nothing" 1 "said last: no compiler" \
    "$kroo" engine add --source "$work/source.tar" --recipe 'echo no compiler; false' --binary out/engine --name x --dir "$dir"
fails "that make no engine" 1 "out/engine is no engine" \
    "$kroo" engine add --source "$work/source.tar" --recipe 'mkdir out && echo >out/engine && chmod +x out/engine' --binary out/engine --name x --dir "$dir"
fails "a binary outside of them" 1 "inside the sources" \
    "$kroo" engine add --source "$work/source.tar" --recipe true --binary ../../bin/sh --name x --dir "$dir"
fails "a recipe without sources is wrong usage" 2 "belong together" "$kroo" engine add "$engine" --recipe make --name x --dir "$dir"
fails "sources that are none" 1 "gave no out/engine" "$kroo" engine add --source "$work/text" --recipe true --binary out/engine --name x --dir "$dir"
ok "an engine that is sources and a recipe" "$kroo" engine add --source "$work/source.tar" \
    --recipe 'mkdir out && cp made-before out/engine' --binary out/engine --name built --dir "$dir"
ok "plays" run_match --nodes-a 500 --nodes-b 200 --engine-a built --pairs 12 --seed 3 --wait
games "$id" >"$work/built.games"
ok "the same games again" cmp "$work/built-in.games" "$work/built.games"
ok "it was built on a worker" grep -rq "engine-build recipe=\"mkdir out" "$dir/log"
ok "kroo replay builds it, too" "$kroo" replay --dir "$dir" "$id" 5 1
is "none that was refused is left" "$(sql "select string_agg(name, ' ' order by name) from engine")" 'both built same'

# Two uploads at the same moment: of the same bytes, and of others under the same name.
player twin fair-1
player rival fair-2
for file in twin twin rival; do
    "$kroo" engine add "$work/$file" --name contested --dir "$dir" >"$work/$file.out" 2>&1 &
done
wait
is "of uploads at one moment under one name one file stands" "$(sql "select count(*) from engine where name = 'contested'")|$(sql "select count(*) from artifact a where kind = 'engine' and size in (select a.size from engine e join artifact a on a.sha256 = e.sha256 where e.name = 'contested')")" '1|1'
ok "the other is told so" grep -q "taken by another file" "$work/twin.out" "$work/rival.out"

# --- one player or two ---
fails "equal players are still refused" 1 "same deterministic player" \
    "$kroo" match starting starting --dir "$dir" --engine same --pairs 1
fails "the built-in engine has options of its search alone" 1 "built-in engine has no option" \
    "$kroo" match starting starting --dir "$dir" --option-a Level=Master --pairs 1
fails "what the worker sets is not for the user" 1 "set by the worker" \
    "$kroo" match starting starting --dir "$dir" --engine-a same --option-a Threads=4 --pairs 1
fails "an option without a value is wrong usage" 2 "Name=Value" \
    "$kroo" match starting starting --dir "$dir" --engine-a same --option-a Level --pairs 1
fails "an engine that is not there" 1 "kroo engine ls" \
    "$kroo" match starting starting --dir "$dir" --engine-a none-such --pairs 1
fails "a table that is no whole MiB" 1 "whole MiB: give --hash 2048" \
    "$kroo" match starting starting --dir "$dir" --engine-a same --hash 1500 --pairs 1
ok "players that differ in an option are two" run_match --engine same --option-a Level=Apprentice --option-a Seed=7 --nodes 300 --pairs 3 --seed 2 --wait
is "kept with the player" "$(sql "select p.options ->> 'set' from player p join experiment e on e.player_a = p.id where e.id = $id")" \
    '["Level=Apprentice", "Seed=7"]'
ok "and told by kroo show" grep -q 'option Level=Apprentice' <("$kroo" show --dir "$dir" "$id")

# --- endgame tables ---
"$engine" tables build --rules site --seeds 7 --out "$work/site-7" 2>/dev/null
ok "tables can be added" "$kroo" tables add "$work/site-7" --name site-7 --dir "$dir"
fails "what is no table is refused" 1 "plain" "$kroo" tables add "$work/plain" --name x --dir "$dir"
ok "the built-in engine plays with them" run_match --tables-a site-7 --nodes 400 --pairs 6 --seed 4 --wait
games "$id" >"$work/tables.games"
tables=$id
ok "and so does the process" run_match --tables-a site-7 --engine-a same --nodes 400 --pairs 6 --seed 4 --wait
games "$id" >"$work/tables-process.games"
ok "the same games" cmp "$work/tables.games" "$work/tables-process.games"
ok "kroo replay has them, too" "$kroo" replay --dir "$dir" "$tables" 2 0
fails "tables of other rules are refused" 1 "rules" \
    "$kroo" match starting starting --dir "$dir" --rules school --tables-a site-7 --pairs 1

# A worker that has the file fetches nothing; tables that do not travel are such files only.
"$kroo" down --dir "$dir" >/dev/null
KROO_TABLES=$work/site-7 "$kroo" up --dir "$dir" --workers 2 >/dev/null
rm -f "$dir"/worker-?/tables/*
sql "set role kroo_owner; update endgame_table set artifact_sha256 = null; reset role" >/dev/null
ok "tables on the worker's own disk serve, too" run_match --tables-a site-7 --nodes 400 --pairs 6 --seed 4 --wait
games "$id" >"$work/tables-disk.games"
ok "in the same games" cmp "$work/tables.games" "$work/tables-disk.games"
is "and nothing was fetched" "$(find "$dir"/worker-?/tables -type f | wc -l)" 0
fails "kroo replay says that it has not got them" 1 "too large for the database" "$kroo" replay --dir "$dir" "$id" 0 0

# --- an engine that is killed between its games goes on; nothing of it is left at the end ---
ok "engines run while a match is played" run_match --engine-a same --nodes-a 20000 --nodes-b 100 --pairs 12 --seed 8
ok "as processes of their own" wait_until 60 engines
# One that is killed at its first move gives no game, later a claim: either way it is played again.
pkill -9 -o -f "^$dir/worker-[0-9]+/engines/"
ok "one killed in the middle loses no game" wait_until 120 state_is finished
is "no claim of it counts" "$(reasons | tr ';' '\n' | grep -c ' true' || :)" 0
worker=$(cut -d' ' -f1 "$dir/run/worker-1.pid")
run_match --engine-a same --nodes-a 200000 --nodes-b 100 --pairs 20 --seed 8
ok "engines again" wait_until 60 engines
kill -9 "$worker"
dead() { ! pgrep -f "^$dir/worker-1/engines/"; }
ok "a worker that is killed takes its engines with it" wait_until 20 dead
"$kroo" stop --dir "$dir" "$id" >/dev/null
ok "the worker is started again" "$kroo" up --dir "$dir" --workers 2

# --- nothing is run that is not what its hash says ---
hash=$(sha256sum "$engine" | cut -d' ' -f1)
for copy in "$dir"/worker-*/engines/"$hash"; do
    cp "$work/other" "$copy.other" && mv -f "$copy.other" "$copy" # a running one cannot be written into
done
ok "a copy that was changed is fetched anew" run_match --nodes-a 500 --nodes-b 200 --engine-a same --pairs 12 --seed 3 --wait
games "$id" >"$work/again.games"
ok "and the games are the same" cmp "$work/built-in.games" "$work/again.games"
ok "the changed one was set aside" test -e "$(ls -d "$dir"/worker-*/engines/*.corrupt | head -n 1)"

ok "the cluster goes down" "$kroo" down --dir "$dir"
ok "and leaves no engine behind" test -z "$(engines)"
done_testing
