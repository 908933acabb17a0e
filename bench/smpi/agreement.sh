#!/usr/bin/env bash
# Compares torc's simulator with SimGrid SMPI. The same schedules on the same torus, links of 425
# MB/s, neutral settings. Prints a table of the simulator's time over SMPI's, less 1, for
# docs/research/simulator.md.
#
#   bash bench/smpi/agreement.sh [COLLECTIVE]...        default allreduce reduce_scatter allgather
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
source "$here/torus.sh"
# shellcheck disable=SC2086
bazel ${BAZEL_STARTUP:-} build -c opt //compiler:torc 2>/dev/null
# shellcheck disable=SC2086
torc=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)/compiler/torc
program=$(bash "$here/build.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(($# > 0)) || set -- allreduce reduce_scatter allgather
collectives=("$@")

# row SHAPE BYTES [OPTION of torc compile]...
row() {
  local shape=$1 bytes=$2 collective ours theirs
  shift 2
  printf '| %s | %s | %s |' "$shape" "$bytes" "${*:+\`$*\`}"
  for collective in "${collectives[@]}"; do
    "$torc" compile "$collective" --torus "$shape" --quiet -o "$work/a.torc" "${@:---chunks=1}"
    ours=$("$torc" simulate "$work/a.torc" --machine smpi --bytes "$bytes" --json |
      tr ',{}' '\n\n\n' | awk -F : '/"makespan_s"/ { print $2; exit }')
    theirs=$(torus_run "$program" "$shape" neutral mpich "$work" "$work/a.torc" --bytes "$bytes" \
      --iterations 1 --warmup 0 | awk '!/^#/ { print 1e-6 * $3 }')
    awk -v ours="$ours" -v theirs="$theirs" 'BEGIN { printf " %+.2f %% |", 100 * (ours / theirs - 1) }'
  done
  echo
}

printf '| torus | bytes | options |'
printf ' %s |' "${collectives[@]}"
printf '\n| --- | --- | --- |'
printf ' --- |%.0s' "${collectives[@]}"
echo
row 4x4x4 3000000
row 8x8 3000000
row 5x3x4 3000000 --weights balanced --chunks 4 --in-flight 1
row 8x4x2m 3000000
row 8x4x2m 3000000 --dependences phase
row 8x4x2m 3000000 --weights balanced --chunks 4 --in-flight 1
row 8x4x2m 25000000 --weights balanced --chunks 4 --in-flight 2
row 16x4 3000000 --weights balanced --chunks 4 --in-flight 1
row 4x4m 3000000 --weights balanced --chunks 8 --in-flight 1
