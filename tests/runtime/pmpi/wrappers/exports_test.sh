#!/bin/bash
# exports_test.sh LIBRARY: libtorc_pmpi.so exports a wrapper for every row of the table and every form,
# the functions of torc.h, and nothing else.
set -eu
source tests/checks.sh
library=$1

exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }')

rows=$(sed -n 's/^  X(\([A-Z][a-z_]*\), \([a-z_]*\), .*/\1 \2/p' runtime/pmpi/calls/intercepted_calls.h)
count=0
while read -r name lower; do
  count=$((count + 1))
  for suffix in "" _c; do
    for function in "MPI_$name$suffix" "MPI_I$lower$suffix" "MPI_${name}_init$suffix"; do
      grep -qx "$function" <<<"$exported" || fail "$function is in the table but not in $library"
    done
  done
done <<<"$rows"
[[ $count -ge 21 ]] || fail "read $count rows of the table; there are 21 and more"

for function in MPI_Init MPI_Init_thread MPI_Finalize MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome \
  MPI_Test MPI_Testall MPI_Testany MPI_Testsome MPI_Start MPI_Startall MPI_Request_free \
  MPI_Comm_dup MPI_Comm_split MPI_Comm_create MPI_Comm_create_group MPI_Cart_create MPI_Cart_sub \
  MPI_Comm_free MPI_Recv MPI_Send MPI_Sendrecv_replace MPI_Probe MPI_Mrecv MPI_Barrier MPI_Ibarrier \
  MPI_Session_init MPI_Query_thread MPI_Intercomm_create_from_groups MPI_Win_fence MPI_Win_create_dynamic MPI_Win_allocate_c \
  MPI_Win_flush_local_all MPI_Buffer_detach_c MPI_Comm_spawn_multiple MPI_Comm_connect MPI_File_open \
  MPI_File_sync MPI_File_read_at_all_c MPI_File_write_ordered MPI_File_write_all_begin_c MPI_Rput_c MPI_Put \
  torc_context_create torc_collective_start; do
  grep -qx "$function" <<<"$exported" || fail "$function is not exported"
done

others=$(grep -v '^MPIX\?_\|^torc_\|^DCP_[A-Z][a-z]*$\|^dcp_[a-z]*_$' <<<"$exported" || true)
[[ -z $others ]] || fail "exports more than MPI's functions and torc's:" $others

# Threads' own variables are where the code takes them to be: gold, which does not link it, names the wrong symbol, or
# none, where one is local to a source file.
misplaced=$(readelf -rW "$library" | grep 'R_X86_64_TPOFF64 .*<null>' || true)
[[ -z $misplaced ]] || fail "a thread's variable without a place: $misplaced"

# Every call of MPI goes past the wrappers.
called=$(nm -D --undefined-only "$library" | awk '{ print $2 }' | grep '^MPI_' || true)
[[ -z $called ]] || fail "calls MPI by names that are intercepted:" $called

# Sites have older systems than the one that built it. Debian 12's own names of threads and dlopen
# are of 2.34.
glibc=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
[[ $(printf '%s\n' "$glibc" GLIBC_2.34 | sort -V | tail -1) == GLIBC_2.34 ]] || fail "needs $glibc"
