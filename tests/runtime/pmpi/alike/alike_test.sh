#!/bin/bash
# alike_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY RANKS SERVED [NAME=VALUE...] [ARGUMENT...]
# Runs the program without torc and with it, under these variables: it must say the same, and torc
# nothing. The collective SERVED must be served.
set -u
mpi_test=$1
preload=$2
program=$3
library=$4
ranks=$5
served=$6
shift 6
work=$TEST_TMPDIR

variables=()
while [[ ${1-} == *=* ]]; do
  variables+=("$1")
  shift
done

# Between processes of a host Open MPI writes a message that is too long behind its buffer, else.
export OMPI_MCA_btl_vader_single_copy_mechanism=none

if ! env "${variables[@]}" "$mpi_test" "$ranks" "$program" "$@" >"$work/plain"; then
  echo "alike_test: the program fails without torc"
  cat "$work/plain"
  exit 1
fi
if ! env "${variables[@]}" TORC_LIBRARY="$library" TORC_STRICT=1 TORC_STATS="$work/statistics" \
  "$mpi_test" "--preload=$preload" "$ranks" "$program" "$@" >"$work/served" 2>"$work/stderr"; then
  echo "alike_test: the program fails with torc"
  cat "$work/served" "$work/stderr"
  exit 1
fi
failures=0
if ! diff "$work/plain" "$work/served"; then
  echo "alike_test: with torc (>) it says something else than without (<)"
  failures=1
fi
if grep '^torc' "$work/stderr"; then
  echo "alike_test: torc had something to say"
  failures=1
fi
if ! grep -q "^  $served .*\.torc\$" "$work/statistics"; then
  echo "alike_test: $served was not served"
  cat "$work/statistics"
  failures=1
fi
exit "$failures"
