#!/usr/bin/env bash
# Promise 7: over TCP every connection is CURVE and every peer is on the allow-list; a revoked key stops working.
. "$(dirname "$0")/lib.sh"

port=$((20000 + $$ % 20000))
ok "a database" "$kroo" up --dir "$dir" --database-only
conninfo=$(sed -n 's/^database = //p' "$dir/kroo.conf")
mkdir -m 700 "$work/keys"
refuses_name() { # NAME COMMAND...
    "${@:2}" >"$work/said" 2>&1
    [ $? -eq 1 ] && grep -q 'is no name' "$work/said"
    is "$1" "$?" 0
}
for name in coordinator good bad boss asker; do
    "$kroo" key new "$name" --out "$work/keys" >/dev/null
done
is "a secret key is for its owner alone" "$(stat -c %a "$work/keys/good.key")" 600
fails "keys are never overwritten" 1 "exists|there already" "$kroo" key new good --out "$work/keys"
for name in '' "$(printf 'x%.0s' {1..64})" "$(head -c 65000 /dev/zero | tr '\0' y)" '../x' $'a\nb' 'größe' '.x' '-x'; do
    refuses_name "no key is called ${name:0:6} (${#name} letters)" "$kroo" key new --out "$work/keys" -- "$name"
done
chmod 644 "$work/keys/bad.key"
fails "a key that others can read is refused" 1 "mode|others" kroo-coordinator --database "$conninfo" \
    --endpoint "tcp://127.0.0.1:$port" --key "$work/keys/bad.key"
chmod 600 "$work/keys/bad.key"
fails "beyond loopback the coordinator wants keys" 1 "key" kroo-coordinator --database "$conninfo" \
    --endpoint "tcp://0.0.0.0:$port"

"$kroo" key allow --dir "$dir" good "$work/keys/good.pub" --role worker >/dev/null
"$kroo" key allow --dir "$dir" boss "$work/keys/boss.pub" --role operator >/dev/null
KROO_TERM_MS=3000 KROO_PROGRESS_MS=300 kroo-coordinator --database "$conninfo" \
    --endpoint "tcp://127.0.0.1:$port" --key "$work/keys/coordinator.key" 2>"$work/coordinator.log" &
ok "a coordinator listens with its key" wait_until 20 grep -q listening "$work/coordinator.log"

as() ( # KEY COMMAND...
    export KROO_DATABASE=$conninfo KROO_ENDPOINT=tcp://127.0.0.1:$port KROO_KEY=$work/keys/$1.key
    export KROO_SERVER_KEY=$work/keys/coordinator.pub
    shift
    exec "$@"
)
ok "an operator is served" as boss "$kroo" status
fails "a stranger's key gets no answer" 3 "allow" as bad "$kroo" status
ok "and is noted" grep -q "key-refused" "$work/coordinator.log"
fails "a worker's key may not command" 1 "not be a user|operator" as good "$kroo" status
ok "an operator starts self-play" as boss "$kroo" selfplay --weights starting --pairs 100000 --nodes 300 --seed 1

as good kroo-worker --name w1 --slots 1 --state "$work/w1" 2>"$work/w1.log" &
games() { [ "$(sql "select games_stored > $1 from experiment_counter")" = t ]; }
ok "a listed worker plays" wait_until 30 games 0
as bad kroo-worker --name w2 --slots 1 --state "$work/w2" --connect-timeout 3 2>"$work/w2.log"
is "an unlisted worker gives up when told to" "$?" 3
ok "and says that its key is not allowed" grep -Eqi "allow" "$work/w2.log"

as bad kroo-worker --name w2 --slots 1 --state "$work/w2" 2>"$work/w2-later.log" &
later=$!
ok "another is not welcome either" wait_until 20 grep -Eqi "allow" "$work/w2-later.log"
"$kroo" key allow --dir "$dir" bad "$work/keys/bad.pub" --role worker >/dev/null
ok "until its key is listed: it comes by itself" wait_until 60 grep -q "welcome" "$work/w2-later.log"
"$kroo" key allow --dir "$dir" bad "$work/keys/bad.pub" --role viewer >/dev/null
ok "a key that may only look from now on plays no longer, over its open connection" \
    wait_until 20 grep -q "may not be a worker any more" "$work/w2-later.log"
wait $later
is "and its worker says so and leaves" "$?" 1
"$kroo" key revoke --dir "$dir" bad >/dev/null
"$kroo" key revoke --dir "$dir" good >/dev/null
ok "a revoked worker is turned away on its live connection" wait_until 15 grep -Eqi "not allowed|refused" "$work/w1.log"
settled() {
    one=$(sql "select games_stored from experiment_counter")
    read -r -t 1 -u 9 || :
    [ "$one" = "$(sql "select games_stored from experiment_counter")" ]
}
ok "and delivers nothing more" wait_until 10 settled
ok "nothing it delivered before is lost or wrong" "$kroo" verify --dir "$dir" 1

# --- at once: what comes over an open connection after `kroo key` has returned is judged by what it did ---
"$kroo" key new lively --out "$work/keys" >/dev/null
"$kroo" key allow --dir "$dir" lively "$work/keys/lively.pub" --role worker >/dev/null
coproc petition { "$build/tests/system/petitioner" "tcp://127.0.0.1:$port" "$work/keys/lively.key" "$work/keys/coordinator.pub" 2>&1; }
asks_again() { echo >&"${petition[1]}" && read -r -t 60 heard <&"${petition[0]}"; }
read -r -t 60 heard <&"${petition[0]}"
is "a worker is welcome" "$heard" granted
judged=
for _ in $(seq 10); do
    "$kroo" key allow --dir "$dir" lively "$work/keys/lively.pub" --role worker >/dev/null 2>>"$work/key-said"
    asks_again
    judged="$judged,$heard"
    "$kroo" key revoke --dir "$dir" lively >/dev/null 2>>"$work/key-said"
    asks_again
    judged="$judged,$heard"
done
is "ten times allowed and revoked, its very next message is served and refused" "$judged" \
    "$(for _ in $(seq 10); do printf ',granted,refused: this key is not allowed (any more)'; done)"
is "and kroo key never had to say that nobody confirmed it" "$(cat "$work/key-said")" ""

# --- somebody who may ask, and somebody who says yes ---
"$kroo" key allow --dir "$dir" asker "$work/keys/asker.pub" --role submitter >/dev/null
asks() { asked=$(as asker "$kroo" match starting starting --nodes-a 60 --nodes-b 50 --pairs 4 --seed 1 --key "ask-$1" 2>"$work/asked"); }
ok "a submitter asks for an experiment" wait_until 15 asks one
ok "and hears that it waits" grep -q "kroo approve $asked" "$work/asked"
is "it is pending, and kroo ls shows it" "$(as boss "$kroo" ls --state pending --json | jq -r '.[].id')" "$asked"
fails "a submitter changes nothing" 1 "operator" as asker "$kroo" approve "$asked"
"$kroo" key allow --dir "$dir" asker "$work/keys/asker.pub" --role operator >/dev/null
approves() { as asker "$kroo" approve "$asked" 2>&1 | grep -q "somebody else must approve"; }
ok "nobody approves what the same key asked for" wait_until 15 approves
"$kroo" key allow --dir "$dir" asker "$work/keys/asker.pub" --role submitter >/dev/null
demoted() { as asker "$kroo" approve 4711 2>&1 | grep -q "operator's key"; }
ok "who is no operator any more is told so" wait_until 15 demoted
fails "it is not resumed either" 1 "waits for approval" as boss "$kroo" resume "$asked"
is "an operator approves it" "$(as boss "$kroo" approve "$asked")" "experiment $asked approved"
is "and the log has both" "$(sql "select string_agg(text, '; ' order by id) from event where experiment_id = $asked")" \
    "created by asker: waits for approval; approved by boss"
kroo-worker --endpoint "tcp://127.0.0.1:$port" --key "$work/keys/boss.key" --server-key "$work/keys/coordinator.pub" \
    --name w3 --slots 1 --state "$work/w3" 2>"$work/w3.log" &
as boss "$kroo" priority "$asked" 10 >/dev/null
finished() { [ "$(sql "select state from experiment where id = $asked")" = finished ]; }
ok "now it is played" wait_until 30 finished
# Its own requests a submitter takes back as long as they wait; nobody else's, and nothing that runs.
fails "a submitter does not delete what was approved" 1 "wait for approval any more" as asker "$kroo" delete "$asked" --yes
theirs=$(as boss "$kroo" match starting starting --nodes-a 60 --nodes-b 50 --pairs 4 --seed 8 --key theirs 2>/dev/null)
fails "nor stops another's" 1 "not asked for with this key" as asker "$kroo" stop "$theirs"
approved=$asked
ok "it asks again" asks back
is "stops its own request" "$(as asker "$kroo" stop "$asked" --reason 'a slip')" "experiment $asked stopped"
is "under its own name" "$(sql "select verdict, by, reason from verdict where experiment_id = $asked")" "aborted|asker|a slip"
ok "and once more" asks gone
is "deletes it" "$(as asker "$kroo" delete "$asked" --yes)" "experiment $asked deleted, with 0 games"
is "which leaves no row, and its event" "$(sql "select (select count(*) from experiment where id = $asked), (select text from event where experiment_id = $asked and kind = 'experiment-deleted')")" \
    "0|deleted, with 0 games, by asker"
fails "a whole tournament is not its to stop" 1 "operator" as asker "$kroo" stop everything
asked=$approved
ok "another" asks two
as boss "$kroo" reject "$asked" --reason 'too short' >/dev/null
is "is rejected, by name" "$(sql "select state, verdict, by, v.reason from experiment e join verdict v on v.experiment_id = e.id where e.id = $asked")" \
    "stopped|aborted|boss|too short"

cat /dev/urandom 2>/dev/null | head -c 200000 >"$work/noise"
for text in "GET / HTTP/1.1" ""; do
    (printf '%s\r\n\r\n' "$text" && cat "$work/noise") >"/dev/tcp/127.0.0.1/$port" 2>/dev/null
done
(printf '\377\0\0\0\0\0\0\0\1\177\3') >"/dev/tcp/127.0.0.1/$port" 2>/dev/null
ok "noise, HTTP and half a greeting on the port hurt nobody" as boss "$kroo" status
kill %1 2>/dev/null
done_testing
