#!/usr/bin/env bash
# A shared library exports the functions that its headers declare. What else it exports, and its soname:
# tests/install/symbols_test.sh.
#
#   exported_symbols_test.sh LIBRARY [--mpi] HEADER...
#
# With --mpi the library defines functions of MPI too.
set -euo pipefail
source tests/checks.sh
library=$1 mpi=
shift
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

diff "$work/declared" <(grep -o '^torc_[a-z_]*' "$work/exported") || fail "declares (<) other functions than it exports (>)"

# A wrapper for every row of the table and every form, and of what programs wait in.
while [[ -n $mpi ]] && read -r function; do
  grep -q "^$function@" "$work/exported" || fail "$function is not exported"
done < <(
  sed -n 's/^  X(\([A-Z][a-z_]*\), \([a-z_]*\), .*/MPI_\1\nMPI_\1_c\nMPI_I\2\nMPI_I\2_c\nMPI_\1_init\nMPI_\1_init_c/p' \
    runtime/job/call_table.h >"$work/forms"
  [[ $(wc -l <"$work/forms") -ge 126 ]] || echo "what the table of 21 collectives says"
  cat "$work/forms"
  printf '%s\n' MPI_{Barrier,Ibarrier,Init,Init_thread,Finalize,Wait{,all,any,some},Test{,all,any,some},Start{,all},Request_free} \
    MPI_{Recv,Mrecv,Probe,Query_thread,Session_init,Win_{fence,create_dynamic,allocate_c,flush_local_all},Buffer_detach_c} \
    MPI_File_{open,sync,read_at_all_c,write_ordered,write_all_begin_c} MPI_{Rput_c,Put,Intercomm_create_from_groups}
)

# Its own calls of MPI go past whatever stands before MPI, itself included. No C++ library comes
# with it.
! grep -E '^MPI_|@(GLIBCXX|CXXABI)_' "$work/needed" || fail "calls these"
# Threads' own variables are where the code takes them to be: gold, which does not link it, names the wrong symbol, or
# none, where one is local to a source file.
if readelf -rW "$library" | grep 'R_X86_64_TPOFF64 .*<null>'; then fail "a thread's variable without a place"; fi
# Sites have older systems than the one that built it. Debian 12's own names of threads and dlopen are of 2.34.
glibc=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
[[ $(printf '%s\n' "$glibc" GLIBC_2.34 | sort -V | tail -1) == GLIBC_2.34 ]] || fail "needs $glibc"
readelf -d "$library" >"$work/dynamic"
grep -q 'FLAGS_1.*NODELETE' "$work/dynamic" || fail "can be unloaded"
! grep 'NEEDED.*libstdc++' "$work/dynamic" || fail "needs the program's C++ library"
