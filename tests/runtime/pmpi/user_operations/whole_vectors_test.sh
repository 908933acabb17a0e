#!/bin/bash
# whole_vectors_test.sh PRELOAD PROGRAM LIBRARY RANKS
# User-defined operations on predefined datatypes get whole vectors, and are served nevertheless;
# with TORC_USER_OPERATIONS=parts they get parts.
set -u
source tests/checks.sh
export TORC_STATS=$work/table TORC_LIBRARY=$3
preload=$1 program=$2 ranks=$4
preloaded "$ranks" "$program" || fail "a vector is cut"
for function in MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init MPI_Reduce MPI_Scan MPI_Exscan; do
  grep -q "^  $function  *.*\.torc .*, user's\$" "$work/table" || fail "$function was not served"
done
preloaded "$ranks" TORC_TUNE=1 "$program" || fail "a vector is cut by what TORC_TUNE tries"
preloaded "$ranks" TORC_USER_OPERATIONS=parts "$program" cut || fail "no vector is cut"
