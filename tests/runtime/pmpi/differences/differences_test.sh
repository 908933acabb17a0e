#!/bin/bash
# differences_test.sh PRELOAD PROGRAM WITH_BLOCKING_CALLS_ALONE LIBRARY RANKS
# Right calls that look wrong give the right results; calls that differ between the ranks end with
# an error on every rank of the communicator, unless MPI refuses them; and later calls are right. A
# late rank is reported and waited for. Two ranks: every case in every form; more: in one. None
# hangs.
set -u
source tests/checks.sh
preload=$1 program=$2 blocking=$3 ranks=$5
export TORC_LIBRARY=$4
# Open MPI 4.1.4 writes more than a receive is for, where it copies from another process's memory.
export OMPI_MCA_btl_vader_single_copy_mechanism=none

# run [NAME=VALUE...]: the case in the form.
run() {
  within "${limit:-40}" preloaded "$ranks" "$@" "$program" "$case" "$form"
  ! grep -q WRONG "$work/stdout" || fail "wrong results"
}

# inTurn FUNCTION ARGUMENT...: in a folder of its own, as others run at the same time: most of the time they wait.
inTurn() {
  work=$(mktemp -d -p "$work")
  "$@"
  return "$((failures > 0))"
}
awaitAll() {
  local job
  for job in "${jobs[@]}"; do wait "$job" || failures=$((failures + 1)); done
  jobs=()
}

# all WHAT OUTCOME COUNT: lines of ranks.
all() {
  local outcome=$2
  [[ $outcome != error ]] || outcome='error class [0-9]+'
  [[ $(grep -cE "^rank [0-9]+: $1: $outcome\$" "$work/stdout") -eq $3 ]] || fail "not $3 times '$1: $2'"
}

# expect WHAT=OUTCOME:COUNT... [-- PATTERN]: what n ranks say, and a line of torc's; none: it says nothing.
expect() {
  local n=$ranks outcome
  [[ $status -eq 0 || $1 == fails ]] || fail "exit status $status"
  while [[ $# -gt 0 && $1 != -- ]]; do
    outcome=${1#*=}
    [[ $1 == fails || $1 == receiver ]] || all "${1%%=*}" "${outcome%:*}" $((${outcome#*:}))
    [[ $1 != fails || $status -ne 0 ]] || fail "exit status 0"
    # The call fails on rank 0, and perhaps on others.
    [[ $1 != receiver ]] || grep -qE '^rank 0: call: error class [0-9]+$' "$work/stdout" || fail "the receiver's call is right"
    shift
  done
  if [[ $# -eq 0 ]]; then
    expectQuiet
  else
    grep -qE "^torc: error: .*$2" "$work/stderr" || fail "nothing says: $2"
  fi
}

# takes CASE: whether the case is tried in this form. Two ranks try every case in every form; more,
# whose jobs take longer, every case in one form, the next case in the next.
cases=0
takes() {
  case=$1
  cases=$((cases + 1))
  ((ranks == 2 || (cases + number) % 3 == 0))
}

soon=TORC_LIMITS=stall=1 # ranks that wait ask others after a quarter of it
differ='before=right:n call=error:n after=right:n --'
behind='call=error:1 call=right:n-1 after=right:1 after=error:n-1 --'
second='rank [0-9]+: call 2 on [0-9x]+: .*'

# tryCases FORM NUMBER: the cases in the form, which is the NUMBER-th. Open MPI: torc serves calls with one
# buffer as if they were in place.
tryCases() {
  local name expected pattern
  form=$1 number=$2
  while IFS='|' read -r name expected pattern; do
    [[ $name != aliased || ${TEST_MPI-} != openmpi ]] || expected=call=right:n
    takes "$name" || continue
    run "$soon"
    read -ra expected <<<"$expected"
    [[ ${expected[-1]} != -- ]] || expected+=("$pattern")
    expect "${expected[@]}"
  done <<END
all-refused|call=error:n after=right:n
more|$differ|$second(9600|differ)
fewer|$differ|$second(6400|differ)
other-collective|$differ|$second(MPI_Allgather.*MPI_Allreduce|MPI_Allreduce.*MPI_Allgather|differ)
refused|$behind|is in MPI_Finalize after 2 calls
aliased|$behind|is in MPI_Finalize after 2 calls
made-up|call=right:n refused=error:1 after=right:n
gone-on|call=error:n next=right:n after=right:n --|${second}MPI has refused it
alone|call=right:n refused=error:7 after=right:n
own-block|$differ|${second}own block (is|has)
exchange-more|$differ|$second(17600|35200|differ|bytes)
exchange-own-block|$differ|${second}own block (is|has)
exchange-lists|$differ|$second(lltoallv.*lltoall of|lltoall of.*lltoallv|differ)
own-blocks-differ|$differ|${second}own block (is|has)
block-too-long|before=right:n receiver after=right:n --|${second}from rank [0-9]+ has (more than the [0-9]+ bytes|[0-9]+ bytes where)
block-too-short|call=right:n
skipped|call=error:n-1 --|is in MPI_Finalize after 1 call
first-fewer|call=error:n after=right:n --|
fatal|fails --|rank [0-9]+: call 2 on
END
  if takes late; then
    run "$soon"
    all call right "$ranks"
    told=$(grep -cE '^torc: warning: rank [0-9]+: MPIX?_I?[Aa]llreduce.*call 2 on .*: no progress for 1 s: ' \
      "$work/stderr")
    [[ $told -eq $((ranks - 1)) ]] || fail "$told of $((ranks - 1)) waiting ranks tell of it"
  fi
}

jobs=()
for form in blocking nonblocking persistent; do
  inTurn tryCases "$form" "${#jobs[@]}" &
  jobs+=($!)
done
awaitAll

# tryRefused FORM NAME=VALUE...: MPI refuses calls of the root, also the first of a communicator.
tryRefused() {
  form=$1 case=refused-at-root limit=150
  run "$soon" "${@:2}" || fail "${*:2}: exit status $status"
  all 'refused at the root' right "$ranks"
}
if ((ranks == 4)); then
  program=$blocking inTurn tryRefused blocking TORC_TRANSPORT=put & jobs+=($!)
  if [[ ${TEST_MPI-} != openmpi ]]; then  # whose waits take the cores
    program=$blocking inTurn tryRefused blocking TORC_TRANSPORT=mpi & jobs+=($!)
    inTurn tryRefused nonblocking TORC_PROGRESS=calls & jobs+=($!)
  fi
  inTurn tryRefused nonblocking TORC_PROGRESS=thread TORC_TRANSPORT=mpi & jobs+=($!)
  awaitAll
fi

form=blocking
case=late
run TORC_LIMITS=stall=0
expectQuiet

# An operation of the program's on one rank, which torc serves there, too, as it may cut vectors; but not
# on six ranks, which are in another order than the library's torus.
case=not-commuting
for each in "$program" "$blocking"; do
  ((ranks != 6)) || continue
  program=$each run TORC_USER_OPERATIONS=parts
  all call error "$ranks"
done

case=more
program=$blocking run
read -ra differ <<<"$differ"
expect "${differ[@]}" "${second}9600"
