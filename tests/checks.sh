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
  for file in "$work"/{stdout,stderr,table}; do
    [[ ! -s $file ]] || sed "s|^|  ${file##*/} > |" "$file"
  done
  failures=$((failures + 1))
}

# preloaded RANKS [NAME=VALUE...] [--rank-env=...] PROGRAM [ARGUMENT...]: the program under the library
# $preload (none: plain), with these variables. What it says is in stdout and stderr of $work, how it
# ends in $status; $work/table is for TORC_STATS, and has a row in one line.
preloaded() {
  local ranks=$1 variables=() options=(${preload:+"--preload=$preload"})
  shift
  while [[ $1 == *=* ]]; do
    if [[ $1 == --* ]]; then options+=("$1"); else variables+=("$1"); fi
    shift
  done
  rm -f "$work/table"
  status=0
  env "${variables[@]}" tools/mpi_test.sh "${options[@]}" "$ranks" "$@" \
    >"$work/stdout" 2>"$work/stderr" || status=$?
  [[ ! -f $work/table ]] || sed -z -i 's/\n   \+/  /g' "$work/table"
  return "$status"
}

# within SECONDS JOB...: a job that has no longer limit, which must not run into it.
within() {
  TEST_TIMEOUT=$(($1 + 5)) "${@:2}"
  [[ $status -ne 124 && $status -ne 137 ]] || fail "hangs"
  return "$status"
}

expectQuiet() {
  ! grep -hE '^torc(:| statistics)' "$work"/std{out,err} || fail "torc has something to say"
}

# The rows of calls in the table that torc has served, and those that it has not.
servedRows() {
  sed -n '/^Calls served by torc/,/^$/p' "$work/table"
}
otherRows() {
  sed '/^Calls served by torc/,/^$/d' "$work/table"
}

# expectServed FUNCTION...: also where it is an extension of Open MPI, as MPIX_Allreduce_init.
expectServed() {
  local function
  for function; do
    servedRows | grep -qE "^  MPIX?_${function#MPI_} " || fail "$function was not served"
  done
}

# about WHAT NUMBER EXPECTED TOLERANCE, which is relative.
about() {
  awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { exit !(a > b * (1 - t) && a < b * (1 + t)) }' ||
    fail "$1: $2, not about $3"
}

# copyLibrary FROM TO: a copy that may be altered.
copyLibrary() {
  rm -rf "$2"
  cp -rL "$1" "$2"
  chmod -R u+w "$2"
}

endTest() {
  local status=$?
  chmod -R u+rwx "$work"
  rm -rf "$work"
  [[ $failures -eq 0 ]] || status=1
  exit "$status"
}
trap endTest EXIT
