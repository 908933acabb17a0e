#!/usr/bin/env bash
# Figure 6 of the bucket paper from the BG/P preset: CSV files, plots and tables in docs/figure6.
#
#   bash bench/figure6.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-docs/figure6}
# shellcheck disable=SC2086
bazel ${BAZEL_STARTUP:-} build -c opt //bench:figure6 //bench:plot 2>/dev/null
# shellcheck disable=SC2086
bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)/bench
mkdir -p "$out"
{
  echo 'Made by `bash bench/figure6.sh`. Sizes in bytes of the vector.'
  "$bin/figure6" "$out"
} >"$out/tables.md"

# plot PART TITLE [OPTION]...
plot() {
  "$bin/plot" "$out/$1.csv" -o "$out/$1.svg" --title "($1) $2" --y-title time --dashed bound "${@:3}"
}
sizes=(--x-title 'bytes of the vector')
nodes=(--x number --x-title nodes)
plot a 'Reduce-scatter, 4096 nodes of BG/P' "${sizes[@]}"
plot b 'Allgather, 4096 nodes of BG/P' "${sizes[@]}"
plot c 'Allreduce, 4096 nodes of BG/P' "${sizes[@]}"
plot d 'Allreduce, 4096 nodes, reductions delayed' "${sizes[@]}"
plot e 'Allgather, 32 KiB per node' "${nodes[@]}"
plot f 'Allreduce, 32 KiB times the nodes' "${nodes[@]}"
