#!/bin/bash
# Runs a program without knowledge of torc under libtorc_pmpi.so:
#   run.sh LIBTORC_PMPI LIBRARY PROGRAM RANKS SERVED [ARGUMENT...]
# Fails when a rank fails or hangs, when torc warns, or when one of the functions of SERVED (separated
# by commas; none: -) was never served by torc.
set -u
source tests/checks.sh
preload=$1 program=$3 ranks=$4 served=${5#-}
export TORC_LIBRARY=$PWD/$2 TORC_STATS=$work/table
shift 5

preloaded "$ranks" "$program" "$@" || fail "exit status $status"
! grep '^torc: warning' "$work/stderr" || fail "torc warns in a job in which all is well"
# One test does not make all calls.
[[ -n ${TESTBRIDGE_TEST_ONLY-} ]] || expectServed ${served//,/ }
