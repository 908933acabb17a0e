#!/usr/bin/env bash
# Tables 1 to 4 and figures 1 to 7 of the Blue Gene/L all-to-all paper from the packet simulator: CSV
# files, plots and tables in docs/research/papers/alltoall-bgl. Some ten minutes; `large` adds the partitions
# of more than 4096 nodes, and as many minutes.
#
#   bash studies/papers/alltoall-bgl.sh [FOLDER [large]]
set -euo pipefail
cd "$(dirname "$0")/../.."
source studies/papers/figures.sh
begin_figures alltoall-bgl.sh "${1:-docs/research/papers/alltoall-bgl}" //studies/papers:alltoall-bgl //compiler:torc
{
  echo "Made by \`bash studies/papers/alltoall-bgl.sh${2:+ FOLDER $2}\`."
  "$bin/studies/papers/alltoall-bgl" "$out" ${2:+"$2"}
} >"$out/tables.md"

# plot NAME TITLE
plot() {
  gnuplot -c bench/plot.gp "$out/$1.csv" "$out/$1.svg" "$2" bytes
}
bars() {
  gnuplot -c studies/papers/bars.gp "$out/$1.csv" "$out/$1.svg" "$2" "$3"
}
plot 01 'Figure 1: AR on 8x8x8'
plot 02 'Figure 2: AR on 16x16x16'
bars 03 'Figure 3: AR, what a node sends' 'MB/s'
bars 04 'Figure 4: direct strategies, long messages' '% of peak'
plot 06 'Figures 5 and 6: short messages on 8x8x8'
plot 07 'Figure 7: short messages on 8x32x16'

# Why AR loses on 8x32x16 and the two-phase schedule does not.
for kind in adaptive two-phase; do
  "$bin/compiler/torc" simulate --packets --traffic $kind --torus 8x32x16 --pair-bytes 1M \
    --most-packets 400 --packet-settings alpha=0,software-header=16 --heat "$out/heat-$kind.svg" >/dev/null
done
