#!/bin/bash
# ends_test.sh PRELOAD PROGRAM LIBRARY
# A program that ends without MPI_Finalize, by a signal, late, or in a child process, ends with torc as
# without: the same lines, the same exit status, no hang; the statistics are there at most once.
set -u
preload=$PWD/$1
program=$PWD/$2
library=$PWD/$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset XML_OUTPUT_FILE TEST_PREMATURE_EXIT_FILE
# Without MPI_Finalize MPI's own threads stay, of which ThreadSanitizer has a status of its own.
export TSAN_OPTIONS="${TSAN_OPTIONS-}:report_thread_leaks=0"
failures=0

fail() {
  echo "ends_test: $kind: $how: $*"
  sed 's/^/  | /' "$work/output"
  failures=$((failures + 1))
}

# job RANKS [NAME=VALUE...]: the program.
job() {
  local ranks=$1 variables=() assignment
  shift
  for assignment in "$@"; do variables+=(-genv "${assignment%%=*}" "${assignment#*=}"); done
  status=0
  timeout --kill-after=3 30 tools/mpiexec.sh "${variables[@]}" -n "$ranks" "$program" "$kind" \
    </dev/null >"$work/output" 2>&1 || status=$?
  grep '^rank' "$work/output" | sort >"$work/lines"
}

# plain RANKS
plain() {
  how=plain
  job "$1"
  [[ $status -ne 124 && -s $work/lines ]] || fail "no case"
  mv "$work/lines" "$work/wanted"
  wanted=$status
}

# endsSoPlain STATUS: whether some plain run has it. On a busy machine the launcher's differs from run to
# run.
endsSoPlain() {
  local status work
  work=$(mktemp -d)
  for _ in 1 2 3 4 5 6 7 8; do
    job 2
    [[ $status -ne $1 ]] || break
  done
  rm -rf "$work"
  [[ $status -eq $1 ]]
}

# served HOW RANKS [NAME=VALUE...]
served() {
  how=$1
  rm -f "$work/table" "$work/trace"
  job "$2" LD_PRELOAD="$preload" TORC_LIBRARY="$library" TORC_STATS="$work/table" "${@:3}"
  cmp -s "$work/lines" "$work/wanted" || fail "other lines"
  # Where ranks do not end all at once, MPICH's launcher kills the last ones.
  [[ $status -eq $wanted || ($how == dedicated && $status -eq 9) ]] || endsSoPlain "$status" ||
    fail "exit status $status, without torc $wanted"
  ! grep -q '^torc' "$work/output" || fail "torc has something to say"
  case $kind in
    atexit | destructor | fork) [[ $(grep -c '^torc statistics' "$work/table") -eq 1 ]] || fail "the table" ;;
    *) [[ ! -e $work/table ]] || fail "a table" ;;
  esac
}

for kind in exit return quick_exit _exit abort terminate SIGTERM SIGSEGV MPI_Abort other_thread under_way \
  operation atexit destructor fork; do
  # A job of Open MPI takes a second.
  [[ ${TEST_MPI-} != openmpi || $kind =~ ^(exit|terminate|under_way|destructor|fork)$ ]] || continue
  plain 2
  served thread 2 TORC_PROGRESS=thread
  case $kind in
    exit | under_way | fork | destructor)
      served traced 2 TORC_TRACE="$work/trace"
      served dedicated 3 TORC_DEDICATED==1
      ;;
  esac
done

[[ $failures -eq 0 ]] || echo "ends_test: $failures failures"
exit "$((failures > 0))"
