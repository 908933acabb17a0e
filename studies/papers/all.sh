#!/usr/bin/env bash
# Makes all tables and figures of the five papers, with the time of each page, and the sheet of all
# figures, docs/research/papers/all.html. It lists numbers of CSV files that differ from the stored
# ones by more than a share, and then fails; the stored ones stay. It also fails for a number of a
# page that //tests/studies:claims_test does not derive from them.
#
#   bash studies/papers/all.sh [--draw] [--share 0.02] [PAGE...]
#
# PAGE: bucket, 2.5d, alltoall-bgl, alltoall-multicore, cdcp; all, an hour on two cores. --draw:
# figures of the stored tables.
set -euo pipefail
cd "$(dirname "$0")/../.."
kept=docs/research/papers
draw= share=0.02
while [[ ${1:-} == --* ]]; do
  case $1 in
    --draw) draw=--draw ;;
    --share) share=$2; shift ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
pages=("$@")
((${#pages[@]})) || pages=(bucket 2.5d alltoall-bgl alltoall-multicore cdcp)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# differences KEPT NEW: places where numbers differ by more than the share, or words differ.
differences() {
  awk -F '[ ,]+' -v share="$share" '
    function isNumber(text) { return text ~ /^[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/ }
    function isFar(a, b, d) { d = a - b; if (d < 0) d = -d; return d > share * (a < 0 ? -a : a) + 1e-9 }
    NR == FNR { line[FNR] = $0; lines = FNR; next }
    {
      count = split(line[FNR], was); far = count != NF
      for (i = 1; i <= NF && !far; ++i)
        far = isNumber($i) && isNumber(was[i]) ? isFar(was[i], $i) : $i != was[i]
      if (far) print "  line " FNR ": kept " line[FNR] "\n  line " FNR ": now  " $0
    }
    END { if (FNR != lines) print "  " lines " lines kept, " FNR " now" }' "$1" "$2"
}

status=0
for page in "${pages[@]}"; do
  start=$SECONDS
  arguments=("$work/$page")
  [[ $draw ]] && arguments=(--draw "$kept/$page")
  bash "studies/papers/$page.sh" "${arguments[@]}"
  echo "$page: $((SECONDS - start)) s"
  [[ ! $draw ]] || continue
  for file in "$kept/$page"/*.csv; do
    made=$work/$page/$(basename "$file")
    [[ -e $made ]] || continue
    found=$(differences "$file" "$made")
    [[ -n $found ]] || continue
    printf '%s differs:\n%s\n' "$file" "$found"
    status=1
  done
done

{
  echo '<!doctype html><html lang="en"><meta charset="utf-8"><title>All figures of the papers</title>'
  echo '<style>body{font:16px sans-serif;margin:1em}img{width:32%;min-width:20em}</style>'
  for page in bucket 2.5d alltoall-bgl alltoall-multicore cdcp; do
    title=$page
    [[ ! -e $kept/$page.md ]] || title="<a href=\"$page.md\">$page</a>"
    echo "<h2>$title</h2>"
    for file in "$kept/$page"/*.svg; do
      echo "<img src=\"$page/$(basename "$file")\" alt=\"$page, $(basename "$file" .svg)\">"
    done
  done
  echo '</html>'
} >"$kept/all.html"
bazel ${BAZEL_STARTUP:-} test -c opt --test_output=errors //tests/studies:claims_test || status=1
exit $status
