#!/usr/bin/env bash
# The runtime on a simulated torus (SimGrid SMPI): right results of every collective, times compared
# with the bound of the wires, and a schedule that avoids a dead link.
#
#   simulated_torus_test.sh TORC TORC_RUN TORUS_SH
set -euo pipefail
source tests/checks.sh
torc=$1 torc_run=$2
source "$3"

# run SHAPE SCHEDULE OPTION...: the lines of the table.
run() {
  torus_run "$torc_run" "$1" neutral mpich "$work" "$work/$2" --iterations 1 --warmup 0 "${@:3}" |
    grep -v '^#'
}

# Results, against MPI's own collective, from no element to messages that wait for their receives.
# (SMPI's own reduce_scatter refuses the null buffer of a rank that gets nothing.)
for collective in allreduce reduce_scatter allgather; do
  for case in '3x4 --algorithm bucket' '4x2mx3 --weights balanced --chunks 4 --in-flight 1' '5m --dependences phase'; do
    read -r shape options <<<"$case"
    # shellcheck disable=SC2086
    "$torc" compile "$collective" --torus "$shape" --quiet -o "$work/a.torc" $options
    for bytes in $([[ $collective == reduce_scatter ]] && echo 128:256 || echo 0:64) 1000000; do
      lines=$(run "$shape" a.torc --bytes "$bytes" --check --type int32) || lines="no result"
      ! grep -v 'ok$' <<<"$lines" || fail "$collective on $case, $bytes bytes"
    done
  done
done

# Time: the wires' bound is not beaten, and on a symmetric torus it is met. `torc bounds` and the
# formula of torus.sh are of different hands.
"$torc" compile allreduce --torus 4x4 --algorithm bucket --quiet -o "$work/a.torc"
time=$(run 4x4 a.torc --bytes 1M | awk '{ print 1e-6 * $3 }')
bound=$(torus_bound allreduce 4x4 $((1 << 20)))
about "allreduce of 1 MiB on 4x4" "$time" "$(awk "BEGIN { print 1.005 * $bound }")" 0.0049
for shape in 4x4 8x4x2m 5x3x4 16x2mx2m; do
  theirs=$("$torc" bounds allreduce --machine smpi --torus "$shape" --bytes 1M --json |
    tr ',{}' '\n\n\n' | awk -F : '/"bound_s"/ { print $2; exit }')
  ours=$(torus_bound allreduce "$shape" $((1 << 20)))
  about "bound of $shape by torc bounds" "$theirs" "$ours" 1e-6
done

# A dead link, which on the simulated torus is 400,000 times as slow as the others.
"$torc" compile allreduce --torus 4x4 --algorithm bucket --dead-link 3,2:Y --quiet -o "$work/dead.torc"
healthy=$(run 4x4 dead.torc --bytes 64K --check | awk '/ok$/ { print $3 }')
damaged=$(TORUS_DEAD=3,2:Y run 4x4 dead.torc --bytes 64K --check | awk '/ok$/ { print $3 }')
about "us beside a dead link" "$damaged" "$healthy" 1e-3
other=$(TORUS_DEAD=3,2:Y run 4x4 a.torc --bytes 64K | awk '{ print $3 }')
awk -v other="$other" 'BEGIN { exit !(other > 1e6) }' ||
  fail "a schedule that uses the dead link takes $other us: nobody would notice"

# A node and a link, round which everything goes; predicted within a tenth.
for collective in allreduce allgather; do
  "$torc" compile "$collective" --machine smpi --torus 4x4 --dead-node 1,2 --dead-link 3,0:Y --bytes 1M \
    --quiet -o "$work/two.torc"
  time=$(TORUS_DEAD='1,2 3,0:Y' run 4x4 two.torc --bytes 1M --check | awk '/ok$/ { print $3 }')
  ours=$("$torc" compile "$collective" --machine smpi --torus 4x4 --dead-node 1,2 --dead-link 3,0:Y \
    --bytes 1M --explain --quiet -o "$work/two.torc" | sed -n 's/^\*\([ 0-9.]*\).*/\1/p' | awk '{ print $1 }')
  about "us of $collective without a node and a link" "$time" "$ours" 0.1
done
