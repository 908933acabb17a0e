#!/bin/bash
# Runs one MPI test under Bazel:
#   mpi_test.sh [--preload=LIBRARY] [--rank-env=RANK:NAME=VALUE]... RANKS PROGRAM [ARGUMENT...]
# --rank-env sets a variable for one rank only.
# Fails when a rank fails, or when the program runs into the test's time limit.
set -u

# LD_PRELOAD is for the ranks only, not for this shell and mpiexec.
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

# Ranks must not write one result file at the same time; Bazel makes one from the log.
unset XML_OUTPUT_FILE TEST_PREMATURE_EXIT_FILE

# run ARGUMENT...: the program with these arguments; one section for all ranks, or one for each if
# they differ. Bazel kills a test at its limit without a message: it is ended before that, with one.
started=$SECONDS
run() {
  local sections=(-n "$ranks" "$program" "$@") rank setting limit
  limit=$((${TEST_TIMEOUT:-60} - 5 - SECONDS + started))
  [[ $limit -gt 0 ]] || limit=1  # to timeout, 0 is for ever
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
  timeout --kill-after=3 "$limit" tools/mpiexec.sh "${environment[@]}" "${sections[@]}" </dev/null
}

# Bazel's --test_filter comes before a filter among the arguments.
tests='*'
arguments=()
for argument in "$@"; do
  case $argument in
    --gtest_filter=*) tests=${argument#*=} ;;
    *) arguments+=("$argument") ;;
  esac
done
tests=${TESTBRIDGE_TEST_ONLY:-$tests}

# If a test ends a program of GoogleTest, the program is started again after that test, and fails.
# The filter excludes all tests begun so far.
output=$(mktemp -p "${TEST_TMPDIR:-/tmp}")
result=0
while true; do
  filter=()
  [[ $tests == '*' ]] || filter=("--gtest_filter=$tests")
  run "${arguments[@]}" "${filter[@]}" > >(tee "$output")
  status=$?
  wait $!
  [[ $status -eq 0 ]] || result=$status
  if [[ $status -eq 124 || $status -eq 137 ]]; then
    echo "mpi_test: $program on $ranks ranks still ran after $((SECONDS - started)) seconds"
    break
  fi
  [[ $status -ne 0 ]] || break
  echo "mpi_test: $program on $ranks ranks: exit status $status"
  mapfile -t now < <(sed -n 's/^\[ RUN      \] //p' "$output")
  [[ ${#now[@]} -gt 0 ]] && ! grep -q '^\[==========\].* ran\.' "$output" || break
  echo "mpi_test: it ended in ${now[-1]}; on behind that"
  [[ $tests == *-* ]] || tests+=-
  tests+=$(printf ':%s' "${now[@]}")
done
exit "$result"
