#!/bin/bash
# Measures the cost of choosing, compiling and proving on any shapes: prints a table of processor
# time (user and system), peak memory and size of the file. Then the predicted time, its ratio to the
# lower bound, and the processor time of a proof of the file.
#
#   bazel build -c opt //compiler:torc
#   bash bench/choice_sweep.sh [--collectives "allreduce ..."] [--shapes "8x8x8 ..."]
#                              [--bytes "64 1M ..."] [--limit SECONDS]
#
# Without options: allreduce of 1 MiB on shapes from 8 to 65,536 nodes; `--shapes long` are long thin
# ones, and others with unequal axes. A shape may have damage: 8x8!1,2!0,0:X has no node
# (1, 2) and no cable from (0, 0) along X. `--shapes damaged` are shapes of 28 to 32,768 nodes, each
# without a cable, without two at different coordinates, without a node, two nodes, the corner of a
# plane, and eight nodes. A run is ended after SECONDS (default 60) of the clock; the row of a failed
# run has the error. Needs GNU time.
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
    *) sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift 2
done
[ "$shapes" != long ] || shapes="512x2x2 2x2x512 512x3x2 1000x2 2x1000 128x2x2 256x2x2 2x48 48x2 4096
12x1000 24x4x4 64x32x32 9x15x21 64mx4x2"

if [ "$shapes" = damaged ]; then
  shapes=""
  for dead in 0,0:Y 0,0:X!2,1:X 1,2 1,2!3,0; do shapes+=" 12x5!$dead 7x4!$dead"; done
  for dead in 0,0,1:Z 0,0,1:Z!1,1,2:Z 1,2,1 1,2,1!3,0,3 1,1,1!1,2,1!1,1,2 \
      1,2,1!3,6,2!5,1,3!7,3,0!0,5,1!2,7,3!6,4,2!4,0,0; do
    shapes+=" 8x8x8!$dead 8x8x8m!$dead 16x16x4!$dead 16x16x16!$dead 32x32x32!$dead"
  done
  shapes+=" 512x2x2!5,0,0:X 512x2x2!5,0,0:X!9,1,0:X 512x2x2!5,1,0 512x2x2!5,1,0!99,0,1"
  shapes+=" 4x4x4x4x2!1,2,0,1,0 4x4x4+4!1,2,1"
fi
torc=$(dirname "$0")/../bazel-bin/compiler/torc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "| collective | shape | bytes | s | MiB | file KiB | predicted us | x bound | proof s | chosen |"
echo "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
for collective in $collectives; do
  for shape in $shapes; do
    for bytes in $sizes; do
      rm -f "$work/out.torc"
      damage=()
      for dead in $(tr '!' '\n' <<< "$shape" | tail -n +2); do
        case $dead in
          *:*) damage+=(--dead-link "$dead") ;;
          *) damage+=(--dead-node "$dead") ;;
        esac
      done
      if ! timeout "$limit" /usr/bin/time -f "%U %S %M" -o "$work/time" "$torc" compile \
          "$collective" --torus "${shape%%!*}" "${damage[@]}" --bytes "$bytes" --explain --quiet -o "$work/out.torc" \
          > "$work/table" 2> "$work/errors"; then
        why=$(grep -m 1 "error: " "$work/errors" | sed 's/.*error: //')
        echo "| $collective | $shape | $bytes | ${why:-not finished in $limit s of the clock} | | | | | | |"
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
