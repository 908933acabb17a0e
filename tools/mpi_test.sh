#!/bin/bash
# Runs one MPI test under Bazel:
#   mpi_test.sh [--preload=LIBRARY] [--rank-env=RANK:NAME=VALUE]... RANKS PROGRAM [ARGUMENT...]
# --rank-env sets a variable for one rank only.
# Fails when a rank fails, when one says what TEST_FORBIDS matches (an extended regular expression), or
# when the program runs into the test's time limit.
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

output=$(mktemp)
trap 'rm -f "$output"' EXIT
timeout --kill-after=3 "$limit" \
  tools/mpiexec.sh "${environment[@]}" "${sections[@]}" </dev/null 2> >(tee "$output" >&2)
status=$?
if [[ -n ${TEST_FORBIDS:-} ]] && grep -E "$TEST_FORBIDS" "$output" >/dev/null; then
  echo "mpi_test: $program says what it must not: $TEST_FORBIDS"
  exit 1
fi
if [[ $status -eq 124 || $status -eq 137 ]]; then
  echo "mpi_test: $program on $ranks ranks still ran after $limit seconds"
elif [[ $status -ne 0 ]]; then
  echo "mpi_test: $program on $ranks ranks: exit status $status"
fi
exit "$status"
