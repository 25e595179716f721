# What the runs with killed processes share: a cluster whose processes are started here one by one, each with
# killer.c in front of its libraries, and a way to order a death. Sourced after tests/system/lib.sh.
killer=$build/tests/fault/killer.so
slots=4 # workers
export KROO_TERM_MS=4000 KROO_PROGRESS_MS=300 ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS:-}"
declare -A pids

conninfo_of() { sed -n 's/^database = //p' "$dir/kroo.conf"; }
# launch NAME COMMAND...: in the background, its log going on where it was; its order is the file $work/NAME.order.
launch() {
    launched=$1
    shift
    rm -f "$work/$launched.order"
    LD_PRELOAD=$killer KROO_KILL_FILE=$work/$launched.order "$@" >>"$work/$launched.log" 2>&1 9<&- &
    pids[$launched]=$!
    disown $! # its death is no news for the shell
}
start_coordinator() { # NUMBER: several may run, one leads
    mkdir -p -m 700 "$work/run"
    launch "coordinator-$1" kroo-coordinator --database "$(conninfo_of)" --endpoint "ipc://$work/run/$1.sock"
}
start_worker() { # NUMBER
    launch "worker-$1" kroo-worker --endpoint "ipc://$work/run/1.sock,ipc://$work/run/2.sock" --name "worker-$1" \
        --slots 1 --no-pin --state "$work/worker-$1" --log-level debug
}
# Recovery syncs the whole folder first, file by file where it is not told otherwise: ten seconds on a slow disk.
start_database() {
    "$kroo" up --dir "$dir" --database-only >>"$work/up.log" 2>&1 || return 1
    [ -n "${recovery_set:-}" ] || { sql "alter system set recovery_init_sync_method = 'syncfs'" && recovery_set=yes; }
}
start() { # NAME
    case $1 in
    coordinator-*) start_coordinator "${1#*-}" ;;
    worker-*) start_worker "${1#*-}" ;;
    database) start_database ;;
    esac
}
lives() { kill -0 "${pids[$1]}" 2>/dev/null; }
is_dead() { ! lives "$1"; }
order() { # NAME STEP COUNT
    echo "$2 $3" >"$work/$1.new" && mv "$work/$1.new" "$work/$1.order"
}
kill_now() { # NAME
    if [ "$1" = database ]; then kill -9 "$(postgres_pid)"; else kill -9 "${pids[$1]}"; fi
}
kill_all() {
    for name in "${!pids[@]}"; do kill -9 "${pids[$name]}" 2>/dev/null; done
}

# create KIND SEED PAIRS: the experiment's number in `id`. Asked until it is answered: the key makes it one experiment.
create() {
    create_until=$(($(date +%s) + 90))
    while [ "$(date +%s)" -lt "$create_until" ]; do
        for number in 1 2; do
            if [ "$1" = match ]; then
                set -- "$1" "$2" "$3" match starting starting --nodes-b 40 --audit 5%
            else
                set -- "$1" "$2" "$3" selfplay --weights starting --audit 5%
            fi
            id=$(KROO_ENDPOINT=ipc://$work/run/$number.sock timeout 10 "$kroo" "${@:4}" --dir "$dir" --pairs "$3" \
                --nodes "${nodes:-60}" --seed "$2" --key "fault-$2" 2>>"$work/create.log" | head -n 1)
            case $id in '' | *[!0-9]*) continue ;; *) return 0 ;; esac
        done
    done
    return 1
}
stored() { sql "select games_stored from experiment_counter where experiment_id = $id" 2>/dev/null; }
moved() { [ "$(stored || echo 0)" -gt "${before:-0}" ] || is_finished; }
is_finished() { [ "$(sql "select state from experiment where id = $id" 2>/dev/null)" = finished ]; }
# Everything of experiment `id` is there once and counted once (or, where pairs repeat each other, not at all): prints nothing, or what is wrong.
wrong_with() { # PAIRS
    found=$(sql "select concat_ws(' ', count(*), count(distinct (pair_no, leg)), min(pair_no), max(pair_no)) from game where experiment_id = $id")
    [ "$found" = "$((2 * $1)) $((2 * $1)) 0 $(($1 - 1))" ] || echo "games: $found, of $1 pairs"
    found=$(sql "select concat_ws(' ', games_stored, prefix_pairs, wins + draws + losses + 2 * repeated_pairs, ll + ld + dd + wl + dw + ww + repeated_pairs) from experiment_counter where experiment_id = $id")
    [ "$found" = "$((2 * $1)) $1 $((2 * $1)) $1" ] || echo "counters: $found, of $1 pairs"
    found=$(sql "select concat_ws(' ', (select count(*) from dispute where experiment_id = $id), (select count(*) from game where experiment_id = $id and claimed))")
    [ "$found" = "0 0" ] || echo "disputes and claimed games: $found"
    "$kroo" verify --dir "$dir" "$id" >"$work/verified" 2>&1 || cat "$work/verified"
}
none_wrong() { # PAIRS
    wrong=$(wrong_with "$1")
    [ -z "$wrong" ] || { printf '# %s\n' "$wrong" && return 1; }
}
