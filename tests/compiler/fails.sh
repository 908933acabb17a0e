#!/bin/bash
# fails.sh CODE COMMAND...: passes if COMMAND exits with CODE, prints one line of at most 100 columns on
# stderr (a path counts as nothing, $COLUMNS_EXPECTED allows more) and nothing on stdout. That line goes on to stdout.
code=$1
shift
out=$(mktemp)
trap 'rm -f "$out"' EXIT
error=$("$@" 2>&1 >"$out")
status=$?
echo "$error"
lines=$(echo "$error" | wc -l)
[[ $status -eq $code ]] || { echo "exit status $status, not $code: $*"; exit 1; }
[[ $lines -eq ${LINES_EXPECTED:-1} ]] || { echo "$lines lines on stderr: $*"; exit 1; }
columns=$(head -n 1 <<<"$error" | sed -E "s#(^|[ '(])/[^ ':]*##g" | wc -L)
[[ $columns -le ${COLUMNS_EXPECTED:-100} ]] || { echo "$columns columns: $*"; exit 1; }
[[ ! -s $out ]] || { echo "stdout is not empty: $*"; exit 1; }
