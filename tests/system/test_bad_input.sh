#!/usr/bin/env bash
# What comes from outside and is wrong: weights files, artifacts in a worker's cache, games, versions, addresses. Each
# is refused with its reason, or mended, and harms nothing. (Specifications that are refused: test_commands.sh.)
. "$(dirname "$0")/lib.sh"
load=$build/bench/load liar=$build/tests/system/liar
export KROO_TERM_MS=3000 KROO_PROGRESS_MS=200

finished() { [ "$(sql "select state from experiment where id = $id")" = finished ]; }
start=4-4-4-4-4-4-4-4-4-4-4-4-0-0-S

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
conninfo=$(sed -n 's/^database = //p' "$dir/kroo.conf")
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 20 --nodes 100 --seed 1)
school=$("$kroo" selfplay --dir "$dir" --weights starting --rules school --pairs 5 --nodes 50 --seed 2 2>/dev/null)

# --- weights files ---
"$kroo" weights export starting --dir "$dir" --out "$work/good" 2>/dev/null
"$kroo" weights export starting-school --dir "$dir" --out "$work/school" 2>/dev/null
evaluate() { kroo-engine eval --weights "$@" <<<"$start"; }
wrong() { # NAME OFFSET BYTE: a copy with one byte changed
    cp "$work/good" "$work/$1"
    printf "$3" | dd of="$work/$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
is "the right file evaluates" "$(evaluate "$work/good")" 0
wrong magic 0 X
wrong version 8 '\002'
wrong checksum 100 '\125'
head -c 1000 "$work/good" >"$work/size"
cat "$work/good" - <<<more >"$work/longer"
: >"$work/empty"
fails "wrong magic" 1 "not a kroo weights file|magic" evaluate "$work/magic"
fails "wrong version" 1 "version" evaluate "$work/version"
fails "wrong checksum" 1 "checksum" evaluate "$work/checksum"
fails "cut off" 1 "size|cut" evaluate "$work/size"
fails "longer than it says" 1 "size|long" evaluate "$work/longer"
fails "empty" 1 "empty|not a kroo weights file|magic" evaluate "$work/empty"
fails "not there" 1 "No such file|cannot be read|read" evaluate "$work/none"
fails "a folder" 1 "read|directory" evaluate "$work"
fails "made for other rules" 1 "rules" evaluate "$work/school" --rules site
is "which are fine where they belong" "$(evaluate "$work/school" --rules school)" 0
fails "a content that does not hash to its name does not enter the database" 1 "artifact" \
    "$kroo" sql --dir "$dir" -XAtqc "update artifact set content = content || '\\x00'" -v ON_ERROR_STOP=1

# --- a worker's cache ---
hash=$(sha256sum "$work/good" | cut -d' ' -f1)
cached=$work/w/artifacts/$hash
play_through() { # starts a worker on the cache and waits until the experiment is finished
    id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 6 --nodes 50 --seed "$1")
    kroo-worker --endpoint "$endpoint" --name w --slots 1 --state "$work/w" 2>"$work/w-$1.log" &
    worker=$!
    wait_until 20 finished
    result=$?
    kill -TERM $worker
    wait $worker
    return $result
}
ok "weights are fetched and played with" play_through 11
ok "the cached file is what its name says" test "$(sha256sum <"$cached" | cut -d' ' -f1)" = "$hash"
ok "next time they are there" play_through 12
is "and not fetched again" "$(grep -c fetched "$work/w-12.log")" 0
printf '\125' | dd of="$cached" bs=1 seek=500 conv=notrunc 2>/dev/null
ok "with one byte of the file changed it is played all the same" play_through 13
ok "the damage was seen" grep -q "fetching .*$hash.*do not hash" "$work/w-13.log"
ok "and fetched again" grep -q "fetched.*$hash" "$work/w-13.log"
is "the file is whole again" "$(sha256sum <"$cached" | cut -d' ' -f1)" "$hash"
: >"$cached"
ok "so it is with an empty file" play_through 14
is "which is whole again" "$(sha256sum <"$cached" | cut -d' ' -f1)" "$hash"
rm "$cached"
mkdir "$cached"
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 6 --nodes 50 --seed 15)
kroo-worker --endpoint "$endpoint" --name w --slots 1 --state "$work/w" 2>"$work/w-15.log" &
ok "a folder in its place is an error that names it" wait_until 20 grep -q "lease-given-back.*$hash" "$work/w-15.log"
ok "the worker lives" kill -0 $!
kill -TERM $!
wait $!
rmdir "$cached"
ok "and plays when it is gone" play_through 16

# --- games ---
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 8 --nodes 100 --seed 21 --priority 5)
"$liar" "$endpoint" games >"$work/lies" 2>&1
while IFS='|' read -r lie answer; do
    ok "a game that is a lie: $lie" grep -Eq "^$lie: $answer" "$work/lies"
done <<'LIES'
illegal|refused: ply [0-9]+, .: not a legal move
surplus|refused: ply [0-9]+, A: the game was over
unfinished|refused: the game is not over after [0-9]+ plies
empty|refused: does not start with the opening
winner|refused: claimed .* the replay gives
reason|refused: claimed .* the replay gives
resigned|refused: claimed .* by resign, the replay gives
weights|refused: played with other weights
build|refused: played by kroo-engine 1 000000000000
scores|refused: 0 bytes of scores
next-pair|refused: does not start with the opening
far-pair|refused: far beyond
leg|MALFORMED: .*leg
experiment|refused: there is no such experiment
honest|accepted
LIES
is "only the honest one is stored" "$(sql "select count(*) from game where experiment_id = $id")" 1
ok "honest workers finish" sh -c '"$0" "$1" 2 4 --same >/dev/null' "$load" "$endpoint"
ok "the experiment ends" wait_until 10 finished
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"

# --- versions ---
match=$("$kroo" match starting starting --dir "$dir" --nodes-a 60 --nodes-b 50 --pairs 50 --seed 3 2>/dev/null)
id=$("$kroo" selfplay --dir "$dir" --weights starting --pairs 50 --nodes 50 --seed 4)
"$liar" "$endpoint" protocol >"$work/protocol"
ok "a worker of another protocol hears which is spoken" \
    grep -q "^HELLO: VERSION: protocol 1 to 1 is spoken here, not 99 to 99: install the same release" "$work/protocol"
is "whatever it asks then has one answer" "$(sed 1d "$work/protocol" | cut -d: -f2 | sort | uniq -c | tr -s ' ')" ' 8 SAY_HELLO'
"$liar" "$endpoint" build "$match" "$id" >"$work/build"
ok "a worker of another engine build gets no work, and both names" \
    grep -Eq "^LEASE_REQUEST: NOTHING: this cluster plays with kroo-engine 1 .*, this worker is kroo-engine 1 000000000000" "$work/build"
is "its games are refused in self-play and match alike" \
    "$(sed -n '3,4s/^[0-9]*: \([a-z]*\): .*/\1/p' "$work/build" | paste -sd' ')" 'refused refused'

# --- addresses ---
port=$((20000 + $$ % 20000))
mkdir -m 700 "$work/run"
kroo-coordinator --database "$conninfo" --endpoint "tcp://127.0.0.1:$port,ipc://$work/run/c.sock" 2>"$work/second.log" &
second=$!
ok "a second coordinator on the same database waits" wait_until 10 grep -q "another coordinator" "$work/second.log"
kill -TERM "$(pid_of coordinator)"
listening() { [ "$(grep -c listening "$work/second.log")" -eq 2 ]; }
ok "and takes over when the first one goes" wait_until 20 listening
ok "another database" "$kroo" up --dir "$work/other" --database-only
other=$(sed -n 's/^database = //p' "$work/other/kroo.conf")
third() { timeout 20 kroo-coordinator --database "$other" --endpoint "$1"; }
fails "a busy port is an error that says what to do" 1 "127.0.0.1:$port: in use: .*stop it or choose another" \
    third "tcp://127.0.0.1:$port"
fails "so is a busy socket" 1 "c.sock: another coordinator listens there: stop it or choose another path" third "ipc://$work/run/c.sock"
echo precious >"$work/run/file"
fails "a file in the socket's place is left alone" 1 "$work/run/file" third "ipc://$work/run/file"
is "and keeps what it holds" "$(cat "$work/run/file")" precious
mkdir -m 755 "$work/open"
fails "a socket in a folder for everybody" 1 "$work/open" third "ipc://$work/open/c.sock"
fails "a port that is none" 1 "127.0.0.1:99999" third tcp://127.0.0.1:99999
fails "a word that is no address" 1 "endpoint|tcp://|ipc://" third somewhere
ok "the coordinator that was there is served on" kill -0 $second
done_testing
