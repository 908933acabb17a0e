#!/usr/bin/env bash
# Does torc's simulator agree with SimGrid SMPI? The same schedules on the same torus, links of 425
# MB/s, neutral settings: a table of both times.
#
#   bash bench/smpi/agreement.sh [COLLECTIVE]...        writes docs/research/judge/COLLECTIVE/agreement.md
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

# row COLLECTIVE SHAPE BYTES [OPTION of torc compile]...
row() {
  local collective=$1 shape=$2 bytes=$3 ours theirs
  shift 3
  "$torc" compile "$collective" --torus "$shape" --quiet -o "$work/a.torc" "$@"
  ours=$("$torc" simulate "$work/a.torc" --machine smpi --bytes "$bytes" --json |
    tr ',{}' '\n\n\n' | awk -F : '/"makespan_s"/ { print $2; exit }')
  theirs=$(torus_run "$program" "$shape" neutral mpich "$work" "$work/a.torc" --bytes "$bytes" \
    --iterations 1 --warmup 0 | awk '!/^#/ { print 1e-6 * $3 }')
  awk -v head="| $collective | $shape | ${*:-as it comes} | $bytes |" -v ours="$ours" \
    -v theirs="$theirs" 'BEGIN {
      printf "%s %.1f | %.1f | %+.2f %% |\n", head, 1e6 * ours, 1e6 * theirs, 100 * (ours / theirs - 1)
    }'
}

(($# > 0)) || set -- allreduce reduce_scatter allgather
for collective in "$@"; do
  out=docs/research/judge/$collective/agreement.md
  mkdir -p "$(dirname "$out")"
  {
    echo "Times in microseconds. Made by \`bash bench/smpi/agreement.sh $collective\`."
    echo
    echo '| collective | torus | options | bytes | torc simulate | SMPI | difference |'
    echo '| --- | --- | --- | --- | --- | --- | --- |'
    row "$collective" 4x4x4 3000000
    row "$collective" 8x8 3000000
    row "$collective" 5x3x4 3000000 --weights balanced --chunks 4 --in-flight 1
    row "$collective" 8x4x2m 3000000
    row "$collective" 8x4x2m 3000000 --dependences phase
    row "$collective" 8x4x2m 3000000 --weights balanced --chunks 4 --in-flight 1
    row "$collective" 8x4x2m 25000000 --weights balanced --chunks 4 --in-flight 2
    row "$collective" 16x4 3000000 --weights balanced --chunks 4 --in-flight 1
    row "$collective" 4x4m 3000000 --weights balanced --chunks 8 --in-flight 1
  } | tee "$out.part"
  mv "$out.part" "$out"
done
