#!/bin/bash
# Every collective on every kind of torus, whole and damaged: the predicted time of the choice of
# `torc compile --bytes` over the bound of `torc bounds`. Writes a line of CSV for each torus, and prints the
# tables of docs/research/how-good.md: minimum and maximum of small and of larger tori.
#
#   bazel build -c opt //compiler:torc
#   bash bench/matrix.sh [--nodes "64 512 ..."] [--bytes "16M ..."] [--collectives "allreduce ..."]
#                        [--damages "whole ..."] [--limit SECONDS] [--jobs N] [--rows FILE] [--out CSV]
#   bash bench/matrix.sh --tables [CSV]     prints the tables alone; default docs/research/matrix.csv
#
# FILE (default matrix.tsv) keeps a row for each cell: existing rows are not made again; with 0 jobs the
# CSV has these only. A cell is the ratio, or `none`; then r: the rootless form serves; s: choosing
# takes more than 10 s; k: the file has more than 256 KiB. Of more than 512
# nodes only some shapes, damages and 16 MiB are made unless options say more. A run is ended after
# SECONDS (default 120) of the clock. Collectives without an algorithm are compiled in their rootless form,
# as in a library. Needs GNU time.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
torc=$here/../bazel-bin/compiler/torc
all_damages="whole link links node nodes corner eight"

shapes_of() {  # nodes
  case $1 in
    64) echo "4x4x4 12x5 7x4 32x2 4x2x2x2x2 4x4x4m 8mx8m 8x8@gemini 4x4x2+2" ;;
    512) echo "8x8x8 24x21 128x2x2 4x4x4x4x2 8x8x8m 8x8x8@gemini 8x8x4+2" ;;
    4096) echo "16x16x16 1000x2x2 16x16x16m 8x8x8x4x2" ;;
    32768) echo "32x32x32 64x32x16m" ;;
    *) echo "$0: there are shapes of 64, 512, 4096 and 32768 nodes, not of $1" >&2; exit 2 ;;
  esac
}

# torc's options for dead nodes and links: near a third and two thirds of each axis; eight nodes
# spread by the golden ratio in the order of places.
damage_options() {  # shape damage
  awk -v shape="$1" -v damage="$2" 'BEGIN {
    sub(/[@+].*/, "", shape); gsub(/m/, "", shape)
    n = split(shape, size, "x"); names = "XYZUVWS"; places = 1
    for (i = 1; i <= n; ++i) {
      places *= size[i]
      a = a (i > 1 ? "," : "") int(size[i] / 3)
      b = b (i > 1 ? "," : "") int(2 * size[i] / 3)
      up[1] = up[1] (i > 1 ? "," : "") (int(size[i] / 3) + (i == 1)) % size[i]
      up[2] = up[2] (i > 1 ? "," : "") (int(size[i] / 3) + (i == 2)) % size[i]
    }
    node = " --dead-node "; link = " --dead-link "
    if (damage == "link") print link a ":X"
    if (damage == "links") print link a ":X" link b ":" substr(names, n > 1 ? 2 : 1, 1)
    if (damage == "node") print node a
    if (damage == "nodes") print node a node b
    if (damage == "corner") print node a node up[1] node up[2]
    if (damage == "eight") for (k = 1; k <= 8; ++k) {
      place = int(k * places * 0.6180339887) % places; at = ""
      for (i = 1; i <= n; ++i) { at = at (i > 1 ? "," : "") place % size[i]; place = int(place / size[i]) }
      printf "%s%s", node, at
    }
  }'
}

# One row: collective, shape, damage, bytes, ratio, the compiled form, seconds, MiB, KiB; or the
# reason of a failure.
cell() {  # collective shape damage bytes limit
  local work target reason as=$1 ratio predicted bound user system peak
  work=$(mktemp -d)
  trap "rm -rf '$work'" EXIT
  target=(--torus "${2%@*}")
  [ "${2#*@}" = "$2" ] || target+=(--machine "${2#*@}")
  read -r -a dead < <(damage_options "$2" "$3"; echo)
  target+=("${dead[@]}" --bytes "$4")
  compiles() {
    timeout "$5" /usr/bin/time -f "%U %S %M" -o "$work/time" "$torc" compile "$as" "${target[@]}" --explain --quiet \
      -o "$work/out.torc" > "$work/table" 2> "$work/errors"
  }
  if ! compiles "$@"; then
    reason=$(grep -m 1 "error: " "$work/errors" | sed 's/.*error: //')
    as=$(sed -n 's/.*; \([a-z_]*\) does, in libraries.*/\1/p' <<< "$reason")
    if [ -z "$as" ] || ! compiles "$@"; then
      printf '%s\t%s\t%s\t%s\t-\t%s\n' "$1" "$2" "$3" "$4" "${reason:-not finished in $5 s of the clock}"
      return
    fi
  fi
  read -r user system peak < <(tail -1 "$work/time")
  read -r predicted ratio _ < <(sed -n 's/^\*//p' "$work/table")
  if [ "$as" != "$1" ]; then
    bound=$("$torc" bounds "$1" "${target[@]}" | awk 'NR == 3 { print $2 }')
    ratio=$(awk -v p="$predicted" -v b="$bound" 'BEGIN { printf "%.3f", p / b }')
  fi
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%d\t%d\n' "$1" "$2" "$3" "$4" "$ratio" "$as" \
    "$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')" $((peak / 1024)) \
    $(($(stat -c %s "$work/out.torc") / 1024))
}

# Minimum and maximum over the tori of up to 128 nodes, then over larger ones.
tables() {  # CSV
  awk -F , '
    function nodes(torus,  extents, i, product, n) {
      sub(/@.*/, "", torus)
      gsub(/m/, "", torus)
      n = split(torus, extents, /[x+]/)
      for (product = i = 1; i <= n; ++i) product *= extents[i]
      return product
    }
    NR == 1 { for (i = 4; i <= NF; ++i) damage[i] = $i; fields = NF; next }
    {
      group = nodes($3) > 128
      row = $1 ", " $2
      if (!((group, row) in seen)) { seen[group, row] = 1; order[group, ++rows[group]] = row }
      for (i = 4; i <= NF; ++i) {
        if ($i == "") continue
        ++cells
        if ($i ~ /^none/) { ++none; continue }
        if ($i ~ /s/) ++slow
        if ($i ~ /k/) ++large
        ratio = $i + 0
        if (!((group, row, i) in least) || ratio < least[group, row, i]) least[group, row, i] = ratio
        if (ratio > most[group, row, i]) most[group, row, i] = ratio
      }
    }
    END {
      for (group = 0; group <= 1; ++group) {
        if (!rows[group]) continue
        printf "%s| %s |", group ? "\n" : "", group ? "more than 128 nodes" : "up to 128 nodes"
        for (i = 4; i <= fields; ++i) printf " %s |", damage[i]
        printf "\n| --- |"
        for (i = 4; i <= fields; ++i) printf " --- |"
        for (k = 1; k <= rows[group]; ++k) {
          row = order[group, k]
          printf "\n| %s |", row
          for (i = 4; i <= fields; ++i)
            printf (group, row, i) in least ? " %.2f–%.2f |" : " |", least[group, row, i], most[group, row, i]
        }
        print ""
      }
      printf "\n%d cells, %d that nothing serves, %d that take more than 10 s, %d files of more than 256 KiB.\n",
             cells, none, slow, large
    }' "$1"
}

if [ "${1-}" = --cell ]; then
  shift
  cell "$@"
  exit
elif [ "${1-}" = --tables ]; then
  tables "${2-$here/../docs/research/matrix.csv}"
  exit
fi

nodes="64 512 4096 32768"
sizes="16M 64K"
collectives="allreduce reduce_scatter allgather broadcast reduce scatter gather alltoall scan exscan"
damages=
limit=120
jobs=1
rows=matrix.tsv
out=$here/../docs/research/matrix.csv
while [ $# -gt 0 ]; do
  case $1 in
    --nodes) nodes=$2 ;;
    --bytes) sizes=$2 ;;
    --collectives) collectives=$2 ;;
    --damages) damages=$2 ;;
    --limit) limit=$2 ;;
    --jobs) jobs=$2 ;;
    --rows) rows=$2 ;;
    --out) out=$2 ;;
    *) sed -n '2,18s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift 2
done
touch "$rows"
for count in $nodes; do
  for shape in $(shapes_of "$count"); do
    for collective in $collectives; do
      for bytes in $sizes; do
        [ "$count" -le 512 ] || [ "$bytes" = 16M ] || continue
        few=$all_damages
        [ "$count" -le 512 ] || few="whole links node eight"
        for damage in ${damages:-$few}; do
          grep -q "^$collective	$shape	$damage	$bytes	" "$rows" ||
            printf '%s\n' "$collective $shape $damage $bytes $limit"
        done
      done
    done
  done
done | if [ "$jobs" -gt 0 ]; then xargs -r -P "$jobs" -L 1 bash "$0" --cell >> "$rows"; fi

# Folds the rows into lines, in the order of the options.
awk -F '\t' -v sizes="$sizes" -v collectives="$collectives" -v damages="${damages:-$all_damages}" \
    -v shapes="$(for count in $nodes; do shapes_of "$count"; done | tr '\n' ' ')" '
  { key = $1 SUBSEP $4 SUBSEP $2 SUBSEP $3; ratio[key] = $5; as[key] = $6; took[key] = $7; size[key] = $9 }
  END {
    nc = split(collectives, c, " "); nb = split(sizes, b, " "); ns = split(shapes, s, " ")
    nd = split(damages, d, " ")
    printf "collective,bytes,torus"
    for (l = 1; l <= nd; ++l) printf ",%s", d[l]
    printf "\n"
    for (i = 1; i <= nc; ++i) for (j = 1; j <= nb; ++j) for (k = 1; k <= ns; ++k) {
      line = c[i] "," b[j] "," s[k]; any = 0
      for (l = 1; l <= nd; ++l) {
        key = c[i] SUBSEP b[j] SUBSEP s[k] SUBSEP d[l]; text = ""
        if (key in ratio && as[key] !~ /disconnects/) {
          any = 1; text = ratio[key]
          if (text == "-") text = "none"
          else text = text (as[key] != c[i] ? " r" : "") (took[key] > 10 ? " s" : "") (size[key] > 256 ? " k" : "")
        }
        line = line "," text
      }
      if (any) print line
    }
  }' "$rows" > "$out"
tables "$out"
