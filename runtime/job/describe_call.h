// Describing calls: translates the parameters of each kind in the table (runtime/job/call_table.h).
// `comm`: MPI_COMM_NULL in a function of torc.h: by its rules no buffer is both contribution and
// result, and all ranks know a root's lists.
#ifndef TORC_RUNTIME_JOB_DESCRIBE_CALL_H_
#define TORC_RUNTIME_JOB_DESCRIBE_CALL_H_

#include <utility>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/job/call_arguments.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/which_mpi.h"
#include "support/message.h"

/// In a function with such parameters.
#define TORC_DESCRIBED(Name, parameters, comm) \
  describe##parameters(CallId::k##Name, TORC_GIVEN(parameters) comm)

namespace torc::runtime {

/// If MPI allows contribution and result to be one buffer, the call is in place.
inline const void* contributionOf(const void* in, const void* out, MPI_Comm comm) {
  const bool is_both = !kRefusesAliases && in == out && in != nullptr && comm != MPI_COMM_NULL;
  return is_both ? MPI_IN_PLACE : in;
}
/// Only a root has both buffers.
inline const void* contributionOf(const void* in, const void* out, int root, MPI_Comm comm) {
  if (kRefusesAliases || in != out || comm == MPI_COMM_NULL) return in;
  return commRank(comm) == root ? contributionOf(in, out, comm) : in;
}

/// One count for the vector or for all blocks.
inline BriefCall describeVector(CallId id, const void* in, void* out, std::int64_t count,
                                MPI_Datatype type, MPI_Op op, int root) {
  BriefCall call(id, in, out);
  call.count = count;
  call.type = type;
  call.op = op;
  call.root = root;
  return call;
}

template <typename Count>
BriefCall describeReduction(CallId id, const void* in, void* out, Count count, MPI_Datatype type,
                            MPI_Op op, MPI_Comm comm) {
  return describeVector(id, contributionOf(in, out, comm), out, count, type, op, 0);
}

template <typename Count>
BriefCall describeRootedReduction(CallId id, const void* in, void* out, Count count,
                                  MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return describeVector(id, contributionOf(in, out, root, comm), out, count, type, op, root);
}

template <typename Count>
CallArguments describeReductionV(CallId id, const void* in, void* out, const Count* counts,
                                 MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  CallArguments call(describeReduction(id, in, out, 0, type, op, comm));
  call.has_counts = true;
  call.counts = counts;
  return call;
}

/// One buffer, read at the root and written elsewhere: always in place.
template <typename Count>
BriefCall describeBroadcast(CallId id, void* buffer, Count count, MPI_Datatype type, int root,
                            MPI_Comm) {
  return describeVector(id, MPI_IN_PLACE, buffer, count, type, MPI_OP_NULL, root);
}

/// The buffers of all barriers, always zero: so MPI may receive into one of them for several
/// barriers at a time, or for a failed one.
inline std::byte barrier_zero{}, barrier_sum{};
inline BriefCall describeNothing(CallId id, MPI_Comm) {
  return describeVector(id, &barrier_zero, &barrier_sum, 1, MPI_BYTE, MPI_BOR, 0);
}

/// In a scatter, own_count and own_type describe the result.
template <typename Count>
BriefCall describeRootedExchange(CallId id, const void* in, Count in_count, MPI_Datatype in_type,
                                 void* out, Count count, MPI_Datatype type, int root, MPI_Comm) {
  if (id == CallId::kScatter) {
    std::swap(in_count, count);
    std::swap(in_type, type);
  }
  BriefCall call = describeVector(id, in, out, count, type, MPI_OP_NULL, root);
  call.own_count = in_count;
  call.own_type = in_type;
  return call;
}

template <typename Count>
BriefCall describeExchange(CallId id, const void* in, Count in_count, MPI_Datatype in_type,
                           void* out, Count count, MPI_Datatype type, MPI_Comm comm) {
  return describeRootedExchange(id, in, in_count, in_type, out, count, type, 0, comm);
}

template <typename Count, typename Offset>
CallArguments describeGatherV(CallId id, const void* in, Count in_count, MPI_Datatype in_type,
                              void* out, const Count* counts, const Offset* displacements,
                              MPI_Datatype type, MPI_Comm comm) {
  CallArguments call(describeExchange(id, in, in_count, in_type, out, Count{0}, type, comm));
  call.has_counts = call.has_displacements = true;
  call.counts = counts;
  call.displacements = displacements;
  return call;
}

template <typename Count, typename Offset>
CallArguments describeRootedGatherV(CallId id, const void* in, Count in_count, MPI_Datatype in_type,
                                    void* out, const Count* counts, const Offset* displacements,
                                    MPI_Datatype type, int root, MPI_Comm comm) {
  CallArguments call =
      describeGatherV(id, in, in_count, in_type, out, counts, displacements, type, comm);
  call.lists_at_root = comm != MPI_COMM_NULL;
  call.root = root;
  return call;
}

/// In a scatter, own_count and own_type describe the result.
template <typename Count, typename Offset>
CallArguments describeRootedScatterV(CallId id, const void* in, const Count* in_counts,
                                     const Offset* in_displacements, MPI_Datatype in_type,
                                     void* out, Count count, MPI_Datatype type, int root,
                                     MPI_Comm comm) {
  return describeRootedGatherV(id, in, count, type, out, in_counts, in_displacements, in_type, root,
                               comm);
}

template <typename Count, typename Offset>
CallArguments describeExchangeV(CallId id, const void* in, const Count* in_counts,
                                const Offset* in_displacements, MPI_Datatype in_type, void* out,
                                const Count* counts, const Offset* displacements, MPI_Datatype type,
                                MPI_Comm comm) {
  CallArguments call =
      describeGatherV(id, in, Count{0}, in_type, out, counts, displacements, type, comm);
  if (in == MPI_IN_PLACE) return call;  // the lists of `in` are not significant
  call.own_counts = in_counts;
  call.own_displacements = in_displacements;
  return call;
}

template <typename Count, typename Offset>
CallArguments describeExchangeW(CallId id, const void* in, const Count* in_counts,
                                const Offset* in_displacements, const MPI_Datatype* in_types,
                                void* out, const Count* counts, const Offset* displacements,
                                const MPI_Datatype* types, MPI_Comm comm) {
  CallArguments call = describeExchangeV(id, in, in_counts, in_displacements, MPI_DATATYPE_NULL,
                                         out, counts, displacements, MPI_DATATYPE_NULL, comm);
  call.types = types;
  if (in != MPI_IN_PLACE) call.own_types = in_types;
  return call;
}

template <typename... Arguments>
CallArguments describeNeighborExchangeW(CallId id, Arguments... arguments) {
  return describeExchangeW(id, arguments...);
}

/// A call of the C API on a torus with `axes` axes, without buffers. Error: an undefined kind.
inline StatusOr<CallArguments> argumentsOf(const torc_call& call, std::uint64_t axes) {
  if (call.kind < 0 || call.kind >= kCollectiveCount) {
    return Status(StatusCode::kInvalidArgument,
                  message("kind ", static_cast<int>(call.kind), " does not exist"));
  }
  CallArguments arguments;
  arguments.collective = static_cast<Collective>(call.kind);
  arguments.has_buffers = false;
  arguments.count = call.count;
  arguments.has_counts =
      call.counts != nullptr && rowOf(arguments.collective).counts == CountOf::kBlock;
  arguments.counts = call.counts;
  if (rowOf(arguments.collective).isOfNeighbours() && !arguments.has_counts) {
    arguments.has_counts = true;
    arguments.counts = NumberList::repeated(call.count);
  }
  arguments.type = call.datatype;
  arguments.op = call.op;
  arguments.neighbours = static_cast<int>(2 * axes);
  return arguments;
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_DESCRIBE_CALL_H_
