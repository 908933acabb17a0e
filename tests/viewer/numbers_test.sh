#!/bin/bash
# Makes pages of many kinds of schedules and compares their content with the output of other
# commands.
set -euo pipefail
torc=$1
cd "$TEST_TMPDIR"
torc=$OLDPWD/$torc
tests=$OLDPWD/tests/viewer
count=0
while read -r arguments; do
  name=$((count++))
  # shellcheck disable=SC2086
  "$torc" compile $arguments -o "$name.torc" --quiet
  "$torc" simulate "$name.torc" --bytes 64K --per-rank --trace "$name.trace.json" >"$name.per-rank"
  python3 -c '
import json, sys
trace = json.load(open(sys.argv[1]))
for event in trace["traceEvents"]:
    if event["pid"] == 3 and "ts" in event:
        event["ts"] += 1000  # rank 2 is 1 ms late
json.dump(trace, open(sys.argv[1], "w"))' "$name.trace.json"
  "$torc" view "$name.torc" --bytes 64K --rank 0 --passes --choices --trace "$name.trace.json"
  "$torc" simulate "$name.torc" --bytes 64K --critical-path --json >"$name.simulate.json"
  "$torc" simulate "$name.torc" --exact --json >"$name.exact.json"
  "$torc" verify "$name.torc" --json >"$name.verify.json"
  "$torc" dump "$name.torc" --rank 0 --json >"$name.rank.json"
  "$torc" dump "$name.torc" >"$name.txt"
  echo "$name: $arguments"
done <<'END'
allreduce --torus 4x3x2 --algorithm bucket
allreduce --torus 4x4x3 --chunks 2 --in-flight 1
allreduce --torus 4x4 --algorithm closed-trees --dead-node 1,2
allreduce --torus 5x4m --algorithm bucket
allreduce --torus 6x4 --segments 8
allreduce --torus 3x2x2x2x2 --algorithm bucket
broadcast --torus 4x4m --algorithm product-trees
scan --torus 4x3 --algorithm recursive-doubling
alltoall --torus 4x4 --algorithm direct
reduce_scatter --torus 4x4 --algorithm bfb
allreduce --torus 4x2 --bytes 64K
broadcast --torus 4x4x4 --chunks 900
END
# The author's own lines, with a fault in one.
{ echo "// of an author" && sed 's/ after %3$//' 0.txt; } >own.txt
"$torc" view own.txt -o own.html
node --preserve-symlinks --preserve-symlinks-main "$tests/numbers.mjs" "$tests/../../docs/schemas/view.schema.json" "$count"
