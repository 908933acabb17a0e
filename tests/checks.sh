# Sourced by tests that are scripts: $work is the test's own folder, removed at its end.
#   fail TEXT...  says what is wrong (of $case, where that is set), with what the last program has said,
#                 and goes on; the test's exit status is then 1
work=$(mktemp -d)
failures=0
# Ranks must not write one result file at the same time; Bazel makes one from the log.
unset XML_OUTPUT_FILE TEST_PREMATURE_EXIT_FILE

fail() {
  local file
  echo "$(basename "$0" .sh): ${case:+$case: }$*"
  for file in "${output-}" "$work"/{output,stdout,stderr,table}; do
    [[ ! -s $file ]] || sed "s|^|  ${file##*/} > |" "$file"
  done
  failures=$((failures + 1))
}

# preloaded RANKS [NAME=VALUE...] [--rank-env=...] PROGRAM [ARGUMENT...]: the program under the library
# $preload, with these variables. What it says is in stdout and stderr of $work; $work/table is for
# TORC_STATS.
preloaded() {
  local ranks=$1 variables=() options=("--preload=$preload")
  shift
  while [[ $1 == *=* ]]; do
    if [[ $1 == --* ]]; then options+=("$1"); else variables+=("$1"); fi
    shift
  done
  rm -f "$work/table"
  env "${variables[@]}" tools/mpi_test.sh "${options[@]}" "$ranks" "$@" \
    >"$work/stdout" 2>"$work/stderr"
}

# The rows of calls in the table that torc has served, and those that it has not.
servedRows() {
  sed -n '/^Calls served by torc/,/^$/p' "$work/table"
}
otherRows() {
  sed '/^Calls served by torc/,/^$/d' "$work/table"
}

endTest() {
  local status=$?
  chmod -R u+rwx "$work"
  rm -rf "$work"
  [[ $failures -eq 0 ]] || status=1
  exit "$status"
}
trap endTest EXIT
