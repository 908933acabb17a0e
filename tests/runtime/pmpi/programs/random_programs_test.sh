#!/bin/bash
# random_programs_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY RANKS SEED PROGRAMS [OPTION...]
# Runs random programs plain and preloaded, with which the results must be the same, to the byte, and
# torc must have nothing to say; then torc must have served all forms of some of their calls, but for
# functions like SERVED_NOT.
set -u
mpi_test=$1
preload=$2
program=$3
library=$4
ranks=$5
arguments=(--seed "$6" --programs "$7" "${@:8}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "random_programs_test: $*"
  echo "again: $program ${arguments[*]} on $ranks ranks; --first P --programs 1 is program P alone"
  exit 1
}

# Two runs share the time that the test has.
export TEST_TIMEOUT=$((${TEST_TIMEOUT:-300} / 2))
"$mpi_test" "$ranks" "$program" "${arguments[@]}" >"$work/plain" ||
  fail "the programs fail without torc: $(cat "$work/plain")"
TORC_LIBRARY=$library TORC_STATS=$work/statistics \
  "$mpi_test" "--preload=$preload" "$ranks" "$program" "${arguments[@]}" \
  >"$work/preloaded" 2>"$work/stderr" ||
  fail "the programs fail with torc: $(cat "$work/preloaded" "$work/stderr")"
cat "$work/plain"
cmp "$work/plain" "$work/preloaded" || fail "with torc: $(cat "$work/preloaded")"
[[ ! -s $work/stderr ]] || fail "torc had something to say: $(cat "$work/stderr")"

served=$(sed -n '/^Calls served by torc/,/^$/p' "$work/statistics")
for function in MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init MPI_Reduce_scatter MPI_Allgatherv \
  MPI_Bcast MPI_Reduce MPI_Gather MPI_Scatter MPI_Alltoall MPI_Alltoallv MPI_Alltoallw; do
  [[ -z ${SERVED_NOT:-} || $function != $SERVED_NOT ]] || continue
  grep -q "^  $function " <<<"$served" ||
    fail "$function was never served: $(cat "$work/statistics")"
done
head -n 1 <<<"$served"
