#!/bin/bash
# served_test.sh PRELOAD PROGRAM.f90 LIBRARY RANKS FUNCTION...
# Compiles the program, and runs it plain and preloaded; torc must print nothing, and then its
# statistics must have each of the functions as served.
set -u
source tests/checks.sh
mpi=${TEST_MPI:-mpich} link=() source=$2 program=$work/program

command -v "mpif90.$mpi" || fail "no mpif90.$mpi here; tools/setup.sh has its package"
if [[ $mpi == openmpi ]]; then
  # Open MPI 4.1 has persistent collectives as an extension, with modules of its own. Debian's
  # mpif90.openmpi finds the libmpi.so of the MPI that has the plain name.
  sed 's/MPI_Allreduce_init/MPIX_Allreduce_init/I; s/^ *use \(mpi[a-z0-9_]*\)$/use \1; use \1_ext/' \
    "$2" >"$work/program.f90"
  source=$work/program.f90
  read -ra link <<<"$(mpicc.openmpi --showme:link)"
fi
"mpif90.$mpi" "${link[@]}" -o "$program" -J "$TEST_TMPDIR" "$source" || fail "cannot compile $source"

# Open MPI 4.1.4's own nonblocking collectives crash when their communicator is freed.
[[ $mpi == openmpi ]] || preload='' preloaded "$4" "$program" || fail "the program fails without torc"
preload=$1 preloaded "$4" TORC_LIBRARY="$3" TORC_STRICT=1 TORC_STATS="$work/table" "$program" ||
  fail "the program fails with torc"
[[ ! -s $work/stderr ]] || fail "torc had something to say"
expectServed "${@:5}"
! grep "an operation without schedules" "$work/table" || fail "an operation was MPI's"
