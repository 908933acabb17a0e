#!/usr/bin/env bash
# Figure 6 of the bucket paper from the BG/P preset: CSV files, plots and tables in docs/papers/bucket.
#
#   bash bench/figure6.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-docs/papers/bucket}
if ! command -v gnuplot >/dev/null; then
  echo "figure6.sh: gnuplot is missing: apt-get install gnuplot-nox" >&2
  exit 1
fi
# shellcheck disable=SC2086
bazel ${BAZEL_STARTUP:-} build -c opt //bench:figure6 2>/dev/null
# shellcheck disable=SC2086
bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)/bench
mkdir -p "$out"
{
  echo 'Made by `bash bench/figure6.sh`. Sizes in bytes of the vector.'
  "$bin/figure6" "$out"
} >"$out/tables.md"

# plot PART TITLE X
plot() {
  gnuplot -c bench/plot.gp "$out/$1.csv" "$out/$1.svg" "($1) $2" "$3"
}
plot a 'Reduce-scatter, 4096 nodes of BG/P' bytes
plot b 'Allgather, 4096 nodes of BG/P' bytes
plot c 'Allreduce, 4096 nodes of BG/P' bytes
plot d 'Allreduce, 4096 nodes, reductions delayed' bytes
plot e 'Allgather, 32 KiB per node' nodes
plot f 'Allreduce, 32 KiB times the nodes' nodes
