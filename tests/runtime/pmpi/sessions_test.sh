#!/bin/bash
# sessions_test.sh PRELOAD PROGRAM LIBRARY
# Programs that use MPI by sessions: for a communicator made before MPI_Init torc reports that it
# serves no calls, or under TORC_STRICT refuses it; with MPI_Init, before or later, everything works
# as usual.
set -u
source tests/checks.sh
export TORC_STATS=$work/table
preload=$1 program=$2 library=$3
before_init="a communicator is made from a session's group before MPI_Init: until then torc serves no calls"

# run RANKS MODE [NAME=VALUE...]: the program, served.
run() {
  case="$*"
  local ranks=$1 mode=$2
  shift 2
  preloaded "$ranks" "$@" "$program" "$mode"
  status=$?
}

expectOff() {
  grep -qE "^  torc +[0-9.]+, off: $2\$" "$work/table" || fail "torc is not off by '$2'"
  grep -qE "^  ranks +$1\$" "$work/table" || fail "the ranks"
}

expectServed() {
  grep -q "^  MPI_Allreduce  3x2 .*\.torc\$" "$work/table" || fail "not served"
  [[ $(grep -c '^torc statistics' "$work/table") -eq 1 ]] || fail "not one table"
}

case=plain
tools/mpi_test.sh 6 "$program" nothing >"$work/stdout" || fail "exit status $?"
[[ $(cat "$work/stdout") == "session 15" ]] || fail "another sum"

# Ranks, mode and variables; standard output, in lines; what torc says; and the table: `served`, why torc is off, or
# none. Under MPI_ERRORS_RETURN a refused program ends, or turns to MPI_Init. A tool that comes with a program has one rank.
refused='no communicator\nno communicator\nno communicator\nno communicator\nno communicator\nno communicator'
while IFS='|' read -r arguments lines said table; do
  read -ra arguments <<<"${arguments//LIBRARY/TORC_LIBRARY=$library}"
  run "${arguments[@]}"
  [[ $status -eq 0 ]] || fail "exit status $status"
  [[ $(cat "$work/stdout") == "$(printf '%b' "$lines")" ]] || fail "expected: $lines"
  [[ $(cat "$work/stderr") == "${said:+torc: $said: $before_init}" ]] || fail "expected on stderr: ${said:-nothing}"
  case $table in
    served) expectServed ;;
    none) [[ ! -e $work/table ]] || fail "disabled, and yet a table" ;;
    *) expectOff "${arguments[0]}" "$table" ;;
  esac
done <<END
6 nothing LIBRARY|session 15|warning|the program uses MPI by sessions, without MPI_Init
6 nothing|session 15||TORC_LIBRARY is not set
6 nothing LIBRARY TORC_DISABLE=1 TORC_STRICT=1|session 15||none
1 nothing LIBRARY TORC_STRICT=1|session 0||the job has one rank
6 before LIBRARY TORC_STRICT=1|session 15\nworld 15||served
6 early LIBRARY TORC_STRICT=1|session\nworld 15||served
6 init LIBRARY|session 15\nworld 15|warning|served
6 return LIBRARY TORC_STRICT=1|$refused|error|the program uses MPI by sessions, without MPI_Init
6 init LIBRARY TORC_STRICT=1|$refused\nworld 15|error|served
END

# MPI_ERRORS_ARE_FATAL.
run 6 nothing TORC_LIBRARY="$library" TORC_STRICT=1
[[ $status -ne 0 ]] || fail "exit status 0"
grep -qx "torc: error: $before_init" "$work/stderr" || fail "no error"
[[ $(grep -c '^torc:' "$work/stderr") -eq 1 ]] || fail "told more than once"
! grep -q '^session' "$work/stdout" || fail "the program goes on"
