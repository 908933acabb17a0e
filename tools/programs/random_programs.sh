#!/bin/bash
# Random legal MPI programs (tests/runtime/pmpi/programs/random_programs.cc), each plain and with
# libtorc_pmpi.so preloaded, whose results must be the same:
#   tools/programs/random_programs.sh RANKS SEED FIRST PROGRAMS [OPTION OF random_programs]...
# RANKS is 2, 4 or 6; programs FIRST .. FIRST + PROGRAMS - 1 of SEED. TEST_MPI=openmpi: on Open MPI.
# LIBRARY: the name of another schedule library of tests/runtime/pmpi/programs, or - for none.
# HANDLER=1: programs that have an error handler in their code. Settings of torc are passed on;
# TORC_DEDICATED==N takes N ranks more. It continues after a failure; the last line is `N programs,
# N differ or fail`.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [[ $# -lt 4 || ! "$1 $2 $3 $4" =~ ^[246]( [0-9]+){3}$ ]]; then
  sed -n '2,/^set/s/^# \?//p' "$0" >&2
  exit 2
fi
ranks=$1 seed=$2 first=$3 programs=$4
shift 4
declare -A shapes=([2]=2 [4]=2x2 [6]=2x3)
library=${LIBRARY:-library_${shapes[$ranks]}}
unset LIBRARY
preload=runtime/libtorc_pmpi.so
program=tests/runtime/pmpi/programs/random_programs${HANDLER:+_handler}
options=("$@")
if [[ ${TEST_MPI:-mpich} == openmpi ]]; then
  preload=runtime/openmpi/libtorc_pmpi.so
  program+=_openmpi
fi
label() {
  echo "//${1%/*}:${1##*/}"
}
built=("$(label $preload)" "$(label $program)")
[[ $library == - ]] || built+=("//tests/runtime/pmpi/programs:$library")
built+=(//tools:libsleeping_waits.so)
bazel build -c opt "${built[@]}"
export SLEEPING_WAITS=$PWD/bazel-bin/tools/libsleeping_waits.so
[[ $library == - ]] || library=bazel-bin/tests/runtime/pmpi/programs/$library

# A failure ends a batch, and the programs after the failed one run in the next batch.
export TEST_TIMEOUT=600 SERVED_NOT='MPI_*'
last=$((first + programs - 1)) failures=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT
while ((first <= last)); do
  batch=$((last - first < 49 ? last - first + 1 : 50))
  if bash tests/runtime/pmpi/programs/random_programs_test.sh "bazel-bin/$preload" \
    "bazel-bin/$program" "$library" \
    "$ranks" "$seed" "$first" "$batch" "${options[@]}" >"$output" 2>&1; then
    echo "programs $first to $((first + batch - 1)): the same"
    first=$((first + batch))
  else
    cat "$output"
    failures=$((failures + 1))
    failed=$(sed -nE "s/^again: .* $ranks $seed ([0-9]+) 1 .*/\1/p" "$output")
    first=$((${failed:-$((first + batch - 1))} + 1))
  fi
done
echo "$programs programs, $failures differ or fail"
[[ $failures -eq 0 ]]
