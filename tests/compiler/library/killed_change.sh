#!/bin/bash
# killed_change.sh TORC FOLDER build|add: builds a library over another one, or adds a schedule to
# it, and kills that (SIGKILL) at moments all through it, between the first file and the last
# rename. At every moment the old library or the new one is complete, and the next change removes
# remains.
set -u
torc=$1 moments=12 killed=0 kept=0
cd "$2" || exit 1
end() {
  echo "$*"
  exit 1
}
options=(--partition 3x2 --collectives allreduce,allgather --quiet)
"$torc" library build "${options[@]}" --sizes 1:64 -o old || exit 1
"$torc" compile allreduce --torus 3 --algorithm bucket-1d -o own.torc --quiet || exit 1
case $3 in
  build) change=("$torc" library build "${options[@]}" --sizes 1:256K -o) file=() ;;
  add) change=("$torc" library add --quiet) file=(own.torc) ;;
esac
cp -r old new
begin=$(date +%s%N)
"${change[@]}" new "${file[@]}" || exit 1
duration=$(($(date +%s%N) - begin))

for ((i = 0; i <= moments; ++i)); do
  rm -rf lib
  cp -r old lib
  "${change[@]}" lib "${file[@]}" &
  sleep "$(awk "BEGIN { print $duration * $i / $moments / 1e9 }")"
  kill -KILL $! 2>/dev/null
  wait $! 2>/dev/null
  [[ $? -eq 137 ]] && killed=$((killed + 1))
  "$torc" library verify lib >proof || exit 1
  if diff -r old lib >/dev/null; then
    kept=$((kept + 1))
  else
    diff -r new lib || end "killed at moment $i: the library is neither the old nor the new one"
  fi
done
rm -rf lib
cp -r old lib
"${change[@]}" lib "${file[@]}" && diff -r new lib || exit 1
left=$(ls -A | grep torc-)
[[ -z $left ]] || end "left over: $left"
[[ $killed -gt 0 && $kept -gt 0 ]] || end "none was killed in time"
echo "killed $killed of $((moments + 1)), $kept kept the old library"
