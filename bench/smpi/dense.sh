#!/usr/bin/env bash
# Compares 2-D with 2.5D SUMMA and LU on a simulated torus (SimGrid SMPI): 2-D by the collectives of
# MPI's selectors, and by Cannon's algorithm, 2.5D by the selectors and by torc's schedules. Prints
# the tables behind that of docs/users/linalg.md.
#
#   bash bench/smpi/dense.sh [--shapes S,...] [--sizes N,...] [--jobs J,...] [--settings S]
#
#   --shapes   X x Y x Z, which are columns, rows and layers of the 2.5D grid; default 4x4x4,8x8x4
#   --sizes    of the matrices; default 256,512,1024,2048
#   --jobs     default gemm,lu
#   --settings rendezvous (default), or neutral, in which SMPI buffers messages of less than 64 KiB
#
# Local work runs at a node's 13.6 Gflop/s (Blue Gene/P), or at FLOPS of the environment. Runs are
# kept beside the objects of build.sh, under a key of their inputs: a second call runs only changed
# ones.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
source "$here/torus.sh"
shapes=4x4x4,8x8x4
sizes=256,512,1024,2048
jobs=gemm,lu
settings=rendezvous
while (($# > 0)); do
  case $1 in
    --shapes | --sizes | --jobs | --settings)
      if (($# < 2)); then
        echo "dense.sh: $1: a value is missing" >&2
        exit 2
      fi
      declare "${1#--}=$2"
      shift 2
      ;;
    *)
      echo "dense.sh: $1: no such option; see the head of the script" >&2
      exit 2
      ;;
  esac
done
if [[ ! $shapes, =~ ^([1-9][0-9]*x[1-9][0-9]*x[1-9][0-9]*,)+$ ]]; then
  echo "dense.sh: --shapes $shapes: each has three axes: 4x4x4" >&2
  exit 2
fi
if [[ $settings != rendezvous && $settings != neutral ]]; then
  echo "dense.sh: --settings $settings: rendezvous or neutral" >&2
  exit 2
fi
flops=${FLOPS:-13.6e9}
export OPENBLAS_NUM_THREADS=1

# shellcheck disable=SC2086
bazel ${BAZEL_STARTUP:-} build -c opt //compiler:torc 2>/dev/null
# shellcheck disable=SC2086
torc=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)/compiler/torc
blas=$(dirname "$(ls /usr/include/*/openblas-pthread/cblas.h)")
program=$(bash "$here/build.sh" "$here/dense.cc" -I"$blas" \
  -Wl,--wrap=PMPI_Isend,--wrap=PMPI_Issend -lopenblas)
kept=$(dirname "$program")/dense
mkdir -p "$kept"
work=$(mktemp -d)
machine=$kept/smpi-$settings.json
if [[ $settings == rendezvous ]]; then
  sed 's/"buffered": [0-9]*,/"buffered": 0,/' model/machines/presets/smpi.json >"$machine"
else
  cp model/machines/presets/smpi.json "$machine"
fi
trap 'rm -rf "$work"' EXIT

# run SHAPE SELECTOR JOB COLLECTIVES N GRID BLOCK: the program's line, or nothing if it did not end.
run() {
  local file
  file=$kept/$({ echo "$settings $* $flops $TORUS_BANDWIDTH $TORUS_LATENCY"; cat "$program"; [[ $4 == mpi ]] || cat "$4"/index.torc; } | sha256sum | cut -c 1-32)
  if [[ ! -e $file ]]; then
    torus_run "$program" "$1" "$settings" "$2" "$work" "$3" "$4" "$5" "$6" "$7" "$flops" 2>/dev/null |
      tail -1 | grep -E '^[0-9]' >"$file.$$" || true
    mv "$file.$$" "$file"
  fi
  cat "$file"
}

ms() { awk -v s="$1" 'BEGIN { printf "%.3f", 1e3 * s }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'; }

# row JOB SHAPE N LIBRARY
row() {
  local job=$1 shape=$2 n=$3 library=$4 x y z side grid selector best="" best_selector="" layered="" layered_selector="" cannon=
  IFS=x read -r x y z <<<"$shape"
  side=$(awk -v p=$((x * y * z)) 'BEGIN { print int(sqrt(p) + 0.5) }')
  grid=${y}x${x}x${z}
  # A block per process for SUMMA; a fourth of that for LU, which is cyclic.
  local flat_block=$((n / side)) block=$((n / x))
  if [[ $job == lu ]]; then
    flat_block=$((flat_block / 4))
    block=$((block / 8))
  fi
  for selector in mpich ompi mvapich2 impi; do
    local line
    line=$(run "$shape" "$selector" "$job" mpi "$n" "${side}x${side}x1" "$flat_block")
    if [[ -n $line ]] && { [[ -z $best ]] || awk -v a="${line%% *}" -v b="${best%% *}" 'BEGIN { exit !(a < b) }'; }; then
      best=$line best_selector=$selector
    fi
    line=$(run "$shape" "$selector" "$job" mpi "$n" "$grid" "$block")
    if [[ -n $line ]] && { [[ -z $layered ]] || awk -v a="${line%% *}" -v b="${layered%% *}" 'BEGIN { exit !(a < b) }'; }; then
      layered=$line layered_selector=$selector
    fi
  done
  if [[ $job == gemm ]]; then
    # Neighbours of the 2-D grid are not neighbours of the torus.
    local s0 p0 c0 i0
    read -r s0 p0 c0 i0 _ < <(run "$shape" mpich cannon mpi "$n" "${side}x${side}x1" "$flat_block")
    cannon=" $(ms "$p0") / $(ms "$c0") / $(ms "$i0") |"
  fi
  local torcs
  torcs=$(run "$shape" mpich "$job" "$library" "$n" "$grid" "$block")
  local s1 p1 c1 i1 s2 p2 c2 i2 s3 p3 c3 i3 words3 sent3 messages
  read -r s1 p1 c1 i1 _ <<<"$best"
  read -r s2 p2 c2 i2 _ <<<"$layered"
  read -r s3 p3 c3 i3 words3 sent3 messages <<<"$torcs"
  [[ $job == gemm ]] && cannon+=" $(ratio "$c0" "$c3") | $(ratio "$s0" "$s3") |"
  echo "| $n |$cannon $(ms "$p1") / $(ms "$c1") / $(ms "$i1") ($best_selector) | $(ms "$p2") / $(ms "$c2") / $(ms "$i2") ($layered_selector) | $(ms "$p3") / $(ms "$c3") / $(ms "$i3") | $(ratio "$c1" "$c3") | $(ratio "$s1" "$s3") | $(ratio "$sent3" "$words3") | $words3 in $messages |"
}

for shape in ${shapes//,/ }; do
  library=$kept/library-$settings-$shape-$(sha256sum <"$torc" | cut -c 1-16)
  [[ -e $library ]] ||
    "$torc" library build --machine "$machine" --partition "$shape" --collectives broadcast,reduce,allreduce,reduce_scatter,allgather,alltoall \
      --quiet -o "$library" 2>/dev/null
  for job in ${jobs//,/ }; do
    echo
    echo "### $job on $shape"
    echo
    cannon_head= rule=
    [[ $job == gemm ]] && cannon_head=" Cannon, 2-D | messages faster | run faster |" rule=" --- | --- | --- |"
    echo "| n |$cannon_head 2-D compute / communicate / idle | 2.5D, MPI | 2.5D, torc | messages faster | run faster | words sent / counted | words, messages |"
    echo "| --- |$rule --- | --- | --- | --- | --- | --- | --- |"
    for n in ${sizes//,/ }; do
      # SMPI takes minutes for each run of an LU of more ranks and panels.
      [[ $job == lu && $((n * $(torus_ranks "$shape"))) -gt 131072 ]] && continue
      row "$job" "$shape" "$n" "$library"
    done
  done
done
