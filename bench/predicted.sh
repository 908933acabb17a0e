#!/usr/bin/env bash
# Checks a machine's description: prints collectives on ranks of this job, as predicted by the
# simulator for the machine and as measured by torc-run, side by side.
#
#   bash bench/predicted.sh MACHINE.json [--torus SHAPE] [--collectives A,B] [--sizes N,N] [--smpi]
#
#   MACHINE.json   of torc-run --calibrate (docs/sites/machines.md), or any other
#   --torus        of the job; default: the machine's own shape
#   --collectives  default allreduce,broadcast,alltoall
#   --sizes        bytes, default 4K,64K,1M,4M
#   --smpi         on a torus that SimGrid SMPI simulates, of neutral settings, and not on MPI's ranks
#
# Schedules are the choices of `torc compile --machine MACHINE.json --bytes N`. As a script of
# tools/torus_testbed.sh it runs on the testbed's hosts. A run is ended after $RUN_TIMEOUT (default
# 120) seconds: MPICH's MPI_Finalize may hang over TCP, after the times are printed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

collectives=allreduce,broadcast,alltoall sizes=4K,64K,1M,4M torus='' smpi='' machine=''
while (($# > 0)); do
  case $1 in
    --torus | --collectives | --sizes)
      if (($# < 2)); then
        echo "predicted.sh: $1: a value is missing" >&2
        exit 2
      fi
      declare "${1#--}=$2"
      shift
      ;;
    --smpi) smpi=1 ;;
    -*)
      echo "predicted.sh: $1: no such option; see the head of the script" >&2
      exit 2
      ;;
    *) machine=$(realpath "$1") ;;
  esac
  shift
done
if [[ -z $machine ]]; then
  echo "predicted.sh: which machine? see the head of the script" >&2
  exit 2
fi

cd "$here/.."
source bench/smpi/torus.sh
# shellcheck disable=SC2086
bazel ${BAZEL_STARTUP:-} build -c opt //compiler:torc //runtime:torc-run 2>/dev/null
# shellcheck disable=SC2086
bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)
torc=$bin/compiler/torc
torus=${torus:-$("$torc" machines "$machine" | awk '$1 == "dimensions.size" { print $2 }')}
ranks=$(torus_ranks "${torus%+*}")
[[ $torus == *+* ]] && ranks=$((ranks * ${torus#*+}))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run ARGUMENT...: torc-run on all ranks; its table.
run() {
  if [[ -n $smpi ]]; then
    torus_run "$(bash bench/smpi/build.sh)" "$torus" neutral mpich "$work" "$@" --iterations 1 --warmup 0
  elif [[ -n ${TESTBED_NODES:-} ]]; then
    timeout "${RUN_TIMEOUT:-120}" testbed_mpiexec "$bin/runtime/torc-run" "$@" || true
  else
    timeout "${RUN_TIMEOUT:-120}" mpiexec.hydra -n "$ranks" "$bin/runtime/torc-run" "$@"
  fi
}

printf '%-14s %10s %14s %14s %9s\n' "$torus" bytes 'predicted us' 'measured us' ratio
for collective in ${collectives//,/ }; do
  for size in ${sizes//,/ }; do
    "$torc" compile "$collective" --machine "$machine" --torus "$torus" --bytes "$size" --quiet \
      -o "$work/a.torc"
    predicted=$("$torc" simulate "$work/a.torc" --machine "$machine" --bytes "$size" --json |
      tr ',{}' '\n\n\n' | awk -F : '/"makespan_s"/ { print 1e6 * $2; exit }')
    read -r bytes measured < <(run "$work/a.torc" --bytes "$size" | awk '/^ / { print $1, $3 }') ||
      { echo "predicted.sh: $collective of $size bytes: no time measured" >&2 && exit 1; }
    awk -v collective="$collective" -v bytes="$bytes" -v a="$predicted" -v b="$measured" 'BEGIN {
      printf "%-14s %10d %14.2f %14.2f %9.3f\n", collective, bytes, a, b, b / a
    }'
  done
done
