#!/usr/bin/env bash
# kroo doctor: each thing that can be wrong is made wrong, found, and told with what mends it; then it is well again.
. "$(dirname "$0")/lib.sh"

d() { "$kroo" doctor --dir "$dir" "$@"; }
# finds NAME STATE AREA CHECK PATTERN [COMMAND...]: what COMMAND (else d) --json prints has such a finding, whose words
# match; the exit status says whether there is an error.
finds() {
    name=$1 state=$2 area=$3 check=$4 pattern=$5
    shift 5
    [ $# -gt 0 ] || set -- d
    "$@" --json >"$work/found" 2>"$work/said"
    got=$?
    ok "$name" jq -e --arg s "$state" --arg a "$area" --arg c "$check" --arg p "$pattern" --argjson got $got \
        '(.errors > 0) == ($got == 1) and ([.findings[] | select(.area == $a and .check == $c and .state == $s
         and (.found + " -> " + .mend | test($p)) and ($s == "ok" or .mend != ""))] | length) > 0' "$work/found"
}
as() { (eval "$1" && shift && "$@"); } # with limits or the environment changed for one command
well() { d >"$work/well" 2>&1 && ! grep -E '^  (error|warning)' "$work/well"; }

# --- nothing is set up ---
finds "where nothing is set up it says how to begin" warning database reachable 'kroo up' \
    as 'cd "$work"' "$kroo" doctor
is "which is no error" "$(jq .errors "$work/found")" 0
finds "a settings file that is wrong" error settings file 'line 1: no such setting.*correct the line' \
    as 'echo nonsense = 1 >"$work/bad.conf"' "$kroo" doctor --config "$work/bad.conf"
finds "a folder without a cluster" error settings file 'kroo up' "$kroo" doctor --dir "$work/none"

ok "a private cluster starts" "$kroo" up --dir "$dir" --workers 1
ok "its workers come" wait_until 20 sh -c '"$0" workers --dir "$1" --json | jq -se "flatten | length > 0"' "$kroo" "$dir"
ok "nothing is wrong with it" well
ok "the page has every area" sh -c 'for a in machine settings keys database clock versions coordinator workers spool "web page"; do grep -q "^$a" "$0" || exit 1; done' "$work/well"
conf=$dir/kroo.conf database=$(sed -n 's/^database = //p' "$dir/kroo.conf")

# --- the machine ---
[ "$(nproc)" -lt 2 ] || finds "fewer cores than there are" warning machine cores 'usable.*--slots' as 'command -v taskset >/dev/null' taskset -c 0 "$kroo" doctor --dir "$dir"
finds "few descriptors" warning machine descriptors 'ulimit -n' as 'ulimit -n 200' d
finds "too few" error machine descriptors '^100 ' as 'ulimit -n 100' d
finds "little memory" warning machine memory 'ulimit -v' as 'ulimit -v 400000' d
finds "a limit of processor time" warning machine 'processor time' 'ulimit -t unlimited' as 'ulimit -t 10000' d
finds "a limit of file size" warning machine 'file size' 'ulimit -f unlimited' as 'ulimit -f 100000' d
free=$(df -m --output=avail /tmp | tail -n 1 | tr -d ' ')
finds "a disk that is filling up" warning machine 'disk, temporary' 'make room' d --disk $((free + 10000))
finds "a full one" error machine 'disk, temporary' 'make room' d --disk 1000000000

# --- settings and keys ---
chmod 666 "$conf"
finds "settings that others can write" warning settings file 'chmod go-w'
chmod 600 "$conf"
chmod 755 "$dir/run"
finds "a socket that others can reach" error settings endpoint 'chmod 700'
chmod 700 "$dir/run"
finds "beyond this machine without keys" error settings endpoint 'beyond this machine' as 'export KROO_ENDPOINT=tcp://192.0.2.1:7710' d
finds "and nobody there" error coordinator reachable 'kroo key allow' as 'export KROO_ENDPOINT=tcp://192.0.2.1:7710' d
"$kroo" key new me --out "$work/keys" >/dev/null 2>&1
export KROO_KEY=$work/keys/me.key
finds "a key that is not on the allow-list" error keys allow-list 'kroo key allow'
"$kroo" key allow me "$work/keys/me.pub" --role operator --dir "$dir" >/dev/null
finds "an allowed one" ok keys allow-list 'me, as operator'
"$kroo" key revoke me --dir "$dir" >/dev/null
finds "a revoked one" error keys allow-list 'was revoked.*another key'
chmod 644 "$work/keys/me.key"
finds "a secret that others can read" error keys key 'chmod 600'
export KROO_KEY=$work/keys/none.key
finds "a key that is not there" error keys key 'kroo key new'
unset KROO_KEY
finds "a public key that is none" error keys server_key 'pub file' as 'export KROO_SERVER_KEY=$work/none.pub' d
finds "a trusted key that is not there" error keys trust 'pub file' as 'export KROO_TRUST=$work/none.pub' d

# --- the database ---
finds "a database that does not answer" error database reachable 'start it' as 'export KROO_DATABASE="host=$work/none dbname=kroo"' d
for setting in fsync full_page_writes synchronous_commit; do
    sql "alter system set $setting = off" >/dev/null && sql 'select pg_reload_conf()' >/dev/null
    ok "$setting off takes hold" wait_until 5 sh -c '[ "$("$0" sql --dir "$1" -XAtqc "show $2")" = off ]' "$kroo" "$dir" "$setting"
    finds "$setting off is found" error database durability "$setting"
    sql "alter system reset $setting" >/dev/null && sql 'select pg_reload_conf()' >/dev/null
done
sql 'alter system set autovacuum = off' >/dev/null && sql 'select pg_reload_conf()' >/dev/null
ok "autovacuum off takes hold" wait_until 5 sh -c '[ "$("$0" sql --dir "$1" -XAtqc "show autovacuum")" = off ]' "$kroo" "$dir"
finds "autovacuum off" warning database autovacuum 'tables grow'
sql 'alter system reset autovacuum' >/dev/null && sql 'select pg_reload_conf()' >/dev/null
finds "a database that takes no writes" error database writable 'default_transaction_read_only' \
    as 'export PGOPTIONS="-c default_transaction_read_only=on"' d
sql 'create role looker login; grant kroo_reader to looker' >/dev/null
finds "a user who may only look" warning database roles 'grant kroo_coordinator' \
    as 'export KROO_DATABASE="${database%user=*}user=looker"' d
sql "insert into kroo.migration (number, name, sha256) values (9999, '9999_future.sql', repeat('0', 64))" >/dev/null
finds "a newer schema" error versions schema 'newer.*install the release'
sql 'delete from kroo.migration where number = 9999' >/dev/null
sql "create database latin encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0" >/dev/null
finds "an encoding that holds no names" error database encoding 'UTF8' as 'export KROO_DATABASE="${database/dbname=kroo/dbname=latin}"' d
finds "a database without a schema" error versions schema 'kroo migrate' as 'export KROO_DATABASE="${database/dbname=kroo/dbname=latin}"' d
sql 'drop database latin' >/dev/null

# --- versions: programs whose build is another one ---
mkdir "$work/other"
own=$("$kroo" --version | sed 's/.*kroo-engine 1 //')
for program in kroo kroo-worker; do
    sed "s/$own/000000000000/g" "$build/$program" >"$work/other/$program" && chmod +x "$work/other/$program"
done
finds "programs of two releases" error versions kroo-worker 'one release' as 'cp "$build/kroo" "$work/other/kroo.old" && ln -f "$work/other/kroo.old" "$work/other/kroo-same"' "$work/other/kroo-same" doctor --dir "$dir"
finds "a program that is missing" warning versions kroo-engine 'whole release' "$work/other/kroo-same" doctor --dir "$dir"
finds "a coordinator of another build" warning versions coordinator 'same release' "$work/other/kroo" doctor --dir "$dir"
endpoint=$(sed -n 's/^endpoint = //p' "$conf")
SKEW_MS=7000 LD_PRELOAD=$build/tests/system/skew.so "$work/other/kroo-worker" --endpoint "$endpoint" --name stranger --slots 1 --state "$work/stranger" 2>"$work/stranger.log" &
stranger=$!
ok "a worker of another build and another time comes" wait_until 20 sh -c '"$0" why stranger --dir "$1"' "$kroo" "$dir"
finds "its build is found" error versions workers 'stranger.*release'
finds "and its clock" warning clock workers 'stranger.*set-ntp'
kill -TERM $stranger
wait $stranger
finds "our clock against the database's" warning clock database 'behind.*set-ntp' env SKEW_MS=5000 LD_PRELOAD="$build/tests/system/skew.so" "$kroo" doctor --dir "$dir"
finds "far off it is an error" error clock database 'ahead of ours' env SKEW_MS=-90000 LD_PRELOAD="$build/tests/system/skew.so" "$kroo" doctor --dir "$dir"
finds "against the coordinator's too" error clock coordinator 'ahead of ours' env SKEW_MS=-90000 LD_PRELOAD="$build/tests/system/skew.so" "$kroo" doctor --dir "$dir"

# --- workers, experiments, spools, the page ---
"$kroo" workers set-aside worker-1 --reason test --dir "$dir" >/dev/null
ok "a worker set aside shows" wait_until 10 sh -c '"$0" workers --dir "$1" --json | jq -e "any(.state == \"set aside\")"' "$kroo" "$dir"
finds "one that is set aside" warning workers 'set aside' 'workers restore'
"$kroo" workers restore worker-1 --dir "$dir" >/dev/null
kill -9 "$(pid_of worker-1)"
mkdir -p "$dir/worker-9/spool" "$dir/worker-9/refused"
head -c 500 /dev/zero >"$dir/worker-9/spool/0000000000000007.spool"
echo "refused = test" >"$dir/worker-9/refused/1-2-0.txt"
head -c 64 /dev/zero >>"$dir/worker-9/refused/1-2-0.txt"
finds "results that nobody delivers" warning spool 'left over' 'worker-9.*500 bytes.*--state'
finds "refused games" warning spool refused 'worker-9/refused: 1 games'
rm -r "$dir/worker-9"
id=$("$kroo" selfplay --pairs 100000 --dir "$dir" 2>/dev/null)
sql "update experiment set state = 'blocked', state_reason = 'test' where id = $id" >/dev/null
finds "an experiment that is blocked" warning experiments blocked "$id.*kroo resume"
finds "a page that is not where it should be" error 'web page' address 'refused.*setting' as 'export KROO_WEB=127.0.0.1:1' d
kill -TERM "$(postgres_pid)" 2>/dev/null
kill -INT "$(postgres_pid)" 2>/dev/null
ok "without its database the coordinator says so" wait_until 30 sh -c '"$0" doctor --dir "$1" --json | jq -e "any(.findings[]; .area == \"coordinator\" and .check == \"its database\" and .state == \"error\")"' "$kroo" "$dir"
kill -9 "$(pid_of coordinator)"
finds "a coordinator that does not answer" error coordinator reachable 'kroo up'
ok "kroo up mends it" "$kroo" up --dir "$dir" --workers 1
finds "which is seen" ok coordinator reachable 'answers'
done_testing
