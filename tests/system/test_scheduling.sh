#!/usr/bin/env bash
# Who plays what: tags, caps, priorities, and last ranges that a stopped worker holds.
. "$(dirname "$0")/lib.sh"

worker() { # NAME SLOTS [OPTION...]
    worker_name=$1 worker_slots=$2
    shift 2
    kroo-worker --endpoint "$endpoint" --name "$worker_name" --slots "$worker_slots" --state "$work/$worker_name" "$@" \
        2>"$work/$worker_name.log" &
}
launch() { "$kroo" selfplay --dir "$dir" --weights starting --seed 3 "$@"; }
state() { sql "select state from experiment where id = $1"; }
finished() { [ "$(state "$1")" = finished ]; }
leases() { sql "select count(*) from lease l join session s on s.id = l.session_id where l.experiment_id = $1 and s.name = '$2'"; }
has_leases() { [ "$(leases "$1" "$2")" -gt 0 ]; }

ok "a private cluster without workers" "$kroo" up --dir "$dir" --workers 0
endpoint=$(sed -n 's/^endpoint = //p' "$dir/kroo.conf")

# --- tags (fishtest#1611) ---
fails "an expression is no tag" 1 'plain names' launch --pairs 10 --nodes 50 --tags 'cpu~avx2'
fails "nor is a dangerous one" 1 'no tag' launch --pairs 10 --nodes 50 --tags '(a+)+$'
fails "a worker's tags are checked" 2 'no tag' kroo-worker --endpoint "$endpoint" --tags 'a b'
fails "a share has a range" 2 'share' launch --pairs 10 --share 0
fails "a cap has a range" 2 'cap' launch --pairs 10 --cap 0
worker plain 1
tagged=$(launch --pairs 20 --nodes 50 --tags gpu,os=linux --priority 5)
idle_for_tags() { grep -q "experiment $tagged needs the tag gpu" "$work/plain.log"; }
ok "a worker without the tag says why it is idle" wait_until 40 idle_for_tags
open=$(launch --pairs 20 --nodes 50)
ok "and plays what it may, of a lower priority" wait_until 40 finished "$open"
told() { "$kroo" why --dir "$dir" plain | grep -q "it waits: experiment $tagged needs the tag gpu"; }
ok "kroo why tells the same" wait_until 20 told
is "kroo workers lists it so" "$("$kroo" workers --dir "$dir" --json | jq -r '.[] | select(.name == "plain") | .state')" waiting
fails "nobody of that name" 1 'no worker "nobody"' "$kroo" why --dir "$dir" nobody
is "nothing of the other went out" "$(sql "select count(*) from lease where experiment_id = $tagged")" 0
worker equipped 2 --tags gpu
ok "a worker with the tag plays it" wait_until 40 finished "$tagged"
is "alone" "$(leases "$tagged" plain)" 0

# --- a cap of two games at a time, and workers of one and of two play threads ---
capped=$(launch --pairs 40 --nodes 2000 --cap 2)
ok "a capped experiment ends" wait_until 60 finished "$capped"
is "three play threads never had pairs of it at once" \
    "$(sql "select count(*) from lease a join lease b on a.experiment_id = b.experiment_id
            and a.session_id < b.session_id and a.granted_at < b.ended_at and b.granted_at < a.ended_at where a.experiment_id = $capped")" 0

# --- priority (OpenBench f35961e): within a lease all workers leave the lower one ---
low=$(launch --pairs 100000 --nodes 1000)
ok "both play" wait_until 60 has_leases "$low" plain
ok "both play" wait_until 60 has_leases "$low" equipped
high=$(launch --pairs 100000 --nodes 1000 --priority 1)
ok "one goes to the higher" wait_until 60 has_leases "$high" plain
ok "and the other" wait_until 60 has_leases "$high" equipped
playing() { "$kroo" why --dir "$dir" "$1" | grep -q "it plays experiment.* $high"; }
ok "kroo why says what it plays" wait_until 40 playing plain
known() { "$kroo" show --dir "$dir" "$high" --json | jq -e '.left | .pairs > 0 and .pairs_per_minute > 0 and .seconds > 0'; }
ok "the time left is known" wait_until 30 known
ok "kroo ls shows it" sh -c "'$kroo' ls --dir '$dir' --json | jq -e '.[] | select(.id == $high) | .time_left != \"unknown\"' >/dev/null"
is "nothing of the lower goes out after that" \
    "$(sql "select count(*) from lease where experiment_id = $low and granted_at > (select max(first) from
            (select min(granted_at) as first from lease where experiment_id = $high group by session_id) as f)")" 0
"$kroo" stop --dir "$dir" "$low" >/dev/null
"$kroo" stop --dir "$dir" "$high" >/dev/null

# --- the last range of a worker that is stopped: its term is a minute, nobody waits for it ---
# shellcheck disable=SC2046
kill -9 $(jobs -p)
gone() { [ "$("$kroo" workers --dir "$dir" --json | jq -r '[.[] | select(.state == "gone")] | length')" = 2 ]; }
ok "killed, they are told gone (fishtest#602)" wait_until 40 gone
# shellcheck disable=SC2046
wait $(jobs -p) 2>/dev/null
worker slow 1
slow=$!
tail=$(launch --pairs 2 --nodes 20000)
ok "a worker holds all that is left" wait_until 60 has_leases "$tail" slow
kill -STOP $slow
worker quick 1
ok "another ends it" wait_until 50 finished "$tail"
is "by a second lease of the same pairs" \
    "$(sql "select count(*) > 0 from lease a join lease b using (experiment_id) where a.experiment_id = $tail
            and a.attempt < b.attempt and b.granted_at < a.ended_at
            and b.first_pair between a.first_pair and a.first_pair + a.pair_count - 1")" t
kill -CONT $slow
ok "kroo verify agrees" "$kroo" verify --dir "$dir"
done_testing
