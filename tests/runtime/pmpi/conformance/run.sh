#!/bin/bash
# Runs a program that knows nothing of torc under libtorc_pmpi.so:
#   run.sh LIBTORC_PMPI LIBRARY PROGRAM RANKS SERVED [ARGUMENT...]
# Fails when a rank fails or hangs, when torc warns, or when one of the functions of SERVED (separated
# by commas; none: -) was never served by torc.
set -euo pipefail

preload=$PWD/$1
library=$PWD/$2
program=$PWD/$3
ranks=$4
served=${5#-}
shift 5

# Ranks must not write one result file at the same time; Bazel makes one from the log.
unset XML_OUTPUT_FILE TEST_PREMATURE_EXIT_FILE

scratch=$TEST_TMPDIR
limit=$((TEST_TIMEOUT - 5))
status=0
timeout --kill-after=3 "$limit" tools/mpiexec.sh -genv LD_PRELOAD "$preload" \
  -genv TORC_LIBRARY "$library" -genv TORC_STATS "$scratch/statistics" \
  -n "$ranks" "$program" "$@" </dev/null >"$scratch/output" 2>&1 || status=$?
cat "$scratch/output"
if [[ $status -eq 124 || $status -eq 137 ]]; then
  echo "$program on $ranks ranks still ran after $limit seconds"
fi
[[ $status -eq 0 ]] || exit "$status"

if grep -q '^torc: warning' "$scratch/output"; then
  echo "torc warns in a job in which all is well"
  exit 1
fi
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
