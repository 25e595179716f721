#!/usr/bin/env bash
# Weights of every kind outside Kroo: the readers under clients/ and the exported C header give the engine's integers bit
# for bit, refuse what is damaged, and what was exported comes back by import; the cluster plays each kind. Node, npm and
# a JDK are used where they are; where not, their tests are skipped with the reason.
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
mkdir "$work/damaged"
python3 "$root/tests/system/damage.py" "$vectors" "$work/damaged" >"$work/damages"
is "there are 28 damaged files" "$(wc -l <"$work/damages")" 28
cp "$work/damaged/flipped-bit.weights" "$work/damaged/text.weights" "$work"
jq -c '.output_bias += 8192' "$vectors/net.json" >"$work/changed.json"
jq -c '.output[4] = 40000' "$vectors/net.json" >"$work/range.json"
jq -c 'del(.phases[1].own_ones)' "$vectors/features.json" >"$work/missing.json"
sed 's/"shift": *[0-9]*/"shift": NaN/' "$vectors/table.json" >"$work/nan.json"
jq -c '.phases[2].bias = "NaN"' "$vectors/table.json" >"$work/nan-text.json"
jq -c '.houses[3][2][1] = null' "$vectors/net.json" >"$work/null.json"
# refuses NAME COMMAND...: each file with status 1 and what it must say, and answers nothing.
refuses() {
    name=$1 accepted=
    shift
    while IFS=$'\t' read -r damage says; do
        said=$("$@" "$work/damaged/$damage.weights" 2>&1 >"$work/answer" <"$work/net.positions")
        status=$?
        [ "$status" -eq 1 ] && ! [ -s "$work/answer" ] && grep -Eqi -- "$says" <<<"$said" && continue
        echo "# $damage: exit status $status, said: ${said:0:300}"
        accepted="$accepted $damage"
    done <"$work/damages"
    is "$name refuses each damaged file and says why" "$accepted" ""
}
refuses "kroo-engine" kroo-engine eval --weights

# --- the pages' engine ---
export KROO_WEB_BUILD=${KROO_WEB_BUILD:-$root/build/web}
wasm=$root/tests/web/eval.mjs
if command -v node >/dev/null 2>&1 && [ -e "$KROO_WEB_BUILD/kroo-engine.wasm" ]; then
    for kind in table net features; do
        answers "WebAssembly, $kind" "$kind" node "$wasm" "$vectors/$kind.weights"
    done
    refuses "WebAssembly" node "$wasm"
else
    wasm=
    skip "WebAssembly" "there is no Node.js, or it was built with WASM=no"
fi

# --- JavaScript ---
module=$root/clients/js/kroo-weights.js
# node_test NAME MODULE
node_test() {
    ok "$1: node --test" sh -c 'KROO_WEIGHTS_MODULE=$1 KROO_BUILD=$2 node --test "$3" >"$4" 2>&1 || { tail -n 60 "$4" | sed "s/^/# /"; exit 1; }' \
        - "$2" "$build" "$root/tests/clients/weights.test.mjs" "$work/said"
}
if command -v node >/dev/null 2>&1 && node -e 'process.exit(+process.versions.node.split(".")[0] >= 18 ? 0 : 1)'; then
    for kind in table net features; do
        answers "JavaScript, binary $kind" "$kind" node "$js" "$vectors/$kind.weights"
        answers "JavaScript, JSON $kind" "$kind" node "$js" "$vectors/$kind.json"
    done
    refuses "JavaScript" node "$js"
    fails "JavaScript: JSON with a changed weight" 1 'test positions do not come out' node "$js" "$work/changed.json"
    fails "JavaScript: a number out of range" 1 'output.4.' node "$js" "$work/range.json"
    fails "JavaScript: a missing field" 1 'phases.1..own_ones' node "$js" "$work/missing.json"
    fails "JavaScript: NaN" 1 'no JSON' node "$js" "$work/nan.json"
    is "JavaScript: a line that is no position" "$(echo nonsense | node "$js" "$vectors/net.weights")" 'error: "nonsense" is no position'
    is "its types name what it exports" \
        "$(grep -oE 'export (declare )?(const|function|class) \w+' "$root/clients/js/kroo-weights.d.ts" | sed 's/.* //' | sort | xargs)" \
        "$(cd "$root/clients/js" && node --input-type=module -e 'import * as k from "./kroo-weights.js"; console.log(Object.keys(k).sort().join("\n"))' | sort | xargs)"
    node_test "the module" "$module"
else
    skip "JavaScript" "no node of version 18 or later on this machine"
fi

# --- the npm package: packed, put into an empty folder, used from there ---
if command -v npm >/dev/null 2>&1; then
    export npm_config_cache=$work/npm-cache npm_config_update_notifier=false
    ok "make npm packs it" make -s -C "$root" BUILD="$work/packed" npm
    package=$(echo "$work"/packed/npm/kroo-weights-*.tgz)
    ok "again, it is the same file" sh -c 'make -s -C "$0" BUILD="$1" npm && cmp "$1"/npm/*.tgz "$2"' "$root" "$work/again" "$package"
    is "it holds what it should, and nothing else" "$(tar -tzf "$package" | sed 's|^package/||' | LC_ALL=C sort | xargs)" \
        "FORMAT.md README.md eval.js kroo-weights.d.ts kroo-weights.js package.json"
    mkdir "$work/empty"
    install_package() { (cd "$work/empty" && npm install --offline --silent --no-audit --no-fund "$package" >/dev/null); }
    ok "it installs into an empty folder without a network" install_package
    is "alone" "$(ls "$work/empty/node_modules")" kroo-weights
    node_test "the installed package" "$work/empty/node_modules/kroo-weights/kroo-weights.js"
    answers "its command" net "$work/empty/node_modules/.bin/kroo-weights" "$vectors/net.weights"
    cat >"$work/empty/use.mjs" <<'JS'
import { readFileSync } from 'node:fs';
import { evaluate, parsePosition, readBinary } from 'kroo-weights';
console.log(evaluate(readBinary(readFileSync(process.argv[2])), parsePosition('0-1-13-0-2-5-1-0-3-0-1-2-9-11-N')));
JS
    is "imported by its name it evaluates" "$(cd "$work/empty" && node use.mjs "$root/weights/site-net.weights")" 373
else
    skip "the npm package" "no npm on this machine"
fi

# --- C ---
compile() { "${CC:-cc}" "$@" -Wall -Wextra -Wshadow -Wconversion -Werror "$root/clients/c/eval.c" -o "$work/eval"; }
ok "the C header compiles as C++" c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -x c++ "$root/clients/c/eval.c"
ok "as C99 with sanitizers" compile -std=c99 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
for kind in table net features; do
    answers "C, $kind" "$kind" "$work/eval" "$vectors/$kind.weights"
done
refuses "C" "$work/eval"
is "C: a line that is no position" "$(echo nonsense | "$work/eval" "$vectors/net.weights")" 'error: "nonsense" is no position'

# --- Java ---
java=
if command -v javac >/dev/null 2>&1 && [ "$(javac -version 2>&1 | sed -E 's/^javac ([0-9]+).*/\1/')" -ge 11 ] 2>/dev/null; then
    java=$work/java
    ok "Java compiles without a warning" sh -c 'said=$(javac -Xlint:all -d "$0" "$1" 2>&1) && [ -z "$said" ]' "$java" "$root/clients/java/KrooWeights.java"
    for kind in table net features; do
        answers "Java, $kind" "$kind" java -cp "$java" KrooWeights "$vectors/$kind.weights"
    done
    refuses "Java" java -cp "$java" KrooWeights
    is "Java: a line that is no position" "$(echo nonsense | java -cp "$java" KrooWeights "$vectors/net.weights")" 'error: "nonsense" is no position'
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
fails "NaN is no JSON" 1 'no JSON: line' w import "$work/nan.json"
fails "nor is its name a number" 1 'phases\[2\].bias: a whole number is needed' w import "$work/nan-text.json"
fails "nor is null" 1 'houses\[3\]\[2\]\[1\]: a whole number is needed' w import "$work/null.json"
fails "a missing field is named" 1 'phases\[1\].own_ones is missing' w import "$work/missing.json"
fails "other rules" 1 'rules: these weights are for site, not for ghana' w import "$vectors/net.json" --rules ghana
fails "a damaged file" 1 'damaged' w import "$work/flipped-bit.weights"
fails "no JSON" 1 'no JSON: line 1' w import "$work/text.weights"
fails "no file" 1 'No such file' w import "$work/nowhere"
fails "no argument" 2 'which file' w import
fails "an empty name" 2 '1 to 63 bytes' w import "$vectors/net.json" --name ''
is "a dry run says what it is" "$(w import "$vectors/net.json" --dry-run --json | jq -r '[.kind, .number] | join(" ")')" "net "
is "nothing more is stored" "$(sql "select count(*) from weights where training_run_id is null and name <> ''")" 3

# --- at the limit of their range every reader gives the same, and one more is refused ---
largest='def row($n): [range($n) | if . % 2 == 0 then $v else -$v end];'
jq -c --argjson v 2520 "$largest"' del(.vectors, .sha256) | .shift = 0 | .phases = [range(4) | {bias: 31, store: 52, houses: [range(12) | row(13)]}]' \
    "$vectors/table.json" >"$work/limit-table.json" # 31 + 48 * 52 + 12 * 2520 = 32767
jq -c --argjson v 2520 "$largest"' del(.vectors, .sha256) | .shift = 0 | .hidden_shift = 0 | .hidden_bias = [range(32) | 7] |
    .houses = [range(12) | [range(16) | row(32)]] | .store = [range(51) | row(32)] | .output = [range(32) | 32767] |
    .output_bias = 2147483647 - 127 * 32 * 32767' "$vectors/net.json" >"$work/limit-net.json" # 7 + 13 * 2520 = 32767
jq -c 'del(.vectors, .sha256) | .shift = 14 | .phases |= map(map_values(if . < 0 then -32768 else 32767 end))' \
    "$vectors/features.json" >"$work/limit-features.json"
for kind in table net features; do
    rm -f "$work/limit.weights" "$work/limit.h"
    w import "$work/limit-$kind.json" --name "limit-$kind" >/dev/null 2>&1
    w export "limit-$kind" --out "$work/limit.weights" 2>/dev/null
    w export "limit-$kind" --format c --out "$work/limit.h" 2>/dev/null
    kroo-engine eval --weights "$work/limit.weights" <"$work/positions" >"$work/limit.scores"
    ok "$kind at the limit: $(sort -u "$work/limit.scores" | wc -l) scores from the engine" test "$(wc -l <"$work/limit.scores")" -gt 1000
    ok "the same in C" cmp <("$work/eval" "$work/limit.weights" <"$work/positions") "$work/limit.scores"
    "${CC:-cc}" -std=c99 -fsanitize=undefined -fno-sanitize-recover=all -x c -DKROO_WEIGHTS_MAIN "$work/limit.h" -o "$work/limit.check"
    is "the same in the exported header" "$("$work/limit.check")" "64 test positions, 0 wrong"
    if command -v node >/dev/null 2>&1; then
        ok "the same in JavaScript" cmp <(node "$js" "$work/limit.weights" <"$work/positions") "$work/limit.scores"
    fi
    if [ -n "$wasm" ]; then
        ok "the same in WebAssembly" cmp <(node "$wasm" "$work/limit.weights" <"$work/positions") "$work/limit.scores"
    fi
    if [ -n "$java" ]; then
        ok "the same in Java" cmp <(java -cp "$java" KrooWeights "$work/limit.weights" <"$work/positions") "$work/limit.scores"
    fi
done
jq -c '.phases[3].bias += 1' "$work/limit-table.json" >"$work/beyond.json"
fails "a table beyond it" 1 'too large' w import "$work/beyond.json"
jq -c '.output_bias += 1' "$work/limit-net.json" >"$work/beyond.json"
fails "a net's output beyond it" 1 'too large' w import "$work/beyond.json"
jq -c '.hidden_bias[31] += 1' "$work/limit-net.json" >"$work/beyond.json"
fails "a net's unit beyond it" 1 'too large' w import "$work/beyond.json"

# --- the cluster plays them ---
match=$("$kroo" match net features --dir "$dir" --pairs 3 --nodes 200 --seed 5 --wait 2>/dev/null | grep -E '^[0-9]+$')
is "a match of two kinds runs to its end" "$("$kroo" show "$match" --dir "$dir" --json | jq -r '[.state, .games_stored] | join(" ")')" "finished 6"
ok "its games replay move by move" "$kroo" replay "$match" 1 0 --dir "$dir"
done_testing
