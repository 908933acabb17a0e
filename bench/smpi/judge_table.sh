#!/usr/bin/env bash
# Prints the table of a collective, with a row for each torus, from the times that judge.sh keeps.
#
#   bash bench/smpi/judge_table.sh COLLECTIVE [FOLDER]     reads FOLDER/COLLECTIVE/*.csv, default docs/research/judge
#
# A row is a torus under one setting, a column a size. A cell has torc's time over the bound of the wires,
# and the time of the fastest MPI selector over torc's.
set -euo pipefail
if (($# < 1 || $# > 2)); then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
folder=${2:-docs/research/judge}/$1
files=()
for setting in neutral rendezvous default; do
  [[ ! -e $folder/$setting.csv ]] || files+=("$folder/$setting.csv")
done
((${#files[@]} > 0)) || {
  echo "judge_table.sh: $folder: no table of times" >&2
  exit 1
}

awk -F , '
  function name(bytes) {
    if (bytes % 1048576 == 0) return bytes / 1048576 " MiB"
    if (bytes % 1024 == 0) return bytes / 1024 " KiB"
    return bytes % 1000000 == 0 ? bytes / 1000000 " MB" : bytes " B"
  }
  function short(number, digits) { return sprintf(number < 10 ? "%." digits "f" : "%.1f", number) }
  FNR == 1 {
    setting = FILENAME
    gsub(/.*\/|\.csv$/, "", setting)
    next
  }
  {
    row = $1 (setting == "neutral" ? "" : ", " setting)
    if (!(row in seen)) { seen[row] = 1; order[++rows] = row }
    if (!($2 in known)) {
      known[$2] = 1
      for (at = ++sizes; at > 1 && size[at - 1] > $2 + 0; --at) size[at] = size[at - 1]
      size[at] = $2 + 0
    }
    best = ""
    for (i = 5; i <= NF; ++i) if ($i != "" && (best == "" || $i + 0 < best)) best = $i + 0
    if ($4 != "") cell[row, $2] = short($4 / $3, 3) ", " (best == "" ? "–" : short(best / $4, 2))
  }
  END {
    printf "| torus |"
    for (j = 1; j <= sizes; ++j) printf " %s |", name(size[j])
    printf "\n| --- |"
    for (j = 1; j <= sizes; ++j) printf " --- |"
    for (i = 1; i <= rows; ++i) {
      printf "\n| %s |", order[i]
      for (j = 1; j <= sizes; ++j) printf " %s |", (order[i], size[j]) in cell ? cell[order[i], size[j]] : ""
    }
    printf "\n"
  }' "${files[@]}"
