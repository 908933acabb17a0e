#!/usr/bin/env bash
# Figures 1 to 5 and 7 to 12 of the multi-core all-to-all paper by the cluster model: CSV files, plots
# and tables in docs/figures-alltoall-multicore.
#
#   bash bench/figures_alltoall_multicore.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-docs/figures-alltoall-multicore}
if ! command -v gnuplot >/dev/null; then
  echo "figures_alltoall_multicore.sh: gnuplot is missing: apt-get install gnuplot-nox" >&2
  exit 1
fi
# shellcheck disable=SC2086
bazel ${BAZEL_STARTUP:-} build -c opt //bench:figures_alltoall_multicore 2>/dev/null
# shellcheck disable=SC2086
bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)/bench
mkdir -p "$out"
{
  echo 'Made by `bash bench/figures_alltoall_multicore.sh`.'
  "$bin/figures_alltoall_multicore" "$out"
} >"$out/tables.md"

# Titles and axes are those of the tables and the CSV files.
for file in "$out"/*.csv; do
  name=$(basename "$file" .csv)
  title=$(sed -n "s/^## \(Figure ${name#0}: .*\)/\1/p" "$out/tables.md")
  case $name in
    02 | 03 | 04) axis='MB/s' ;;
    *) axis='microseconds' ;;
  esac
  gnuplot -c bench/multicore.gp "$file" "$out/$name.svg" "$title" "$axis"
done
