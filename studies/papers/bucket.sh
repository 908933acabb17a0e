#!/usr/bin/env bash
# Figure 6 of the bucket paper from the BG/P preset: CSV files, plots and tables in docs/research/papers/bucket.
#
#   bash studies/papers/bucket.sh [--draw] [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
source studies/papers/figures.sh
begin_figures bucket.sh "${1:-docs/research/papers/bucket}" //studies/papers:bucket
[[ $only_draw ]] || {
  echo 'Made by `bash studies/papers/bucket.sh`. Sizes in bytes of the vector.'
  "$bin/studies/papers/bucket" "$out"
} | csv_tables >"$out/tables.csv"

# plot PART TITLE X LEAST:MOST [LOW HIGH]: LOW to HIGH times the bound is the range in the paper's
# text.
plot() {
  gnuplot -c bench/plot.gp "$out/$1.csv" "$out/$1.svg" "($1) $2" "$3" seconds "${@:4}"
}
plot a 'Reduce-scatter, 4096 nodes of BG/P' 'bytes of the vector' 1:3 1 1.3
plot b 'Allgather, 4096 nodes of BG/P' 'bytes of the vector' 1:1.4 1 1.07
plot c 'Allreduce, 4096 nodes of BG/P' 'bytes of the vector' 1:2 1.2 1.3
plot d 'Allreduce, 4096 nodes, reductions delayed' 'bytes of the vector' 1:12
plot e 'Allgather, 32 KiB per node' nodes 1:1.4
plot f 'Allreduce, 32 KiB times the nodes' nodes 1:2
