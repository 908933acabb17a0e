#!/bin/bash
# wrapped_functions_test.sh LIBTORC_PMPI HEADER... The interposer exports every function of MPI's
# headers with a communicator among its arguments: with dedicated ranks, none uses MPI's own
# MPI_COMM_WORLD. The headers are read by another reader than that of the wrappers' generator: the
# compiler.
set -euo pipefail
library=$1
shift
source tests/checks.sh
nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' | sort >"$work/exported"
for header in "$@"; do
  [[ $header != */mpi.h ]] || mpi=$(realpath "$header")
done
gcc -std=c99 -fsyntax-only -I "$(dirname "$mpi")" -aux-info "$work/prototypes" -x c "$mpi"
# Not callbacks, which have no PMPI_ form, nor what no program can call any more.
sed -n 's/.*extern int \(MPIX\?_[A-Za-z0-9_]*\) (.*MPI_Comm\(, .*\)\?).*/\1/p; s/.*extern int \(MPIX\?_[A-Za-z0-9_]*\) (.*struct ompi_communicator_t \*\(, .*\)\?).*/\1/p' \
  "$work/prototypes" | sort -u >"$work/all"
grep -o 'extern int PMPIX\?_[A-Za-z0-9_]*' "$work/prototypes" | sed 's/extern int P//' | sort -u >"$work/own"
comm -12 "$work/all" "$work/own" >"$work/wanted"
echo "$(wc -l <"$work/wanted") functions of MPI have a communicator among their arguments"
[[ $(wc -l <"$work/wanted") -gt 100 ]]
# Fortran's number of MPI_COMM_WORLD is that of Fortran's constant; and what Open MPI's headers declare
# but make an error to call.
allowed='^MPI_Comm_c2f$'
grep -q 'THIS_FUNCTION_WAS_REMOVED' "$mpi" && allowed+='\|^MPI_Errhandler_[gs]et$'
missing=$(comm -23 "$work/wanted" "$work/exported" | grep -v "$allowed" || true)
[[ -z $missing ]] || fail "not wrapped:" $missing
