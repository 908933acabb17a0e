#!/bin/bash
# alike_test.sh PRELOAD PROGRAM LIBRARY RANKS SERVED [NAME=VALUE...] [ARGUMENT...]
# Runs the program without torc and with it, under these variables: the output must be equal,
# without any of torc. The collective SERVED must be served.
set -u
source tests/checks.sh
export TORC_STATS=$work/table
torc=$1 program=$2 library=$3 ranks=$4 served=$5
shift 5

variables=()
while [[ ${1-} == *=* ]]; do
  variables+=("$1")
  shift
done

# Between processes of a host Open MPI writes a message that is too long behind its buffer, else.
export OMPI_MCA_btl_vader_single_copy_mechanism=none

preload='' preloaded "$ranks" "${variables[@]}" "$program" "$@" || fail "the program fails without torc"
mv "$work/stdout" "$work/plain"
preload=$torc preloaded "$ranks" "${variables[@]}" TORC_LIBRARY="$library" TORC_STRICT=1 "$program" "$@" ||
  fail "the program fails with torc"
diff "$work/plain" "$work/stdout" || fail "with torc (>) it says something else than without (<)"
expectQuiet
expectServed "$served"
