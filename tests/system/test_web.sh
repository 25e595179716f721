#!/usr/bin/env bash
# The web page of a real cluster, asked by curl: what it answers is what `kroo` prints; who may order what; and how it is
# without a database.
. "$(dirname "$0")/lib.sh"

token=an-operators-token-of-some-length
printf '# who may order\nanna %s\n' "$token" >"$work/tokens"
chmod 600 "$work/tokens"
export KROO_WEB_TOKEN="$work/tokens"
said=$("$kroo" up --dir "$dir" --workers 2)
url=$("$kroo" web --dir "$dir")
is "kroo up says where the page is" "$(printf '%s\n' "$said" | sed -n 's/^page: //p')" "$url"
page() { curl -s -m 20 "$url$1"; }
field() { page "$1" | jq -r "$2"; }
status() { curl -s -m 20 -o /dev/null -w '%{http_code}' "$@"; }
order() { curl -s -m 20 -X POST -H "Authorization: Bearer $token" "${url}api/act?$1"; }

for path in '' experiment kroo.css shell.js plot.js cluster.js experiment.js uPlot.esm.js icon.svg; do
    is "/$path is there" "$(status "$url$path")" 200
done

# --- the figures are those of `kroo show` ---
"$kroo" match --dir "$dir" starting starting --nodes-a 150 --nodes-b 60 --sprt --elo0 0 --elo1 40 --seed 11 --key one \
    --wait >/dev/null 2>&1
# A lease told at the very moment of the verdict has no row, and its games still come: workers that are told to go deliver
# what they have.
workers="$(pid_of worker-1) $(pid_of worker-2)"
gone() { for worker in $workers; do ! kill -0 "$worker" 2>/dev/null || return 1; done; }
kill $workers
ok "what was under way has come in" wait_until 60 gone
ok "two workers again" "$kroo" up --dir "$dir" --workers 2
"$kroo" show --dir "$dir" 1 --json >"$work/show"
page 'api/experiment?id=1' >"$work/page"
shown() { jq -c "$1" "$work/show"; }
paged() { jq -c "$1" "$work/page"; }
is "it is decided" "$(shown .verdict.verdict)" '"accepted"'
for figure in .estimate .sprt.llr .sprt.lower .sprt.upper .sprt.model .counts .pairs .repeated_pairs .wins .draws .losses \
    .games_stored .verdict.verdict .verdict.pairs .verdict.formula_version .rules; do
    is "the same $figure" "$(paged "$figure")" "$(shown "$figure")"
done
page 'api/breakdown?id=1' >"$work/breakdown"
is "the same endings" "$(jq -c '.endings | map([.reason, .games])' "$work/breakdown")" "$(shown '.endings | map([.reason, .games])')"
page 'api/curve?id=1' >"$work/curve"
is "the course ends at the verdict's LLR" "$(jq '.points[-1][4] * 1000 | round' "$work/curve")" \
    "$(shown '.sprt.llr * 1000 | round')"
is "and its Elo" "$(jq '.points[-1][1:4] | map(. * 1000 | round)' -c "$work/curve")" \
    "$(shown '.estimate | [.elo, .elo_lo, .elo_hi] | map(. * 1000 | round)')"
is "a point for each batch" "$(jq '.points | map(.[0]) | . == [range(1; length + 1) * 8]' "$work/curve")" true
is "workers' shares add up" "$(paged '[.shares[].games] | add')" "$(paged .games_stored)"
is "lengths, too" "$(jq '[.lengths[].games] | add' "$work/breakdown")" "$(paged '.pairs * 2 - .repeated_pairs * 2')"

# --- the cluster ---
is "games ever" "$(field api/cluster .games)" "$(shown .games_stored)"
is "games of the day" "$(field api/cluster '[.day.games[]] | add')" "$(shown .games_stored)"
is "its workers" "$(field api/cluster '[.worker_list[].name] | join(" ")')" "worker-1 worker-2"
knows_two() { [ "$(field api/coordinator '[.leads, .workers.working + .workers.idle] | join(" ")')" = "true 2" ]; }
ok "the coordinator's own word on them" wait_until 20 knows_two
is "the list of experiments" "$(field api/experiments '.experiments[0] | [.id, .verdict] | join(" ")')" "1 accepted"
curl -sN -m 5 "${url}api/events" >"$work/events"
ok "live pages hear a pulse" test "$(grep -c '^event: pulse' "$work/events")" -ge 1
is "which says how many games there are" "$(sed -n 's/^data: //p' "$work/events" | head -n 1 | jq .games)" "$(shown .games_stored)"

# --- who may ask, and for what ---
is "no such experiment" "$(status "${url}api/experiment?id=999999")" 404
is "no number" "$(status "${url}api/experiment?id=one")" 400
is "no id" "$(status "${url}api/experiment")" 400
is "another name" "$(status -H 'Host: evil.example' "${url}api/cluster")" 421
# --- orders ---
"$kroo" selfplay --dir "$dir" --pairs 100000 --nodes 2000 --key long >/dev/null 2>&1
state() { sql "select state from kroo.experiment where id = 2"; }
state_is() { [ "$(state)" = "$1" ]; }
is "no token" "$(status -X POST "${url}api/act?id=2&verb=pause")" 403
is "a wrong token" "$(status -X POST -H "Authorization: Bearer ${token}x" "${url}api/act?id=2&verb=pause")" 403
is "another site's page" "$(status -X POST -H "Authorization: Bearer $token" -H 'Origin: http://evil.example' "${url}api/act?id=2&verb=pause")" 403
is "by GET" "$(status -H "Authorization: Bearer $token" "${url}api/act?id=2&verb=pause")" 404
is "no such order" "$(status -X POST -H "Authorization: Bearer $token" "${url}api/act?id=2&verb=delete")" 400
is "nothing of it was done" "$(state)" running
is "pause" "$(order 'id=2&verb=pause&reason=too%20hot')" '{"done":true}'
is "is done" "$(state)" paused
is "with who did it, and why" "$(sql "select text from kroo.event where kind = 'experiment-paused'")" "paused by anna: too hot"
is "resume" "$(order 'id=2&verb=resume')" '{"done":true}'
is "is done, too" "$(state)" running
is "stop" "$(order 'id=2&verb=stop')" '{"done":true}'
is "is done for good" "$(sql "select e.state || ' ' || v.verdict || ' ' || v.by from kroo.experiment e
    join kroo.verdict v on v.experiment_id = e.id where e.id = 2")" "stopped aborted anna"
is "what cannot be is refused with the reason" "$(order 'id=2&verb=resume' | jq -r '.error | startswith("experiment 2 ")')" true
is "as is what is not there" "$(order 'id=77&verb=pause' | jq -r .error)" "there is no experiment 77"

# --- without a database ---
sql "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'kroo web'" >/dev/null
is "broken connections are made again at once" "$(status "${url}api/cluster")" 200
kill -STOP "$(postgres_pid)"
sql_pids=$(pgrep -P "$(postgres_pid)")
kill -STOP $sql_pids
is "a database that hangs: the page says so in time" "$(status "${url}api/cluster")" 503
is "and is there itself" "$(status "$url")" 200
kill -CONT "$(postgres_pid)" $sql_pids
back() { [ "$(status "${url}api/cluster")" = 200 ]; }
ok "and it comes back" wait_until 60 back

# --- a worker that says nothing ---
stopped=$(pid_of worker-2)
kill -STOP "$stopped"
is_silent() { [ "$(field api/coordinator .workers.silent)" = 1 ]; }
ok "is told as silent" wait_until 60 is_silent
kill -CONT "$stopped"

# --- up again ---
"$kroo" down --dir "$dir" >/dev/null
"$kroo" up --dir "$dir" --workers 0 >/dev/null
is "the address stays" "$("$kroo" web --dir "$dir")" "$url"
is "and the page with it" "$(status "$url")" 200
"$kroo" down --dir "$dir" >/dev/null
chmod 644 "$work/tokens"
fails "tokens that others may read are refused" 3 'chmod 600' "$kroo" up --dir "$dir" --workers 0
unset KROO_WEB_TOKEN
"$kroo" up --dir "$dir" --workers 0 --web off >/dev/null
fails "without a page kroo web says what to do" 1 'no web page is served' "$kroo" web --dir "$dir"
done_testing
