#!/bin/bash
# Runs text tests: file_check.sh FILE... -- PROGRAM... Each file is a case, with a line of its own;
# `bazel test --test_filter=NAME` runs those that match NAME, a pattern of the shell.
#
# A line `// RUN: COMMAND` of FILE (also `# RUN:` and `; RUN:`) is run by bash with pipefail, from the
# workspace root; a backslash at its end continues it in the next RUN line. Replaced in COMMAND:
#   %s      FILE                    %t     a path of this test for scratch files
#   %S      the folder of FILE      %NAME  the program with that file name: %torc
#   %%      %                       %errors   expected_errors.sh: errors stated on their lines
#   %job RANKS PROGRAM...   mpi_test.sh, with libtorc_pmpi.so preloaded if that is a PROGRAM here; prints
#                           stderr behind stdout, as ranks' pieces of lines would mix
#   %said PREFIX   FileCheck: the sorted lines of the input are those of PREFIX, and there are no others
# FileCheck, not and split-file are LLVM's. The first command that fails ends the case.
#
# `TORC_UPDATE_TESTS=1 bazel run LABEL_OF_THE_TEST` writes the errors found by %errors into FILE, in
# the source tree, instead of failing.
set -u
export PATH=/usr/lib/llvm-19/bin:$PATH

files=()
while [[ $1 != -- ]]; do
  files+=("$1")
  shift
done
shift
[[ -z ${TEST_SHARD_STATUS_FILE-} ]] || touch "$TEST_SHARD_STATUS_FILE"

declare -A value

substitute() {
  local rest=$1 result= key
  while [[ $rest == *%* ]]; do
    result+=${rest%%\%*}
    rest=${rest#*%}
    for key in $keys; do
      if [[ $rest == "$key"* ]]; then
        result+=${value[$key]}
        rest=${rest#"$key"}
        continue 2
      fi
    done
    result+=%
  done
  echo "$result$rest"
}

job() {
  local status=0 said=${TEST_TMPDIR:-/tmp}/stderr.$BASHPID
  tools/mpi_test.sh "$@" 2>"$said" || status=$?
  cat "$said"
  return "$status"
}
export -f job

# runFile FILE PROGRAM...
runFile() {
  local file=$1 program name key line number=0 first=0 count=0 command= status
  shift
  value=([%]=% [s]=$file [S]=$(dirname "$file"))
  value[errors]="bash $PWD/tests/expected_errors.sh $file"
  value[t]=${TEST_TMPDIR:-/tmp}/$(basename "$file").tmp
  value[said]="LC_ALL=C sort | FileCheck $file --match-full-lines --implicit-check-not={{.}} --check-prefix"
  value[job]=job
  for program in "$@"; do
    name=$(basename "$program")
    [[ ${TEST_MPI-} != openmpi ]] || name=${name%_openmpi}
    value[$name]=$PWD/$program
    [[ $name != libtorc_pmpi.so ]] || value[job]+=" --preload=$program"
  done
  # Longer names first: %torc-run is not %torc.
  keys=$(for key in "${!value[@]}"; do echo "${#key} $key"; done | sort -rn | cut -d' ' -f2-)
  while IFS= read -r line || [[ -n $line ]]; do
    number=$((number + 1))
    [[ $line =~ ^[[:space:]]*(//|#|\;)[[:space:]]*RUN:[[:space:]]*(.*)$ ]] || continue
    [[ -n $command ]] || first=$number
    command+=${BASH_REMATCH[2]}
    if [[ $command == *\\ ]]; then
      command=${command%\\}
      continue
    fi
    command=$(substitute "$command")
    bash -o pipefail -c "$command" </dev/null
    status=$?
    if [[ $status -ne 0 ]]; then
      echo "$file:$first: error: exit status $status: $command"
      return 1
    fi
    count=$((count + 1))
    command=
  done <"$file"
  if [[ -n $command ]]; then
    echo "$file:$first: error: the last RUN line ends in a backslash"
    return 1
  fi
  if [[ $count -eq 0 ]]; then
    echo "$file: error: no RUN line"
    return 1
  fi
}

ran=0
failures=0
for ((i = ${TEST_SHARD_INDEX:-0}; i < ${#files[@]}; i += ${TEST_TOTAL_SHARDS:-1})); do
  name=$(basename "${files[i]}")
  # shellcheck disable=SC2053
  [[ $name == ${TESTBRIDGE_TEST_ONLY:-*} ]] || continue
  ran=$((ran + 1)) began=$SECONDS
  if runFile "${files[i]}" "$@"; then
    echo "ok $name ($((SECONDS - began)) s)"
  else
    echo "FAILED $name"
    failures=$((failures + 1))
  fi
done
echo "$ran files, $failures failed"
[[ $failures -eq 0 ]]
