#!/usr/bin/env bash
# coordinator/JSON.md: each command of its table answers in the shape and with the fields that stand there.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
export KROO_DIR=$dir
unset NO_COLOR

# What the commands of the table are about.
{
    kroo up --workers 2 --web off
    kroo selfplay --pairs 6 --nodes 50 --seed 1 --wait
    kroo match starting starting --nodes-a 300 --nodes-b 20 --sprt --elo1 100 --max-pairs 200 --seed 3 --audit 20% --wait
    cp "$(command -v kroo-engine)" program
    kroo engine add program --name today
    kroo-engine tables build --rules site --seeds 3 --out ends.tables
    kroo tables add ends.tables --name ends
    kroo book make --name near --openings 20 --plies 4 --bound 900
    kroo key new node7 --out keys
    kroo key allow node7 keys/node7.pub --role worker
    kroo workers set-aside worker-2 --reason test
    echo '{"weights": "starting", "pairs": 8, "batch": 4, "nodes": 20, "match_pairs": 0, "parameters":
        [{"option": "CutMargin", "min": 20, "max": 120, "c_end": 10, "r_end": 0.01}]}' >tune.json
    tune=$(kroo tune tune.json --seed 3 --key cut)
    kroo roundrobin n50=starting,nodes=50 n99=starting,nodes=99 --nodes 100 --pairs 4 --seed 7 --key trio --wait
    kroo weights promote starting --experiment 2
} >made 2>&1
# Of a pool, a loop and a fault there is no cheap example: an empty array is all that is asked of them.
may_be_empty=' faults pool\ ls loop\ ls '

sed -n 's/^| `kroo \([^`]*\)` | \([a-z ]*\) | \(.*\) |$/\1|\2|\3/p' "$root/coordinator/JSON.md" | tr -d '`' >table
ok "the table has its commands" test "$(wc -l <table)" -gt 35
while IFS='|' read -r command shape fields; do
    [ "${command%% [0-9]*}" != "tune show" ] || command="tune show $tune"
    # shellcheck disable=SC2086
    "$kroo" $command --json >said 2>"errors" </dev/null
    case $shape in
    lines) found=$(jq -rs 'map(keys_unsorted) | add | reduce .[] as $k ([]; if index($k) then . else . + [$k] end) | join(" ")' said) ;;
    object) found=$(jq -r 'keys_unsorted | join(" ")' said) ;;
    array) found=$(jq -r 'map(keys_unsorted) | add // [] | reduce .[] as $k ([]; if index($k) then . else . + [$k] end) | join(" ")' said) ;;
    'array of texts') found=$(jq -r 'map(select(type != "string")) | join(" ")' said) ;;
    esac
    case $may_be_empty in *" ${command// /\\ } "*) [ "$(cat said)" != '[]' ] || found=$fields ;; esac
    is "kroo $command: $shape" "$found" "$fields"
    [ "$command" = "watch 2" ] || [ "$(wc -l <said)" -gt 1 ] || ok "one document of JSON" jq empty said
done <table

# Whatever goes wrong: JSON alone on standard error, and the exit status as ever.
while IFS='|' read -r status command; do
    # shellcheck disable=SC2086
    "$kroo" $command --json >said 2>errors </dev/null
    is "kroo $command is refused with JSON" "$? $(jq -rs 'map(keys[0]) | unique | join(" ")' errors) $(wc -c <said)" "$status error 0"
done <<'REFUSALS'
1|show 4711
1|weights show nobody
1|stop 1
1|selfplay --pairs 0
1|selfplay --games 7
2|show
2|show twelve
2|show 1 2
2|ls --limit
2|ls --limit many
2|nosuch
2|weights nosuch
2|match starting
2|names everything
2|ls --color sometimes
3|ls --dir /nonexistent
REFUSALS
done_testing
