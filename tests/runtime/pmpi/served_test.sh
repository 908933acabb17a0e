#!/bin/bash
# served_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY RANKS FUNCTION...
# Runs the program plain and preloaded, in which torc must have nothing to say; then its statistics
# must have each of the functions as served. A program .f90 is compiled first.
set -u
mpi_test=$1
preload=$2
program=$3
library=$4
ranks=$5
shift 5
failures=0
fail() {
  echo "served_test: $*"
  failures=$((failures + 1))
}

if [[ $program == *.f90 ]]; then
  compiler=$(command -v "mpif90.${TEST_MPI:-mpich}") || {
    echo "served_test: no mpif90.${TEST_MPI:-mpich} here to compile $program; tools/setup.sh has its package"
    exit 1
  }
  if [[ ${TEST_MPI-} == openmpi ]]; then
    # Open MPI 4.1 has persistent collectives as an extension, with modules of its own.
    sed 's/MPI_Allreduce_init/MPIX_Allreduce_init/I; s/^ *use \(mpi[a-z0-9_]*\)$/use \1; use \1_ext/' \
      "$program" >"$TEST_TMPDIR/program.f90"
    program=$TEST_TMPDIR/program.f90
  fi
  link=()
  if [[ ${TEST_MPI-} == openmpi ]]; then
    # Debian's mpif90.openmpi finds the libmpi.so of the MPI that has the plain name.
    read -ra link <<<"$(mpicc.openmpi --showme:link)"
  fi
  "$compiler" "${link[@]}" -o "$TEST_TMPDIR/program" -J "$TEST_TMPDIR" "$program" || fail "cannot compile $program"
  program=$TEST_TMPDIR/program
fi

statistics=$TEST_TMPDIR/statistics.txt
# Open MPI 4.1.4's own nonblocking collectives crash when their communicator is freed.
if [[ ${TEST_MPI-} != openmpi ]]; then
  "$mpi_test" "$ranks" "$program" || fail "the program fails without torc"
fi
TORC_LIBRARY=$library TORC_STRICT=1 TORC_STATS=$statistics \
  "$mpi_test" "--preload=$preload" "$ranks" "$program" 2>"$TEST_TMPDIR/stderr" ||
  fail "the program fails with torc"
[[ ! -s $TEST_TMPDIR/stderr ]] || fail "torc had something to say: $(cat "$TEST_TMPDIR/stderr")"
for function in "$@"; do
  [[ ${TEST_MPI-} != openmpi || $function != *_init ]] || function=MPIX_${function#MPI_}
  grep -q "^  $function  *.*\.torc\$" "$statistics" || fail "$function was not served"
done
! grep "an operation without schedules" "$statistics" || fail "an operation was MPI's"
[[ $failures -eq 0 ]] || cat "$statistics"
exit "$((failures > 0))"
