#!/usr/bin/env bash
# Engines are signed, and workers that were given keys run nothing else: unsigned, signed by another key, with a
# signature of something else or a changed byte it does not run. In a private cluster all of it happens by itself.
. "$(dirname "$0")/lib.sh"

add() { player "$1" "fair-$2" && "$kroo" engine add "$work/$1" --name "$1" --dir "$dir" "${@:3}" >/dev/null 2>"$work/said"; }
run_match() { id=$("$kroo" match starting starting --engine-a "$1" --nodes 60 --nodes-a 50 --pairs 2 --seed 3 --audit 0 --dir "$dir" 2>"$work/said") && [ -n "$id" ]; }
state_is() { [ "$(sql "select state from experiment where id = $id")" = "$1" ]; }
seal_of() { echo "artifact_seal set $2 where sha256 = (select sha256 from engine where name = '$1')"; }
# A worker that trusts what OPTION says; $worker is its process.
hire() { # NAME OPTION...
    local name=$1
    shift
    KROO_ENDPOINT=$endpoint kroo-worker --name "$name" --slots 1 --state "$work/$name" "$@" 2>"$work/$name.log" &
    worker=$!
}
told() { [ "$(sql "select count(*) from fault_report where experiment_id = $id and kind = 'unsigned' and side = 'a' and worker = '$1' and why ~ '$2'")" != 0 ]; }
# refuses NAME ENGINE REASON: a new worker gives the lease back with that reason.
refuses() {
    run_match "$2"
    hire "$1" --trust "$dir/keys/cluster.sign.pub"
    ok "$1: the engine is refused" wait_until 30 told "$1" "$3"
    ok "$1: kroo why says so" grep -q "gave a lease of experiment $id back: player a: this worker runs only what is signed" <("$kroo" why "$1" --dir "$dir")
    is "$1: nothing of it ran" "$(grep -c engine-tested "$work/$1.log")|$(sql "select games_stored from experiment_counter where experiment_id = $id")" '0|0'
    kill $worker && wait $worker
    "$kroo" stop "$id" --dir "$dir" >/dev/null
}

# --- by itself ---
ok "a private cluster" "$kroo" up --dir "$dir" --workers 1
is "has a signing key of its own" "$(stat -c '%a %n' "$dir"/keys "$dir"/keys/* | sed "s|$dir/||" | paste -sd' ')" \
    '700 keys 600 keys/cluster.sign.key 644 keys/cluster.sign.pub'
ok "an engine is added" add first 1
public=$(sed -n 's/^sign-public = //p' "$dir/keys/cluster.sign.pub")
is "and signed without asking" "$("$kroo" engine ls --dir "$dir" --json | jq -r '.[0].signed_by')" "${public:0:8}"
is "as what it is" "$(sql "select kind, architecture = '$(uname -m)', name, encode(public_key, 'hex') from artifact_seal")" "engine|t|first|$public"
run_match first
ok "and played" wait_until 60 state_is finished
played=$id
ok "kroo replay runs it, too" "$kroo" replay "$id" 0 0 --dir "$dir"
"$kroo" up --dir "$dir" --workers 0 >/dev/null
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")
secret=$(sed -n 's/^sign-secret = //p' "$dir/keys/cluster.sign.key")
found() { grep -rqF "$secret" "$dir/log" "$dir/kroo.conf" || "$kroo" sql --dir "$dir" -XAtq -c '\copy (select * from artifact_seal) to stdout' -c 'table event' -c 'table engine' | grep -qF "$secret"; }
fails "the secret stands in no log, setting or table" 1 "" found

# --- what is refused ---
ok "an engine whose signature is taken away" add bare 2
sql "delete from artifact_seal where name = 'bare'"
refuses w-unsigned bare 'it is not signed: an operator signs it by'
ok "one whose signature has another bit" add bent 3
sql "update $(seal_of bent 'signature = set_byte(signature, 9, get_byte(signature, 9) # 4)')"
refuses w-damaged bent 'is damaged, or of another artifact'
ok "one with the signature of another" add borrowed 4
sql "update $(seal_of borrowed "signature = (select s.signature from artifact_seal s where s.name = 'first'), name = 'first'")"
refuses w-other-artifact borrowed 'is damaged, or of another artifact'
"$kroo" key new stranger --signing --out "$work/keys" >/dev/null 2>&1
ok "one that a stranger signed" add foreign 5 --sign "$work/keys/stranger.sign.key"
refuses w-other-key foreign 'a key that is not trusted here'
is "all of that is counted" "$("$kroo" status --dir "$dir" --json | jq '.counters.engines_unsigned >= 4')" true

# --- and what is not ---
run_match foreign
hire w-trusting --trust "$dir/keys/cluster.sign.pub,$work/keys/stranger.sign.pub"
ok "who trusts the stranger plays" wait_until 30 state_is finished
kill $worker && wait $worker

# --- a key that is trusted no more, while the worker runs ---
keys="$work/trusted.sign.pub"
cp "$work/keys/stranger.sign.pub" "$keys"
hire w-changing --trust "$dir/keys/cluster.sign.pub,$keys"
run_match foreign
ok "a worker plays what a key in a file of its own signed" wait_until 30 state_is finished
cp "$dir/keys/cluster.sign.pub" "$keys"
run_match foreign
ok "with another key in that file, the next lease is refused without a restart" wait_until 30 told w-changing 'a key that is not trusted here'
is "it is the same process" "$(kill -0 $worker && grep -c '^.* start name=w-changing' "$work/w-changing.log")" 1
"$kroo" stop "$id" --dir "$dir" >/dev/null
kill $worker && wait $worker
cp "$work/keys/stranger.sign.pub" "$keys"
hire w-unreadable --trust "$dir/keys/cluster.sign.pub,$keys"
ok "another starts" wait_until 30 grep -q welcome "$work/w-unreadable.log"
rm "$keys"
run_match foreign
unread() { grep -q 'trusted keys cannot be read' "$work/w-unreadable.log"; }
ok "with the file gone, nothing that it signed runs" wait_until 30 unread
is "not one game" "$(sql "select games_stored from experiment_counter where experiment_id = $id")" 0
kill $worker && wait $worker
"$kroo" stop "$id" --dir "$dir" >/dev/null
ok "an operator signs the bare one" "$kroo" engine sign bare --dir "$dir"
run_match bare
hire w-signed --trust "$dir/keys/cluster.sign.pub"
ok "and it is played" wait_until 30 state_is finished
kill $worker && wait $worker
sql "delete from artifact_seal where name = 'bare'"
run_match bare
hire w-careless
ok "a worker without keys runs what it is given, as before" wait_until 30 state_is finished
kill $worker && wait $worker

# --- sources and sets: each part ---
mkdir "$work/tree" && cp "$work/first" "$work/tree/made-before" && tar -C "$work" -cf "$work/source.tar" tree
ok "an engine that is sources" "$kroo" engine add --source "$work/source.tar" --recipe 'mkdir out && cp made-before out/engine' \
    --binary out/engine --name built --dir "$dir"
is "has a signature for the set and for the sources" "$(sql "select string_agg(kind || ' ' || architecture, ', ' order by kind) from artifact_seal where name = 'built'")" 'engine-set any, source any'
sql "delete from artifact_seal where kind = 'source'"
refuses w-source built 'source .* is not: it is not signed'

chmod 640 "$work/keys/stranger.sign.key"
fails "a signing key that others can read signs nothing" 1 "chmod 600" \
    "$kroo" engine sign first --sign "$work/keys/stranger.sign.key" --dir "$dir"
fails "a worker with a trust that is none does not start" 2 "neither a public signing key" \
    kroo-worker --endpoint "$endpoint" --state "$work/none" --trust "$dir/kroo.conf"
sql "delete from artifact_seal where name = 'first'"
fails "kroo replay runs nothing unsigned either" 1 "is not run here: it is not signed" "$kroo" replay "$played" 0 0 --dir "$dir"
rm -r "$dir/keys" && sql "delete from artifact_seal"
ok "a cluster that is older than its key gets one" "$kroo" up --dir "$dir" --workers 0
is "with which all that is there is signed" "$(sql "select count(*) > 0, count(s.sha256) = count(*), count(distinct s.public_key) from engine e left join artifact_seal s using (sha256)")" 't|t|1'
done_testing
