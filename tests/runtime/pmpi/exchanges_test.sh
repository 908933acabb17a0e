#!/bin/bash
# exchanges_test.sh PRELOAD PROGRAM LIBRARY RANKS COLUMNS
# Runs the exchanges plain and preloaded: the results are the same, torc has nothing to say, and has
# served every all-to-all. With TORC_LIMITS=scratch=0 those that need no scratch.
set -u
source tests/checks.sh
export TORC_STATS=$work/table
preload=$1 program=$2 library=$3 ranks=$4 columns=$5
export TORC_LIBRARY=$library
tools/mpi_test.sh "$ranks" "$program" "$columns" >"$work/plain" || fail "the program fails without torc"
[[ $(wc -l <"$work/plain") -eq 18 ]] || fail "results are missing: $(cat "$work/plain")"
preloaded "$ranks" "$program" "$columns" || fail "the program fails with torc"
cmp "$work/plain" "$work/stdout" || fail "other results with torc"
[[ ! -s $work/stderr ]] || fail "torc had something to say"
for function in MPI_Alltoall MPI_Alltoallv MPI_Ialltoallv MPI_Alltoallw MPI_Ialltoallw; do
  servedRows | grep -q "^  $function " || fail "$function was not served"
  ! otherRows | grep -q "^  $function " || fail "MPI had $function"
done

# What takes scratch is MPI's where it may have none; a direct all-to-all takes none.
preloaded "$ranks" TORC_LIMITS=scratch=0 "$program" "$columns" || fail "scratch=0: the program fails"
cmp "$work/plain" "$work/stdout" || fail "scratch=0: other results"
grep -q "MPI_Allreduce .* its schedule takes more memory than TORC_LIMITS=scratch\$" "$work/table" ||
  fail "TORC_LIMITS=scratch=0 is no limit"
servedRows | grep -q "^  MPI_Alltoallv " || fail "scratch=0: MPI_Alltoallv was not served"
