#!/usr/bin/env bash
# A shared library shows programs what its headers declare, and nothing else.
#
#   exported_symbols_test.sh LIBRARY SONAME [--mpi] HEADER...
#
# With --mpi the library defines functions of MPI too.
set -euo pipefail
source tests/checks.sh
library=$1
soname=$2
shift 2
mpi=
if [[ $1 == --mpi ]]; then
  mpi=yes
  shift
fi

# Names and versions of what the library defines for others, and of what it takes from them. (A is the
# version itself.)
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >"$work/exported"
nm -D --undefined-only "$library" | awk '{ print $2 }' | sort >"$work/needed"

# The functions that a header declares, as the C compiler understands it.
for header in "$@"; do
  mpicc.mpich -std=c99 -fsyntax-only -aux-info "$work/prototypes" -x c "$header"
  sed -n "s|^/\* $header:.*[ *]\([a-zA-Z0-9_]*\) (.*);.*|\1|p" "$work/prototypes"
done | sort >"$work/declared"
[[ $(wc -l <"$work/declared") -gt 20 ]] || fail "only $(wc -l <"$work/declared") functions found in $*"

while read -r name; do
  fail "$name is declared and not exported"
done < <(comm -13 <(grep -o '^torc_[a-z_]*' "$work/exported") "$work/declared")
while read -r name; do
  fail "$name is exported and not declared"
done < <(comm -23 <(grep -o '^torc_[a-z_]*' "$work/exported") "$work/declared")

allowed='^torc_[a-z_]*@@TORC_1\.0$'
[[ -z $mpi ]] || allowed+='|^MPIX?_[A-Z][A-Za-z0-9_]*@@TORC_1\.0$|^DCP_[A-Z][a-z]*@@TORC_1\.0$|^dcp_[a-z]*_@@TORC_1\.0$'
while read -r name; do
  fail "exports $name"
done < <(grep -vE "$allowed" "$work/exported")
if [[ -n $mpi ]] && ! grep -q '^MPI_Allreduce@' "$work/exported"; then
  fail "MPI_Allreduce is not exported"
fi

# Its own calls of MPI go past whatever stands before MPI, itself included. No C++ library comes
# with it.
while read -r name; do
  fail "calls $name"
done < <(grep -E '^MPI_|@(GLIBCXX|CXXABI)_' "$work/needed")
readelf -d "$library" >"$work/dynamic"
grep -q "SONAME.*\[$soname\]" "$work/dynamic" || fail "the soname is not $soname"
grep -q 'FLAGS_1.*NODELETE' "$work/dynamic" || fail "can be unloaded"
if grep NEEDED "$work/dynamic" | grep libstdc++; then fail "needs the program's C++ library"; fi
