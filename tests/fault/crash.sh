#!/usr/bin/env bash
# Kills without end: RUNS times a worker, a coordinator (one leads, one waits) or PostgreSQL dies, at a named step of its
# work or at any moment, by SIGKILL or in the middle of leaving in order, and is started again. Experiments run one
# after the other meanwhile; each must end, with every pair there once and counted once and `kroo verify` content.
#
#   tests/fault/crash.sh [RUNS [SEED]]        make fault RUNS=200 SEED=7
#
# The seed decides who dies, when and how; it is printed, and the log of choices with it (build/fault/kills-SEED).
. "$(dirname "$0")/../system/lib.sh"
. "$(dirname "$0")/lib.sh"
nodes=100
runs=${1:-200}
seed=${2:-$(($(date +%s) % 1000000))}
trap 'kill_all; cleanup' EXIT
mkdir -p "$build/fault"
kills=$build/fault/kills-$seed
: >"$kills"
RANDOM=$seed

worker_steps=(before-results sent-results heard-ack write half-write sync synced unlink rename before-lease-request
    heard-grant before-progress)
coordinator_steps=(heard-results begin copy commit commit-sent committed before-ack sent-ack heard-lease-request
    before-grant sent-grant)

pick() { # LIST-NAME: one of it
    local -n list=$1
    picked=${list[RANDOM % ${#list[@]}]}
}
# The next death: who, how, at which step, after how many, and whether games must come before the one after it.
choose() {
    case $((RANDOM % 10)) in
    0 | 1 | 2 | 3) victim=worker-$((1 + RANDOM % slots)) && pick worker_steps ;;
    8) victim=database && picked=now ;;
    *) victim=coordinator-$((1 + RANDOM % 2)) && pick coordinator_steps ;;
    esac
    how=kill
    [ "$victim" != database ] && [ $((RANDOM % 8)) -eq 0 ] && how=leave
    [ $((RANDOM % 3)) -eq 0 ] && picked=now
    count=$((1 + RANDOM % 4))
    moment=$((RANDOM % 400))
    settle=$((RANDOM % 3))
    part=$((RANDOM % 3))
}
wait_ms() { read -r -t "0.$(printf %03d "$1")" -u 9 || :; } # the moment is chance, not a condition
backend() { sql "select pid from pg_stat_activity where application_name = 'kroo-coordinator' limit 1" 2>/dev/null; }
hit_database() {
    case $part in
    0) kill_now database ;;
    1) kill -9 "$(backend)" 2>/dev/null || kill_now database ;; # one backend: all begin anew
    2) power_off ;;
    esac
}
power_off() { # as a machine that loses its power: no checkpoint
    data=$(readlink -f "$dir/postgres")/data
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && runuser -u kroo -- "$(dirname "$(readlink -f "/proc/$(postgres_pid)/exe")")/pg_ctl" -D "$data" -s -m immediate stop)
    else
        "$(dirname "$(readlink -f "/proc/$(postgres_pid)/exe")")/pg_ctl" -D "$data" -s -m immediate stop
    fi
}
strike() {
    if [ "$victim" = database ]; then
        wait_ms $moment
        hit_database
    else
        [ "$picked" = now ] || order "$victim" "$picked" "$count"
        [ "$how" = leave ] && kill -TERM "${pids[$victim]}"
        if [ "$picked" = now ]; then wait_ms $moment; else wait_until 2 is_dead "$victim"; fi
        [ "$picked" = now ] || is_dead "$victim" || missed=" (not come to)"
        lives "$victim" && kill_now "$victim"
        wait_until 10 is_dead "$victim"
    fi
}
new_experiment() {
    experiments=$((experiments + 1))
    pairs=$((400 + RANDOM % 800))
    if [ $((RANDOM % 2)) -eq 0 ]; then kind=match; else kind=selfplay; fi
    create $kind $((seed + experiments)) $pairs
}
# The experiment ends and is whole; false ends the run.
check_experiment() {
    wait_until 180 is_finished || { echo "# experiment $id does not end" && return 1; }
    none_wrong $pairs || return 1
    checked=$((checked + pairs))
}

echo "# seed $seed, $runs kills; choices in $kills"
experiments=0 checked=0 done_kills=0 whole=yes
ok "a database" start_database
for name in coordinator-1 coordinator-2 $(seq -f 'worker-%g' $slots); do start "$name"; done
ok "a first experiment" new_experiment
for run in $(seq "$runs"); do
    if is_finished; then
        check_experiment && new_experiment || { whole=no && break; }
    fi
    choose
    missed=
    before=$(stored)
    strike
    start "$victim" || { whole=no && echo "# $victim does not start" && break; }
    echo "$run $victim $how $picked $count $moment$missed, after $SECONDS s" >>"$kills"
    done_kills=$run
    if [ $settle -eq 0 ]; then
        wait_until 60 moved || { whole=no && echo "# no games after kill $run" && break; }
    fi
done
is "all kills are done" "$done_kills" "$runs"
if [ "$whole" = yes ]; then check_experiment || whole=no; fi
is "every experiment ended whole (seed $seed)" "$whole" yes
is "no lease is left open" "$(sql "select count(*) from lease l join experiment e on e.id = l.experiment_id where l.state = 'open' and e.state = 'finished'")" 0
ok "kroo verify agrees on all of it" "$kroo" verify --dir "$dir"
echo "# $done_kills kills ($(grep -c worker "$kills") of workers, $(grep -c coordinator "$kills") of coordinators, $(grep -c database "$kills") of PostgreSQL; $(grep -vc ' now ' "$kills") at named steps, $(grep -c 'not come to' "$kills") of them not come to), $experiments experiments, $checked pairs checked, seed $seed"
if [ "$failures" -gt 0 ]; then
    kept=$build/fault/kept-$seed
    mkdir -p "$kept" && cp "$work"/*.log "$kept"/ 2>/dev/null
    echo "# logs in $kept"
fi
done_testing
