#!/usr/bin/env bash
# Table 1 and figures 1, 4 to 13 of the 2.5D paper from the presets of its machines: CSV files, plots and
# tables in docs/research/papers/2.5d.
#
#   bash studies/papers/2.5d.sh [--draw] [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
source studies/papers/figures.sh
begin_figures 2.5d.sh "${1:-docs/research/papers/2.5d}" //studies/papers:2.5d_collectives //studies/papers:2.5d_dense
[[ $only_draw ]] || {
  echo 'Made by `bash studies/papers/2.5d.sh`. Sizes in bytes of the vector, bandwidths in MB/s.'
  "$bin/studies/papers/2.5d_collectives" "$out"
  "$bin/studies/papers/2.5d_dense" "$out"
} | csv_tables >"$out/tables.csv"

# plot NAME TITLE X [MARKS...]: MARKS as for `published`.
plot() {
  published "$out/$1.csv" "${@:4}" >"$marked"
  gnuplot -c bench/plot.gp "$marked" "$out/$1.svg" "$2" "$3" "${y:-MB/s}"
}
bytes='bytes of the vector'
plot 01 'Figure 1: multicast of 1 MiB, Blue Gene/P' nodes 'paper (derived)|4096:1609'
y='MB/s, logarithmic' plot 01-gemini 'Figure 1: binomial multicast of 1 MiB, Cray XE6' nodes 'paper (derived)|4096:165.1'
plot 07 'Figure 7: multicast, ring of 8 nodes of Blue Gene/P' "$bytes" 'paper (derived): binomial|16777216:187.5'
plot 08 'Figure 8: multicast, 8x8 nodes of Blue Gene/P' "$bytes"
plot 09 'Figure 9: multicast, 8x8x8 nodes of Blue Gene/P' "$bytes"
plot 10 'Figure 10: reduction, Blue Gene/P' "$bytes"
plot 11 'Figure 11: ring of 8 nodes of Blue Gene/P' "$bytes"
y='MB/s, logarithmic' plot 12 'Figure 12: multicast, exascale machine, 64 nodes an axis' "$bytes"

# plot_dense NAME TITLE X|bars [MARKS...]
plot_dense() {
  published "$out/$1.csv" "${@:4}" >"$marked"
  if [[ $3 == bars ]]; then
    gnuplot -c studies/papers/bars.gp "$marked" "$out/$1.svg" "$2" 'time, 2-D as 1' stacked
  else
    gnuplot -c bench/plot.gp "$marked" "$out/$1.svg" "$2" "$3" '% of peak'
  fi
}
plot_dense 04a 'Figure 4(a): multiplication, n = 65536, Blue Gene/P' nodes
plot_dense 04b 'Figure 4(b): LU, n = 65536, Blue Gene/P' nodes
plot_dense 05a 'Figure 5(a): multiplication, 16384 nodes of Blue Gene/P' n 'paper: 2.5D rectangular|8192:24,131072:76'
# left FIGURE ROW SHARE: the end of a bar of 2.5D. For figures 5(b) and 6 the text gives the share
# of 2-D's communication that is saved, for figure 6 also the total.
left() { awk -F , -v row="$2" -v gone="$3" '$1 == row { print $2 + (1 - gone) * $3 }' "$out/$1.csv"; }
plot_dense 05b 'Figure 5(b): multiplication, 16384 nodes of Blue Gene/P' bars \
  "paper (derived)|131072 2.5D:$(left 05b '131072 2-D' 0.956)"
gone=
for how in '' ' pivoting' ' wide' ' pivoting wide'; do
  share=0.819
  [[ $how != *pivoting* ]] || share=0.859
  gone+=",2.5D$how:$(left 06 "2-D$how" $share)"
done
plot_dense 06 'Figure 6: LU, n = 131072, Blue Gene/P' bars \
  'paper: 2.1 times faster|2.5D:0.476,2.5D pivoting:0.476,2.5D wide:0.476,2.5D pivoting wide:0.476' \
  "paper (derived): communication gone|${gone#,}"
plot_dense 13a 'Figure 13(a): multiplication at exascale, n = 2^22' 'planes of the machine, z' \
  'paper: 2.5D rectangular|64:95' 'paper: 2.5D binomial|64:87' 'paper: 2-D|64:80'
plot_dense 13b 'Figure 13(b): LU at exascale, n = 2^22' 'planes of the machine, z' \
  'paper: 2.5D rectangular|64:80' 'paper: 2.5D binomial|64:42' 'paper: 2-D binomial|64:20'
