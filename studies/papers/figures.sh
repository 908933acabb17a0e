# Common begin of the scripts of a paper's figures; sourced by them, in the root of the repository.
# Their first argument may be --draw: figures of the stored tables.
only_draw=
if [[ ${1:-} == --draw ]]; then
  only_draw=1
  shift
fi

# begin_figures SCRIPT FOLDER TARGET...: builds the targets; sets `out` to FOLDER, which then
# exists, `bin` to Bazel's, `marked` to a temporary file.
begin_figures() {
  out=$2
  if ! command -v gnuplot >/dev/null; then
    echo "$1: gnuplot is missing: apt-get install gnuplot-nox" >&2
    exit 1
  fi
  mkdir -p "$out"
  marked=$(mktemp)
  trap 'rm -f "$marked"' EXIT
  [[ -z $only_draw ]] || return 0
  # shellcheck disable=SC2086
  bazel ${BAZEL_STARTUP:-} build -c opt "${@:3}" 2>/dev/null
  # shellcheck disable=SC2086
  bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)
}

# csv_tables: the printed tables, on stdin, as CSV; all other lines, as titles, begin with "# ".
csv_tables() {
  awk '
    /^\| ---/ { next }
    /^\|/ {
      count = split(substr($0, 2), cells, "|")
      row = ""
      for (i = 1; i < count; ++i) {
        cell = cells[i]
        gsub(/^ +| +$/, "", cell)
        if (cell ~ /[",]/) { gsub(/"/, "\"\"", cell); cell = "\"" cell "\"" }
        row = row (i > 1 ? "," : "") cell
      }
      print row
      next
    }
    /./ { sub(/^#+ /, ""); print "# " $0 }'
}

# published FILE.csv HEAD|X:Y[,X:Y...]...: FILE with a further column for each HEAD, "paper: ...",
# of the numbers in a paper's text. X is in the first column; a missing number gets a row.
published() {
  printf '%s\n' "${@:2}" | awk -F '|' -v OFS=, '
    NR == FNR {
      if ($0 == "") next
      heads = heads OFS $1; ++columns
      count = split($2, points, ",")
      for (i = 1; i <= count; ++i) { split(points[i], point, ":"); value[point[1], columns] = point[2]; wanted[point[1]] }
      next
    }
    FNR == 1 { print $0 heads; fields = split($0, unused, ","); next }
    { x = $0; sub(/,.*/, "", x); rows[++lines] = x; rest[lines] = $0; delete wanted[x] }
    END {
      for (x in wanted) {
        at = ++lines
        for (; at > 1 && rows[at - 1] + 0 > x + 0; --at) { rows[at] = rows[at - 1]; rest[at] = rest[at - 1] }
        rows[at] = x; rest[at] = x
        for (i = 1; i < fields; ++i) rest[at] = rest[at] OFS
      }
      for (line = 1; line <= lines; ++line) {
        row = rest[line]
        for (i = 1; i <= columns; ++i) row = row OFS value[rows[line], i]
        print row
      }
    }' - "$1"
}
