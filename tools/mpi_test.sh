#!/bin/bash
# Runs one MPI test under Bazel:
#   mpi_test.sh [--preload=LIBRARY] [--rank-env=RANK:NAME=VALUE]... RANKS PROGRAM [ARGUMENT...]
# --rank-env sets a variable for one rank only.
# Fails when a rank fails, or when the program runs into the test's time limit.
set -u

# LD_PRELOAD is for the ranks: this shell and mpiexec do without.
environment=()
if [[ $1 == --preload=* ]]; then
  environment=(-genv LD_PRELOAD "$PWD/${1#--preload=}")
  shift
fi
rank_environments=()
while [[ $1 == --rank-env=* ]]; do
  rank_environments+=("${1#--rank-env=}")
  shift
done
ranks=$1
program=$2
shift 2

# One section for all ranks, or one for each where they differ.
sections=(-n "$ranks" "$program" "$@")
if [[ ${#rank_environments[@]} -gt 0 ]]; then
  sections=()
  for ((rank = 0; rank < ranks; ++rank)); do
    [[ $rank -eq 0 ]] || sections+=(:)
    for setting in "${rank_environments[@]}"; do
      [[ ${setting%%:*} == "$rank" ]] || continue
      setting=${setting#*:}
      sections+=(-env "${setting%%=*}" "${setting#*=}")
    done
    sections+=(-n 1 "$program" "$@")
  done
fi

# Bazel kills a test at its limit without a word; end it before that, with one.
limit=$((${TEST_TIMEOUT:-60} - 5))

# Ranks must not write one result file at the same time; Bazel makes one from the log.
unset XML_OUTPUT_FILE TEST_PREMATURE_EXIT_FILE

timeout --kill-after=3 "$limit" tools/mpiexec.sh "${environment[@]}" "${sections[@]}" </dev/null
status=$?
if [[ $status -eq 124 || $status -eq 137 ]]; then
  echo "mpi_test: $program on $ranks ranks still ran after $limit seconds"
elif [[ $status -ne 0 ]]; then
  echo "mpi_test: $program on $ranks ranks: exit status $status"
fi
exit "$status"
