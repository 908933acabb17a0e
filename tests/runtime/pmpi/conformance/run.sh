#!/bin/bash
# Runs a program without knowledge of torc under libtorc_pmpi.so:
#   run.sh LIBTORC_PMPI LIBRARY PROGRAM RANKS SERVED [ARGUMENT...]
# Fails when a rank fails or hangs, when torc warns, or when one of the functions of SERVED (separated
# by commas; none: -) was never served by torc.
set -euo pipefail

preload=$1 library=$2 program=$3 ranks=$4 served=${5#-}
shift 5

scratch=$TEST_TMPDIR
status=0
TORC_LIBRARY=$PWD/$library TORC_STATS=$scratch/statistics tools/mpi_test.sh --preload="$preload" \
  "$ranks" "$program" "$@" >"$scratch/output" 2>&1 || status=$?
cat "$scratch/output"
[[ $status -eq 0 ]] || exit "$status"

if grep -q '^torc: warning' "$scratch/output"; then
  echo "torc warns in a job in which all is well"
  exit 1
fi
[[ -z ${TESTBRIDGE_TEST_ONLY-} ]] || exit 0  # one test does not make all calls
served_rows=$(sed -n '/^Calls served by torc/,/^$/p' "$scratch/statistics")
for function in ${served//,/ }; do
  # Open MPI 4.1 has persistent collectives as an extension.
  [[ ${TEST_MPI-} != openmpi || $function != *_init ]] || function=MPIX_${function#MPI_}
  if ! grep -q "^  $function " <<<"$served_rows"; then
    echo "torc served no $function"
    status=1
  fi
done
[[ $status -eq 0 ]] || cat "$scratch/statistics"
exit "$status"
