#!/usr/bin/env bash
# Tables 1 to 4 and figures 1 to 7 of the Blue Gene/L all-to-all paper from the packet simulator:
# CSV files, plots and tables in docs/research/papers/alltoall-bgl. It takes some ten minutes;
# `large` also makes tables of the partitions of more than 4096 nodes, at the same time, with as
# many more minutes on a core.
#
#   bash studies/papers/alltoall-bgl.sh [--draw] [FOLDER [large]]
set -euo pipefail
cd "$(dirname "$0")/../.."
source studies/papers/figures.sh
begin_figures alltoall-bgl.sh "${1:-docs/research/papers/alltoall-bgl}" //studies/papers:alltoall-bgl //compiler:torc
# tables [large]
tables() {
  echo "Made by \`bash studies/papers/alltoall-bgl.sh${1:+ FOLDER $1}\`."
  "$bin/studies/papers/alltoall-bgl" "$out" "$@"
}
[[ $only_draw ]] || {
  [[ ${2:-} != large ]] || tables large | csv_tables >"$out/tables-large.csv" &
  tables | csv_tables >"$out/tables.csv"
  wait
}

# plot NAME TITLE [MARKS...]: MARKS as for `published`; over: LOW:HIGH of a panel over the first
# curve.
plot() {
  published "$out/$1.csv" "${@:3}" >"$marked"
  # shellcheck disable=SC2086
  gnuplot -c bench/plot.gp "$marked" "$out/$1.svg" "$2" "bytes per pair" seconds ${over:-}
}
# bars NAME TITLE Y [MARKS...]
bars() {
  published "$out/$1.csv" "${@:4}" >"$marked"
  gnuplot -c studies/papers/bars.gp "$marked" "$out/$1.svg" "$2" "$3"
}
# Tables 1, 2 and 4 of the paper; the shares of the peak in table 1 and 2 in MB/s.
over=0.5:1.2 plot 01 'Figure 1: AR on 8x8x8' 'paper|1:0.52e-3'
over=0.5:1.2 plot 02 'Figure 2: AR on 16x16x16' 'paper|1:4.7e-3'
bars 03 'Figure 3: AR, what a node sends' 'MB/s' \
  'paper: long messages|8x8x8:152.6,8x8x16:62.5,8x16x16:67.1,16x16x16:76.4,8x32x16:28.3'
bars 04 'Figure 4: direct strategies, long messages' '% of peak' 'paper: AR|8x8x8:99,8x8x16:81,8x16x16:87,8x32x16:73.3' \
  'paper: DR|16x8x8:90,8x16x16:67,8x32x16:86'
cut -d , -f 1-3 "$out/06.csv" >"$out/05.csv"
over=0.7:1.4 plot 05 'Figure 5: virtual mesh on 8x8x8'
plot 06 'Figure 6: short messages on 8x8x8' 'paper: AR|1:0.52e-3' 'paper: two-phase|1:0.81e-3'
plot 07 'Figure 7: short messages on 8x32x16'

[[ -z $only_draw ]] || exit 0
# The reason why AR loses on 8x32x16 and the two-phase schedule does not.
for kind in adaptive two-phase; do
  "$bin/compiler/torc" simulate --packets --traffic $kind --torus 8x32x16 --pair-bytes 1M \
    --most-packets 400 --packet-settings alpha=0,software-header=16 --heat "$out/heat-$kind.svg" >/dev/null
done
