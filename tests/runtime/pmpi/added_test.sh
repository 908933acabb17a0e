#!/bin/bash
# added_test.sh PRELOAD PROGRAM TORC LIBRARY
# An added schedule of a library serves an unchanged program, in place of the library's own, with
# the same results.
set -eu
source tests/checks.sh
export TORC_STATS=$work/table
preload=$1 program=$2 torc=$3 library=$4
cp -rL "$library" "$work/lib"
chmod -R u+w "$work/lib"
"$torc" compile allreduce --torus 3x2 --algorithm bucket-1d --chunks 2 -o "$work/own.torc" --quiet
"$torc" library add "$work/lib" "$work/own.torc" --quiet
added=$("$torc" library list --explain "$work/lib" | grep -B1 'added: own.torc' | sed -n 's/.* //;1p')
preloaded 6 TORC_LIBRARY="$work/lib" TORC_STRICT=1 "$program" || fail "exit status $?"
[[ $(cat "$work/stdout") == 18183 ]] || fail "the result is $(cat "$work/stdout")"
[[ ! -e $library/files/$added ]] || fail "'$added' is the library's own"
grep -q "^  MPI_Allreduce  *3x2 .* $added\$" "$work/table" || fail "the added schedule $added serves no allreduce"
