#!/usr/bin/env bash
# The independent judge: compares torc's schedules with MPI's collectives on the same simulated
# torus (SimGrid SMPI), and with the bound of the simulated torus's wires. Every number is simulated
# time from a common instant of all ranks to the end of the slowest. Writes, per setting,
# OUT/COLLECTIVE/SETTING.csv, in seconds, and the curves of --plots as
# OUT/COLLECTIVE/SETTING-SHAPE.svg; prints the collective's table (judge_table.sh).
#
#   bash bench/smpi/judge.sh [--collective C] [--shapes S,...] [--sizes N,...] [--settings KIND]
#                            [--selectors S,...] [--plots S,...] [--out FOLDER]
#
#   --collective  allreduce (default), or another one
#   --shapes      default 4x4x4,8x4x2,16x2x2,16x4,8x8,5x3x4; a 2 is one wire each way
#   --sizes       bytes, default 64K,256K,1M,3000000,25000000
#   --settings    neutral (the plain links), default (SMPI's model of TCP), both (default); rendezvous
#                 (plain links, and no send is over before its message has arrived)
#   --selectors   default mpich,ompi,mvapich2,impi
#   --plots       shapes of which to draw curves; default none
#   --out         default docs/research/judge
#
# Schedules are the choices of `torc compile COLLECTIVE --machine smpi --torus SHAPE --bytes N`;
# with rendezvous, for a machine without buffered messages. Times are kept beside the objects of
# build.sh, under a key of their inputs: a second call measures only changed ones. A run that takes
# longer than $JUDGE_TIMEOUT (default 900) real seconds leaves a gap, and so does one that SMPI ends
# (some of its algorithms refuse numbers of ranks: impi on 5x3x4).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
source "$here/torus.sh"

collective=allreduce
shapes=4x4x4,8x4x2,16x2x2,16x4,8x8,5x3x4
sizes=64K,256K,1M,3000000,25000000
settings=both
selectors=mpich,ompi,mvapich2,impi
plots=
out=docs/research/judge
while (($# > 0)); do
  case $1 in
    --collective | --shapes | --sizes | --settings | --selectors | --plots | --out)
      if (($# < 2)); then
        echo "judge.sh: $1: a value is missing" >&2
        exit 2
      fi
      declare "${1#--}=$2"
      shift 2
      ;;
    *)
      echo "judge.sh: $1: no such option; see the head of the script" >&2
      exit 2
      ;;
  esac
done
[[ $settings == both ]] && settings=neutral,default

if [[ -n $plots ]] && ! command -v gnuplot >/dev/null; then
  echo "judge.sh: gnuplot is missing: apt-get install gnuplot-nox" >&2
  exit 1
fi
bazel ${BAZEL_STARTUP:-} build -c opt //compiler:torc 2>/dev/null
bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)
torc=$bin/compiler/torc
program=$(bash "$here/build.sh")
times=$(dirname "$program")/times
mkdir -p "$out/$collective" "$times"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "64K" in bytes.
bytes_of() {
  case $1 in
    *K) echo $((${1%K} << 10)) ;;
    *M) echo $((${1%M} << 20)) ;;
    *) echo "$1" ;;
  esac
}

# measure COLUMN KEY SHAPE SETTING SELECTOR SCHEDULE BYTES [OPTION...]: seconds in a column of
# torc-run's table, or nothing if the run took too long.
measure() {
  local column=$1 file line
  file=$times/$(echo "$2 $3 $4 $5 $7 $TORUS_BANDWIDTH $TORUS_LATENCY" | sha256sum | cut -c 1-32)
  if [[ ! -e $file ]]; then
    line=$(torus_run "$program" "$3" "$4" "$5" "$work" "$6" --bytes "$7" --iterations 1 \
      --warmup 0 "${@:8}" | grep -v '^#') || return 0
    awk -v column="$column" '{ printf "%.9g\n", 1e-6 * $column }' <<<"$line" >"$file.$$"
    mv "$file.$$" "$file"
  fi
  cat "$file"
}

hash_of() { sha256sum "$1" | cut -c 1-32; }

for setting in ${settings//,/ }; do
  machine=smpi
  if [[ $setting == rendezvous ]]; then
    machine=$work/rendezvous.json
    sed 's/"buffered": [0-9]*,/"buffered": 0,/' model/machines/presets/smpi.json >"$machine"
  fi
  name=$out/$collective/$setting
  csv=$work/table.csv
  echo "shape,bytes,bound,torc,${selectors}" >"$csv"
  for shape in ${shapes//,/ }; do
    # One wire per pair: 2 is 2m.
    wires=$(sed -E 's/(^|x)2(x|$)/\12m\2/g; s/(^|x)2(x|$)/\12m\2/g' <<<"$shape")
    # MPI's collectives are timed beside a schedule that is quick to simulate.
    plain=$work/plain.torc
    "$torc" compile "$collective" --torus "$wires" --dependences phase --quiet -o "$plain"
    for size in ${sizes//,/ }; do
      bytes=$(($(bytes_of "$size") / 4 * 4))
      schedule=$work/schedule.torc
      "$torc" compile "$collective" --machine "$machine" --torus "$wires" --bytes "$bytes" --quiet \
        -o "$schedule"
      row=$shape,$bytes,$(torus_bound "$collective" "$wires" "$bytes")
      row+=,$(measure 3 "torc $(basename "$program") $(hash_of "$schedule")" "$wires" "$setting" \
        mpich "$schedule" "$bytes")
      for selector in ${selectors//,/ }; do
        row+=,$(measure 6 "MPI $collective" "$wires" "$setting" "$selector" "$plain" "$bytes" \
          --compare)
      done
      echo "$row" | tee -a "$csv" >&2
    done
    [[ ,$plots, == *,$shape,* ]] || continue
    awk -F , -v OFS=, -v shape="$shape" '
      NR == 1 || $1 == shape { sub(/^[^,]*,/, ""); print }' "$csv" >"$work/curves.csv"
    gnuplot -c bench/plot.gp "$work/curves.csv" "$name-$shape.svg" \
      "$collective on $shape, SMPI, $setting settings" 'bytes of the vector' seconds
  done
  cp "$csv" "$name.csv"
done
bash "$here/judge_table.sh" "$collective" "$out"
