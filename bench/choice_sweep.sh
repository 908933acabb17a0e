#!/bin/bash
# What choosing, compiling and proving costs, whatever the shape: prints a table of processor time
# (user and system), peak memory, size of the file, predicted time, that over the lower bound, and
# processor time of a proof of the file.
#
#   bazel build -c opt //compiler:torc
#   bash bench/choice_sweep.sh [--collectives "allreduce ..."] [--shapes "8x8x8 ..."]
#                              [--bytes "64 1M ..."] [--limit SECONDS]
#
# Without options: allreduce of 1 MiB on shapes from 8 to 65,536 nodes; `--shapes long` are long thin
# ones, and others whose axes are unequal. A run is ended after SECONDS (default 60) of the clock, and
# its row says so. Needs GNU time.
set -u
collectives="allreduce"
shapes="2x2x2 8x8x8 13x11x7 24x4x4 12x10x3x2 10x6x14 8x4x4x4x2 512x2x2 16x16x16 16x16x16m
32x32x32 64x32x32"
sizes="1M"
limit=60
while [ $# -gt 0 ]; do
  case $1 in
    --collectives) collectives=$2 ;;
    --shapes) shapes=$2 ;;
    --bytes) sizes=$2 ;;
    --limit) limit=$2 ;;
    *) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift 2
done
[ "$shapes" != long ] || shapes="512x2x2 2x2x512 512x3x2 1000x2 2x1000 128x2x2 256x2x2 2x48 48x2 4096
12x1000 24x4x4 64x32x32 9x15x21 64mx4x2"
torc=$(dirname "$0")/../bazel-bin/compiler/torc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "| collective | shape | bytes | s | MiB | file KiB | predicted us | x bound | proof s | chosen |"
echo "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
for collective in $collectives; do
  for shape in $shapes; do
    for bytes in $sizes; do
      rm -f "$work/out.torc"
      if ! timeout "$limit" /usr/bin/time -f "%U %S %M" -o "$work/time" "$torc" compile \
          "$collective" --torus "$shape" --bytes "$bytes" --explain --quiet -o "$work/out.torc" \
          > "$work/table" 2> "$work/errors"; then
        echo "| $collective | $shape | $bytes | not finished in $limit s of the clock, or failed | | | | | | |"
        continue
      fi
      read -r user system peak < <(tail -1 "$work/time")
      read -r predicted ratio _ < <(sed -n 's/^\*//p' "$work/table")
      /usr/bin/time -f "%U %S" -o "$work/time" "$torc" verify "$work/out.torc" > "$work/proof"
      read -r proof proof_system < <(tail -1 "$work/time")
      chosen=$(sed -n 's/^chosen: \(.*\); the next.*/\1/p; s/^chosen: \(.*\); no other.*/\1/p' "$work/table")
      awk -v c="$collective" -v s="$shape" -v b="$bytes" -v u="$user" -v y="$system" -v p="$peak" \
          -v f="$(stat -c %s "$work/out.torc")" -v t="$predicted" -v n="$chosen" \
          -v r="$ratio" -v v="$proof" -v w="$proof_system" 'BEGIN {
        printf "| %s | %s | %s | %.2f | %.0f | %.0f | %s | %s | %.2f | %s |\n", c, s, b, u + y,
               p / 1024, f / 1024, t, r, v + w, n }'
    done
  done
done
