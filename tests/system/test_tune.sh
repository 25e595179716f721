#!/usr/bin/env bash
# A tune's trajectory is a function of its file, seed and games: the same on one worker and on four with a killed
# coordinator in between; proved, replayed, and followed by one match of tuned against start.
. "$(dirname "$0")/lib.sh"

cat >"$work/spec.json" <<'END'
{"weights": "starting", "pairs": 96, "batch": 6, "lag": 2, "nodes": 40, "seed": 5, "match_pairs": 6,
 "parameters": [
  {"weights": "store.*", "span": 80, "c_end": 10, "r_end": 0.02},
  {"weights": "house.*.1.*", "together": true, "span": 60, "c_end": 6, "r_end": 0.02},
  {"option": "CutMargin", "min": 20, "max": 120, "c_end": 10, "r_end": 0.02}]}
END
trajectory() {
    sql "select batch_no, weights_a, weights_b, options_a, options_b, won, lost, theta from tune_batch
        where experiment_id = 1 order by batch_no"
}
applied() { [ "$(sql "select count(*) >= $1 from tune_batch where won is not null")" = t ]; }
ended() { [ "$(sql "select count(*) from experiment where state = 'finished'")" = 2 ]; }
tune() { # DIR WORKERS AUDIT
    cluster_dir=$1
    "$kroo" up --dir "$1" --workers "$2" >/dev/null || return 1
    "$kroo" tune "$work/spec.json" --dir "$1" --key tuned --audit "$3" >"$work/id" 2>/dev/null && grep -qx 1 "$work/id"
}

ok "a tune is made" tune "$work/four" 4 50%
ok "its first batches are applied" wait_until 60 applied 4
kill -9 "$(pid_of coordinator)"
ok "the coordinator is killed and comes back" "$kroo" up --dir "$work/four" --workers 4
ok "the tune ends, and its match" wait_until 120 ended
trajectory >"$work/four.rows"
ok "everything is as the games make it" "$kroo" verify --dir "$work/four" 1
ok "its pairs were audited while it went on" \
    test "$(sql "select count(*) filter (where state = 'agreed') > 20 and bool_and(state = 'agreed') from audit where experiment_id = 1")" = t

# --- batches that are in no memory: after a restart the coordinator knows nothing of a finished tune's ---
kill -9 "$(pid_of coordinator)"
ok "a new coordinator" "$kroo" up --dir "$work/four" --workers 4
liar() { # NAME OPTIONS: other games of the first pair, by the players of its batch
    sql "select encode(weights_a, 'hex'), encode(weights_b, 'hex') from tune_batch where experiment_id = 1 and batch_no = 0" >"$work/weights"
    "$build/tests/system/liar" "$(sed -n 's/^endpoint *= *//p' "$work/four/kroo.conf")" tune "$1" 1 0 5 8 \
        "$(cut -d'|' -f1 "$work/weights")" "$(cut -d'|' -f2 "$work/weights")" "$2" \
        "$(sql "select options_b from tune_batch where experiment_id = 1 and batch_no = 0")"
}
ok "a late game by other options is refused, for who plays is looked up" \
    grep -q '^leg 1: refused: played with other options than its batch has' <(liar liar-1 CutMargin=3)
ok "a finished tune is audited" "$kroo" audit 1 --share 30% --wait --dir "$work/four"
is "and every pair of it came out the same" \
    "$(sql "select count(*) > 10, bool_and(state = 'agreed') from audit where experiment_id = 1 and request_id > 0")" "t|t"
a=$(sql "select options_a from tune_batch where experiment_id = 1 and batch_no = 0")
signal_workers() { for worker in 1 2 3 4; do kill "$1" "$(cluster_dir=$work/four pid_of worker-$worker)"; done; }
signal_workers -STOP # or they would play the pair again before the second liar has come
ok "other games of a counted pair are a dispute" grep -q '^leg 1: conflict' <(liar liar-1 "$a")
ok "two who agree outvote what has moved the parameters" grep -q '^leg 1: conflict' <(liar liar-2 "$a")
outvoted() { "$kroo" tune show 1 --dir "$work/four" --json | jq -e '.outvoted_pairs == 1'; }
ok "and the tune says so" wait_until 10 outvoted
signal_workers -CONT
ok "whose games stand" "$kroo" verify --dir "$work/four" 1
"$kroo" down --dir "$work/four" >/dev/null

ok "one worker makes it, too" tune "$work/one" 1 0
ok "without a break" wait_until 120 ended
trajectory >"$work/one.rows"
ok "every player and every theta are the same to the last bit" cmp "$work/one.rows" "$work/four.rows"
is "all batches are there" "$(wc -l <"$work/one.rows")" 16
dir=$work/one

is "the same key makes no other" "$("$kroo" tune "$work/spec.json" --dir "$dir" --key tuned --audit 0 2>/dev/null)" 1
is "one match of tuned against start" \
    "$(sql "select match_id, (select count(*) from experiment where kind = 'match') from tune")" "2|1"
is "by the weights and options that came of it" \
    "$(sql "select a.weights_sha256 = t.tuned_sha256 and w.parent_sha256 = b.weights_sha256 and w.name = 'tune-1' and
        a.options -> 'set' ->> 0 = t.tuned_options from tune t join experiment e on e.id = t.match_id
        join player a on a.id = e.player_a join player b on b.id = e.player_b join weights w on w.sha256 = a.weights_sha256")" t
shown=$("$kroo" tune show 1 --dir "$dir" --json)
is "kroo tune show has start and now" \
    "$(jq -r '[.state, .applied, (.parameters | length), .parameters[0].name, .parameters[0].start,
        (.parameters[0] | (.now - .start - .change | fabs) < 1e-9), .match.pairs] | map(tostring) | join(" ")' <<<"$shown")" \
    "finished 16 6 store.0 100 true 6"
ok "and people get a table" grep -q '^against start experiment 2' <("$kroo" tune show 1 --dir "$dir")
fails "what is no tune is told" 1 "is no tune" "$kroo" tune show 2 --dir "$dir"

# --- its games know who played them ---
ok "a game of a late batch is played again, the same" "$kroo" replay --dir "$dir" 1 95 1
game=$("$kroo" games 1 --pairs 90 --format json --dir "$dir" | head -1)
is "its record has the players of its batch" \
    "$(jq -r '[.south.weights, .north.weights, .south.options] | join("|")' <<<"$game")" \
    "$(sql "select encode(weights_a, 'hex'), encode(weights_b, 'hex'), options_a from tune_batch where batch_no = 15")"

# --- fishtest#1070: a stop that comes late leaves it finished ---
"$kroo" stop 1 --dir "$dir" --reason late >/dev/null 2>&1
is "a late stop changes nothing" "$(sql "select state from experiment where id = 1")" finished

# --- kroo verify sees what is altered ---
sql "update tune_batch set theta[2] = theta[2] + 0.001 where batch_no = 7" >/dev/null
fails "an altered theta is found" 1 "store.1 after batch 7" "$kroo" verify --dir "$dir" 1
sql "update tune_batch set won = won + 1 where batch_no = 3" >/dev/null
fails "an altered result is found" 1 "batch 3 is stored with" "$kroo" verify --dir "$dir" 1
sql "update tune_batch set options_a = 'CutMargin=61' where batch_no = 9" >/dev/null
fails "an altered player is found" 1 "batch 9 was played by another player a" "$kroo" verify --dir "$dir" 1

# --- what cannot be tuned ---
refuse() { # NAME PATTERN JQ-FILTER
    jq "$3" "$work/spec.json" >"$work/bad.json"
    fails "$1" 1 "$2" "$kroo" tune "$work/bad.json" --dir "$dir"
}
refuse "no parameters" "no parameter to tune" '.parameters = []'
refuse "a step of zero" "store.0: c_end" '.parameters[0].c_end = 0'
refuse "min above max" "CutMargin: min 130 is not below max 120" '.parameters[2].min = 130'
refuse "a name that is not" 'have no parameter "stores.\*"' '.parameters[0].weights = "stores.*"'
refuse "half a batch" "96 or 102" '.pairs = 99'
refuse "an unknown field" 'no field "lagg"' '.lagg = 3'
jq '.clock = "soon" | del(.nodes)' "$work/spec.json" >"$work/bad.json"
fails "a clock that is none" 2 'a clock is written like' "$kroo" tune "$work/bad.json" --dir "$dir"
jq 'del(.nodes) | .clock = "1s+0.01s"' "$work/spec.json" >"$work/clock.json"
is "a clock limits both sides" \
    "$("$kroo" tune "$work/clock.json" --dir "$dir" --dry-run --json 2>/dev/null | jq -c '[.a.clock_ms, .b.increment_ms, .a.nodes]')" '[1000,10,0]'
is "one of the command goes before the file's" \
    "$("$kroo" tune "$work/spec.json" --clock 2s --dir "$dir" --dry-run --json 2>/dev/null | jq -c '[.a.clock_ms, .a.nodes]')" '[2000,0]'
fails "a clock and an audit" 1 'nothing to audit' "$kroo" tune "$work/clock.json" --audit 5% --dir "$dir" --dry-run
ok "a dry run makes nothing" "$kroo" tune "$work/spec.json" --dir "$dir" --dry-run
is "and refusals neither" "$(sql "select count(*) from experiment")" 2
done_testing
