#!/bin/bash
# faults_test.sh LIBTORC_PMPI TORC PROGRAM LIBRARY
# Every fault at a job's start: the library's files, the variables, ranks that differ. The program's
# results are right, torc warns once, and under TORC_STRICT=1 it is an error that names the fault
# and ends the job; nothing hangs.
set -u
source tests/checks.sh
torc=$2 program=$3 good=$4
preload=$1

expectWarning() {  # PATTERN
  [[ $status -eq 0 ]] || fail "exit status $status"
  grep -q '^faulty_job: .* 0 failed$' "$work/stdout" || fail "wrong results"
  [[ $(grep -c '^torc: ' "$work/stderr") -eq 1 ]] || fail "expected one line of torc's"
  grep -qE -- "^torc: warning: .*$1" "$work/stderr" || fail "no warning that says: $1"
}

# fault CASE PATTERN ARGUMENT...: four ranks on a 2x2 torus, with arguments of `preloaded`; then the same, strictly.
fault() {
  case=$1
  local pattern=$2
  shift 2
  [[ ! -d $work/spoilt ]] || cp -r "$work/spoilt" "$work/again"
  within 50 preloaded 4 "$@" "$program" 2x2 ${removed:+"$removed"}
  expectWarning "$pattern"
  if [[ -d $work/again ]]; then
    rm -rf "$work/spoilt"
    mv "$work/again" "$work/spoilt"
  fi
  within 50 preloaded 4 TORC_STRICT=1 "$@" "$program" 2x2 ${removed:+"$removed"} && fail "strict: exit status 0"
  grep -q '^torc: error: ' "$work/stderr" || fail "strict: no error"
  # Of a file that cannot be used, the warning says what is the matter, the error which call needs it.
  grep -qE -- "^torc: (error|warning): .*$pattern" "$work/stderr" || fail "strict: nothing says: $pattern"
}

# spoilt CASE PATTERN COMMAND...: a copy of the library whose files, of a pattern, a command has spoilt.
spoilt() {
  local file
  copyLibrary "$good" "$work/spoilt"
  for file in "$work"/spoilt/$3; do "${@:4}" "$file"; done
  fault "$1" "$2" TORC_LIBRARY="$work/spoilt"
}
alter() { printf 'x' | dd of="$1" bs=1 seek=300 conv=notrunc status=none; }

# All is well: the other cases mean something.
case="no fault"
within 50 preloaded 4 TORC_LIBRARY="$good" TORC_STRICT=1 "$program" 2x2 || fail "exit status $status"
expectQuiet

# An index that is not the manifest's, and one that is torn. What else a library or a mapping may have
# wrong, tests/mpi/library_faults_test.cc and tests/runtime/job/job_mapping_test.cc say.
spoilt "manifest altered" "spoilt.*manifest" manifest.json sed -i '$a x'
spoilt "altered index" "index.torc" index.torc alter
spoilt "an altered file" "allgather-2x2-" 'files/allgather-2x2-*.torc' alter

# One torn file among many: the others serve.
spoilt "a torn file" "allreduce-2x2-" 'files/allreduce-2x2-*.torc' truncate -s -8
case="the other files"
within 50 preloaded 4 TORC_LIBRARY="$work/spoilt" TORC_STATS="$work/table" "$program" 2x2
expectWarning "allreduce-2x2-"
servedRows | grep -qE '^  MPI_Allgather +2x2 ' || fail "allgather is not served"
servedRows | grep -qE '^  MPI_Allreduce +2 sub-torus' || fail "rows are not served"
! servedRows | grep -qE '^  MPI_Allreduce +2x2 ' || fail "a torn file serves"

# A file removed while the job runs.
removed=$work/spoilt/files/$("$torc" library list "$good" |
  awk '/^shape/ { shape = $2 } shape == "2x2:" && $1 == "allreduce" && !n++ { print $NF }')
spoilt "a file removed" "allreduce-2x2-" 'files' true
removed=

# A library for another machine, or none; variables that contradict each other, or make no sense.
fault "another machine" "for machine .generic., not .bluegene." TORC_LIBRARY="$good" TORC_MACHINE=bluegene
fault "no communicator on a rank" "MPI_Comm_dup" TORC_LIBRARY="$good" WITHOUT_SELF=2
fault "no such folder" "$work/nowhere" TORC_LIBRARY="$work/nowhere"
fault "a wrong order" "TORC_ORDER.*XXY" TORC_LIBRARY="$good" TORC_ORDER=XXY
fault "a wrong number" "TORC_LIMITS.*lots" TORC_LIBRARY="$good" TORC_LIMITS=memory=lots
fault "a wrong collective" "TORC_COLLECTIVES.*allsum" TORC_LIBRARY="$good" TORC_COLLECTIVES=allsum

# Ranks that differ.
fault "library on some ranks" "TORC_LIBRARY differs between ranks" \
  --rank-env={0,1}:TORC_LIBRARY="$good"
preload=''
fault "preloaded on some ranks" "LD_PRELOAD" TORC_LIBRARY="$good" --rank-env={0,1}:LD_PRELOAD="$PWD/$1"
fault "preloaded on the other ranks" "LD_PRELOAD" TORC_LIBRARY="$good" --rank-env={2,3}:LD_PRELOAD="$PWD/$1"
