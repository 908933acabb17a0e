#!/bin/bash
# choice_test.sh MPI_TEST PRELOAD PROGRAM SAY_SLOWEST LIBRARY RANKS TORUS
# A library says that the allreduce with the most operations serves all sizes. TORC_TUNE=1 finds a
# faster one for short sums; what cannot be loaded is left out, by all ranks.
set -u
mpi_test=$1
preload=$2
program=$3
say_slowest=$4
library=$5
ranks=$6
torus=$7
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "choice_test: $case: $*"
  cat "$work/stderr" "$work/table"
  failures=$((failures + 1))
}

read -r slowest other < <("$say_slowest" "$library" "$work/slow" allreduce "$torus")
chmod -R u+w "$work/slow"

# run CASE LIBRARY [NAME=VALUE...]
run() {
  case=$1
  rm -f "$work/table"
  env TORC_LIBRARY="$2" TORC_STATS="$work/table" TORC_TUNE=1 TORC_EXPLAIN=1 "${@:3}" \
    "$mpi_test" "--preload=$preload" "$ranks" "$program" 200 >"$work/stdout" 2>"$work/stderr"
  [[ $? -eq 0 ]] || fail "the program has failed"
}

# trial: the row of allreduces of 2400 bytes on all ranks.
trial() {
  sed -n '/^Tried by TORC_TUNE/,/^$/p' "$work/table" |
    awk -v t="$torus" '$1 == "MPI_Allreduce" && $2 == t && $3 == 2400'
}

run "the slowest" "$work/slow"
read -r _ _ _ tried own _ fastest by < <(trial)
awk -v own="$own" -v fastest="$fastest" 'BEGIN { exit !(fastest > 0 && own > fastest) }' ||
  fail "the library's choice took $own us, the fastest $fastest"
[[ $by != "$slowest" ]] || fail "the slowest has won"

cp -r "$work/slow" "$work/torn"
truncate -s 100 "$work/torn/files/$other"
for strict in 0 1; do
  run "a torn candidate, TORC_STRICT=$strict" "$work/torn" TORC_STRICT=$strict
  grep -qE "^torc: rank 0: MPI_Allreduce on $torus, 2400 bytes: $other is not tried: it cannot be loaded$" \
    "$work/stderr" || fail "nothing is told of $other"
  read -r _ _ _ without _ < <(trial)
  [[ $without -eq $((tried - 20)) ]] || fail "$without calls were tried instead of $((tried - 20))"
  grep -q "^  MPI_Allreduce .*$other" "$work/table" && fail "$other has served"
done

cp -r "$work/slow" "$work/without"
truncate -s 100 "$work/without/files/$slowest"
run "the library's own choice is torn" "$work/without"
[[ -z $(trial) ]] || fail "others were tried"
grep -qE "^  MPI_Allreduce +$torus .* 2400 +$ranks +$((200 * ranks)) .* its schedule cannot be used$" \
  "$work/table" || fail "calls are not MPI's"

run "little memory" "$work/slow" TORC_MEMORY=8K
grep -q "is not tried: it cannot be loaded$" "$work/stderr" || fail "all could be loaded"

exit "$((failures > 0))"
