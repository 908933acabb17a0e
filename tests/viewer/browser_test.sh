#!/bin/bash
# Opens pages of many kinds of schedules in Chromium (browser.mjs).
set -euo pipefail
torc=$PWD/$1 tests=$PWD/tests/viewer
if ! command -v chromium >/dev/null; then
  echo "skipped: no chromium (apt-get install --no-install-recommends chromium)"
  exit 0
fi
cd "$TEST_TMPDIR"
"$torc" compile allreduce --torus 4x3x2 --algorithm bucket -o a.torc --quiet
"$torc" simulate a.torc --per-rank --bytes 64K --trace a.json >/dev/null
"$torc" simulate a.torc --bytes 64K --critical-path --json >a.simulate.json
"$torc" view a.torc --rank 0,5 --passes --choices --trace a.json
"$torc" dump a.torc | sed 's/ after %3$//' >fault.txt
"$torc" view fault.txt
"$torc" view a.torc -o 'a b#%.html' --png a.png
[[ $(head -c 8 a.png | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a && $(wc -c <a.png) -gt 30000 ]]
"$torc" compile allreduce --torus 8x8x8 --algorithm bucket -o turn.torc --quiet && "$torc" view turn.torc
"$torc" compile allreduce --torus 64x32x32 --algorithm bucket -o large.torc --quiet && "$torc" view large.torc
"$torc" compile allreduce --torus 512x2x2 --chunks 8 --in-flight 2 -o many.torc --quiet && "$torc" view many.torc
count=0
while read -r arguments; do
  # shellcheck disable=SC2086
  "$torc" compile $arguments -o "kind$count.torc" --quiet
  "$torc" view "kind$count.torc"
  ((++count))
done <<'END'
allreduce --torus 4x4x4 --algorithm bucket --dead-link 0,0,1:Z
allreduce --torus 4x4 --algorithm closed-trees --dead-node 1,2
allreduce --torus 3x3x2x2x2 --algorithm bucket
allreduce --torus 8x8 --segments 40
allreduce --torus 4x4+4 --algorithm bucket
broadcast --torus 4x4m --algorithm product-trees
broadcast --torus 4x4 --chunks 50
exscan --torus 5 --algorithm recursive-doubling
gather --torus 4x4 --algorithm scatter-trees
alltoall --torus 4x4 --algorithm direct
alltoall --torus 4x4m --algorithm rings
neighbor_alltoall --torus 3x4m --algorithm neighbours
allreduce --torus 1 --algorithm bucket
END
# Nothing that a logarithmic axis shows.
"$torc" view "kind$((count - 1)).torc" --choices -o one.html
printf 'bytes,bound,torc\n0,0,0\n-4,-1,-2\n' >zeros.csv
"$torc" view zeros.csv
"$torc" view kind*.torc --bytes 1K:4K -o all.html
"$torc" library build --machine generic --partition 3x2 --sizes 1K:64K --collectives allreduce,broadcast -o lib --quiet
"$torc" view lib -o lib.html
printf 'shape,bytes,bound,torc,mpich\n4x4,64,1e-7,2e-7,3e-6\n4x4,1024,1e-6,1.1e-6,\n8x8,64,1e-7,3e-7,1e-6\n' >table.csv
"$torc" view table.csv
node --preserve-symlinks --preserve-symlinks-main "$tests/browser.mjs" "$PWD" "$count"
