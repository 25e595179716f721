#!/usr/bin/env bash
# The `kroo` command from end to end on a private cluster: what it makes, shows and exports, and every refusal
# with its exit status (1 refused, 2 wrong usage, 3 no connection) and its reason.
. "$(dirname "$0")/lib.sh"

k() { command=$1; shift; "$kroo" "$command" --dir "$dir" "$@"; }
kw() { command=$1; shift; "$kroo" weights "$command" --dir "$dir" "$@"; }
json() { jq -r "$1"; }

# --- without a cluster ---
fails "without a command it tells what to do first" 0 'no cluster is set up here.*kroo up' sh -c 'cd "$1" && "$0" | tr "\n" " "' "$kroo" "$work"
is "to programs, too" "$(cd "$work" && "$kroo" --json | jq -c '[.is_set_up, .next[0].command]')" '[false,"kroo up"]'
fails "a misspelt command hears the right one" 2 'did you mean .kroo verify' "$kroo" verfiy
fails "so does a misspelt subcommand" 2 'did you mean .kroo weights export' "$kroo" weights exprot
ok "--help succeeds" sh -c '"$0" --help | grep -q "Exit status"' "$kroo"
for command in selfplay match ls show watch stop games verify replay workers status events; do
    ok "$command --help has examples" sh -c '"$0" "$1" --help | grep -q "kroo $1"' "$kroo" "$command"
done
fails "no cluster in the folder" 3 'kroo up --dir' "$kroo" ls --dir "$work/none"
fails "no database" 3 'no connection to the database' env KROO_DATABASE="host=$work/none" "$kroo" ls
fails "no settings at all" 3 'kroo up' sh -c 'cd "$1" && "$0" ls' "$kroo" "$work"
fails "a settings file that is not there" 2 'No such file' "$kroo" ls --config "$work/none"

ok "a private cluster starts" "$kroo" up --dir "$dir" --workers 1
ok "an empty list says what to do" sh -c '"$0" ls --dir "$1" | grep -q "kroo selfplay"' "$kroo" "$dir"

# --- specifications that are refused ---
fails "zero pairs" 1 'zero pairs' k selfplay --pairs 0
fails "an odd number of games" 1 'a pair is two games; take 6 or 8' k selfplay --games 7
fails "no number at all" 2 'whole number' k selfplay --pairs many
fails "a negative number" 2 'whole number' k selfplay --pairs -5
fails "no length" 2 'give --pairs' k selfplay
fails "unknown rules list the known ones" 1 'unknown rules.*site.*awari' k selfplay --pairs 5 --rules chess
fails "rules without an end" 1 'never end' k selfplay --pairs 5 --rules awari
fails "unknown weights" 1 'no weights' k selfplay --pairs 5 --weights nobody
fails "a match of one" 2 'two players' k match starting --pairs 5
fails "equal deterministic players" 1 'duplicates' k match starting starting --pairs 5
fails "one opening for many pairs" 1 'duplicates' k match starting starting --nodes-b 50 --opening-plies 0 --pairs 5
fails "elo0 = elo1" 1 'elo0 must be below elo1' k match starting starting --nodes-b 50 --sprt --elo0 5 --elo1 5 --max-pairs 99
fails "elo0 > elo1" 1 'elo0 must be below elo1' k match starting starting --nodes-b 50 --elo0 6 --elo1 5 --max-pairs 99
fails "absurd bounds" 1 '1000' k match starting starting --nodes-b 50 --sprt --elo1 1001 --max-pairs 99
fails "impossible error rates" 1 'alpha' k match starting starting --nodes-b 50 --sprt --alpha 0.6 --beta 0.6 --max-pairs 99
fails "another model" 2 'normalized or logistic' k match starting starting --nodes-b 50 --sprt --model bayes --max-pairs 99
is "a test without an end gets one" "$(k match starting starting --nodes-b 50 --sprt --dry-run --json 2>/dev/null | json .pairs)" 100000
is "nothing of that was made" "$(sql 'select count(*) from experiment')" 0

# --- self-play ---
id=$(k selfplay --pairs 6 --nodes 60 --seed 7 --key once --wait 2>/dev/null | head -n 1)
is "self-play runs to its end" "$(k show "$id" --json | json '[.state, .pairs, .games_stored] | join(" ")')" "finished 6 12"
is "the same key is the same experiment" "$(k selfplay --pairs 6 --nodes 60 --seed 7 --key once --json 2>/dev/null | json '[.experiment, .existed] | join(" ")')" "$id true"
fails "the same key with other settings is refused, with what differs" 1 'pairs is 6 there, 9 here; a.nodes is 60 there, 70 here' \
    k selfplay --pairs 9 --nodes 70 --seed 7 --key once
is "without a seed the key gives the same one" "$(k selfplay --pairs 6 --nodes 60 --key once 2>/dev/null)" "$id"
ok "for a new key, too" k selfplay --pairs 2 --nodes 60 --key seedless
is "however often" "$(k selfplay --pairs 2 --nodes 60 --key seedless --json 2>/dev/null | json .existed)" true
again=$(k selfplay --pairs 6 --nodes 60 --seed 7 --wait 2>/dev/null | head -n 1)
is "the same seed gives the same games" "$(k games "$id" --format moves | sha256sum)" "$(k games "$again" --format moves | sha256sum)"
k spec "$id" >"$work/spec.json"
made=$(k run "$work/spec.json" --key filed --wait 2>/dev/null | head -n 1)
is "a specification is a file, and makes the same games" "$(k games "$made" --format moves | sha256sum)" "$(k games "$again" --format moves | sha256sum)"
is "which says what it says" "$(k spec "$made")" "$(cat "$work/spec.json")"
is "sent twice with one key it is one experiment" "$(k run - --key filed <"$work/spec.json" 2>/dev/null)" "$made"
jq '.pairs = 9' "$work/spec.json" >"$work/other.json"
fails "another under that key is refused" 1 'pairs is 6 there, 9 here' k run "$work/other.json" --key filed
jq '.a.nodez = 9' "$work/spec.json" >"$work/other.json"
fails "an unknown field is refused" 1 'a.nodez' k run "$work/other.json"
jq '.engine_build = "another 1"' "$work/spec.json" >"$work/other.json"
fails "so is another engine build" 1 'plays with' k run "$work/other.json"
jq '.a.weights = "nobody" | .b.weights = "nobody"' "$work/spec.json" >"$work/other.json"
fails "and unknown weights" 1 'nobody' k run "$work/other.json"
jq '{kroo_specification, kind: "match", pairs: 2, a: {weights: "starting", nodes: 50}, b: {weights: "starting", nodes: 40}}' "$work/spec.json" >"$work/other.json"
ok "a short one by names will do" k run "$work/other.json" --wait
# Every field that may stand together, each at something that is no default: what `kroo spec` prints makes the same.
kroo-engine tables build --rules site --seeds 3 --out "$work/ends.tables" >/dev/null 2>&1
kroo-engine book make --out "$work/four.book" --openings 30 --plies 4 --bound 900 >/dev/null 2>&1
k tables add "$work/ends.tables" --name ends >/dev/null && k book add "$work/four.book" --name four >/dev/null
k engine add "$(command -v kroo-engine)" --name itself >/dev/null 2>&1
jq -n '{kroo_specification: 1, kind: "match", rules: "site,repetitions=2", pairs: 20, opening_plies: 5, with_scores: true, seed: 9,
    resign_score: 500, resign_plies: 4, resign_playout_ppm: 120000, audit_ppm: 30000, priority: -4, share: 7, core_cap: 6, tags: "gpu,avx9",
    note: "größer", a: {weights: "starting", nodes: 50, depth: 9, hash_kib: 2048, engine: "itself", tables: null, options: ["Level=Apprentice"]},
    b: {weights: "starting", nodes: 60, hash_kib: 4096, tables: null, options: ["CutMargin=61"]},
    sprt: {model: "logistic", elo0: -1.25, elo1: 3.125, alpha: 0.04, beta: 0.07, batch: 2}}' >"$work/full.json"
full=$(k run "$work/full.json" --key full 2>/dev/null)
k spec "$full" >"$work/full.spec"
is "every field is there as it was asked for" \
    "$(jq -S --slurpfile asked "$work/full.json" '. as $there | ($asked[0] | del(.a, .b)) | to_entries | map(select($there[.key] != .value) | .key)' "$work/full.spec")" "[]"
copy=$(k run "$work/full.spec" --key copy 2>/dev/null)
is "and once more" "$(k spec "$copy")" "$(cat "$work/full.spec")"
ok "a second copy is the first" k run "$work/full.spec" --key full
jq '.rules = "site" | .opening_plies = 0 | .book = "four" | .adjudication = "ends" | .a.tables = "ends" | .b.tables = "ends" | .a.engine = null | .a.options = []' "$work/full.json" >"$work/named.json"
named=$(k run "$work/named.json" --key named 2>/dev/null)
is "books and tables go by their names" "$(k spec "$named" | jq -c '[.book, .adjudication, .a.tables] | map(length)')" '[64,64,64]'
copy=$(k spec "$named" | k run - --key again 2>/dev/null)
is "and by their sha256" "$(k spec "$copy")" "$(k spec "$named")"
echo '{"weights": "starting", "pairs": 4, "batch": 2, "nodes": 20, "match_pairs": 0, "parameters": [{"option": "CutMargin", "min": 20, "max": 120, "c_end": 10, "r_end": 0.01}]}' >"$work/tune.json"
tune=$(k tune "$work/tune.json" --seed 3 --key cut 2>/dev/null)
k spec "$tune" | jq '.tune = "cut" | .seed = 4' >"$work/named.json"
is "a tune by its key" "$(k spec "$(k run "$work/named.json" 2>/dev/null)" | jq .tune)" "$(k spec "$tune" | jq .tune)"
jq --arg t "tune-$tune" '.tune = $t' "$work/named.json" >"$work/other.json"
ok "or its number" k run "$work/other.json"
jq '.tune = "bold"' "$work/named.json" >"$work/other.json"
fails "but not by what is none" 1 'no tune was made with the key' k run "$work/other.json"
for each in "$full" "$named" "$(k ls --json | jq '.[] | select(.state == "running") .id' | xargs)"; do for one in $each; do k stop "$one" >/dev/null 2>&1; done; done
fails "what is no JSON is told with its line" 1 'line 1' k run /dev/null
twin=$(k clone "$id" --same-seed --wait 2>/dev/null | head -n 1)
is "a clone with the same seed makes the same games" "$(k games "$twin" --format moves | sha256sum)" "$(k games "$again" --format moves | sha256sum)"
twin=$(k clone "$id" --pairs 3 --note twin --wait 2>/dev/null | head -n 1)
is "a clone may differ" "$(sql "select planned_pairs, note, seed <> 7, rules from experiment where id = $twin")" "3|twin|t|site"

# --- how long it will take ---
is "what was played tells how long a match takes" "$(k match starting starting --nodes-a 60 --nodes-b 50 --sprt --elo1 30 --dry-run --json 2>/dev/null |
    json '[.forecast[] | .minutes > 0] + [.minutes > 0] | tostring')" '[true,true,true,true]'
is "but not for other limits" "$(k match starting starting --nodes-a 60000 --nodes-b 50000 --pairs 10 --dry-run --json 2>/dev/null | json .minutes)" null
ok "nor for other programs" test "$(k match starting starting --engine-a itself --nodes-a 60 --nodes-b 50 --pairs 10 --dry-run --json 2>/dev/null | json .minutes)" = null
ok "which is said" sh -c '"$0" match --dir "$1" starting starting --nodes-a 60000 --nodes-b 50000 --pairs 10 --dry-run 2>&1 | grep -q "10 pairs: an unknown time"' "$kroo" "$dir"

# --- a match that is decided ---
said=$(k match starting starting --nodes-a 600 --nodes-b 20 --sprt --elo0 0 --elo1 60 --max-pairs 200 --seed 3 --wait 2>&1)
ok "the forecast comes before the match" sh -c 'printf %s "$0" | grep -q "pairs if the difference is 30"' "$said"
ok "unequal limits are warned of" sh -c 'printf %s "$0" | grep -q "unequal limits"' "$said"
match=$(printf '%s\n' "$said" | grep -E '^[0-9]+$')
is "the test accepts" "$(k show "$match" --json | json '.verdict.verdict')" accepted
is "six counts add up to the pairs" "$(k show "$match" --json | json '(.counts | add) == .pairs')" true
is "the interval holds the estimate" "$(k show "$match" --json | json '.estimate | .elo_lo < .elo and .elo < .elo_hi')" true
is "after the test the unbiased estimate stands beside it" "$(k show "$match" --json | json '.estimate | .is_biased and (.unbiased | .elo_lo < .elo and .elo <= .elo_hi and .los > 0.5)')" true
ok "on the page too" sh -c '"$0" show --dir "$1" "$2" | grep -Eq "Elo .*median-unbiased"' "$kroo" "$dir" "$match"
is "the calculator says the same of its counts" "$(k show "$match" --json | json '.estimate.unbiased | [.elo, .elo_lo, .elo_hi, .los] | map(. * 1e6 | round)')" \
    "$(k show "$match" --json | json '{op: "sprt-estimate", counts} + (.sprt | {model, elo0, elo1, alpha, beta}) | tojson' | "$kroo" calc | json '[.elo, .elo_lo, .elo_hi, .los] | map(. * 1e6 | round)')"
is "the LLR names its model, order and formula" "$(k show "$match" --json | json '.sprt | [.model, .count_order, .formula_version] | join("; ")')" "normalized; LL, LD, DD+WL, WD, WW; 1"
ok "and so does the page" sh -c '"$0" show --dir "$1" "$2" | grep -q "normalized model, elo0 0, elo1 60.*order LL, LD, DD+WL, WD, WW, formula 1"' "$kroo" "$dir" "$match"
ok "watching a finished one returns at once" k watch "$match"
fails "stopping a finished one is refused" 1 'not running' k stop "$match"
fails "time limits are marked" 0 'not reproducible' k match starting starting --time-a 2 --time-b 1 --pairs 1 --dry-run

# --- stop ---
long=$(k selfplay --pairs 100k --nodes 2000 2>/dev/null)
ok "a running one can be stopped" k stop "$long" --reason 'enough seen'
is "its verdict is aborted, with the reason" "$(k show "$long" --json | json '[.state, .verdict.verdict, .verdict.reason] | join(" ")')" "stopped aborted enough seen"
fails "watching it says that it was stopped" 1 'aborted' k watch "$long"

# --- games ---
# The counted ones: what the worker had begun when the test was decided still comes in.
counted() { k games "$match" --pairs "0-$(($(k show "$match" --json | json .pairs) - 1))" "$@"; }
is "every record stands alone" "$(counted --json | json 'select(.rules != "site" or .south.weights == null or .moves == null or (.stores | add) > 48) | .pair')" ""
is "records come in pair order" "$(counted --json | json '2 * .pair + .leg')" "$(counted --json | json '2 * .pair + .leg' | sort -n)"
is "a range of pairs" "$(k games "$match" --pairs 2-3 | sed 's/.* pair=\([0-9]*\) leg=\([01]\) .*/\1\2/' | paste -sd' ')" "20 21 30 31"
is "the engine agrees with every result" "$(counted --format moves | kroo-engine replay | jq -r '[.result, .reason, (.stores | join("-"))] | join(" ")')" \
    "$(counted --json | jq -r '[.result, .reason, (.stores | join("-"))] | join(" ")')"
ok "an export goes to a file" counted --out "$work/games.txt"
fails "which is not overwritten" 1 'there already' counted --out "$work/games.txt"
ok "unless asked for" counted --out "$work/games.txt" --force
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/copy" &
ok "a pipe is written into" counted --out "$work/pipe" --force
wait $!
ok "and stays a pipe" test -p "$work/pipe"
ok "with the same content" cmp "$work/copy" "$work/games.txt"
is "no temporary file stays" "$(ls "$work" | grep -c 'games.txt\.')" 0

# --- weights ---
hash=$(kw export starting | sha256sum | cut -d' ' -f1)
is "the exported file has the hash it is listed by" "$(kw ls --json | json ".[] | select(.name == \"starting\") | .hash")" "$(printf %.12s "$hash")"
kw export starting --out "$work/starting.weights" 2>/dev/null
kw export starting --format json --out "$work/starting.json" 2>/dev/null
is "the engine gives the exported scores" "$(jq -r '.vectors[].position' "$work/starting.json" | kroo-engine eval --weights "$work/starting.weights" | sha256sum)" \
    "$(jq -r '.vectors[].score' "$work/starting.json" | sha256sum)"
fails "a self-play promotes nothing" 1 'does not promote' kw promote starting --experiment "$id"
ok "an accepted match promotes its player" kw promote starting --experiment "$match"
fails "by hand is recorded as such" 0 'by hand' kw promote starting --reason 'for the test'
is "the champion's proof" "$(kw show champion --json | json '[.proof[] | (.verdict // "none")] | join(" ")')" "accepted none"
fails "unknown weights cannot be shown" 1 'no weights' kw show nobody
fails "nor exported in an unknown format" 2 'bin, json, c or md' kw export starting --format xml

# --- replay and verify ---
ok "a stored game is played again, move by move" k replay "$match" 1 1
fails "a game that is not stored" 1 'no stored game' k replay "$match" 99999 0
ok "verify finds no difference" k verify
k verify --json >"$work/verify.json" 2>/dev/null
is "and says what it did" "$(json '[.experiments, .difference_count] | join(" ")' <"$work/verify.json")" "$(sql "select count(*) from experiment") 0"
sql "update game g set moves = h.moves, plies = h.plies, scores = h.scores, result = h.result, reason = h.reason, south = h.south, north = h.north, a_half_points = h.a_half_points from game h where g.experiment_id = $id and h.experiment_id = $id and g.pair_no = 1 and h.pair_no = 2 and g.leg = 0 and h.leg = 0" >/dev/null
fails "a game moved to another pair is found" 1 "pair 1 leg 0: does not start with the opening" k verify "$id"
sql "delete from game where experiment_id = $again and pair_no = 3 and leg = 1" >/dev/null
fails "a lost game is found" 1 "games stored 12, the games make it 11" k verify "$again"
fails "and the pairs that it takes from the count" 1 "counted pairs 6, the games make it 3" k verify "$again"
fails "an unknown experiment" 1 'no experiment 999' k verify 999
fails "a number that is none" 2 'no experiment number' k show twelve

# --- who is there ---
is "the worker is listed" "$(k workers --json | json '.[0].slots')" 1
is "the coordinator tells its state" "$(k status --json | json '.database')" up
is "the log tells of the abort" "$(k events "$long" --json | json '[.[] | select(.text | test("enough seen"))] | length > 0')" true
ok "workers can be sent home" "$kroo" up --dir "$dir" --workers 0
idle=$(k selfplay --pairs 1 2>/dev/null)
fails "then an experiment says that nobody plays it" 0 'no worker is connected' k show "$idle"
kill -9 "$(pid_of coordinator)"
fails "a coordinator that is gone" 3 'no coordinator answers' k status
ok "the database still answers" k ls
"$kroo" down --dir "$dir" >/dev/null 2>&1
fails "a cluster that is down" 3 'no connection to the database' k ls
done_testing
