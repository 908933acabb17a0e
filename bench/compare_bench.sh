#!/usr/bin/env bash
# Compares torc with MPI's own collectives on this machine: every collective on 2 and 4 ranks over
# sizes, as the ratio of the two medians, measured in turns in one run. Below 1: torc is faster.
#
#   bash bench/compare_bench.sh [BYTES]        64K:64M is the range that matters; default 8:64M
set -euo pipefail
cd "$(dirname "$0")/.."
sizes=${1:-8:64M}
bazel build -c opt //compiler:torc //runtime:torc-run 2>/dev/null
torc=bazel-bin/compiler/torc
torc_run=bazel-bin/runtime/torc-run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A column per collective and torus: ratios by size.
columns=()
for shape in 2 4 2x2; do
  ranks=$((${shape//x/*}))
  for collective in allreduce reduce_scatter allgather; do
    column=$collective-$shape
    "$torc" compile "$collective" --torus "$shape" --algorithm bucket --quiet -o "$work/$column.torc"
    mpiexec.hydra -n "$ranks" "$torc_run" "$work/$column.torc" --bytes "$sizes" --compare \
      --seconds 0.3 >"$work/$column.txt"
    awk '!/^#/ { print $1, $7 }' "$work/$column.txt" >"$work/$column.ratio"
    columns+=("$column")
  done
done

echo "ratio torc / MPI, float sums, $(nproc) cores; bytes of the whole vector"
printf '| bytes |'
printf ' %s |' "${columns[@]//-/ }"
printf '\n| --- |'
printf ' --- |%.0s' "${columns[@]}"
printf '\n'
cut -d ' ' -f 1 "$work/${columns[0]}.ratio" | while read -r bytes; do
  printf '| %s |' "$bytes"
  for column in "${columns[@]}"; do
    printf ' %s |' "$(awk -v bytes="$bytes" '$1 == bytes { print $2 }' "$work/$column.ratio")"
  done
  printf '\n'
done
