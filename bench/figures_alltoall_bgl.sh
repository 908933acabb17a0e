#!/usr/bin/env bash
# Tables 1 to 4 and figures 1 to 7 of the Blue Gene/L all-to-all paper from the packet simulator: CSV
# files, plots and tables in docs/papers/alltoall-bgl. Some ten minutes; `large` adds the partitions
# of more than 4096 nodes.
#
#   bash bench/figures_alltoall_bgl.sh [FOLDER [large]]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-docs/papers/alltoall-bgl}
if ! command -v gnuplot >/dev/null; then
  echo "figures_alltoall_bgl.sh: gnuplot is missing: apt-get install gnuplot-nox" >&2
  exit 1
fi
# shellcheck disable=SC2086
bazel ${BAZEL_STARTUP:-} build -c opt //bench:figures_alltoall_bgl //compiler:torc 2>/dev/null
# shellcheck disable=SC2086
bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)
mkdir -p "$out"
{
  echo 'Made by `bash bench/figures_alltoall_bgl.sh`.'
  "$bin/bench/figures_alltoall_bgl" "$out" ${2:+"$2"}
} >"$out/tables.md"

# plot NAME TITLE
plot() {
  gnuplot -c bench/plot.gp "$out/$1.csv" "$out/$1.svg" "$2" bytes
}
bars() {
  gnuplot -c bench/bars.gp "$out/$1.csv" "$out/$1.svg" "$2" "$3"
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
