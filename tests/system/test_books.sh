#!/usr/bin/env bash
# Opening books from end to end: made, added, refused, played from by several workers and through a restart so that
# no opening comes twice, used up, verified, replayed, exported and learned from.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
finished() { [ "$(sql "select state from experiment where id = $1")" = finished ]; }

# --- files ---
ok "a book is made" kroo-engine book make --out near.book --openings 60 --plies 6 --nodes 300 --seed 4
cp near.book again.book
kroo-engine book make --out again.book --openings 60 --plies 6 --nodes 300 --seed 4 --threads 1 >/dev/null
ok "and once more the same by one thread" cmp near.book again.book
ok "show tells of it" grep -q '60 of 6 to 6 plies' <(kroo-engine book show near.book --count 1)
is "measured: every pair in one of six classes" \
    "$(kroo-engine book measure near.book --pairs 30 --nodes 40 --json 2>/dev/null | jq '.pairs == 30 and .ll + .ld + .dd + .wl + .dw + .ww == 30')" true
tr F E <near.book >damaged.book
fails "a damaged book" 1 "damaged, its checksum" kroo-engine book check damaged.book
fails "another file" 1 "no opening book" kroo-engine book check "$root/README.md"
fails "other rules" 1 "made for other rules" kroo-engine book show near.book --rules school
fails "nothing qualifies" 1 "no candidate qualifies" \
    kroo-engine book make --out none.book --plies 30 --bound 0 --tries 3 --nodes 3000
ok "and nothing is written" test ! -e none.book

# --- into the cluster ---
ok "a private cluster of two workers" "$kroo" up --dir "$dir" --workers 2
[ -e "$dir/kroo.conf" ] || exit 1
ok "the file is added" "$kroo" book add near.book --name near --dir "$dir"
is "adding it again changes nothing" "$("$kroo" book add near.book --name near --dir "$dir" --json | jq .existed)" true
fails "under another name" 1 "under the name near" "$kroo" book add near.book --name other --dir "$dir"
fails "a damaged one" 1 "damaged" "$kroo" book add damaged.book --name bad --dir "$dir"
made=$("$kroo" book make --dir "$dir" --name school --rules school --openings 20 --plies 4 --nodes 200 --measure 10 --json)
is "one is made in place and measured" \
    "$(jq -c '[.rules, .openings, .candidates.kept, .measured.pairs]' <<<"$made")" '["school",20,20,10]'
is "and listed with its share" "$("$kroo" book ls --dir "$dir" --json | jq -c '[.[] | [.name, .openings, .of_pairs]]')" \
    '[["near",60,null],["school",20,10]]'
fails "a book of other rules" 1 "for the rules school" \
    "$kroo" match starting starting --nodes-a 300 --book school --pairs 5 --dir "$dir"
fails "an unknown one" 1 "no book is called" "$kroo" match starting starting --nodes-a 300 --book nosuch --pairs 5 --dir "$dir"
fails "both kinds of opening" 1 "leave --opening-plies out" \
    "$kroo" match starting starting --nodes-a 300 --book near --opening-plies 4 --pairs 5 --dir "$dir"

# --- played until it is used up, through a restart ---
id=$("$kroo" match starting starting --nodes-a 1500 --nodes-b 1000 --book near --pairs 100 --seed 7 --dir "$dir" 2>said)
ok "more pairs than openings: a warning" grep -q 'the book has 60 openings' said
begun() { [ "$(sql "select prefix_pairs > 3 from experiment_counter where experiment_id = $1")" = t ]; }
ok "it begins" wait_until 30 begun "$id"
kill -9 "$(pid_of coordinator)"
ok "the coordinator is killed and started again" "$kroo" up --dir "$dir" --workers 2
ok "it ends" wait_until 60 finished "$id"
is "undecided, after as many pairs as openings, and says why" \
    "$(sql "select verdict, counted_pairs, reason from verdict where experiment_id = $id")" \
    "undecided|60|the book is used up: it has no opening for another pair"
is "no opening twice, both games of each pair from the same one" \
    "$(sql "select count(*), count(distinct o), count(*) filter (where same) from (select min(left(moves, 6)) as o, min(left(moves, 6)) = max(left(moves, 6)) as same from game where experiment_id = $id group by pair_no) p")" \
    '60|60|60'
is "all of them the book's" \
    "$(sql "select count(*), count(distinct number) from book_opening_pairs where experiment_id = $id")" '60|60'
is "the view agrees with the counters" \
    "$(sql "select string_agg(outcome || n, ' ' order by outcome) from (select outcome, count(*) as n from book_opening_pairs where experiment_id = $id group by 1) x")" \
    "$(sql "select string_agg(k || n, ' ' order by k) from experiment_counter, lateral (values ('LL', ll), ('LD', ld), ('DD', dd), ('WL', wl), ('DW', dw), ('WW', ww)) v(k, n) where experiment_id = $id and n > 0")"
is "and sums up by opening" \
    "$(sql "select sum(pairs), sum(decided) = (select wl from experiment_counter where experiment_id = $id) from book_opening_score where book = 'near'")" '60|t'
ok "kroo verify agrees" "$kroo" verify --dir "$dir" "$id"
ok "a game is replayed" "$kroo" replay "$id" 11 1 --dir "$dir"
ok "show names the book" grep -q 'near .*60 openings, used up' <("$kroo" show "$id" --dir "$dir")
hash=$(sha256sum near.book | cut -d' ' -f1)
is "and so do exported games" "$("$kroo" games "$id" --dir "$dir" --format json --pairs 0-0 | jq -r .book_sha256 | sort -u)" "$hash"
twin=$("$kroo" match starting starting --nodes-a 1500 --nodes-b 1000 --book near --pairs 60 --seed 7 --dir "$dir" 2>/dev/null)
ok "the same seed again" wait_until 60 finished "$twin"
is "gives the same games" \
    "$(sql "select count(*) from game a join game b using (pair_no, leg, moves) where a.experiment_id = $id and b.experiment_id = $twin")" 120
other=$("$kroo" match starting starting --nodes-a 200 --nodes-b 100 --book near --pairs 20 --seed 8 --dir "$dir" 2>/dev/null)
ok "another seed" wait_until 60 finished "$other"
ok "takes the openings in another order" test "$(sql "select count(*) from game a join game b using (pair_no, leg) where a.experiment_id = $id and b.experiment_id = $other and left(a.moves, 6) = left(b.moves, 6)")" -lt 20

# --- a result that does not begin with its opening is refused by verify, too ---
sql "update game set moves = 'AaBb' || substr(moves, 5), plies = plies where experiment_id = $other and pair_no = 0 and leg = 0 and left(moves, 4) <> 'AaBb'" >/dev/null
fails "an altered opening" 1 "does not start with the opening" "$kroo" verify --dir "$dir" "$other"

# --- self-play from a book feeds the trainer ---
play=$("$kroo" selfplay --weights starting --book near --pairs 60 --nodes 150 --seed 3 --dir "$dir" 2>/dev/null)
ok "self-play from the book" wait_until 60 finished "$play"
ok "is verified" "$kroo" verify --dir "$dir" "$play"
ok "and read by the trainer" kroo-train fit --games "$play" --dry-run --config "$dir/kroo.conf"
done_testing
