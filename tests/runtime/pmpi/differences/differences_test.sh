#!/bin/bash
# differences_test.sh PRELOAD PROGRAM WITH_BLOCKING_CALLS_ALONE LIBRARY RANKS
# Calls that look wrong and are right give the right results; calls that differ between the ranks end
# with an error on every rank of the communicator; a call that MPI refuses is none; and what comes after
# is right. A late rank is told of and waited for. Two ranks: every case in every form; more: in one. None hangs.
set -u
source tests/checks.sh
preload=$PWD/$1 program=$PWD/$2 blocking=$PWD/$3 library=$PWD/$4 ranks=$5
output=$work/output
# Open MPI 4.1.4 writes more than a receive is for, where it copies from another process's memory.
export OMPI_MCA_btl_vader_single_copy_mechanism=none

# run [NAME=VALUE...]: the case in the form.
run() {
  local variables=() assignment
  for assignment in "$@"; do variables+=(-genv "${assignment%%=*}" "${assignment#*=}"); done
  status=0
  timeout --kill-after=3 "${limit:-40}" tools/mpiexec.sh -genv LD_PRELOAD "$preload" -genv TORC_LIBRARY "$library" \
    "${variables[@]}" -n "$ranks" "$program" "$case" "$form" </dev/null >"$output" 2>&1 || status=$?
  [[ $status -ne 124 && $status -ne 137 ]] || fail "hangs"
  ! grep -q WRONG "$output" || fail "wrong results"
}

# Lines of every rank: all WHAT REST
all() {
  [[ $(grep -cE "^rank [0-9]+: $1: $2\$" "$output") -eq $3 ]] || fail "not $3 times '$1: $2'"
}

expectRight() {  # what the ranks say
  [[ $status -eq 0 ]] || fail "exit status $status"
  all "$1" right "$2"
  ! grep -q '^torc: ' "$output" || fail "torc has something to say"
}

# The call fails on all ranks, and the next is right; one line at least says what differs.
expectErrors() {  # PATTERN
  [[ $status -eq 0 ]] || fail "exit status $status"
  all before right "$ranks"
  all call 'error class [0-9]+' "$ranks"
  all after right "$ranks"
  grep -qE "^torc: error: rank [0-9]+: call 2 on $shape: .*$1" "$output" || fail "nothing says: $1"
}

# The call fails on rank 0, and perhaps on others, and the next is right.
expectReceiversError() {  # PATTERN
  [[ $status -eq 0 ]] || fail "exit status $status"
  all before right "$ranks"
  grep -qE '^rank 0: call: error class [0-9]+$' "$output" || fail "the receiver's call is right"
  all after right "$ranks"
  grep -qE "^torc: error: rank 0: call 2 on $shape: .*$1" "$output" || fail "nothing says: $1"
}

# MPI has refused the call of one rank, which ends a call earlier than the others.
expectOneBehind() {
  [[ $status -eq 0 ]] || fail "exit status $status"
  all call 'error class [0-9]+' 1
  all call right $((ranks - 1))
  all after right 1
  all after 'error class [0-9]+' $((ranks - 1))
  grep -qE "^torc: error: .*is in MPI_Finalize after 2 calls" "$output" || fail "nothing says why"
}

# takes CASE: whether the case is tried in this form. Two ranks try every case in every form; more,
# whose jobs take longer, every case in one form, the next case in the next.
cases=0
takes() {
  case=$1
  cases=$((cases + 1))
  ((ranks == 2 || (cases + number) % 3 == 0))
}

shape='[0-9x]+'
soon=TORC_LIMITS=stall=1 # ranks that wait ask others after a quarter of it
# tryCases FORM NUMBER: the cases in the form, which is the NUMBER-th.
tryCases() {
  form=$1 number=$2 output=$work/$1
  if takes all-refused; then
    run
    [[ $status -eq 0 ]] || fail "exit status $status"
    all call 'error class [0-9]+' "$ranks"
    all after right "$ranks"
  fi
  if takes more; then
    run "$soon"
    expectErrors '(9600|differ)'
  fi
  if takes fewer; then
    run "$soon"
    expectErrors '(6400|differ)'
  fi
  if takes other-collective; then
    run "$soon"
    expectErrors 'MPI_Allgather.*MPI_Allreduce|MPI_Allreduce.*MPI_Allgather|differ'
  fi
  # The next call of the one rank is what the others wait for.
  if takes refused; then
    run "$soon"
    expectOneBehind
  fi
  if takes aliased; then
    run
    if [[ ${TEST_MPI-} == openmpi ]]; then  # where torc serves such calls as if in place
      expectRight call "$ranks"
    else
      expectOneBehind
    fi
  fi
  if takes made-up; then
    run
    expectRight call "$ranks"
    all refused 'error class [0-9]+' 1
    all after right "$ranks"
  fi
  if takes gone-on; then
    run "$soon"
    [[ $status -eq 0 ]] || fail "exit status $status"
    all call 'error class [0-9]+' "$ranks"
    all next right "$ranks"
    all after right "$ranks"
    grep -qE "^torc: error: rank [0-9]+: call 2 on $shape: .*MPI has refused it" "$output" ||
      fail "nothing says why"
  fi
  if takes alone; then
    run
    expectRight call "$ranks"
    all refused 'error class [0-9]+' 7
    all after right "$ranks"
  fi
  if takes own-block; then
    run "$soon"
    expectErrors 'own block (is|has)'
  fi
  if takes exchange-more; then
    run "$soon"
    expectErrors '(17600|35200|differ|bytes)'
  fi
  if takes exchange-own-block; then
    run "$soon"
    expectErrors 'own block (is|has)'
  fi
  if takes exchange-lists; then
    run "$soon"
    expectErrors 'lltoallv.*lltoall of|lltoall of.*lltoallv|differ'
  fi
  if takes own-blocks-differ; then
    run "$soon"
    expectErrors 'own block (is|has)'
  fi
  if takes block-too-long; then
    run "$soon"
    expectReceiversError 'from rank [0-9]+ has (more than the [0-9]+ bytes|[0-9]+ bytes where)'
  fi
  if takes block-too-short; then # MPI takes less than there is room for
    run "$soon"
    expectRight call "$ranks"
  fi
  if takes skipped; then
    run "$soon"
    all call 'error class [0-9]+' $((ranks - 1))
    grep -q 'is in MPI_Finalize after 1 call' "$output" || fail "nothing says who has ended"
  fi
  if takes first-fewer; then
    run "$soon"
    all call 'error class [0-9]+' "$ranks"
    all after right "$ranks"
  fi
  if takes fatal; then
    run "$soon"
    [[ $status -ne 0 ]] || fail "MPI_ERRORS_ARE_FATAL: exit status 0"
    grep -qE '^torc: error: rank [0-9]+: call 2 on ' "$output" || fail "nothing names the call"
  fi
  if takes late; then
    run TORC_LIMITS=stall=1
    [[ $status -eq 0 ]] || fail "exit status $status"
    all call right "$ranks"
    told=$(grep -cE '^torc: warning: rank [0-9]+: MPIX?_I?[Aa]llreduce.*call 2 on .*: no progress for 1 s: ' \
      "$output")
    [[ $told -eq $((ranks - 1)) ]] || fail "$told of $((ranks - 1)) waiting ranks tell of it"
  fi
  return "$((failures > 0))"
}

# Most of the time they wait.
jobs=()
for form in blocking nonblocking persistent; do
  tryCases "$form" "${#jobs[@]}" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do
  wait "$job" || failures=$((failures + 1))
done

# tryRefused FORM NAME=VALUE...: MPI refuses calls of the root, also the first of a communicator.
tryRefused() {
  form=$1 case=refused-at-root limit=150 output=$work/refused-$1-$2
  shift
  run "$soon" "$@"
  [[ $status -eq 0 ]] || fail "$*: exit status $status"
  all 'refused at the root' right "$ranks"
  return "$((failures > 0))"
}
if ((ranks == 4)); then
  jobs=()
  program=$blocking tryRefused blocking TORC_TRANSPORT=put & jobs+=($!)
  if [[ ${TEST_MPI-} != openmpi ]]; then  # whose waits take the cores
    program=$blocking tryRefused blocking TORC_TRANSPORT=mpi & jobs+=($!)
    tryRefused nonblocking TORC_PROGRESS=calls & jobs+=($!)
  fi
  tryRefused nonblocking TORC_PROGRESS=thread TORC_TRANSPORT=mpi & jobs+=($!)
  for job in "${jobs[@]}"; do
    wait "$job" || failures=$((failures + 1))
  done
fi

form=blocking
case=late
run TORC_LIMITS=stall=0
! grep -q '^torc: ' "$output" || fail "TORC_LIMITS=stall=0, and yet a line"

# An operation of the program's on one rank, which torc serves there, too, as it may cut vectors; but not
# on six ranks, which are in another order than the library's torus.
form=blocking
case=not-commuting
for each in "$program" "$blocking"; do
  ((ranks != 6)) || continue
  program=$each run TORC_USER_OPERATIONS=parts
  all call 'error class [0-9]+' "$ranks"
done
case=more
program=$blocking run
expectErrors 9600
