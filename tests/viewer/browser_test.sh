#!/bin/bash
# Opens pages in Chromium, without a network: each panel is drawn, nothing fails, what is selected is
# shown, keys work, nothing is wider than a phone.
set -euo pipefail
torc=$PWD/$1
if ! command -v chromium >/dev/null; then
  echo "skipped: no chromium (apt-get install chromium)"
  exit 0
fi
cd "$TEST_TMPDIR"
export HOME=$TEST_TMPDIR

fail() {
  echo "$1" >&2
  exit 1
}

# The document of a page after its scripts: show FILE FRAGMENT [SIZE].
show() {
  timeout 120 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --enable-logging=stderr \
    --host-resolver-rules="MAP * ~NOTFOUND" --virtual-time-budget=20000 --window-size="${3:-1400,1000}" \
    --dump-dom "file://$PWD/$1#$2" >dom 2>log || fail "$1: chromium has failed: $(tail -3 log)"
  ! grep ':CONSOLE' log || fail "$1#$2: the console has messages"
  grep -q '<html[^>]* data-errors="0"' dom || fail "$1#$2: scripts have failed: $(grep -o 'data-error="[^"]*"' dom)"
  grep -q '<html[^>]* data-ready=""' dom || fail "$1#$2: is not ready"
  grep -q '<html[^>]* data-overflow="0"' dom || fail "$1#$2: is wider than the window"
  ! grep -oE '<canvas[^>]*>' dom | grep -v 'aria-label=' || fail "$1#$2: a picture has no label"
}
value() { grep -oE "<html[^>]* $1=\"[^\"]*\"" dom | sed 's/.*="//; s/"$//'; }
# drawn PANEL...: something is on the canvas.
drawn() {
  local panel
  for panel; do
    [[ $(value "data-ink-panel$panel") > 0.001 ]] || fail "panel $panel is empty: $(value "data-ink-panel$panel")"
  done
}
contains() { grep -qF -- "$1" dom || fail "the page lacks: $1"; }

"$torc" compile allreduce --torus 4x3x2 -o a.torc --quiet
"$torc" simulate a.torc --per-rank --bytes 64K --trace a.json >/dev/null
"$torc" view a.torc --rank 0,5 --passes --choices --trace a.json
show a.html ""
drawn 2 3 4
[[ $(value data-ops) == 144 ]] || fail "operations: $(value data-ops)"
contains "proved at 1 cell of nodes for every count"
show a.html "tab=links" && contains "1/48"
show a.html "tab=choice" && drawn 9
show a.html "tab=measured" && drawn 10 11 12
show a.html "tab=dependences&nodes=1" && drawn 5 2
show a.html "tab=rank" && drawn 8 && contains "recv_reduce"
show a.html "tab=text&op=5&theme=dark" && drawn 2 4
grep -q '<code id="selected">%5 = recv_reduce' dom || fail "operation 5 is not shown"
grep -q 'class="row op chosen' dom || fail "the line of operation 5 is not marked"
for tab in links choice measured dependences rank text; do
  show a.html "tab=$tab" 400,900
done

# The third step of the critical path, by keys.
step=$("$torc" simulate a.torc --bytes 64K --critical-path | sed -n '/start us/,$p' | awk 'NR == 4 { print $4 }')
show a.html "keys=n,n,n" && contains "<code id=\"selected\">$step = "
show a.html "keys=n,n,n,p" && ! grep -qF "<code id=\"selected\">$step = " dom || fail "p goes nowhere"
show a.html "keys=n,Escape" && contains "None. Click one"
show a.html "keys=w,w,d,a,s,ArrowRight,ArrowLeft,%20,%20,0" && drawn 4

# A text that is not proved: its faults select their operations.
"$torc" dump a.torc | sed 's/ after %3$//' >fault.txt
"$torc" view fault.txt
show fault.html "" && contains "not proved" && contains "%4: races:"

# 65,536 nodes, and 98,496 operations.
"$torc" compile allreduce --torus 64x32x32 -o large.torc --quiet && "$torc" view large.torc
show large.html "" && drawn 2 3 4
echo "64x32x32: $(value data-load-ms) ms"
[[ $(value data-load-ms) -lt 5000 ]]
"$torc" compile allreduce --torus 512x2x2 --chunks 8 --in-flight 2 -o many.torc --quiet && "$torc" view many.torc
show many.html "" && drawn 2 4
echo "98,496 operations: $(value data-load-ms) ms"

# Kinds of schedules, and several at once.
files=()
while read -r arguments; do
  file=kind${#files[@]}
  # shellcheck disable=SC2086
  "$torc" compile $arguments -o $file.torc --quiet
  "$torc" view $file.torc
  show $file.html "nodes=1"
  files+=($file.torc)
done <<'END'
allreduce --torus 4x4x4 --dead-link 0,0,1:Z
allreduce --torus 4x4 --dead-node 1,2
allreduce --torus 3x3x2x2x2
allreduce --torus 8x8 --segments 40
allreduce --torus 4x4+4
broadcast --torus 4x4m
exscan --torus 5
alltoall --torus 4x4
neighbor_alltoall --torus 3x4m
allreduce --torus 1
END
"$torc" view "${files[@]}" --bytes 1K:4K -o all.html
show all.html "tab=compare&file=2" && contains kind2.torc
show all.html "tab=compare" 400,900
echo "pages open"
