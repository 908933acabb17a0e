#!/bin/bash
# layers_test.sh PRELOAD LIBRARY PROGRAM WITH_TOOL PLUGIN LOADER TOOL FINDING CHAINING
# A program, tools that count its calls, and torc, in every order of loading: a tool has the same
# counts as without torc, and torc serves the same calls as without a tool. WITH_TOOL has the
# program and a tool in one; LOADER loads the program as PLUGIN.
set -u
source tests/checks.sh
torc=$1 program=$3 with_tool=$4 plugin=$5 loader=$6 tool=$7 finding=$8 chaining=$9
export TORC_LIBRARY=$2 TORC_STATS=$work/table
ranks=4

# counts PRELOAD PROGRAM...: what tools have counted. Nothing else may be told.
counts() {
  preload=$1 preloaded "$ranks" "${@:2}" || fail "$*"
  grep -v '^\[WARNING\] yaksa: ' "$work/stderr"
}

# expectSame PLAIN PRELOAD PROGRAM...
expectSame() {
  case="${*:2}"
  local found
  found=$(counts "${@:2}")
  [[ $found == "$1" ]] || fail "counted '$found', without torc '$1'"
  expectServed MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init MPI_Bcast MPI_Reduce MPI_Allgather
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
