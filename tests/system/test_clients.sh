#!/usr/bin/env bash
# Weights of every kind outside Kroo: the readers under clients/ and the exported C header give the engine's integers bit
# for bit, refuse what is damaged, and what was exported comes back by import; the cluster plays each kind. Node and a
# JDK are used where they are; where not, their tests are skipped with the reason.
. "$(dirname "$0")/lib.sh"
vectors=$root/tests/vectors/weights
js=$root/clients/js/eval.js
w() { command=$1; shift; "$kroo" weights "$command" --dir "$dir" "$@"; }

# skip NAME REASON
skip() {
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}
# The 64 test positions of each file, and some two thousand more with the engine's answers.
jq -r .pos "$root/tests/vectors/rules/positions.jsonl" >"$work/positions"
for kind in table net features; do
    jq -r '.vectors[].position' "$vectors/$kind.json" >"$work/$kind.positions"
    jq -r '.vectors[].score' "$vectors/$kind.json" >"$work/$kind.scores"
    kroo-engine eval --weights "$vectors/$kind.weights" <"$work/positions" >"$work/$kind.more"
done
is "there are 64 test positions of each kind" "$(cat "$work"/*.scores | wc -l)" 192
# answers NAME KIND COMMAND...: the command's answers are the expected ones, on both sets.
answers() {
    name=$1 kind=$2
    shift 2
    ok "$name: the 64 test positions" cmp <("$@" <"$work/$kind.positions") "$work/$kind.scores"
    ok "$name: $(wc -l <"$work/positions") positions more" cmp <("$@" <"$work/positions") "$work/$kind.more"
}
for kind in table net features; do
    answers "kroo-engine eval, $kind" "$kind" kroo-engine eval --weights "$vectors/$kind.weights"
    ok "kroo-engine plays with $kind" grep -Eq '^bestmove [A-F]' <<<"$(printf '%s\n' "setoption name WeightsFile value $vectors/$kind.weights" 'position startpos' 'go nodes 2000' isready quit | kroo-engine)"
done

# --- damaged files, for every reader ---
cp "$vectors/net.weights" "$work/flipped.weights"
printf '\x55' | dd of="$work/flipped.weights" bs=1 seek=5000 conv=notrunc status=none
head -c 16000 "$vectors/net.weights" >"$work/cut.weights"
printf 'hello' >"$work/text.weights"
jq -c '.output_bias += 8192' "$vectors/net.json" >"$work/changed.json"
jq -c '.output[4] = 40000' "$vectors/net.json" >"$work/range.json"
jq -c 'del(.phases[1].own_ones)' "$vectors/features.json" >"$work/missing.json"
refuses() { # NAME COMMAND...
    name=$1
    shift
    fails "$name: a flipped bit" 1 'damaged' "$@" "$work/flipped.weights"
    fails "$name: a file cut short" 1 'cut short' "$@" "$work/cut.weights"
    fails "$name: no weights at all" 1 'no weights file|JSON' "$@" "$work/text.weights"
}
refuses "kroo-engine" kroo-engine eval --weights

# --- JavaScript ---
if command -v node >/dev/null 2>&1 && node -e 'process.exit(+process.versions.node.split(".")[0] >= 16 ? 0 : 1)'; then
    for kind in table net features; do
        answers "JavaScript, binary $kind" "$kind" node "$js" "$vectors/$kind.weights"
        answers "JavaScript, JSON $kind" "$kind" node "$js" "$vectors/$kind.json"
    done
    refuses "JavaScript" node "$js"
    fails "JavaScript: JSON with a changed weight" 1 'test positions do not come out' node "$js" "$work/changed.json"
    fails "JavaScript: a number out of range" 1 'output.4.' node "$js" "$work/range.json"
    fails "JavaScript: a missing field" 1 'phases.1..own_ones' node "$js" "$work/missing.json"
    is "JavaScript: a line that is no position" "$(echo nonsense | node "$js" "$vectors/net.weights")" 'error: "nonsense" is no position'
    is "its types name what it exports" \
        "$(grep -oE 'export (declare )?(const|function|class) \w+' "$root/clients/js/kroo-weights.d.ts" | sed 's/.* //' | sort | xargs)" \
        "$(cd "$root/clients/js" && node --input-type=module -e 'import * as k from "./kroo-weights.js"; console.log(Object.keys(k).sort().join("\n"))' | sort | xargs)"
else
    skip "JavaScript" "no node of version 16 or later on this machine"
fi

# --- Java ---
if command -v javac >/dev/null 2>&1 && [ "$(javac -version 2>&1 | sed -E 's/^javac ([0-9]+).*/\1/')" -ge 11 ] 2>/dev/null; then
    ok "Java compiles without a warning" sh -c 'said=$(javac -Xlint:all -d "$0" "$1" 2>&1) && [ -z "$said" ]' "$work/java" "$root/clients/java/KrooWeights.java"
    for kind in table net features; do
        answers "Java, $kind" "$kind" java -cp "$work/java" KrooWeights "$vectors/$kind.weights"
    done
    refuses "Java" java -cp "$work/java" KrooWeights
else
    skip "Java" "no JDK of version 11 or later on this machine"
fi

# --- in and out of a cluster ---
ok "a private cluster starts" "$kroo" up --dir "$dir" --workers 1
for kind in table net features; do
    w import "$vectors/$kind.json" --name "$kind" >/dev/null 2>&1
    w export "$kind" --out "$work/$kind.out" 2>/dev/null
    ok "$kind: the JSON makes the file it was made of" cmp "$work/$kind.out" "$vectors/$kind.weights"
    is "$kind: its kind is stored" "$(sql "select kind from weights where name = '$kind'")" "$kind"
    is "$kind: its export names it" "$(w export "$kind" --format json | jq -r '[.kind, (.vectors | length)] | join(" ")')" "$kind 64"
    w export "$kind" --format json --out "$work/$kind.again.json" 2>/dev/null
    is "$kind: the export can be imported" "$(w import "$work/$kind.again.json" --json | jq -r .sha256)" "$(sha256sum <"$vectors/$kind.weights" | cut -d' ' -f1)"
    is "$kind: so can the file" "$(w import "$vectors/$kind.weights" --json | jq -r .name)" "$kind"
    w export "$kind" --format c --out "$work/$kind.h" 2>/dev/null
    ok "$kind: the C header compiles" "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -x c -DKROO_WEIGHTS_MAIN "$work/$kind.h" -o "$work/$kind.check"
    is "$kind: and gives the same scores" "$("$work/$kind.check")" "64 test positions, 0 wrong"
    ok "$kind: the page names the kind" grep -q "| kind | $kind |" <<<"$(w export "$kind" --format md)"
done
ok "the page of features names each" grep -q '| `own_best_capture` |' <<<"$(w export features --format md)"
is "three weights are stored, not more" "$(sql "select count(*) from weights where training_run_id is null and name <> ''")" 3

# --- imports that are refused, and store nothing ---
fails "a changed weight does not pass the test positions" 1 'vectors\[[0-9]+\].score: .* is promised' w import "$work/changed.json"
jq -c 'del(.vectors) | .houses[3][2][1] += 1' "$work/net.again.json" >"$work/changed-sha.json"
fails "nor, without them, the sha256" 1 'sha256: the weights in it make a file named' w import "$work/changed-sha.json"
fails "a number out of range is named" 1 'output\[4\]: 40000 is not from -32768 to 32767' w import "$work/range.json"
fails "a missing field is named" 1 'phases\[1\].own_ones is missing' w import "$work/missing.json"
fails "other rules" 1 'rules: these weights are for site, not for ghana' w import "$vectors/net.json" --rules ghana
fails "a damaged file" 1 'damaged' w import "$work/flipped.weights"
fails "no JSON" 1 'no JSON: line 1' w import "$work/text.weights"
fails "no file" 1 'No such file' w import "$work/nowhere"
fails "no argument" 2 'which file' w import
fails "an empty name" 2 '1 to 63 bytes' w import "$vectors/net.json" --name ''
is "a dry run says what it is" "$(w import "$vectors/net.json" --dry-run --json | jq -r '[.kind, .number] | join(" ")')" "net "
is "nothing more is stored" "$(sql "select count(*) from weights where training_run_id is null and name <> ''")" 3

# --- the cluster plays them ---
match=$("$kroo" match net features --dir "$dir" --pairs 3 --nodes 200 --seed 5 --wait 2>/dev/null | grep -E '^[0-9]+$')
is "a match of two kinds runs to its end" "$("$kroo" show "$match" --dir "$dir" --json | jq -r '[.state, .games_stored] | join(" ")')" "finished 6"
ok "its games replay move by move" "$kroo" replay "$match" 1 0 --dir "$dir"
done_testing
