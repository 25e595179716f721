#!/usr/bin/env bash
# `kroo up` and `kroo down`: again and again, with more and fewer workers, over remains and beside strangers.
. "$(dirname "$0")/lib.sh"

# What a worker forks looks like one until it runs something else.
workers() {
    pgrep -f -- "kroo-worker.*$dir/" | xargs -r ps -o pid=,ppid= -p |
        awk '{ parent[$1] = $2 } END { for (pid in parent) count += !(parent[pid] in parent); print count + 0 }'
}

fails "down without a cluster is refused" 1 'no private cluster' "$kroo" down --dir "$dir"
ok "up" "$kroo" up --dir "$dir" --workers 2
is "two workers" "$(workers)" 2
first=$(pid_of coordinator)
ok "up again changes nothing" "$kroo" up --dir "$dir" --workers 2
is "the same coordinator" "$(pid_of coordinator)" "$first"
ok "more workers" "$kroo" up --dir "$dir" --workers 3
is "three workers" "$(workers)" 3
ok "fewer workers" "$kroo" up --dir "$dir" --workers 1
is "one worker" "$(workers)" 1
is "PostgreSQL listens on no port" "$(sql "show listen_addresses")" ""
is "none of its memory lies where the end of its user's last login takes it away" \
    "$(sql "show dynamic_shared_memory_type")|$(grep -l /dev/shm $(pgrep -P "$(postgres_pid)" | sed 's|.*|/proc/&/maps|') 2>/dev/null)" 'mmap|'
is "its folder is for its owner alone" "$(stat -L -c %a "$dir/postgres")" 700
is "the settings are there for every program" "$(jq -r .endpoint <<<"$("$kroo" up --dir "$dir" --workers 1 --json)")" \
    "$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")"
ok "down" "$kroo" down --dir "$dir"
is "nothing runs" "$(pgrep -f -- "$dir/")" ""
ok "down again is no error" "$kroo" down --dir "$dir"
ok "up after down" "$kroo" up --dir "$dir" --workers 0
is "the data are still there" "$(sql "select count(*) > 0 from session")" t

kill -9 "$(pid_of coordinator)"
kroo-coordinator --config "$dir/kroo.conf" 2>"$work/other.log" &
other=$!
ok "a coordinator started by hand takes over the socket of a dead one" wait_until 20 grep -q listening "$work/other.log"
fails "up leaves it alone and says so" 3 'did not start' "$kroo" up --dir "$dir" --workers 0
ok "and it still answers" "$kroo" status --dir "$dir"
kill "$other"
wait "$other"
ok "when it is gone, up starts one" "$kroo" up --dir "$dir" --workers 0

# Another checkout made at the same path must not find the old one's games.
if [ "$(id -u)" -eq 0 ]; then
    home=$(readlink "$dir/postgres")
    sql "insert into event (kind, text) values ('mark', 'old')" >/dev/null
    kill -9 "$(pid_of coordinator)"
    rm -rf "$dir"
    said=$("$kroo" up --dir "$dir" --workers 0 2>&1)
    ok "a folder deleted and made again starts empty" test "$(sql "select count(*) from event where kind = 'mark'")" = 0
    ok "and the old database is set aside, not lost" test -d "$home.1/data"
    ok "which is said" grep -q 'set aside' <<<"$said"
    rm -rf "$home.1"
fi
long=$work/$(printf 'a%.0s' {1..120})
ok "a deep folder works, sockets or not" "$kroo" up --dir "$long" --workers 1
ok "and answers" "$kroo" status --dir "$long"
ok "and stops" "$kroo" down --dir "$long"
endpoint=$(sed -n 's/^endpoint = //p' "$long/kroo.conf")
rm -rf "$(dirname "${endpoint#ipc://}")"
done_testing
