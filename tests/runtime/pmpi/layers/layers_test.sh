#!/bin/bash
# layers_test.sh MPI_TEST PRELOAD LIBRARY PROGRAM WITH_TOOL PLUGIN LOADER TOOL FINDING CHAINING
# A program, tools that count its calls, and torc, in every order in which they can be loaded: a tool
# counts what it counts without torc, and torc serves what it serves without a tool. WITH_TOOL has the
# program and a tool in one; LOADER loads the program as PLUGIN.
set -u
mpi_test=$1
torc=$2
export TORC_LIBRARY=$3
export TORC_STATS=$TEST_TMPDIR/statistics.txt
program=$4
with_tool=$5
plugin=$6
loader=$7
tool=$8
finding=$9
chaining=${10}
ranks=4
failures=0
fail() {
  echo "layers_test: $*"
  failures=$((failures + 1))
}

# counts PRELOAD PROGRAM...: what tools have counted. Nothing else may be told.
counts() {
  rm -f "$TORC_STATS"
  "$mpi_test" ${1:+"--preload=$1"} "$ranks" "${@:2}" >"$TEST_TMPDIR/stdout" 2>"$TEST_TMPDIR/stderr" ||
    fail "$*: $(cat "$TEST_TMPDIR/stdout" "$TEST_TMPDIR/stderr")"
  grep -v '^\[WARNING\] yaksa: ' "$TEST_TMPDIR/stderr"
}

# expectSame PLAIN PRELOAD PROGRAM...
expectSame() {
  local found
  found=$(counts "${@:2}")
  [[ $found == "$1" ]] || fail "${*:2}: counted '$found', without torc '$1'"
  for function in MPI_Allreduce MPI_Iallreduce "MPIX\?_Allreduce_init" MPI_Bcast MPI_Reduce MPI_Allgather; do
    grep -q "^  $function  *.*\.torc\$" "$TORC_STATS" || fail "${*:2}: $function was not served"
  done
}

here=$PWD
for one in "$tool" "$finding"; do
  plain=$(counts "$one" "$program")
  [[ $plain == *" Allreduce 28 "* ]] || fail "$one counts '$plain'"
  expectSame "$plain" "$torc $here/$one" "$program"
  expectSame "$plain" "$one $here/$torc" "$program"
done
plain=$(counts "$tool" "$program")
expectSame "$plain" "$torc $here/$tool" "$loader" "$plugin"
expectSame "$plain" "$tool $here/$torc" "$loader" "$plugin"
expectSame "$(counts "" "$with_tool")" "$torc" "$with_tool"

# A tool that calls the next one.
plain=$(counts "$chaining $here/$tool" "$program")
[[ $(wc -l <<<"$plain") -eq 2 ]] || fail "two tools count '$plain'"
expectSame "$plain" "$torc $here/$chaining $here/$tool" "$program"
expectSame "$plain" "$chaining $here/$torc $here/$tool" "$program"
expectSame "$plain" "$chaining $here/$tool $here/$torc" "$program"

# Four ranks of the program, and two whose collectives among themselves no tool sees.
plain=$(counts "$tool" "$program")
export TORC_LIBRARY='' TORC_DEDICATED='=2'
ranks=6
for preload in "$torc $here/$tool" "$tool $here/$torc"; do
  found=$(counts "$preload" "$program")
  [[ $found == "$plain" ]] || fail "$preload, dedicated ranks: counted '$found', without torc '$plain'"
done
exit "$((failures > 0))"
