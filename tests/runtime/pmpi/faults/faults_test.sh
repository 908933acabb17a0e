#!/bin/bash
# faults_test.sh LIBTORC_PMPI TORC PROGRAM LIBRARY
# Every fault at a job's start: the library's files, the variables, ranks that differ. The program's
# results are right, torc warns once, and under TORC_STRICT=1 it is an error that names the fault
# and ends the job; nothing hangs.
set -euo pipefail
source tests/checks.sh

preload=$PWD/$1 torc=$PWD/$2 program=$PWD/$3 good=$PWD/$4
limit=50

# job ARGUMENT...: mpiexec's arguments.
job() {
  status=0
  timeout --kill-after=3 "$limit" tools/mpiexec.sh "$@" </dev/null >"$work/output" 2>&1 || status=$?
  [[ $status -ne 124 && $status -ne 137 ]] || fail "hangs"
}

expectWarning() {  # PATTERN
  [[ $status -eq 0 ]] || fail "exit status $status"
  grep -q '^faulty_job: .* 0 failed$' "$work/output" || fail "wrong results"
  [[ $(grep -c '^torc: ' "$work/output") -eq 1 ]] || fail "expected one line of torc's"
  grep -qE -- "^torc: warning: .*$1" "$work/output" || fail "no warning that says: $1"
}

expectError() {  # PATTERN
  [[ $status -ne 0 ]] || fail "strict: exit status 0"
  grep -q '^torc: error: ' "$work/output" || fail "strict: no error"
  # Of a file that cannot be used, the warning says what is the matter, the error which call needs it.
  grep -qE -- "^torc: (error|warning): .*$1" "$work/output" || fail "strict: nothing says: $1"
}

# fault CASE PATTERN [NAME=VALUE...]: all four ranks alike, on a 2x2 torus; then the same, strictly.
fault() {
  case=$1
  local pattern=$2 variables=()
  shift 2
  for assignment in "$@"; do variables+=(-genv "${assignment%%=*}" "${assignment#*=}"); done
  [[ ! -d $work/spoilt ]] || cp -r "$work/spoilt" "$work/again"
  job -genv LD_PRELOAD "$preload" "${variables[@]}" -n 4 "$program" 2x2 ${removed:+"$removed"}
  expectWarning "$pattern"
  if [[ -d $work/again ]]; then
    rm -rf "$work/spoilt"
    mv "$work/again" "$work/spoilt"
  fi
  job -genv LD_PRELOAD "$preload" -genv TORC_STRICT 1 "${variables[@]}" -n 4 "$program" 2x2 \
    ${removed:+"$removed"}
  expectError "$pattern"
}

# ranksDiffer CASE PATTERN FIRST SECOND: variables of ranks 0 and 1, and of 2 and 3.
ranksDiffer() {
  case=$1
  local pattern=$2 first second
  read -ra first <<<"$3"
  read -ra second <<<"$4"
  job "${first[@]}" -n 2 "$program" 2x2 : "${second[@]}" -n 2 "$program" 2x2
  expectWarning "$pattern"
  job "${first[@]}" -env TORC_STRICT 1 -n 2 "$program" 2x2 : \
    "${second[@]}" -env TORC_STRICT 1 -n 2 "$program" 2x2
  expectError "$pattern"
}

# A fresh copy of the library, to be spoilt.
copyLibrary() {
  rm -rf "$work/spoilt"
  cp -rL "$good" "$work/spoilt"
  chmod -R u+w "$work/spoilt"
}

# --- All is well: the other cases mean something.
case="no fault"
job -genv LD_PRELOAD "$preload" -genv TORC_LIBRARY "$good" -genv TORC_STRICT 1 -n 4 "$program" 2x2
[[ $status -eq 0 ]] || fail "exit status $status"
if grep -q '^torc: ' "$work/output"; then fail "torc has something to say"; fi

# --- A library for another machine.
fault "another machine" "for machine .generic., not .bluegene." TORC_LIBRARY="$good" TORC_MACHINE=bluegene
fault "no communicator on a rank" "MPI_Comm_dup" TORC_LIBRARY="$good" WITHOUT_SELF=2

# --- An index that is not the manifest's, and one that is torn. What else a library or a mapping may have
# wrong, tests/mpi/library_faults_test.cc and tests/runtime/job/job_mapping_test.cc say.
copyLibrary
echo " " >>"$work/spoilt/manifest.json"
fault "manifest altered" "spoilt.*manifest" TORC_LIBRARY="$work/spoilt"
copyLibrary
printf 'x' | dd of="$work/spoilt/index.torc" bs=1 seek=200 conv=notrunc status=none
fault "altered index" "index.torc" TORC_LIBRARY="$work/spoilt"

# --- One torn file among many: the others serve.
copyLibrary
for file in "$work"/spoilt/files/allreduce-2x2-*.torc; do truncate -s -8 "$file"; done
fault "a torn file" "allreduce-2x2-" TORC_LIBRARY="$work/spoilt"
case="the other files"
job -genv LD_PRELOAD "$preload" -genv TORC_LIBRARY "$work/spoilt" \
  -genv TORC_STATS "$work/statistics" -n 4 "$program" 2x2
expectWarning "allreduce-2x2-"
served=$(sed -n '/^Calls served by torc/,/^$/p' "$work/statistics")
grep -qE '^  MPI_Allgather +2x2 ' <<<"$served" || fail "allgather is not served"
grep -qE '^  MPI_Allreduce +2 sub-torus' <<<"$served" || fail "rows are not served"
if grep -qE '^  MPI_Allreduce +2x2 ' <<<"$served"; then fail "a torn file serves"; fi

copyLibrary
for file in "$work"/spoilt/files/allgather-2x2-*.torc; do
  printf 'x' | dd of="$file" bs=1 seek=300 conv=notrunc status=none
done
fault "an altered file" "allgather-2x2-" TORC_LIBRARY="$work/spoilt"

# --- A file, and the whole folder, removed while the job runs.
copyLibrary
removed=$work/spoilt/files/$("$torc" library list "$work/spoilt" |
  awk '/^shape/ { shape = $2 } shape == "2x2:" && $1 == "allreduce" && !n++ { print $NF }')
fault "a file removed" "allreduce-2x2-" TORC_LIBRARY="$work/spoilt"
removed=

# --- A folder that cannot be read.
fault "no such folder" "$work/nowhere" TORC_LIBRARY="$work/nowhere"
# --- Variables that contradict each other, or make no sense.
fault "a wrong order" "TORC_ORDER.*XXY" TORC_LIBRARY="$good" TORC_ORDER=XXY
fault "a wrong number" "TORC_LIMITS.*lots" TORC_LIBRARY="$good" TORC_LIMITS=memory=lots
fault "a wrong collective" "TORC_COLLECTIVES.*allsum" TORC_LIBRARY="$good" TORC_COLLECTIVES=allsum

# --- Ranks that differ.
loaded="-env LD_PRELOAD $preload"
ranksDiffer "library on some ranks" "TORC_LIBRARY differs between ranks" \
  "$loaded -env TORC_LIBRARY $good" "$loaded"
ranksDiffer "preloaded on some ranks" "LD_PRELOAD" \
  "$loaded -env TORC_LIBRARY $good" "-env TORC_LIBRARY $good"
ranksDiffer "preloaded on the other ranks" "LD_PRELOAD" \
  "-env TORC_LIBRARY $good" "$loaded -env TORC_LIBRARY $good"
