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

// The parameters of each kind before the communicator: P(type, name), and L(type, name) for a list,
// with a type of counts and one of displacements.
#define TORC_KIND_Nothing(P, L, Count, Offset)
#define TORC_KIND_Broadcast(P, L, Count, Offset) \
  P(void*, out) P(Count, count) P(MPI_Datatype, type) P(int, root)
#define TORC_KIND_Reduction(P, L, Count, Offset) \
  P(const void*, in) P(void*, out) P(Count, count) P(MPI_Datatype, type) P(MPI_Op, op)
#define TORC_KIND_RootedReduction(P, L, Count, Offset) \
  TORC_KIND_Reduction(P, L, Count, Offset) P(int, root)
#define TORC_KIND_ReductionV(P, L, Count, Offset) \
  P(const void*, in) P(void*, out) L(Count, counts) P(MPI_Datatype, type) P(MPI_Op, op)

// clang-format off
#define TORC_KIND_Exchange(P, L, Count, Offset)                       \
  P(const void*, in) P(Count, in_count) P(MPI_Datatype, in_type)      \
  P(void*, out) P(Count, count) P(MPI_Datatype, type)
#define TORC_KIND_RootedExchange(P, L, Count, Offset) \
  TORC_KIND_Exchange(P, L, Count, Offset) P(int, root)
#define TORC_KIND_GatherV(P, L, Count, Offset)                        \
  P(const void*, in) P(Count, in_count) P(MPI_Datatype, in_type)      \
  P(void*, out) L(Count, counts) L(Offset, displacements) P(MPI_Datatype, type)
#define TORC_KIND_RootedGatherV(P, L, Count, Offset) \
  TORC_KIND_GatherV(P, L, Count, Offset) P(int, root)
#define TORC_KIND_RootedScatterV(P, L, Count, Offset)                                          \
  P(const void*, in) L(Count, in_counts) L(Offset, in_displacements) P(MPI_Datatype, in_type)  \
  P(void*, out) P(Count, count) P(MPI_Datatype, type) P(int, root)
#define TORC_KIND_ExchangeV(P, L, Count, Offset)                                               \
  P(const void*, in) L(Count, in_counts) L(Offset, in_displacements) P(MPI_Datatype, in_type)  \
  P(void*, out) L(Count, counts) L(Offset, displacements) P(MPI_Datatype, type)
#define TORC_KIND_ExchangeW(P, L, Count, Offset)                                               \
  P(const void*, in) L(Count, in_counts) L(Offset, in_displacements) L(MPI_Datatype, in_types) \
  P(void*, out) L(Count, counts) L(Offset, displacements) L(MPI_Datatype, types)
// clang-format on
// Displacements in bytes are MPI_Aint here even with int counts.
#define TORC_KIND_NeighborExchangeW(P, L, Count, Offset) TORC_KIND_ExchangeW(P, L, Count, MPI_Aint)

// The parameters as declared, as given, and with a copy of each list for a deferred call.
#define TORC_DECLARED(type, name) type name,
#define TORC_LIST_DECLARED(type, name) const type name[],
#define TORC_NAMED(type, name) name,
#define TORC_LIST_KEPT(type, name) kept.find(name),
#define TORC_PARAMETERS(kind, Count, Offset) \
  TORC_KIND_##kind(TORC_DECLARED, TORC_LIST_DECLARED, Count, Offset)
#define TORC_GIVEN(kind) TORC_KIND_##kind(TORC_NAMED, TORC_NAMED, , )
#define TORC_KEPT(kind) TORC_KIND_##kind(TORC_NAMED, TORC_LIST_KEPT, , )

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
