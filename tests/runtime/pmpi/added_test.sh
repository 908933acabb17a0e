#!/bin/bash
# added_test.sh MPI_TEST PRELOAD PROGRAM TORC LIBRARY
# A schedule that was added to a library serves a program as it is, in the place of the library's own,
# with the same results.
set -eu
mpi_test=$1
preload=$2
program=$3
torc=$4
library=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -rL "$library" "$work/lib"
chmod -R u+w "$work/lib"
"$torc" compile allreduce --torus 3x2 --algorithm bucket-1d --chunks 2 -o "$work/own.torc" --quiet
"$torc" library add "$work/lib" "$work/own.torc" --quiet
added=$("$torc" library list --explain "$work/lib" | grep -B1 'added: own.torc' | sed -n 's/.* //;1p')
TORC_LIBRARY=$work/lib TORC_STATS=$work/statistics.txt TORC_STRICT=1 \
  "$mpi_test" "--preload=$preload" 6 "$program" >"$work/stdout" 2>"$work/stderr"
fail() {
  echo "added_test: $*"
  cat "$work/stdout" "$work/stderr" "$work/statistics.txt"
  exit 1
}
[[ $(cat "$work/stdout") == 18183 ]] || fail "the result is $(cat "$work/stdout")"
[[ -e $library/files/$added ]] && fail "'$added' is the library's own"
grep -q "^  MPI_Allreduce  *3x2 .* $added\$" "$work/statistics.txt" ||
  fail "the added schedule $added serves no allreduce"
