#!/usr/bin/env bash
# torc's own calls of MPI go by their PMPI_ names: see runtime/transport/mpi_status.h.
#
#   pmpi_names_test.sh FILE...
set -euo pipefail

# Prints the calls of MPI_ functions in standard input, with their line numbers; comments may name
# them.
calls() {
  sed 's://.*::' | grep -nE '\bMPI_[A-Z][a-z][A-Za-z0-9_]*[[:space:]]*\(' || true
}

if [[ -z $(calls <<<'  return MPI_Ibarrier(comm, request);') ||
  -n $(calls <<<'  PMPI_Start(&request);  // not MPI_Start(): a comment') ]]; then
  echo "the rule finds no calls, or finds them where there are none" >&2
  exit 1
fi

checked=0
failures=0
for file in "$@"; do
  # torc-run is a program that uses MPI like any other; runtime/pmpi/ defines the MPI_ functions.
  [[ $file == */runtime/run/* || $file == runtime/run/* || $file == */pmpi/* ]] && continue
  # Dedicated ranks are to torc what a program is, and so is the trial of how many.
  [[ $file == */dedicated/server_collectives.h || $file == */dedicated/split_trial.cc ]] && continue
  checked=$((checked + 1))
  while IFS= read -r line; do
    [[ -n $line ]] || continue
    echo "$file:$line: error: call it by its PMPI_ name" >&2
    failures=$((failures + 1))
  done < <(calls <"$file")
done
((checked > 20 && failures == 0))
