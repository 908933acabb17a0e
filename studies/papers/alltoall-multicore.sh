#!/usr/bin/env bash
# Figures 1 to 5 and 7 to 13 of the multi-core all-to-all paper by the cluster model: CSV files, plots
# and tables in docs/research/papers/alltoall-multicore.
#
#   bash studies/papers/alltoall-multicore.sh [--draw] [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
source studies/papers/figures.sh
begin_figures alltoall-multicore.sh "${1:-docs/research/papers/alltoall-multicore}" //studies/papers:alltoall-multicore //compiler:torc //studies:torc-model
[[ $only_draw ]] || torc=$bin/compiler/torc
work=$(mktemp -d)
trap 'rm -rf "$work" "$marked"' EXIT

# A table of torc's own schedules beside the original: schedules CLUSTER NODES. Peers are in a fixed
# order, and a block is one message: behind a switch there is only one way.
schedules() {
  local algorithm table=$work/$1
  printf '\n## torc'"'"'s schedules on %s, %s nodes of 8 cores\n' "$1" "$2"
  echo '| bytes of a block | original, us | direct, us | aggregated, us | distributed, us | leader, us | bruck, us |'
  echo '| --- | --- | --- | --- | --- | --- | --- |'
  "$bin/studies/torc-model" alltoall --cluster "$1" --nodes "$2" --bytes "$sizes" --strategy original |
    awk 'NR > 2 { print $1, $2 }' >"$table"
  for algorithm in direct aggregated distributed leader bruck; do
    "$torc" compile alltoall --torus "$2+8" --algorithm "$algorithm" --peers fixed \
      --directions unidirectional --quiet -o "$work/a.torc"
    "$bin/studies/torc-model" alltoall --cluster "$1" --schedule "$work/a.torc" --bytes "$sizes" 2>/dev/null |
      awk 'NR > 2 { print $2 }' | paste -d ' ' "$table" - >"$work/more"
    mv "$work/more" "$table"
  done
  awk '{ row = "| " $1; for (i = 2; i <= NF; ++i) row = row sprintf(" | %.5g", $i); print row " |" }' "$table"
}
sizes=1,8,64,512,1K,2K,4K

[[ $only_draw ]] || {
  echo 'Made by `bash studies/papers/alltoall-multicore.sh`.'
  "$bin/studies/papers/alltoall-multicore" "$out"
  schedules infinipath 64
  schedules infinihost 64
  schedules connectx 4
} | csv_tables >"$out/tables.csv"

# part FIGURE ROW COLUMN FACTOR: FACTOR times a value of a figure.
part() { awk -F , -v row="$2" -v column="$3" -v factor="$4" '$1 == row { print factor * $column }' "$out/$1.csv"; }
# Titles and axes are those of the tables and the CSV files.
for file in "$out"/[0-9]*.csv; do
  name=$(basename "$file" .csv)
  title=$(sed -n "s/^# \(Figure ${name#0}: .*\)/\1/p" "$out/tables.csv")
  # A panel of times over the first curve's.
  # Shares of a curve in the text: 55 % less at 512 bytes, the largest on 64 nodes; 10 % ahead beyond 256 bytes.
  marks=()
  case $name in
    07) marks=("paper (derived): aggregated|512:$(part 07 512 2 0.45)") ;;
    08) marks=("paper (derived): distributed|512:$(part 08 512 2 1.111)") ;;
    09) marks=("paper (derived): aggregated|64:$(part 09 64 2 0.45)") ;;
    13) marks=("paper (derived): aggregated|64:$(part 13 64 2 0.67)") ;;
  esac
  published "$file" "${marks[@]}" >"$marked"
  case $name in
    02 | 03 | 04) axis='MB/s' ;;
    01) axis='us 0:9' ;;
    08) axis='us 0.9:1.3' ;;
    11) axis='us 0.9:1.1' ;;
    05) axis=us ;;
    *) axis='us 0:2.5' ;;
  esac
  # shellcheck disable=SC2086
  gnuplot -c bench/plot.gp "$marked" "$out/$name.svg" "$title" "$(head -n 1 "$file" | cut -d , -f 1)" $axis
done
