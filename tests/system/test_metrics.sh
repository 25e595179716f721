#!/usr/bin/env bash
# What a real Prometheus sees of a real cluster, the shipped alert rules in it; health and readiness; and what the
# supervisor is told.
. "$(dirname "$0")/lib.sh"

shipped=$root/deploy/prometheus
prometheus=
stop_prometheus() { [ -z "$prometheus" ] || kill "$prometheus" 2>/dev/null; }
metric() { curl -sf -m 10 "$base/metrics" | sed -n "s/^$1 //p"; }
page() { curl -s -m 10 -o /dev/null -w '%{http_code}' "$base/$1"; }
ready_is() { [ "$(page readyz)" = "$1" ]; }
query() { curl -sf -m 10 --data-urlencode "query=$1" "$seen_by/api/v1/query" | jq -r '.data.result[].value[1]'; }
query_is() { [ "$(query "$1")" = "$2" ]; }

ok "the alert rules are sound" promtool check rules "$shipped/kroo.rules.yml"
ok "and fire when they should" promtool test rules "$shipped/kroo.rules.test.yml"

KROO_METRICS=0 "$kroo" up --dir "$dir" --workers 1 >/dev/null
base=http://127.0.0.1:$(sed -n 's/.* metrics address=0 port=\([0-9]*\):.*/\1/p' "$dir/log/coordinator.log")
ok "it is ready" wait_until 20 ready_is 200
is "and well" "$(page healthz)" 200
"$kroo" selfplay --dir "$dir" --pairs 20 --nodes 50 --wait >/dev/null 2>&1
counted() { [ "$(metric kroo_games_committed_total)" = 40 ]; }
ok "the games are counted" wait_until 20 counted
ok "grants and commits have their times" test "$(metric kroo_lease_grant_seconds_count)" -gt 0 -a \
    "$(metric kroo_commit_seconds_count)" -gt 0 -a "$(metric kroo_results_acknowledge_seconds_count)" -gt 0
curl -sf "$base/metrics" >"$work/scrape"
ok "promtool finds nothing to say about the names" sh -c "promtool check metrics <'$work/scrape' 2>&1 | tee '$work/said'; [ ! -s '$work/said' ]"
# Every figure that a rule asks for is there, so that no alert is silent for ever.
missing=
for name in $(sed -n 's/^ *expr: //p' "$shipped/kroo.rules.yml" | grep -oE '(kroo|process)_[a-z_]+' | sort -u); do
    grep -Eq "^$name[ {]" "$work/scrape" || missing="$missing $name"
done
is "the rules ask for figures that exist" "$missing" ""

# --- a real Prometheus ---
mkdir "$work/prometheus"
cp "$shipped/kroo.rules.yml" "$work/prometheus"
sed "s/127.0.0.1:9710/${base#http://}/; s/15s/1s/" "$shipped/prometheus.yml" >"$work/prometheus/prometheus.yml"
prometheus --config.file="$work/prometheus/prometheus.yml" --storage.tsdb.path="$work/prometheus/data" \
    --web.listen-address=127.0.0.1:0 >"$work/prometheus/log" 2>&1 &
prometheus=$!
port_known() { grep -q 'Listening on' "$work/prometheus/log"; }
wait_until 30 port_known
seen_by=http://127.0.0.1:$(sed -n 's/.*Listening on" address=127.0.0.1:\([0-9]*\).*/\1/p' "$work/prometheus/log" | head -n 1)
ok "Prometheus scrapes the cluster" wait_until 60 query_is 'up{job="kroo"}' 1
ok "and has its games" wait_until 30 query_is 'kroo_games_committed_total' 40
ok "the bounds of the histograms are numbers to it" wait_until 30 query_is \
    'histogram_quantile(1, kroo_commit_seconds_bucket) > bool 0' 1
healthy() { [ "$(curl -sf "$seen_by/api/v1/rules" | jq '[.data.groups[].rules[] | select(.health == "ok")] | length')" = "$(grep -c 'alert:' "$shipped/kroo.rules.yml")" ]; }
ok "each rule is evaluated there" wait_until 60 healthy

# --- readiness follows the database, health does not ---
backend=$(sql "select pid from pg_stat_activity where application_name = 'kroo-coordinator'")
kill -STOP "$(postgres_pid)"
kill -TERM "$backend"
ok "without a database it is not ready" wait_until 30 ready_is 503
is "but well" "$(page healthz)" 200
kill -CONT "$(postgres_pid)"
ok "and ready again afterwards" wait_until 60 ready_is 200

# --- a second one stands by ---
KROO_METRICS=0 kroo-coordinator --config "$dir/kroo.conf" --endpoint "ipc://$work/second.sock" 2>"$work/second.log" &
second=$!
first=$base
second_up() { grep -q ' metrics address' "$work/second.log"; }
wait_until 20 second_up
base=http://127.0.0.1:$(sed -n 's/.* metrics address=0 port=\([0-9]*\):.*/\1/p' "$work/second.log")
waits() { curl -s -m 10 "$base/readyz" | grep -q 'waiting for the database or for leadership: '; }
ok "the one that stands by says so" wait_until 20 waits
is "and is well" "$(page healthz)" 200
is "it does not lead" "$(metric kroo_leading)" 0
kill "$second"
wait "$second"
fails "a port that is taken is refused" 1 'cannot listen on .*in use' \
    kroo-coordinator --config "$dir/kroo.conf" --endpoint "ipc://$work/third.sock" --metrics "${first#http://127.0.0.1:}"
stop_prometheus
done_testing
