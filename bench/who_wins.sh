#!/usr/bin/env bash
# Finds the fastest allreduce for each size: recursive exchange, groups, Swing, breadth-first
# broadcast, the bucket algorithm. Writes OUT/MACHINE-SHAPE.csv, times in seconds, and an .svg of
# each shape of --plots.
#
#   bazel build -c opt //compiler:torc
#   bash bench/who_wins.sh [--machine M] [--shapes S,...] [--sizes N,...] [--judge] [--plots S,...] [--out FOLDER]
#
#   --machine  default generic; simulated by torc
#   --shapes   default 8x8x8,16x16x16,8x32x16
#   --sizes    bytes, default 8,64,512,4K,16K,64K,256K,1M,4M
#   --judge    runs the same schedules, of machine smpi, on SimGrid SMPI's torus: OUT/judge-SHAPE.*
#   --plots    shapes of which to draw curves; default none
#   --out      default docs/research/judge/who-wins
#
# The candidate of an algorithm is the choice of `torc compile allreduce --algorithm A --bytes N`.
# Failed compilations, and those longer than $WHO_WINS_TIMEOUT (default 900) seconds, leave gaps.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
source bench/smpi/torus.sh
machine=generic
shapes=8x8x8,16x16x16,8x32x16
sizes=8,64,512,4K,16K,64K,256K,1M,4M
out=docs/research/judge/who-wins
judge=
plots=
while (($# > 0)); do
  case $1 in
    --machine | --shapes | --sizes | --plots | --out)
      if (($# < 2)); then
        echo "who_wins.sh: $1: a value is missing" >&2
        exit 2
      fi
      declare "${1#--}=$2"
      shift
      ;;
    --judge) judge=judge machine=smpi ;;
    *)
      sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
      exit 2
      ;;
  esac
  shift
done
export JUDGE_TIMEOUT=${WHO_WINS_TIMEOUT:-900}
algorithms="recursive-doubling recursive-multiplying groups swing bfb bucket"
torc=$(readlink -f bazel-bin/compiler/torc)
title="simulated, machine $machine"
[[ -n $judge ]] && title="SMPI, neutral settings"
[[ -n $judge ]] && program=$(bash bench/smpi/build.sh)
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# seconds_of ALGORITHM SHAPE SIZE BYTES: of the algorithm's candidate, or nothing.
seconds_of() {
  local chosen=(allreduce --machine "$machine" --torus "$2" --algorithm "$1" --bytes "$3" --quiet)
  if [[ -z $judge ]]; then
    timeout "$JUDGE_TIMEOUT" "$torc" compile "${chosen[@]}" --explain 2>/dev/null |
      awk 'sub(/^\*/, "") { printf "%.6g", 1e-6 * $1 }' || true
  elif timeout "$JUDGE_TIMEOUT" "$torc" compile "${chosen[@]}" -o "$work/x.torc" 2>/dev/null; then
    torus_run "$program" "$2" neutral mpich "$work" "$work/x.torc" --bytes "$4" --iterations 1 \
      --warmup 0 | awk '!/^#/ { printf "%.6g", 1e-6 * $3 }' || true
  fi
}

for shape in ${shapes//,/ }; do
  name=$out/${judge:-$machine}-$shape
  echo "bytes,bound,${algorithms// /,}" >"$work/table.csv"
  for size in ${sizes//,/ }; do
    case $size in
      *K) bytes=$((${size%K} << 10)) ;;
      *M) bytes=$((${size%M} << 20)) ;;
      *) bytes=$size ;;
    esac
    row=$bytes,$("$torc" bounds allreduce --machine "$machine" --torus "$shape" --bytes "$bytes" --json |
      sed -n 's/.*"bound_s": \([^,]*\),/\1/p')
    for algorithm in $algorithms; do
      row+=,$(seconds_of "$algorithm" "$shape" "$size" "$bytes")
    done
    echo "$row" | tee -a "$work/table.csv" >&2
  done
  cp "$work/table.csv" "$name.csv"
  [[ ,$plots, == *,$shape,* ]] || continue
  gnuplot -c bench/plot.gp "$name.csv" "$name.svg" \
    "allreduce on $shape, $title" 'bytes of the vector' seconds
done
