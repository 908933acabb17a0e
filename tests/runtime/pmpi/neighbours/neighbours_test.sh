#!/bin/bash
# neighbours_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY RANKS SLOW FAST
# Runs halo exchanges plain and preloaded: the results are right, torc has nothing to say, and has served
# every one of them on the torus's grid; on another grid MPI has.
set -u
mpi_test=$1
preload=$2
program=$3
library=$4
ranks=$5
grid=("$6" "$7")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "neighbours_test: $*"
  exit 1
}

# run SLOW FAST [NAME=VALUE...]
run() {
  "$mpi_test" "$ranks" "$program" "$1" "$2" >"$work/output" 2>&1 ||
    fail "the program fails without torc: $(cat "$work/output")"
  env TORC_LIBRARY="$library" TORC_STATS="$work/statistics" "${@:3}" \
    "$mpi_test" "--preload=$preload" "$ranks" "$program" "$1" "$2" >"$work/output" 2>&1 ||
    fail "the program fails with torc: $(cat "$work/output")"
  ! grep -q '^torc: ' "$work/output" || fail "torc had something to say: $(cat "$work/output")"
  served=$(sed -n '/^Calls served by torc/,/^$/p' "$work/statistics")
  others=$(sed '/^Calls served by torc/,/^$/d' "$work/statistics")
}

run "${grid[@]}"
functions=(allgather allgatherv)
# Of twins, along a ring of two, all-to-alls are MPI's, too.
((grid[0] == 2 || grid[1] == 2)) || functions+=(alltoall alltoallv alltoallw)
for function in "${functions[@]}"; do
  for name in "Neighbor_$function" "Ineighbor_$function" "Neighbor_${function}_init"; do
    grep -qE "^  MPIX?_$name " <<<"$served" || fail "$name was not served: $(cat "$work/statistics")"
    ! grep -qE "^  MPIX?_$name " <<<"$others" || fail "MPI had $name: $(cat "$work/statistics")"
  done
done

# What cannot be served for its file, or is not to be, is MPI's on the duplicate, which has the grid too.
run "${grid[@]}" TORC_COLLECTIVES=allreduce
! grep -q "^  MPI_I*[Nn]eighbor" <<<"$served" || fail "served although switched off"
run "${grid[1]}" "${grid[0]}"
if [[ ${grid[0]} != "${grid[1]}" ]]; then
  grep -q 'MPI_Neighbor_alltoall .*neighbours that are not those of the torus, or' <<<"$others" ||
    fail "nothing says why another grid is MPI's: $others"
fi

# Of files that are torn, likewise: calls under way go on in MPI, on the duplicate, by its grid.
cp -rL "$library" "$work/torn"
chmod -R u+w "$work/torn"
for file in "$work"/torn/files/neighbor_*; do : >"$file"; done
TORC_LIBRARY="$work/torn" "$mpi_test" "--preload=$preload" "$ranks" "$program" "${grid[@]}" \
  >"$work/output" 2>&1 || fail "torn files: $(cat "$work/output")"
grep -q '^torc: warning: .*neighbor_' "$work/output" || fail "torn files: $(cat "$work/output")"
