#!/bin/bash
# choice_test.sh PRELOAD PROGRAM SAY_TUNED LIBRARY RANKS TORUS
# A library says that the allreduce with the most operations serves all sizes. TORC_TUNE=1 tries the
# others beside it, and uses the fastest by its own times; schedules that cannot be loaded are left
# out, by all ranks.
set -u
source tests/checks.sh
export TORC_STATS=$work/table
preload=$1 program=$2 say_tuned=$3 library=$4 ranks=$5 torus=$6

read -r slowest other < <("$say_tuned" "$library" "$work/slow" allreduce "$torus")

# run CASE CALLS LIBRARY [NAME=VALUE...]: a trial takes 20 calls of each of at most eight.
run() {
  case=$1
  preloaded "$ranks" TORC_LIBRARY="$3" TORC_TUNE=1 TORC_VERBOSE=3 "${@:4}" "$program" "$2" ||
    fail "the program has failed"
}

# trial: the calls of allreduces of 2400 bytes on all ranks that were tried.
trial() {
  sed -n '/^Tried by TORC_TUNE/,/^$/p' "$work/table" |
    awk -v t="$torus" '$1 == "MPI_Allreduce" && $2 == t && $(NF - 4) == 2400 { print $(NF - 3) }'
}

# rule WINNER CANDIDATE,SECONDS...: whether WINNER is what the times make it: the library's own choice,
# which is the first, where it is within 3 % of the fastest, else the fastest schedule if it is, else
# MPI's own. Times are printed with three digits: near 3 % either is right.
rule() {
  printf '%s\n' "${@:2}" | awk -F, -v winner="$1" '
    { time[$1] = $2; if (NR == 1) own = $1; if (NR == 1 || $2 < least) least = $2 }
    $1 != "MPI" && (schedule == "" || $2 < time[schedule]) { schedule = $1 }
    function right(limit) {
      if (time[own] <= limit * least) return own
      return time[schedule] <= limit * least ? schedule : "MPI"
    }
    END { exit !(winner == right(1.02) || winner == right(1.03) || winner == right(1.04)) }'
}

run "the slowest" 180 "$work/slow"
tried=$(trial)
line=$(grep -E "^torc: rank 0: MPI_Allreduce on $torus, 2400 bytes: tried: " "$work/stderr")
mapfile -t times < <(sed "s/.*: tried: //; s/; from now on .*//; s/MPI's own/MPI/g; s/, /\n/g" <<<"$line" |
  awk 'BEGIN { seconds["us"] = 1e-6; seconds["ms"] = 1e-3; seconds["s"] = 1 }
       { print $1 "," $2 * seconds[$3] }')
winner=$(sed "s/.*; from now on //; s/MPI's own/MPI/" <<<"$line")
[[ ${#times[@]} -ge 3 && ${times[0]} == "$slowest",* ]] || fail "the library's choice is not the first that was tried"
rule "$winner" "${times[@]}" || fail "$winner serves from now on"

copyLibrary "$work/slow" "$work/torn"
truncate -s 100 "$work/torn/files/$other"
run "a torn candidate" 180 "$work/torn" TORC_STRICT=1
grep -qE "^torc: rank 0: MPI_Allreduce on $torus, 2400 bytes: $other is not tried: it cannot be loaded$" \
  "$work/stderr" || fail "nothing is told of $other"
without=$(trial)
[[ $without -eq $((tried - 20)) ]] || fail "$without calls were tried instead of $((tried - 20))"
! grep -q "^  MPI_Allreduce .*$other" "$work/table" || fail "$other has served"

copyLibrary "$work/slow" "$work/without"
truncate -s 100 "$work/without/files/$slowest"
run "the library's own choice is torn" 10 "$work/without"
[[ -z $(trial) ]] || fail "others were tried"
grep -qE "^  MPI_Allreduce +$torus .* its schedule cannot be used +2400 +$ranks +$((10 * ranks)) " \
  "$work/table" || fail "calls are not MPI's"

run "little memory" 10 "$work/slow" TORC_LIMITS=memory=8K
grep -q "is not tried: it cannot be loaded$" "$work/stderr" || fail "all could be loaded"
