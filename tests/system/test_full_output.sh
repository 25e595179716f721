#!/usr/bin/env bash
# Standard output that takes nothing (a full disk): every command says so and ends with status 1, for an answer that
# was swallowed was no answer. Files that could not be written in full are not left behind.
. "$(dirname "$0")/lib.sh"
export KROO_DIR=$dir

[ -c /dev/full ] || { echo "1..0 # skip no /dev/full here"; exit 0; }
full() { "$@" >/dev/full; }
refused() { # COMMAND...: it cannot write its answer, and says so
    fails "$(basename "$1") ${*:2}" 1 "cannot be written|could not be written" full "$@"
}

ok "a private cluster with a worker" "$kroo" up --workers 1
id=$("$kroo" selfplay --pairs 40 --nodes 30 --seed 4 --wait 2>/dev/null | head -n 1)
for command in ls "ls --json" "show $id" "show $id --json" "games $id" "games $id --json" "games $id --format moves" \
    workers "workers --json" status events "events --json" "weights ls" "weights ls --json" "weights show starting" \
    "weights export starting" "weights export starting --format json" "weights export starting --format c" \
    "weights export starting --format md" verify "verify --json" "replay $id 0 0" "watch $id"; do
    # shellcheck disable=SC2086
    refused "$kroo" $command
done
for command in "perft 4" "divide 3" rules "rules --json" "bench --json"; do
    # shellcheck disable=SC2086
    refused kroo-engine $command
done
start=4-4-4-4-4-4-4-4-4-4-4-4-0-0-S
fed() { printf '%s\n' "$1" | "${@:2}" >/dev/full; }
fails "kroo-engine replay" 1 "could not be written" fed FfAa kroo-engine replay
fails "kroo-engine moves" 1 "could not be written" fed $start kroo-engine moves
fails "kroo-engine eval" 1 "could not be written" fed $start kroo-engine eval --weights starting
fails "kroo calc" 1 "could not be written" fed '{"op":"elo","counts":[1,2,3]}' "$kroo" calc
fit="kroo-train fit --games $id --parent starting --force --min-positions 100 --ridge 1e-2 --quiet"
# shellcheck disable=SC2086
fails "kroo-train fit: the result is not lost with its report" 1 "report cannot be written.*the result is stored" full $fit --json
is "it is there" "$(sql "select count(*) from training_run where state = 'finished'")" 1

# --- files ---
mkdir "$work/small"
if mount -t tmpfs -o size=8k tmpfs "$work/small" 2>/dev/null; then
    head -c 6000 /dev/zero >"$work/small/ballast"
    fails "games on a full disk" 1 "cannot be written|No space" "$kroo" games "$id" --out "$work/small/games"
    head -c 8192 /dev/zero >"$work/small/ballast" 2>/dev/null
    fails "weights on a full disk" 1 "No space" "$kroo" weights export starting --out "$work/small/weights"
    fails "a key on a full disk" 1 "No space" "$kroo" key new full --out "$work/small"
    # shellcheck disable=SC2086
    fails "trained weights on a full disk" 1 "No space" $fit --seed 2 --output "$work/small/trained"
    is "nothing cut is left" "$(ls "$work/small")" ballast
    umount "$work/small"
fi
done_testing
