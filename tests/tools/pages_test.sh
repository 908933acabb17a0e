#!/usr/bin/env bash
# Runs what pages show: blocks of commands that begin with `$ torc`, and what these print. A line `...` stands
# for any lines; the seconds that something took are not compared. What needs a file that the page does not
# make, another program, or a library is passed over.
#
#   bash tests/tools/pages_test.sh TORC TORC_MODEL PAGE...
set -euo pipefail
export PATH=/usr/lib/llvm-19/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$(realpath "$1")" "$(realpath "$2")" "$work/bin"
export PATH=$work/bin:$PATH
shift 2

status=0 run=0 passed_over=0
for page in "$@"; do
  [[ $page == *.md ]] || continue
  rm -rf "$work/page"
  mkdir -p "$work/page/place"
  # A file for each block that has a command.
  awk -v folder="$work/page" '
    /^```/ { blocks += inside && any; inside = !inside; any = 0; next }
    inside && /^\$ / { any = 1 }
    inside && any { print > sprintf("%s/%03d", folder, blocks) }' "$page"
  for block in "$work/page"/[0-9]*; do
    [[ -e $block ]] || continue
    # FILE.sh has the commands, FILE.check what they print, in order.
    awk -v name="$block" '
      /^\$ / || continued { sub(/^\$ /, ""); continued = /\\$/; print > (name ".sh"); start = 1; next }
      /^(\.\.\.|…)$/ { start = 1; next }
      NF { print (start ? "CHECK: " : "CHECK-NEXT: ") $0 > (name ".check"); start = 0 }' "$block"
    if grep -qvE '^(torc|torc-model) ' "$block.sh" || grep -q 'library build' "$block.sh" || [[ ! -e $block.check ]]; then
      ((++passed_over))
      continue
    fi
    sed -Ei 's/[0-9.]+ s$/{{[0-9.]+}} s/; s/[0-9.]+ s;/{{[0-9.]+}} s;/g' "$block.check"
    (cd "$work/page/place" && bash "$block.sh") >"$work/out" 2>&1 || true
    if grep -q 'cannot read' "$work/out"; then
      ((++passed_over))
      continue
    fi
    ((++run))
    sed '/^$/d' "$work/out" | FileCheck "$block.check" >"$work/why" 2>&1 && continue
    echo "$page: not what this prints: $(head -n 1 "$block.sh")"
    sed -n '2,9p' "$work/why"
    status=1
  done
done
echo "$run blocks run, $passed_over passed over"
((run > 0)) || status=1
exit $status
