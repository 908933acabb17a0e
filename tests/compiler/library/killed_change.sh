#!/bin/bash
# killed_change.sh TORC FOLDER build|add: builds a library over another one, or adds a schedule to
# it, and kills that (SIGKILL) at moments all through it, between the first file and the last
# rename. At every moment the old library or the new one is complete, and the next change removes
# remains.
set -u
torc=$1
change=$3
cd "$2" || exit 1
options=(--partition 3x2 --collectives allreduce,allgather --quiet)
"$torc" library build "${options[@]}" --sizes 1:64 -o old || exit 1
"$torc" compile allreduce --torus 3 --algorithm bucket-1d -o own.torc --quiet || exit 1
# Becomes the process: a subshell's end is that of torc.
change() {
  case $change in
    build) exec "$torc" library build "${options[@]}" --sizes 1:256K -o "$1" ;;
    add) exec "$torc" library add "$1" own.torc --quiet ;;
  esac
}
cp -r old new
begin=$(date +%s%N)
(change new) || exit 1
duration=$(($(date +%s%N) - begin))

killed=0
kept=0
moments=24
for ((i = 0; i <= moments; ++i)); do
  rm -rf lib
  cp -r old lib
  (change lib) &
  sleep "$(awk "BEGIN { print $duration * $i / $moments / 1e9 }")"
  kill -KILL $! 2>/dev/null
  wait $! 2>/dev/null
  [[ $? -eq 137 ]] && killed=$((killed + 1))
  "$torc" library verify lib >proof || exit 1
  if diff -r old lib >/dev/null; then
    kept=$((kept + 1))
  elif ! diff -r new lib; then
    echo "killed at moment $i: the library is neither the old nor the new one"
    exit 1
  fi
done
rm -rf lib
cp -r old lib
(change lib) || exit 1
diff -r new lib || exit 1
left=$(ls -A | grep torc-)
[[ -z $left ]] || { echo "left over: $left"; exit 1; }
[[ $killed -gt 0 && $kept -gt 0 ]] || { echo "none was killed in time"; exit 1; }
echo "killed $killed of $((moments + 1)), $kept kept the old library"
