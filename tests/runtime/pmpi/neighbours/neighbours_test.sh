#!/bin/bash
# neighbours_test.sh PRELOAD PROGRAM LIBRARY RANKS SLOW FAST
# Runs halo exchanges plain and preloaded: the results are right, torc prints nothing, and has
# served every one of them on the torus's grid; on another grid they fall back to MPI.
set -u
source tests/checks.sh
export TORC_STATS=$work/table TORC_LIBRARY=$3
torc=$1 program=$2 library=$3 ranks=$4
grid=("$5" "$6")

# run SLOW FAST [NAME=VALUE...]
run() {
  preload='' preloaded "$ranks" "$program" "$1" "$2" || fail "the program fails without torc"
  preload=$torc preloaded "$ranks" "${@:3}" "$program" "$1" "$2" || fail "the program fails with torc"
  expectQuiet
}

run "${grid[@]}"
functions=(allgather allgatherv)
# Of twins, along a ring of two, all-to-alls are MPI's, too.
((grid[0] == 2 || grid[1] == 2)) || functions+=(alltoall alltoallv alltoallw)
for function in "${functions[@]}"; do
  for name in "Neighbor_$function" "Ineighbor_$function" "Neighbor_${function}_init"; do
    expectServed "MPI_$name"
    ! otherRows | grep -qE "^  MPIX?_$name " || fail "MPI had $name"
  done
done

# What cannot be served for its file, or is not to be, is MPI's on the duplicate, which has the grid too.
run "${grid[@]}" TORC_COLLECTIVES=allreduce
! servedRows | grep -q "^  MPI_I*[Nn]eighbor" || fail "served although switched off"
run "${grid[1]}" "${grid[0]}"
if [[ ${grid[0]} != "${grid[1]}" ]]; then
  otherRows | grep -q 'MPI_Neighbor_alltoall .*Cartesian grid differs from the torus' ||
    fail "nothing says why another grid is MPI's"
fi

# Of files that are torn, likewise: calls under way go on in MPI, on the duplicate, by its grid.
copyLibrary "$library" "$work/torn"
for file in "$work"/torn/files/neighbor_*; do : >"$file"; done
preload=$torc preloaded "$ranks" TORC_LIBRARY="$work/torn" "$program" "${grid[@]}" || fail "torn files"
grep -q '^torc: warning: .*neighbor_' "$work/stderr" || fail "torn files: no warning"
