#!/bin/bash
# served_test.sh PRELOAD PROGRAM LIBRARY RANKS FUNCTION...
# Runs the program plain and preloaded; torc must print nothing, and then its statistics must have
# each of the functions as served. A program .f90 is compiled first.
set -u
source tests/checks.sh
preload=$1 program=$2 library=$3 ranks=$4
shift 4

if [[ $program == *.f90 ]]; then
  compiler=$(command -v "mpif90.${TEST_MPI:-mpich}") || {
    echo "served_test: no mpif90.${TEST_MPI:-mpich} here to compile $program; tools/setup.sh has its package"
    exit 1
  }
  if [[ ${TEST_MPI-} == openmpi ]]; then
    # Open MPI 4.1 has persistent collectives as an extension, with modules of its own.
    sed 's/MPI_Allreduce_init/MPIX_Allreduce_init/I; s/^ *use \(mpi[a-z0-9_]*\)$/use \1; use \1_ext/' \
      "$program" >"$work/program.f90"
    program=$work/program.f90
  fi
  link=()
  if [[ ${TEST_MPI-} == openmpi ]]; then
    # Debian's mpif90.openmpi finds the libmpi.so of the MPI that has the plain name.
    read -ra link <<<"$(mpicc.openmpi --showme:link)"
  fi
  "$compiler" "${link[@]}" -o "$work/program" -J "$TEST_TMPDIR" "$program" || fail "cannot compile $program"
  program=$work/program
fi

statistics=$work/statistics.txt
# Open MPI 4.1.4's own nonblocking collectives crash when their communicator is freed.
if [[ ${TEST_MPI-} != openmpi ]]; then
  tools/mpi_test.sh "$ranks" "$program" || fail "the program fails without torc"
fi
TORC_LIBRARY=$library TORC_STRICT=1 TORC_STATS=$statistics \
  tools/mpi_test.sh "--preload=$preload" "$ranks" "$program" 2>"$work/stderr" ||
  fail "the program fails with torc"
[[ ! -s $work/stderr ]] || fail "torc had something to say: $(cat "$work/stderr")"
for function in "$@"; do
  [[ ${TEST_MPI-} != openmpi || $function != *_init ]] || function=MPIX_${function#MPI_}
  grep -q "^  $function  *.*\.torc\$" "$statistics" || fail "$function was not served"
done
! grep "an operation without schedules" "$statistics" || fail "an operation was MPI's"
[[ $failures -eq 0 ]] || cat "$statistics"
