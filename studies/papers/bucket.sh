#!/usr/bin/env bash
# Figure 6 of the bucket paper from the BG/P preset: CSV files, plots and tables in docs/research/papers/bucket.
#
#   bash studies/papers/bucket.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
source studies/papers/figures.sh
begin_figures bucket.sh "${1:-docs/research/papers/bucket}" //studies/papers:bucket
{
  echo 'Made by `bash studies/papers/bucket.sh`. Sizes in bytes of the vector.'
  "$bin/studies/papers/bucket" "$out"
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
