#!/bin/bash
# exchanges_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY RANKS COLUMNS
# Runs the exchanges plain and preloaded: the results are the same, torc has nothing to say, and has
# served every all-to-all. With TORC_LIMITS=scratch=0 those that need no scratch.
set -u
mpi_test=$1
preload=$2
program=$3
library=$4
ranks=$5
columns=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "exchanges_test: $*"
  exit 1
}

"$mpi_test" "$ranks" "$program" "$columns" >"$work/plain" ||
  fail "the program fails without torc: $(cat "$work/plain")"
TORC_LIBRARY=$library TORC_STATS=$work/statistics \
  "$mpi_test" "--preload=$preload" "$ranks" "$program" "$columns" \
  >"$work/preloaded" 2>"$work/stderr" ||
  fail "the program fails with torc: $(cat "$work/preloaded" "$work/stderr")"
[[ $(wc -l <"$work/plain") -eq 18 ]] || fail "results are missing: $(cat "$work/plain")"
cmp "$work/plain" "$work/preloaded" || fail "with torc: $(cat "$work/preloaded")"
[[ ! -s $work/stderr ]] || fail "torc had something to say: $(cat "$work/stderr")"

served=$(sed -n '/^Calls served by torc/,/^$/p' "$work/statistics")
others=$(sed '/^Calls served by torc/,/^$/d' "$work/statistics")
for function in MPI_Alltoall MPI_Alltoallv MPI_Ialltoallv MPI_Alltoallw MPI_Ialltoallw; do
  grep -q "^  $function " <<<"$served" || fail "$function was not served: $(cat "$work/statistics")"
  ! grep -q "^  $function " <<<"$others" || fail "MPI had $function: $(cat "$work/statistics")"
done

# What takes scratch is MPI's where it may have none; a direct all-to-all takes none.
TORC_LIBRARY=$library TORC_STATS=$work/statistics TORC_LIMITS=scratch=0 \
  "$mpi_test" "--preload=$preload" "$ranks" "$program" "$columns" \
  >"$work/preloaded" 2>"$work/stderr" ||
  fail "the program fails with TORC_LIMITS=scratch=0: $(cat "$work/preloaded" "$work/stderr")"
cmp "$work/plain" "$work/preloaded" || fail "with TORC_LIMITS=scratch=0: $(cat "$work/preloaded")"
grep -q "MPI_Allreduce .* its schedule takes more memory than TORC_LIMITS=scratch\$" "$work/statistics" ||
  fail "TORC_LIMITS=scratch=0 is no limit: $(cat "$work/statistics")"
sed -n '/^Calls served by torc/,/^$/p' "$work/statistics" | grep -q "^  MPI_Alltoallv " ||
  fail "MPI_Alltoallv was not served with TORC_LIMITS=scratch=0: $(cat "$work/statistics")"
