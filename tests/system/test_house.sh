#!/usr/bin/env bash
# The walls of the house: which folder includes what, what the engine's library needs, that each folder says what lives in
# it and what it may use, and the rules that a reader can check by eye and forgets to.
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1
folders=$(ls -d */ | tr -d / | grep -vxE 'build|var')

# includes FILE...: `FILE HEADER` for each include that names a room or a library.
includes() { grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+' "$@" /dev/null | sed -E 's/:[^<"]*[<"]/ /'; }
sources() { find "$@" -name '*.[ch]' | sort; }
# reaches ROOM [ALLOWED]: includes of rooms that ROOM has no business with. ALLOWED is a pattern of lines `FILE HEADER`.
reaches() {
    includes $(sources "$1") | grep -E " (engine|proto|sql|eval|worker|coordinator|web|tests)/" | grep -vE " $1/" |
        grep -vE "${2:-^$}"
}
# known HEADERS ALLOWED: files outside of ALLOWED (a pattern of paths) that include one of HEADERS.
known() { includes $(sources engine proto sql eval worker coordinator web) | grep -E " ($1)" | grep -vE "^($2)"; }

is "the engine uses no other room" "$(reaches engine)" ""
is "the web engine uses the engine" "$(reaches web '^web/engine/.* engine/')" ""
is "proto uses no other room, but for weights as text" "$(reaches proto '^proto/weights_(json|text)\.[ch] engine/weights')" ""
is "sql uses no other room, but for the server extension" "$(reaches sql '^sql/extension/.* engine/')" ""
is "the trainer stands on the ground floor" "$(reaches eval ' (engine|proto|sql)/')" ""
is "a worker on engine and proto" "$(reaches worker ' (engine|proto)/')" ""
is "the coordinator on the ground floor" "$(reaches coordinator ' (engine|proto|sql)/')" ""

is "only proto knows ZeroMQ and protobuf" "$(known 'zmq|protobuf-c/|proto/kroo\.pb-c' proto/)" ""
is "only sql knows libpq" "$(known 'libpq' sql/)" ""
is "only sql/extension knows the server" "$(known 'postgres\.h|fmgr\.h|catalog/' sql/extension/)" ""
is "only the trainer knows BLAS, and the rating fit LAPACKE" "$(known 'cblas|lapacke|openblas' 'eval/|coordinator/rating(_fit)?\.c lapacke')" ""
is "only proto and the trainer know libsodium" "$(known 'sodium' 'proto/|eval/')" ""
is "only the coordinator speaks HTTP" "$(known 'microhttpd' coordinator/)" ""
is "of the engine only the executable reads JSON" "$(known 'jansson' 'engine/cli/|proto/|eval/|coordinator/|sql/')" ""
is "the decision modules know no socket, database or clock" "$(includes coordinator/{lease,lease_size,lease_twin,schedule,tally,sprt,spsa,control,allowlist,ration,fleet,power,pool,evenness,fitness,repeat}.[ch] |
    grep -E ' (sys/socket|netinet|poll|time\.h|sys/time|sql/store_|sql/migrate|proto/(socket|router|dealer|progress))')" ""
alone() {
    echo 'int main(void) { return 0; }' >"$work/main.c"
    "${CC:-cc}" "$work/main.c" -Wl,--whole-archive "$build/libkroo-engine.a" -Wl,--no-whole-archive -pthread -lm -o "$work/alone"
}
if nm "$build/libkroo-engine.a" 2>/dev/null | grep -qE '__(asan|tsan|ubsan)'; then
    echo "# this build is under a sanitizer"
else
    ok "the engine's library links with libc alone" alone
fi
is "and has no socket, no log, no environment" "$(nm -u "$build/libkroo-engine.a" 2>/dev/null | grep -wE 'socket|connect|getenv|syslog|vfprintf|stderr' | sort -u)" ""

# --- what each folder says of itself ---
for folder in $folders; do
    ok "$folder/ has a README" test -s "$folder/README.md"
    ok "which says what it may use" grep -q '^\*May use:\*' "$folder/README.md"
    ok "README.md names it" grep -qF "[$folder/]($folder/README.md)" README.md
done

# --- what a reader checks by eye ---
texts=$(find $folders .ci Makefile -type f -regextype posix-extended -regex '.*\.(c|h|sh|sql|py|js|mjs|css|html|java|awk|proto)|.*/run|Makefile' \
    -not -path '*/node_modules/*' -not -path 'tests/vectors/*')
is "no file has more than 900 lines" "$(wc -l $texts | awk '$2 != "total" && $1 > 900')" ""
marks='TO''DO|FIX''ME|HA''CK|XX''X'
is "nothing is put off" "$(grep -nwE "$marks" $texts | grep -v 'mktemp')" ""
done_testing
