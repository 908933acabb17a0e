// The table of collective calls: their MPI functions, parameters and collectives. All
// per-collective code is expanded from it: the wrappers of the MPI functions (six; three without
// counts), torc's own function, its identifier, its name in statistics, and the symbols that show a
// program's nonblocking calls. runtime/job/describe_call.h interprets each kind of parameters.
#ifndef TORC_RUNTIME_JOB_CALL_TABLE_H_
#define TORC_RUNTIME_JOB_CALL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "schedules/collective.h"

// X(MPI's name, the same after MPI_I, parameters, collective). MPI has each as a blocking,
// nonblocking and persistent function, with int and with MPI_Count.
#define TORC_COLLECTIVES(X)                                               \
  X(Allreduce, allreduce, Reduction, Allreduce)                           \
  X(Reduce_scatter, reduce_scatter, ReductionV, ReduceScatter)            \
  X(Reduce_scatter_block, reduce_scatter_block, Reduction, ReduceScatter) \
  X(Allgather, allgather, Exchange, Allgather)                            \
  X(Allgatherv, allgatherv, GatherV, Allgather)                           \
  X(Bcast, bcast, Broadcast, Broadcast)                                   \
  X(Reduce, reduce, RootedReduction, Reduce)                              \
  X(Gather, gather, RootedExchange, Gather)                               \
  X(Gatherv, gatherv, RootedGatherV, Gather)                              \
  X(Scatter, scatter, RootedExchange, Scatter)                            \
  X(Scatterv, scatterv, RootedScatterV, Scatter)                          \
  X(Alltoall, alltoall, Exchange, Alltoall)                               \
  X(Alltoallv, alltoallv, ExchangeV, Alltoall)                            \
  X(Alltoallw, alltoallw, ExchangeW, Alltoall)                            \
  X(Scan, scan, Reduction, Scan)                                          \
  X(Exscan, exscan, Reduction, Exscan)                                    \
  X(Neighbor_allgather, neighbor_allgather, Exchange, NeighborAllgather)  \
  X(Neighbor_allgatherv, neighbor_allgatherv, GatherV, NeighborAllgather) \
  X(Neighbor_alltoall, neighbor_alltoall, Exchange, NeighborAlltoall)     \
  X(Neighbor_alltoallv, neighbor_alltoallv, ExchangeV, NeighborAlltoall)  \
  X(Neighbor_alltoallw, neighbor_alltoallw, NeighborExchangeW, NeighborAlltoall)

// Collectives without counts, which have no MPI_Count form. A barrier is implemented as a one-byte
// allreduce.
#define TORC_COLLECTIVES_WITHOUT_COUNTS(X) X(Barrier, barrier, Nothing, Allreduce)

#define TORC_ALL_COLLECTIVES(X) TORC_COLLECTIVES(X) TORC_COLLECTIVES_WITHOUT_COUNTS(X)

// Parameters before the communicator, for a type of counts and one of displacements, and the same
// as arguments. LIST(list) encloses every list of the program: a deferred call passes a copy.
#define TORC_AS_GIVEN(list) list
#define TORC_GIVEN(parameters) TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN)
#define TORC_PARAMETERS_Nothing(Count, Offset)
#define TORC_ARGUMENTS_Nothing(LIST)

#define TORC_PARAMETERS_Broadcast(Count, Offset) \
  void *out, Count count, MPI_Datatype type, int root,
#define TORC_ARGUMENTS_Broadcast(LIST) out, count, type, root,

#define TORC_PARAMETERS_Reduction(Count, Offset) \
  const void *in, void *out, Count count, MPI_Datatype type, MPI_Op op,
#define TORC_ARGUMENTS_Reduction(LIST) in, out, count, type, op,

#define TORC_PARAMETERS_RootedReduction(Count, Offset) \
  TORC_PARAMETERS_Reduction(Count, Offset) int root,
#define TORC_ARGUMENTS_RootedReduction(LIST) TORC_ARGUMENTS_Reduction(LIST) root,

#define TORC_PARAMETERS_ReductionV(Count, Offset) \
  const void *in, void *out, const Count counts[], MPI_Datatype type, MPI_Op op,
#define TORC_ARGUMENTS_ReductionV(LIST) in, out, LIST(counts), type, op,

#define TORC_PARAMETERS_Exchange(Count, Offset) \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, Count count, MPI_Datatype type,
#define TORC_ARGUMENTS_Exchange(LIST) in, in_count, in_type, out, count, type,

#define TORC_PARAMETERS_RootedExchange(Count, Offset) \
  TORC_PARAMETERS_Exchange(Count, Offset) int root,
#define TORC_ARGUMENTS_RootedExchange(LIST) TORC_ARGUMENTS_Exchange(LIST) root,

#define TORC_PARAMETERS_GatherV(Count, Offset)                                           \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, const Count counts[], \
      const Offset displacements[], MPI_Datatype type,
#define TORC_ARGUMENTS_GatherV(LIST) \
  in, in_count, in_type, out, LIST(counts), LIST(displacements), type,

#define TORC_PARAMETERS_RootedGatherV(Count, Offset) \
  TORC_PARAMETERS_GatherV(Count, Offset) int root,
#define TORC_ARGUMENTS_RootedGatherV(LIST) TORC_ARGUMENTS_GatherV(LIST) root,

#define TORC_PARAMETERS_RootedScatterV(Count, Offset)                                             \
  const void *in, const Count in_counts[], const Offset in_displacements[], MPI_Datatype in_type, \
      void *out, Count count, MPI_Datatype type, int root,
#define TORC_ARGUMENTS_RootedScatterV(LIST) \
  in, LIST(in_counts), LIST(in_displacements), in_type, out, count, type, root,

#define TORC_PARAMETERS_ExchangeV(Count, Offset)                                                  \
  const void *in, const Count in_counts[], const Offset in_displacements[], MPI_Datatype in_type, \
      void *out, const Count counts[], const Offset displacements[], MPI_Datatype type,
#define TORC_ARGUMENTS_ExchangeV(LIST)                                                          \
  in, LIST(in_counts), LIST(in_displacements), in_type, out, LIST(counts), LIST(displacements), \
      type,

#define TORC_PARAMETERS_ExchangeW(Count, Offset)                            \
  const void *in, const Count in_counts[], const Offset in_displacements[], \
      const MPI_Datatype in_types[], void *out, const Count counts[],       \
      const Offset displacements[], const MPI_Datatype types[],
#define TORC_ARGUMENTS_ExchangeW(LIST)                                            \
  in, LIST(in_counts), LIST(in_displacements), LIST(in_types), out, LIST(counts), \
      LIST(displacements), LIST(types),

// Displacements in bytes are MPI_Aint here even with int counts.
#define TORC_PARAMETERS_NeighborExchangeW(Count, Offset) TORC_PARAMETERS_ExchangeW(Count, MPI_Aint)
#define TORC_ARGUMENTS_NeighborExchangeW(LIST) TORC_ARGUMENTS_ExchangeW(LIST)

namespace torc::runtime {

/// A row of the table.
enum class CallId : std::uint8_t {
#define TORC_IDENTIFIER(Name, name, parameters, collective) k##Name,
  TORC_ALL_COLLECTIVES(TORC_IDENTIFIER)
#undef TORC_IDENTIFIER
};

/// The three forms of each MPI function.
enum class Form : std::uint8_t { kBlocking, kNonblocking, kPersistent };

/// By row.
inline constexpr Collective kCollectivesOfCalls[] = {
#define TORC_COLLECTIVE(Name, name, parameters, collective) Collective::k##collective,
    TORC_ALL_COLLECTIVES(TORC_COLLECTIVE)
#undef TORC_COLLECTIVE
};
inline constexpr std::size_t kCallIds = std::size(kCollectivesOfCalls);

constexpr Collective collectiveOf(CallId id) {
  return kCollectivesOfCalls[static_cast<std::size_t>(id)];
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_CALL_TABLE_H_
