#!/bin/bash
# Sessions with kroo-engine in the UCI dialect, spoken as Aualé and Aalina's tools speak it: a command a line,
# answers read until the one that is waited for.
. "$(dirname "$0")/lib.sh"
engine=$build/kroo-engine
deadline_s=20

open_session() {
    coproc ENGINE { exec "$engine" 2>"$work/stderr"; }
    engine_pid=$ENGINE_PID out=${ENGINE[0]} in=${ENGINE[1]}
}
send() { printf '%s\n' "$@" >&"$in"; }
# answer PATTERN: reads lines up to the first that matches; it is left in $line, all of them in $heard.
answer() {
    heard=
    while IFS= read -r -t "$deadline_s" -u "$out" line; do
        heard+=$line$'\n'
        [[ $line =~ $1 ]] && return 0
    done
    printf '# waited for %s, heard:\n%s' "$1" "$heard" | sed 's/^/# /'
    return 1
}
# ask NAME PATTERN LINE...: sends the lines, and the answer comes.
ask() {
    name=$1 pattern=$2
    shift 2
    send "$@"
    ok "$name" answer "$pattern"
}
# refused NAME PATTERN LINE...: an `info string` says it, and no move is said.
refused() {
    ask "$1" "^info string .*$2" "${@:3}"
}
# The position the engine stands at, seen through its only or best move at depth 1 and the side's letters.
best() {
    send "go depth ${1:-1}"
    answer '^bestmove' && [[ $line =~ ^bestmove\ ([A-Fa-f0]+) ]] && move=${BASH_REMATCH[1]}
}
ends() {
    exec {in}>&-
    wait "$engine_pid"
    status=$?
}

open_session
ask 'uci is answered by uciok' '^uciok$' uci
ok 'the engine has a name' grep -q '^id name Kroo (kroo-engine ' <<<"$heard"
ok 'the engine has an author' grep -q '^id author .' <<<"$heard"
ok 'option Hash' grep -qx 'option name Hash type spin default 16 min 1 max 16384' <<<"$heard"
for option in 'Threads type spin default 1 min 1 max 64' 'MultiPV type spin default 1 min 1 max 6' \
    'Level type combo default Full var Full var Apprentice var Journeyman var Master' \
    'Seed type spin default 0 min 0 max 1000000000000' 'Ponder type check default false'; do
    ok "option ${option%% *}" grep -qx "option name $option" <<<"$heard"
done
ok 'option Rules' grep -qx 'option name Rules type string default site' <<<"$heard"
ok 'option WeightsFile' grep -qx 'option name WeightsFile type string default <empty>' <<<"$heard"
ask 'isready is answered' '^readyok$' isready

# What Aualé sends for a move in a game, and what it can read of the answer.
send ucinewgame isready
ok 'a new game is ready' answer '^readyok$'
send 'position startpos moves FfEe' 'go depth 8 movetime 20000'
ok 'a move comes' answer '^bestmove [A-F] ponder [a-f]$'
ok 'an info line for every depth, pv last' test "$(grep -Ec \
    '^info depth [1-8] score cp -?[0-9]+ nodes [0-9]+ nps [0-9]+ time [0-9]+ hashfull [0-9]+ pv [A-Fa-f]+$' <<<"$heard")" = 8
ask 'letters may stand apart' '^bestmove [A-F]' 'position startpos moves F f E e' 'go depth 4'
ask 'a position without moves' '^bestmove [A-F]' 'position fen 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S' 'go depth 4'
ask 'a position with moves, North to move' '^bestmove [a-f]( |$)' \
    'position fen 4-4-4-4-4-4-4-4-4-4-4-4-0-0-N moves fA' 'go depth 4'
ask 'a limit in nodes' '^bestmove' 'position startpos' 'go nodes 5000'
ok 'is kept' test "$(grep -o 'nodes [0-9]*' <<<"$heard" | sort -k2n | tail -n1 | cut -d' ' -f2)" -le 5000
ask 'clocks' '^bestmove' 'go wtime 1000 btime 1000 winc 10 binc 10'
ask 'a clock that has run out' '^bestmove' 'go wtime -5 btime -5'
send 'position startpos' 'ucinewgame' 'go nodes 20000'
answer '^bestmove'
first=$(sed 's/ nps.* hashfull/ hashfull/' <<<"$heard")
send 'ucinewgame' 'go nodes 20000'
answer '^bestmove'
is 'the same question gives the same answer' "$(sed 's/ nps.* hashfull/ hashfull/' <<<"$heard")" "$first"

# The capture that wins, and the game that is over.
ask 'a win in one' '^bestmove F' 'position fen 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S' 'go depth 5'
ok 'its score' grep -q 'score cp 30999 ' <<<"$heard"
ask 'no move when the game is over' '^bestmove 0000$' \
    'position fen 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S moves F' 'go depth 5'
ask 'nor in an endless search' '^bestmove 0000$' 'go infinite'

# Refusals leave the position.
send 'position fen 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S'
refused 'an illegal move' "move 2, 'F', is refused: it is not legal" 'position startpos moves AF'
refused 'a letter that is no house' "move 3, 'x', is refused" 'position startpos moves Aax'
refused 'a move after the end' "move 2, 'a', is refused: the game is over" \
    'position fen 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S moves Fa'
refused 'seeds that are not 48' 'position fen is refused' 'position fen 4-4-4-4-4-4-4-4-4-4-4-4-0-1-S'
refused 'a position of words' 'position fen is refused' 'position fen nonsense moves A'
refused 'a fen without position' 'position fen is refused' 'position fen'
refused 'a position without anything' 'position needs startpos or fen' 'position'
refused 'words between position and moves' "does not know 'mvoes'" 'position startpos mvoes A'
ok 'the old position stays' best 3
is 'and is played' "$move" F
refused 'depth of a word' 'go depth needs a number' 'go depth deep'
refused 'depth 0' 'above 0' 'go depth 0'
refused 'nodes beyond counting' 'go nodes needs a number' 'go nodes 99999999999999999999'
refused 'an unknown limit' "go does not know 'quickly'" 'go quickly'
refused 'an unknown command' "no command 'castle'" 'castle'
refused 'an unknown option' "no option 'Contempt'" 'setoption name Contempt value 3'
refused 'a table of nothing' 'Hash needs a number' 'setoption name Hash value 0'
refused 'unknown rules' "Rules 'chess'" 'setoption name Rules value chess'
refused 'a missing weights file' "'/nowhere/w': the weights file cannot be read" \
    'setoption name WeightsFile value /nowhere/w'
refused 'a tables file that is none' "tables '.*': .*the tables stay" "setoption name TablesFile value $0"
refused 'a weights file that is none' 'this is no weights file' "setoption name WeightsFile value $0"
refused 'a line without end' 'a line longer than 65536 bytes is refused' \
    "position startpos moves $(head -c 70000 /dev/zero | tr '\0' A)"
printf 'go\0depth 3\n' >&"$in"
ok 'a NUL byte' answer '^info string a line with NUL bytes is refused'
ask 'and still it answers' '^readyok$' isready

# Commands while it thinks.
send 'position startpos' 'go infinite'
ok 'thinking' answer '^info depth 3 '
ask 'isready while thinking' '^readyok$' isready
ask 'uci while thinking' '^uciok$' uci
refused 'a second go while thinking' 'go must wait' 'go depth 1'
refused 'an option while thinking' 'setoption must wait' 'setoption name Hash value 1'
refused 'a new game while thinking' 'ucinewgame must wait' ucinewgame
refused 'an illegal position while thinking' 'is refused' 'position startpos moves AA'
send 'position fen 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S'
ask 'stop gives the move of the search' '^bestmove [A-F] ponder [a-f]$' stop
ok 'the position set meanwhile counts next' best 3
is 'and is played' "$move" F
send 'position startpos' 'go ponder'
ok 'pondering' answer '^info depth 3 '
ask 'the ponder hit answers' '^bestmove [A-F]' ponderhit
# Pondering on a clock: the clock runs from the hit on, however long it was thought before.
send 'position startpos moves Ff' 'go ponder wtime 400 btime 60000'
ok 'pondering past the clock' answer '^info depth 16 '
send isready
ok 'no move before the hit' answer '^readyok$'
ok 'indeed none before it' test "$(grep -c bestmove <<<"$heard")" = 0
ask 'the hit is answered by the clock' '^bestmove [A-F]' ponderhit
send 'go ponder depth 3'
answer '^info depth 3 '
ask 'a limit reached while pondering waits for the hit' '^readyok$' isready
ok 'waits' test "$(grep -c bestmove <<<"$heard")" = 0
ask 'and is answered at once' '^bestmove' ponderhit
send 'go ponder movetime 50000'
answer '^info depth 3 '
ask 'a ponder search can be stopped' '^bestmove' stop
ask 'a hit when nothing is pondered does nothing' '^readyok$' ponderhit isready
# A decided position is searched out at once; the answer waits for stop all the same.
send 'position fen 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S' 'go infinite'
ok 'searched out' answer '^info depth 1 '
send isready
ok 'no move before stop' answer '^readyok$'
ok 'indeed none' test "$(grep -c bestmove <<<"$heard")" = 0
ask 'the move after stop' '^bestmove F$' stop
ask 'a stop too many does nothing' '^readyok$' stop isready
ok 'and says nothing' test "$(grep -c bestmove <<<"$heard")" = 0

# Options.
ask 'another table' '^readyok$' 'setoption name Hash value 1' isready
ok 'is taken without a word' test "$heard" = $'readyok\n'
ask 'other rules' '^bestmove C' 'setoption name Rules value school' \
    'position fen 0-0-1-0-0-0-0-0-0-0-0-0-24-23-S' 'go depth 2'
refused 'rules with the old position: the duty to feed is not known to school' 'not legal' \
    'setoption name Rules value site' 'position fen 1-0-0-0-0-5-0-0-0-0-0-0-21-21-S moves A'
# Endgame tables: a win of the tables is no win after this history (DESIGN section 10).
ok 'tables are built' "$engine" tables build --rules site --seeds 5 --out "$work/site.tables" 2>/dev/null
send 'setoption name Rules value site' "setoption name TablesFile value $work/site.tables"
ask 'a table win' '^bestmove B' 'position fen 0-2-0-0-0-0-0-0-1-0-0-1-22-22-S' 'go depth 2'
ok 'its score' grep -q 'score cp 30[1-4]' <<<"$heard"
ask 'is none here' '^bestmove [a-f]' \
    'position fen 0-2-0-0-0-0-0-0-1-0-0-1-22-22-S moves BcDdEfFaAbCcDdEeFaAbBcDdEfFaAbCcDdEeFaA' 'go depth 4'
ok 'nor is it claimed' test "$(grep -c 'score cp -\?30' <<<"$heard")" = 0
refused 'tables of other rules' 'the tables stay' 'setoption name Rules value school' \
    "setoption name TablesFile value $work/site.tables"
send 'setoption name TablesFile value <empty>'
send 'setoption name Rules value site' 'setoption name MultiPV value 3'
ask 'three lines' '^bestmove' 'position startpos' 'go depth 6'
is 'each depth has them' "$(grep -c '^info depth 6 multipv [123] score cp' <<<"$heard")" 3
is 'of three moves' "$(grep '^info depth 6 ' <<<"$heard" | sed 's/.* pv \(.\).*/\1/' | sort -u | wc -l)" 3
is 'best first' "$(grep '^info depth 6 ' <<<"$heard" | sed 's/.* cp \(\S*\) .*/\1/' | sort -rn)" \
    "$(grep '^info depth 6 ' <<<"$heard" | sed 's/.* cp \(\S*\) .*/\1/')"
ok 'the best is played' grep -q "multipv 1 .* pv ${line:9:1}" <<<"$(grep '^info depth 6 ' <<<"$heard")"
ask 'no more lines than moves' '^bestmove F' 'position fen 0-0-0-0-0-1-1-0-3-0-0-0-23-20-S' 'go depth 3'
refused 'no line at all' 'MultiPV needs a number' 'setoption name MultiPV value 0'
send 'setoption name MultiPV value 1' 'setoption name Threads value 2'
ask 'two threads' '^bestmove' 'position startpos' 'go depth 12'
send 'go infinite'
answer '^info depth 4 '
ask 'two threads stop' '^bestmove' stop
refused 'no thread at all' 'Threads needs a number' 'setoption name Threads value 0'
send 'setoption name Threads value 1' 'setoption name Level value Apprentice' 'setoption name Seed value 7' ucinewgame
played=
for ply in 1 2 3 4 5 6 7 8 9 10 11 12; do
    send "position startpos moves $played" 'go movetime 10000'
    answer '^bestmove' && played+=${line:9:1}
done
again=
send ucinewgame
for ply in 1 2 3 4 5 6 7 8 9 10 11 12; do
    send "position startpos moves $again" 'go movetime 10000'
    answer '^bestmove' && again+=${line:9:1}
done
is 'a level with a seed repeats its game' "$again" "$played"
refused 'an unknown level' 'Level needs' 'setoption name Level value Grandmaster'
ask 'a level by number' '^bestmove' 'setoption name Level value 9' 'go'
ok 'keeps its nodes' test "$(grep -o 'nodes [0-9]*' <<<"$heard" | sort -k2n | tail -n1 | cut -d' ' -f2)" -le 150000
ask 'full strength again' '^readyok$' 'setoption name Level value Full' isready
send quit
wait "$engine_pid"
is 'quit ends it' $? 0
ok 'nothing on standard error' test ! -s "$work/stderr"

open_session
send 'go infinite'
ok 'thinking again' answer '^info depth 3 '
ends
is 'the end of the input ends an endless search' "$status" 0

# A pipe that ends behind a go: what has a limit reaches it.
piped() {
    timeout "$deadline_s" "$engine" <<<"$1" >"$work/said"
    is "$2, the status" $? 0
    ok "$2, one move, last" test "$(grep -n bestmove "$work/said" | cut -d: -f1)" = "$(wc -l <"$work/said")"
    said=$(tail -n1 "$work/said")
}
for limit in 'depth 12' 'nodes 300000' 'movetime 50' 'wtime 300 btime 300'; do
    for end in '' $'\nquit' $'\nquit\nuci'; do
        piped "go $limit$end" "go $limit and ${end:+quit}${end:-the end of the input}"
    done
done
piped $'go depth 12\nquit' 'depth 12 in a pipe'
is 'the depth is reached' "$(grep -c '^info depth 12 ' "$work/said")" 1
piped $'setoption name Threads value 2\ngo depth 12' 'two threads in a pipe'
is 'theirs too' "$(grep -c '^info depth 12 ' "$work/said")" 1
for endless in go 'go infinite' 'go infinite depth 90' 'go ponder' 'go ponder movetime 100000' 'go ponder depth 90'; do
    piped "$endless" "$endless, the end of the input"
    piped "$endless"$'\nquit' "$endless, quit"
done
piped $'go ponder movetime 50\nponderhit' 'a ponder search that was hit'
piped $'go depth 90\nstop\nquit' 'stop before quit'

ok 'an empty input is fine' "$engine" </dev/null
is 'eval of the start' "$("$engine" eval --weights starting <<<4-4-4-4-4-4-4-4-4-4-4-4-0-0-S)" 0
is 'eval in the view of the mover' "$(printf '%s\n' 0-0-0-0-0-0-0-0-0-0-0-40-2-6-N 0-0-0-0-0-0-0-0-0-0-0-40-2-6-S |
    "$engine" eval --weights starting --rules ghana)" $'400\n-400'
said=$(printf '%s\n' '' 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S x 0-0-0-0-0-0-0-0-0-0-0-40-2-6-S |
    "$engine" eval --weights starting)
is 'eval ends with 1 after a bad line' $? 1
is 'eval answers every line' "$(sed 's/^error: .*/error/' <<<"$said")" $'error\n0\nerror\n-400'
fails 'eval without weights' 2 'weights is missing' "$engine" eval
fails 'eval with a wrong file' 1 'no weights file of Kroo' "$engine" eval --weights "$0"
fails 'eval with unknown rules' 2 'chess' "$engine" eval --weights starting --rules chess
is 'bench is the same twice' "$("$engine" bench --nodes 2000 --json | cut -d, -f1-5)" \
    "$("$engine" bench --nodes 2000 --json | cut -d, -f1-5)"
done_testing
