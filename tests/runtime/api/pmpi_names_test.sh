#!/usr/bin/env bash
# torc's own calls of MPI go by their PMPI_ names: see runtime/transport/mpi_status.h.
#
#   pmpi_names_test.sh FILE...
set -euo pipefail
source tests/checks.sh

# Prints the calls of MPI_ functions in standard input, with their line numbers; comments may name
# them.
calls() {
  sed 's://.*::' | grep -nE '\bMPI_[A-Z][a-z][A-Za-z0-9_]*[[:space:]]*\(' || true
}

[[ -n $(calls <<<'  return MPI_Ibarrier(comm, request);') ]] || fail "the rule finds no calls"
[[ -z $(calls <<<'  PMPI_Start(&request);  // not MPI_Start(): a comment') ]] || fail "the rule finds calls where there are none"
checked=0
for file in "$@"; do
  case $file in
    # Programs that use MPI like any other, and what defines the MPI_ functions.
    *runtime/run/* | */pmpi/* | */dedicated/server_collectives.h) continue ;;
  esac
  checked=$((checked + 1))
  lines=$(calls <"$file")
  [[ -z $lines ]] || fail "$file: call it by its PMPI_ name: $lines"
done
((checked > 20))
