#!/bin/sh
# Runs test programs that speak TAP and adds them up: tests/run.sh PROGRAM...
# Prints the failures with what led to them (of much, its end), a line for each program, and last `N passed, N failed`.
# A program that dies, prints no test, or exits non-zero without a `not ok` counts as one failure.
set -u
passed=0 failed=0
log=$(mktemp "${TMPDIR:-/tmp}/kroo-tests.XXXXXX")
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
for program in "$@"; do
    CMOCKA_MESSAGE_OUTPUT=TAP "$program" >"$log" 2>&1
    status=$?
    ok=$(grep -c '^ok ' "$log")
    bad=$(grep '^not ok ' "$log" | grep -vc ' # SKIP') # what cmocka calls a skipped test
    if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$ok" -eq 0 ]; }; then
        bad=1
    fi
    passed=$((passed + ok))
    failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then
        printf '%s: %d passed, %d FAILED (exit status %d)\n' "$program" "$ok" "$bad" "$status"
        said=$(grep -vc '^ok ' "$log")
        [ "$said" -le 60 ] || grep -A 3 '^not ok ' "$log" | head -n 40 | sed 's/^/    /'
        grep -v '^ok ' "$log" | tail -n 60 | sed 's/^/    /'
    else
        printf '%s: %d passed\n' "$program" "$ok"
    fi
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
