#!/usr/bin/env bash
# Endgame tables as a user makes, reads and checks them, and the yardsticks over them: figures equal those of the
# reference, damage is found, and what cannot be done is refused with a reason and leaves nothing behind.
. "$(dirname "$0")/lib.sh"
vectors=$root/tests/vectors/tables
cd "$work" || exit 1
build() { kroo-engine tables build "$@" 2>"$work/said"; }

# --- figures ---
ok "site, up to 8 seeds" build --rules site --seeds 8 --out site --threads 2
ok "the same by one thread" build --rules site --seeds 8 --out one --threads 1
ok "two threads make the same file as one" cmp site one
ok "awari, up to 9 seeds" build --rules awari --seeds 9 --out awari
kroo-engine tables stat awari --json >awari.json
is "awari: the published counts" \
    "$(jq -c '[.layers[] | [.seeds, .positions, .values]]' awari.json)" \
    "$(jq -c '[.tables[] | select(.n <= 9) | [.n, ([.value_counts[]] | add),
        (.value_counts | with_entries(select(.value != 0)) | to_entries | sort_by(.key | tonumber) | from_entries)]]' \
        "$vectors/awari-published-2002.json")"
is "awari: wins, draws and losses follow from them" \
    "$(jq '[.layers[] | .win + .draw + .loss == .positions and
        .win == ([.values | to_entries[] | select(.key | tonumber > 0) | .value] | add // 0)] | all' awari.json)" true
kroo-engine tables stat site --json >site.json
is "site: convention, seeds and D" "$(jq -c '[.rules, .convention, .seeds, .plies == ([.layers[].plies] | max)]' site.json)" \
    '["site","own-rows",8,true]'
# Certification widens nothing up to 9 seeds.
is "site: exact boards, wins, draws and losses of the reference" \
    "$(jq -c '[.layers[] | [.seeds, .exact, .exact_before_certification, .win, .draw, .loss, .certificate_failed]]' site.json)" \
    "$(jq -c '[.by_seeds[] | select(.n <= 8) | [.n, .exact_own_half_split, .exact_own_half_split, .own_half_proved_win,
        .own_half_proved_draw, .own_half_proved_loss, 0]]' "$vectors/site-brackets.json")"
is "site: widths of the reference" "$(jq -cS '[.layers[].widths]' site.json)" \
    "$(jq -cS '[.by_seeds[] | select(.n <= 8) | .width_histogram | with_entries(select(.value != 0))]' \
        "$vectors/site-brackets.json")"
ok "the table for people" grep -q '^    8 ' <(kroo-engine tables stat site)

# --- probing ---
cycle=0-0-0-0-0-1-0-0-0-0-0-1-23-23-S
is "the forced cycle" "$(kroo-engine tables probe site <<<"$cycle")" '{"lo":-2,"up":0,"move":"F"}'
is "North's letters" "$(kroo-engine tables probe site <<<"${cycle%S}N")" '{"lo":-2,"up":0,"move":"f"}'
said=$(printf '%s\nnonsense\n4-4-4-4-4-4-4-4-4-4-4-4-0-0-S\n%s\r\n' $cycle $cycle | kroo-engine tables probe site)
is "a refused line ends with status 1" $? 1
is "and the others are answered" "$(jq -sc 'map(if .error then "error" else .lo end)' <<<"$said")" '[-2,"error","error",-2]'

# --- damage ---
ok "check agrees" kroo-engine tables check site --threads 2
flip() { # FILE OFFSET: one bit of this byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf '%b' "\\0$(printf %o $((byte ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
for at in 100 635 640 5000 $(($(stat -c %s site) - 1)); do
    cp site damaged
    flip damaged "$at"
    fails "a bit of byte $at" 1 "damaged, their checksum does not match" kroo-engine tables check damaged
done
cp site damaged
flip damaged 3
fails "another kind of file" 1 "no file of endgame tables" kroo-engine tables check damaged
head -c 100000 site >damaged
fails "a cut file" 1 "cut short or too long" kroo-engine tables stat damaged
: >damaged
fails "an empty file" 1 "no file of endgame tables" kroo-engine tables probe damaged
fails "no file" 1 "cannot be read; check the path" kroo-engine tables stat nowhere

# --- what is refused ---
fails "tables of other rules" 1 "made for other rules" kroo-engine tables stat site --rules school
fails "and for the player" 1 "made for other rules" kroo-engine analyse --rules awari --tables site --depth 3
ok "rules of the same family" kroo-engine tables check site --rules international
fails "too many seeds" 2 "number from 0 to 24" kroo-engine tables build --rules site --seeds 25 --out more
fails "no seeds" 2 "seeds is missing" kroo-engine tables build --rules site --out more
fails "no file named" 2 "file is missing" kroo-engine tables build --rules site --seeds 3
fails "unknown rules" 2 "nosuch" kroo-engine tables build --rules nosuch --seeds 3 --out more
fails "rules without sums" 1 "unfed_loses" kroo-engine tables build --rules togo --seeds 3 --out more
fails "no such folder" 1 "cannot be written; check the folder" \
    kroo-engine tables build --rules site --seeds 3 --out nowhere/more
mkdir folder
fails "a folder in the way" 1 "cannot be written" kroo-engine tables build --rules site --seeds 3 --out folder
is "nothing is left of these" "$(ls -d more* folder.* nowhere* 2>/dev/null)" ""
if [ "$(id -u)" -ne 0 ]; then
    chmod 500 folder
    fails "a folder that cannot be written" 1 "cannot be written" \
        kroo-engine tables build --rules site --seeds 3 --out folder/more
    chmod 700 folder
fi
fails "standard output that takes nothing" 1 "could not be written" sh -c 'kroo-engine tables stat site >/dev/full'
mkdir small
if mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    fails "a full disk" 1 "cannot be written.*free space" kroo-engine tables build --rules site --seeds 8 --out small/more
    is "nothing half is left there" "$(ls small)" ""
    umount small
fi

# --- killed while it builds ---
cp one kept
kroo-engine tables build --rules site --seeds 16 --out kept 2>/dev/null &
builder=$!
begun() { [ "$(find . -name 'kept.*' -size +200k | wc -l)" -eq 1 ]; }
ok "a build is under way" wait_until 60 begun
kill -9 $builder
wait $builder 2>/dev/null
ok "killed, it leaves the file under the final name as it was" cmp one kept
rm -f kept.*

# --- yardsticks ---
fails "perfect without tables" 2 "tables is missing" kroo-engine perfect
fails "perfect with tables of no use" 1 "no file of endgame tables" kroo-engine perfect --tables awari.json
kroo-engine perfect --tables site --positions 120 --nodes 300 --json >perfect.json
ok "perfect is the same twice" cmp perfect.json <(kroo-engine perfect --tables site --positions 120 --nodes 300 --json)
is "every position counts, by seeds and in all" \
    "$(jq -c '[.positions, ([.layers[].positions] | add), ([.layers[].seeds] | [min, max])]' perfect.json)" '[120,120,[3,8]]'
more=$(kroo-engine perfect --tables site --positions 120 --nodes 30000 --json)
ok "more nodes keep more" jq -en --argjson more "$more" --slurpfile less perfect.json \
    '$more.kept > $less[0].kept and $more.given < $less[0].given and $more.kept <= 1 and $less[0].kept_error > 0'
ok "another sample" jq -en --argjson other "$(kroo-engine perfect --tables site --positions 120 --nodes 300 --seed 2 --json)" \
    --slurpfile one perfect.json '($other | del(.seed)) != ($one[0] | del(.seed))'
ok "the table for people" grep -q '^  all       120 ' <(kroo-engine perfect --tables site --positions 120)
kroo-engine tables positions site --count 12 --depth 3 >positions
is "positions with certified moves" \
    "$(jq -sc '[length, (map(.lo > .others_up) | all), (map(.seeds) | unique)]' positions)" '[12,true,[5,6,7,8]]'
ok "the same again" cmp positions <(kroo-engine tables positions site --count 12 --depth 3)
is "tables that know every answer solve all" \
    "$(kroo-engine bench --positions positions --tables site --nodes 1000 --json | jq -c '[.positions, .solved]')" \
    '[12,[{"nodes":1000,"positions":12}]]'
printf '{"position":"%s","best":"A"}\n' $cycle >wrong
fails "a best move that is none" 1 "line 1: A is no move there" kroo-engine bench --positions wrong
fails "no positions" 1 "cannot be read" kroo-engine bench --positions nowhere
fails "two measurements at once" 2 "exclude one another" kroo-engine bench --positions wrong --games 2
is "time to depth" "$(kroo-engine bench --depth 13 --json | jq -c '[.positions, [.depths[] | [.depth, .total_seconds > 0]]]')" \
    '[50,[[11,true],[13,true]]]'
done_testing
