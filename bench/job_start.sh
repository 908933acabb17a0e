#!/usr/bin/env bash
# Measures the cost of libtorc_pmpi.so on this machine:
#   handed-back calls    nanoseconds per call, plain and preloaded
#   communicators        nanoseconds for making and freeing one, plain and preloaded
#   start                MPI_Init on 64 ranks with a full library of 4x4x4, plain and preloaded
#
#   bash bench/job_start.sh [calls|communicators|start]...        default: all
#
# Variants run in turns. Libraries are kept in $JOB_START_LIBRARIES (default: built each time).
# bench/blocking_calls.sh measures intercepted calls.
set -euo pipefail
cd "$(dirname "$0")/.."
parts=("$@")
[[ ${#parts[@]} -gt 0 ]] || parts=(calls communicators start)

bazel build -c opt //compiler:torc //runtime:libtorc_pmpi.so //bench:job_start //bench:communicators 2>/dev/null
torc=bazel-bin/compiler/torc
program=bazel-bin/bench/job_start
preload=$PWD/bazel-bin/runtime/libtorc_pmpi.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libraries=${JOB_START_LIBRARIES:-$work}
mkdir -p "$libraries"
cores=$(nproc)

# Prints the folder of the library for a partition.
library_for() {
  local folder=$libraries/library-$1
  [[ -e $folder ]] || "$torc" library build --partition "$1" --quiet -o "$folder"
  echo "$folder"
}

# The job's variants: job VARIANT LIBRARY RANKS PROGRAM...
job() {
  local variant=$1 library=$2 ranks=$3
  shift 3
  case $variant in
    plain) mpiexec.hydra -n "$ranks" "$@" ;;
    empty) mpiexec.hydra -genv LD_PRELOAD "$preload" -n "$ranks" "$@" ;;
    library) mpiexec.hydra -genv LD_PRELOAD "$preload" -genv TORC_LIBRARY "$library" -n "$ranks" "$@" ;;
  esac </dev/null
}

# The median of the numbers in standard input.
median() {
  sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

oversubscribed() {
  if (($1 > cores)); then
    echo "NOTE: $1 ranks share $cores cores: times are mostly those of ranks that wait for a core"
  fi
}

calls() {
  local rounds=7 library variant round name
  library=$(library_for 2)
  echo
  echo "== Calls that are handed back to MPI, 2 ranks on $cores cores: ns per call, the least of" \
    "$rounds medians, in turns"
  oversubscribed 2
  echo "| call | plain | preloaded | added | ratio |"
  echo "| --- | --- | --- | --- | --- |"
  for ((round = 0; round < rounds; ++round)); do
    for variant in plain library; do
      job "$variant" "$library" 2 "$program" calls >>"$work/calls-$variant.txt"
    done
  done
  awk '{
      name = $0; sub(/^[^ ]* /, "", name)
      if (!(name in order)) { order[name] = ++names; list[names] = name }
      file = FILENAME ~ /plain/ ? 0 : 1
      if (!((name, file) in least) || $1 < least[name, file]) least[name, file] = $1
    }
    END {
      for (i = 1; i <= names; ++i) {
        a = least[list[i], 0]; b = least[list[i], 1]
        printf "| %s | %.0f | %.0f | %.0f | %.2f |\n", list[i], a, b, b - a, b / a
      }
    }' "$work/calls-plain.txt" "$work/calls-library.txt"
}

communicators() {
  local rounds=7 library variant round
  library=$(library_for 2)
  echo
  echo "== Making and freeing a communicator on which torc serves no call, 2 ranks on $cores cores: ns," \
    "the least of $rounds medians, in turns"
  oversubscribed 2
  for ((round = 0; round < rounds; ++round)); do
    for variant in plain library; do
      job "$variant" "$library" 2 bazel-bin/bench/communicators >>"$work/made-$variant.txt"
    done
  done
  echo "| making, communicators alive | plain | preloaded | ratio |"
  echo "| --- | --- | --- | --- |"
  awk '{
      name = $0; sub(/^[^ ]* /, "", name)
      if (!(name in order)) { order[name] = ++names; list[names] = name }
      file = FILENAME ~ /plain/ ? 0 : 1
      if (!((name, file) in least) || $1 < least[name, file]) least[name, file] = $1
    }
    END {
      for (i = 1; i <= names; ++i) {
        a = least[list[i], 0]; b = least[list[i], 1]
        printf "| %s | %.0f | %.0f | %.2f |\n", list[i], a, b, b / a
      }
    }' "$work"/made-{plain,library}.txt
}

start() {
  local rounds=5 ranks=64 library variant round
  library=$(library_for 4x4x4)
  echo
  echo "== MPI_Init on $ranks ranks, library of 4x4x4: $("$torc" library list "$library" | head -n 1)"
  oversubscribed "$ranks"
  for ((round = 0; round < rounds; ++round)); do
    for variant in plain empty library; do
      job "$variant" "$library" "$ranks" "$program" init >>"$work/start-$variant.txt"
    done
  done
  echo "| variant | from the last rank's entry to the last one's return, ms | processor time of a rank, ms | of the busiest, ms |"
  echo "| --- | --- | --- | --- |"
  for variant in plain empty library; do
    printf '| %s |' "$(case $variant in
      plain) echo 'without torc' ;;
      empty) echo 'preloaded, TORC_LIBRARY not set' ;;
      library) echo 'preloaded, with the library' ;;
    esac)"
    for column in 1 2 3; do
      printf ' %s |' "$(cut -d ' ' -f "$column" "$work/start-$variant.txt" | median |
        awk '{ printf "%.1f", $1 / 1000 }')"
    done
    echo
  done
}

for part in "${parts[@]}"; do
  case $part in
    calls | communicators | start) "$part" ;;
    *)
      echo "usage: bash bench/job_start.sh [calls|communicators|start]..." >&2
      exit 2
      ;;
  esac
done
