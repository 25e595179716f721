#!/usr/bin/env bash
# The pages in a real browser: one cluster with something of everything in it, then each tests/browser/*.test.mjs against
# it. `tests/system/test_browser.sh ratings weights` runs those two only. Screenshots stay in build/browser/.
. "$(dirname "$0")/lib.sh"
export KROO_DIR=$dir KROO=$kroo KROO_BROWSER_MODULES=$build/browser/node_modules KROO_MOVE_MS=3000

token=an-operators-token-of-some-length
printf 'anna %s\n' "$token" >"$work/tokens"
chmod 600 "$work/tokens"
export KROO_WEB_TOKEN=$work/tokens

quietly() { "$@" >>"$work/said" 2>&1 || { tail -n 20 "$work/said" | sed 's/^/# /'; return 1; }; }
ok "the browser's packages are there" quietly make -s -C "$root" BUILD="$build" browser-modules
ok "a private cluster" quietly "$kroo" up --workers 2

# --- what the pages have to show ---
# Two generations of a loop: weights with parents, fits, gates, promotions.
ok "a loop" quietly "$kroo" loop run night --generations 2 --pairs 500 --nodes 60 --first-pairs 8 --max-pairs 400 --kind table
ok "a net, too" quietly "$kroo" loop run nets --generations 1 --pairs 600 --nodes 30 --first-pairs 0 --max-pairs 8 --kind net --line nets
# A sequential test that decides, and a fault that two workers agree on.
match() { "$kroo" match starting starting "$@" 2>>"$work/match" | head -n 1; }
decided=$(match --sprt --elo0 0 --elo1 100 --nodes 120 --nodes-b 12 --max-pairs 400 --seed 3 --key decided --note 'a tenth of the nodes')
player stumbles illegal-go-3
ok "an engine with a fault" quietly "$kroo" engine add "$work/stumbles" --name stumbles
faulty=$(match --engine-a stumbles --nodes 60 --pairs 1 --seed 5 --key faulty)
ok "a round robin" quietly "$kroo" roundrobin champion=champion second=starting,nodes=80 first=starting quick=champion,nodes=20 \
    --nodes 40 --pairs 12 --seed 12 --key spring --anchor first=1000 --wait
ended() { [ "$(sql "select count(*) from experiment where id in ($decided, $faulty) and state = 'finished'")" = 2 ]; }
ok "the matches end" wait_until 120 ended
# One that goes on while the pages are looked at, on one core, and one that waits.
running=$(match --nodes 400 --nodes-b 300 --pairs 1M --seed 9 --cap 1 --key running)
ordered=$(match --nodes 400 --nodes-b 300 --pairs 1M --seed 11 --cap 1 --key ordered)
paused=$(match --nodes 400 --nodes-b 200 --pairs 1000 --seed 10 --key paused)
ok "one is paused" quietly "$kroo" pause "$paused" --reason 'the room is hot'
plays() { [ "$(sql "select counted_pairs from experiment_counted where experiment_id = $running")" -gt 0 ]; }
ok "one is under way" wait_until 60 plays

jq -n --argjson decided "$decided" --argjson faulty "$faulty" --argjson running "$running" --argjson paused "$paused" \
    --argjson ordered "$ordered" --arg token "$token" \
    --argjson net "$(sql "select max(number) from weights where kind = 'net'")" --arg champion "$(sql "select encode(weights_sha256, 'hex') from champion where line = 'main'")" \
    '{token: $token, ordered: $ordered, decided: $decided, faulty: $faulty, running: $running, paused: $paused, champion: $champion,
      net: $net, tournament: "spring", players: 4, loop: "night", generations: 2}' >"$work/facts"

# --- the pages ---
address=$("$kroo" web 2>/dev/null | grep -Eo 'http://[^ ]+' | head -n 1)
ok "kroo web says where they are" test -n "$address"
mkdir -p "$work/home"
HOME=$work/home TMPDIR=$work node "$root/tests/browser/run.mjs" "$address" "$work/facts" "$build/browser" "$@" >"$work/pages" 2>&1
# Their tests are numbered anew; the numbers go on here.
while IFS= read -r line; do
    case $line in
        'ok '* | 'not ok '*)
            tests=$((tests + 1))
            case $line in not*) failures=$((failures + 1)) ;; esac
            printf '%s %d - %s\n' "${line%% [0-9]*}" "$tests" "${line#* - }"
            ;;
        1..*) ;;
        *) printf '%s\n' "$line" ;;
    esac
done <"$work/pages"
ok "the browser came to its end" grep -q '^1\.\.' "$work/pages"
ok "kroo verify agrees after all that looking" quietly "$kroo" verify "$decided"
done_testing
