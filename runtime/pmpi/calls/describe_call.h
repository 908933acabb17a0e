// Describing calls: what MPI's parameters, of each kind in the table
// (runtime/pmpi/calls/intercepted_calls.h), say of a call. Which collective that is says the
// table.
#ifndef TORC_RUNTIME_PMPI_CALLS_DESCRIBE_CALL_H_
#define TORC_RUNTIME_PMPI_CALLS_DESCRIBE_CALL_H_

#include <optional>
#include <utility>

#include <mpi.h>

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/transport/which_mpi.h"

namespace torc::runtime::pmpi {

/// Begins the description of a call; false: torc has no schedules for it.
inline bool beginDescription(CollectiveCall& call) {
  const std::optional<Collective> collective = collectiveOf(call.id);
  if (!collective) return false;
  call.is_described = true;
  call.arguments.collective = *collective;
  call.arguments.rules = CallRules::kMpi;
  return true;
}

/// Where MPI lets contribution and result be one buffer, the call is in place.
inline const void* contributionOf(const void* in, const void* out) {
  return !kRefusesAliases && in == out && in != nullptr ? MPI_IN_PLACE : in;
}
/// Only a root has both buffers.
inline const void* contributionOf(const void* in, const void* out, int root, MPI_Comm comm) {
  if (kRefusesAliases || in != out || comm == MPI_COMM_NULL) return contributionOf(in, out);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank == root ? contributionOf(in, out) : in;
}

template <typename Count>
void describeReduction(CollectiveCall& call, const void* in, void* out, Count count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm) {
  if (!beginDescription(call)) return;
  call.arguments.in = contributionOf(in, out);
  call.arguments.out = out;
  call.arguments.count = count;
  call.arguments.type = type;
  call.arguments.op = op;
}

template <typename Count>
void describeReductionV(CollectiveCall& call, const void* in, void* out, const Count* counts,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  describeReduction(call, in, out, 0, type, op, comm);
  call.arguments.has_counts = true;
  call.arguments.counts = counts;
}

template <typename Count>
void describeRootedReduction(CollectiveCall& call, const void* in, void* out, Count count,
                             MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  describeReduction(call, in, out, count, type, op, comm);
  call.arguments.root = root;
  call.arguments.in = contributionOf(in, out, root, comm);
}

template <typename Count>
void describeExchange(CollectiveCall& call, const void* in, Count in_count, MPI_Datatype in_type,
                      void* out, Count count, MPI_Datatype type, MPI_Comm) {
  if (!beginDescription(call)) return;
  call.arguments.in = in;
  call.arguments.own_count = in_count;
  call.arguments.own_type = in_type;
  call.arguments.out = out;
  call.arguments.count = count;
  call.arguments.type = type;
  call.arguments.listNeighbours();
}

/// Of a scatter the own block is that of the result.
template <typename Count>
void describeRootedExchange(CollectiveCall& call, const void* in, Count in_count,
                            MPI_Datatype in_type, void* out, Count count, MPI_Datatype type,
                            int root, MPI_Comm comm) {
  describeExchange(call, in, in_count, in_type, out, count, type, comm);
  call.arguments.root = root;
  if (!rowOf(call.arguments.collective).describesOwnOut()) return;
  std::swap(call.arguments.own_count, call.arguments.count);
  std::swap(call.arguments.own_type, call.arguments.type);
}

template <typename Count, typename Offset>
void describeGatherV(CollectiveCall& call, const void* in, Count in_count, MPI_Datatype in_type,
                     void* out, const Count* counts, const Offset* displacements, MPI_Datatype type,
                     MPI_Comm comm) {
  describeExchange(call, in, in_count, in_type, out, Count{0}, type, comm);
  call.arguments.has_counts = true;
  call.arguments.counts = counts;
  call.arguments.has_displacements = true;
  call.arguments.displacements = displacements;
}

template <typename Count, typename Offset>
void describeExchangeV(CollectiveCall& call, const void* in, const Count* in_counts,
                       const Offset* in_displacements, MPI_Datatype in_type, void* out,
                       const Count* counts, const Offset* displacements, MPI_Datatype type,
                       MPI_Comm comm) {
  describeGatherV(call, in, Count{0}, in_type, out, counts, displacements, type, comm);
  if (in == MPI_IN_PLACE) return;  // the lists of `in` may be anything
  call.arguments.own_counts = in_counts;
  call.arguments.own_displacements = in_displacements;
}

template <typename Count, typename Offset>
void describeExchangeW(CollectiveCall& call, const void* in, const Count* in_counts,
                       const Offset* in_displacements, const MPI_Datatype* in_types, void* out,
                       const Count* counts, const Offset* displacements, const MPI_Datatype* types,
                       MPI_Comm comm) {
  describeExchangeV(call, in, in_counts, in_displacements, MPI_DATATYPE_NULL, out, counts,
                    displacements, MPI_DATATYPE_NULL, comm);
  call.arguments.types = types;
  if (in != MPI_IN_PLACE) call.arguments.own_types = in_types;
}

/// One buffer, which is read at the root and written elsewhere: always in place.
template <typename Count>
void describeBroadcast(CollectiveCall& call, void* buffer, Count count, MPI_Datatype type, int root,
                       MPI_Comm) {
  if (!beginDescription(call)) return;
  call.arguments.in = MPI_IN_PLACE;
  call.arguments.out = buffer;
  call.arguments.count = count;
  call.arguments.type = type;
  call.arguments.root = root;
}

/// A barrier: the allreduce of a byte, which no rank has before all others have given theirs. The
/// bytes of all barriers are these two, and always zero: so it does no harm that MPI may receive
/// into one for several at a time, nor for one that has failed.
inline std::byte barrier_zero{}, barrier_sum{};
inline void describeNothing(CollectiveCall& call, MPI_Comm) {
  if (!beginDescription(call)) return;
  call.arguments.in = &barrier_zero;
  call.arguments.out = &barrier_sum;
  call.arguments.count = 1;
  call.arguments.type = MPI_BYTE;
  call.arguments.op = MPI_BOR;
}

template <typename Count, typename Offset>
void describeNeighborExchangeW(CollectiveCall& call, const void* in, const Count* in_counts,
                               const Offset* in_displacements, const MPI_Datatype* in_types,
                               void* out, const Count* counts, const Offset* displacements,
                               const MPI_Datatype* types, MPI_Comm comm) {
  describeExchangeW(call, in, in_counts, in_displacements, in_types, out, counts, displacements,
                    types, comm);
}

template <typename Count, typename Offset>
void describeRootedGatherV(CollectiveCall& call, const void* in, Count in_count,
                           MPI_Datatype in_type, void* out, const Count* counts,
                           const Offset* displacements, MPI_Datatype type, int root,
                           MPI_Comm comm) {
  describeGatherV(call, in, in_count, in_type, out, counts, displacements, type, comm);
  call.arguments.lists_at_root = true;
  call.arguments.root = root;
}

/// Of a scatter the own block is that of the result.
template <typename Count, typename Offset>
void describeRootedScatterV(CollectiveCall& call, const void* in, const Count* in_counts,
                            const Offset* in_displacements, MPI_Datatype in_type, void* out,
                            Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  describeRootedGatherV(call, in, count, type, out, in_counts, in_displacements, in_type, root,
                        comm);
}

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_DESCRIBE_CALL_H_
