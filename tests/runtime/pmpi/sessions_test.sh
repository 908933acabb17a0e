#!/bin/bash
# sessions_test.sh PRELOAD PROGRAM LIBRARY
# Programs that use MPI by sessions: of a communicator that is made before MPI_Init torc says that it
# serves no calls, or under TORC_STRICT refuses it; with MPI_Init, before or later, all is as ever.
set -u
source tests/checks.sh
export TORC_STATS=$work/table
preload=$1 program=$2 library=$3
without_init='the program uses MPI by sessions, without MPI_Init'
before_init="a communicator is made from a session's group before MPI_Init: until then torc serves no calls"

# run RANKS MODE [NAME=VALUE...]: the program, served.
run() {
  case="$*"
  local ranks=$1 mode=$2
  shift 2
  preloaded "$ranks" "$@" "$program" "$mode"
  status=$?
}

# Lines of standard output, and what torc says.
expect() {
  [[ $status -eq 0 ]] || fail "exit status $status"
  [[ $(cat "$work/stdout") == "$1" ]] || fail "expected: $1"
  [[ $(cat "$work/stderr") == "${2-}" ]] || fail "expected on stderr: ${2-nothing}"
}

expectOff() {
  grep -qE "^  torc +[0-9.]+, off: $2\$" "$work/table" || fail "torc is not off by '$2'"
  grep -qE "^  ranks +$1\$" "$work/table" || fail "the ranks"
  rm -f "$work/table"
}

expectServed() {
  grep -q "^  MPI_Allreduce  3x2 .*\.torc\$" "$work/table" || fail "not served"
  [[ $(grep -c '^torc statistics' "$work/table") -eq 1 ]] || fail "not one table"
  rm -f "$work/table"
}

case=plain
tools/mpi_test.sh 6 "$program" nothing >"$work/stdout" 2>"$work/stderr"
status=$?
expect "session 15"

run 6 nothing TORC_LIBRARY="$library"
expect "session 15" "torc: warning: $before_init"
expectOff 6 "$without_init"

run 6 nothing
expect "session 15"
expectOff 6 "TORC_LIBRARY is not set"

run 6 nothing TORC_LIBRARY="$library" TORC_DISABLE=1 TORC_STRICT=1
expect "session 15"
[[ ! -e $work/table ]] || fail "disabled, and yet a table"

# As in the world of MPI_Init: tools that come with a program.
run 1 nothing TORC_LIBRARY="$library" TORC_STRICT=1
expect "session 0"
expectOff 1 "the job has one rank"

run 6 before TORC_LIBRARY="$library" TORC_STRICT=1
expect "$(printf 'session 15\nworld 15')"
expectServed

run 6 early TORC_LIBRARY="$library" TORC_STRICT=1
expect "$(printf 'session\nworld 15')"
expectServed

run 6 init TORC_LIBRARY="$library"
expect "$(printf 'session 15\nworld 15')" "torc: warning: $before_init"
expectServed

# MPI_ERRORS_ARE_FATAL.
run 6 nothing TORC_LIBRARY="$library" TORC_STRICT=1
[[ $status -ne 0 ]] || fail "exit status 0"
grep -qx "torc: error: $before_init" "$work/stderr" || fail "no error"
[[ $(grep -c '^torc:' "$work/stderr") -eq 1 ]] || fail "told more than once"
! grep -q '^session' "$work/stdout" || fail "the program goes on"

# MPI_ERRORS_RETURN: the program ends, or turns to MPI_Init.
refused=$(for ((i = 0; i < 6; ++i)); do echo "no communicator"; done)
run 6 return TORC_LIBRARY="$library" TORC_STRICT=1
expect "$refused" "torc: error: $before_init"
expectOff 6 "$without_init"

run 6 init TORC_LIBRARY="$library" TORC_STRICT=1
expect "$refused"$'\nworld 15' "torc: error: $before_init"
expectServed
