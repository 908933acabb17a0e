// The table of intercepted collectives: what MPI calls them, and their parameters. Everything that
// exists once per collective is expanded from here: the wrappers of its MPI functions (six; three
// where it has no counts), its identifier, its name in statistics, and the symbols by which a
// program is known to have calls under way.
//
// Served is what a row of schedules/collective.h names by MPI's name, where
// runtime/pmpi/calls/describe_call.h describes calls with such parameters, but where the root alone
// has the counts.
#ifndef TORC_RUNTIME_PMPI_CALLS_INTERCEPTED_CALLS_H_
#define TORC_RUNTIME_PMPI_CALLS_INTERCEPTED_CALLS_H_

#include <array>
#include <cstddef>
#include <optional>

#include "schedules/collective.h"

// X(MPI's name, the same after MPI_I, parameters). MPI has each of them as blocking,
// nonblocking and persistent function, with int and with MPI_Count.
#define TORC_COLLECTIVES(X)                                \
  X(Allreduce, allreduce, Reduction)                       \
  X(Reduce_scatter, reduce_scatter, ReductionV)            \
  X(Reduce_scatter_block, reduce_scatter_block, Reduction) \
  X(Allgather, allgather, Exchange)                        \
  X(Allgatherv, allgatherv, GatherV)                       \
  X(Bcast, bcast, Broadcast)                               \
  X(Reduce, reduce, RootedReduction)                       \
  X(Gather, gather, RootedExchange)                        \
  X(Gatherv, gatherv, RootedGatherV)                       \
  X(Scatter, scatter, RootedExchange)                      \
  X(Scatterv, scatterv, RootedScatterV)                    \
  X(Alltoall, alltoall, Exchange)                          \
  X(Alltoallv, alltoallv, ExchangeV)                       \
  X(Alltoallw, alltoallw, ExchangeW)                       \
  X(Scan, scan, Reduction)                                 \
  X(Exscan, exscan, Reduction)                             \
  X(Neighbor_allgather, neighbor_allgather, Exchange)      \
  X(Neighbor_allgatherv, neighbor_allgatherv, GatherV)     \
  X(Neighbor_alltoall, neighbor_alltoall, Exchange)        \
  X(Neighbor_alltoallv, neighbor_alltoallv, ExchangeV)     \
  X(Neighbor_alltoallw, neighbor_alltoallw, NeighborExchangeW)

// Collectives without counts, of which MPI has no MPI_Count form.
#define TORC_COLLECTIVES_WITHOUT_COUNTS(X) X(Barrier, barrier, Nothing)

#define TORC_ALL_COLLECTIVES(X) TORC_COLLECTIVES(X) TORC_COLLECTIVES_WITHOUT_COUNTS(X)

// Parameters, for a type of counts and one of displacements, and the same as arguments. LIST(list)
// stands around every list of the program's: a call that is made later passes a copy.
#define TORC_AS_GIVEN(list) list
#define TORC_PARAMETERS_Nothing(Count, Offset) MPI_Comm comm
#define TORC_ARGUMENTS_Nothing(LIST) comm

#define TORC_PARAMETERS_Broadcast(Count, Offset) \
  void *out, Count count, MPI_Datatype type, int root, MPI_Comm comm
#define TORC_ARGUMENTS_Broadcast(LIST) out, count, type, root, comm

#define TORC_PARAMETERS_Reduction(Count, Offset) \
  const void *in, void *out, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define TORC_ARGUMENTS_Reduction(LIST) in, out, count, type, op, comm

#define TORC_PARAMETERS_RootedReduction(Count, Offset) \
  const void *in, void *out, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm
#define TORC_ARGUMENTS_RootedReduction(LIST) in, out, count, type, op, root, comm

#define TORC_PARAMETERS_ReductionV(Count, Offset) \
  const void *in, void *out, const Count counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define TORC_ARGUMENTS_ReductionV(LIST) in, out, LIST(counts), type, op, comm

#define TORC_PARAMETERS_Exchange(Count, Offset)                                                    \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, Count count, MPI_Datatype type, \
      MPI_Comm comm
#define TORC_ARGUMENTS_Exchange(LIST) in, in_count, in_type, out, count, type, comm

#define TORC_PARAMETERS_RootedExchange(Count, Offset)                                              \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, Count count, MPI_Datatype type, \
      int root, MPI_Comm comm
#define TORC_ARGUMENTS_RootedExchange(LIST) in, in_count, in_type, out, count, type, root, comm

#define TORC_PARAMETERS_GatherV(Count, Offset)                                           \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, const Count counts[], \
      const Offset displacements[], MPI_Datatype type, MPI_Comm comm
#define TORC_ARGUMENTS_GatherV(LIST) \
  in, in_count, in_type, out, LIST(counts), LIST(displacements), type, comm

#define TORC_PARAMETERS_RootedGatherV(Count, Offset)                                     \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, const Count counts[], \
      const Offset displacements[], MPI_Datatype type, int root, MPI_Comm comm
#define TORC_ARGUMENTS_RootedGatherV(LIST) \
  in, in_count, in_type, out, LIST(counts), LIST(displacements), type, root, comm

#define TORC_PARAMETERS_RootedScatterV(Count, Offset)                                             \
  const void *in, const Count in_counts[], const Offset in_displacements[], MPI_Datatype in_type, \
      void *out, Count count, MPI_Datatype type, int root, MPI_Comm comm
#define TORC_ARGUMENTS_RootedScatterV(LIST) \
  in, LIST(in_counts), LIST(in_displacements), in_type, out, count, type, root, comm

#define TORC_PARAMETERS_ExchangeV(Count, Offset)                                                  \
  const void *in, const Count in_counts[], const Offset in_displacements[], MPI_Datatype in_type, \
      void *out, const Count counts[], const Offset displacements[], MPI_Datatype type,           \
      MPI_Comm comm
#define TORC_ARGUMENTS_ExchangeV(LIST)                                                          \
  in, LIST(in_counts), LIST(in_displacements), in_type, out, LIST(counts), LIST(displacements), \
      type, comm

#define TORC_PARAMETERS_ExchangeW(Count, Offset)                            \
  const void *in, const Count in_counts[], const Offset in_displacements[], \
      const MPI_Datatype in_types[], void *out, const Count counts[],       \
      const Offset displacements[], const MPI_Datatype types[], MPI_Comm comm
#define TORC_ARGUMENTS_ExchangeW(LIST)                                            \
  in, LIST(in_counts), LIST(in_displacements), LIST(in_types), out, LIST(counts), \
      LIST(displacements), LIST(types), comm

// Displacements in bytes are MPI_Aint here even beside int counts.
#define TORC_PARAMETERS_NeighborExchangeW(Count, Offset) TORC_PARAMETERS_ExchangeW(Count, MPI_Aint)
#define TORC_ARGUMENTS_NeighborExchangeW(LIST) TORC_ARGUMENTS_ExchangeW(LIST)

namespace torc::runtime::pmpi {

/// A row of the table.
enum class CallId {
#define TORC_IDENTIFIER(Name, name, parameters) k##Name,
  TORC_ALL_COLLECTIVES(TORC_IDENTIFIER)
#undef TORC_IDENTIFIER
};

/// The three functions that MPI has of each.
enum class Form { kBlocking, kNonblocking, kPersistent };

inline constexpr std::size_t kCallIds = 0
#define TORC_COUNT(Name, name, parameters) +1
    TORC_ALL_COLLECTIVES(TORC_COUNT)
#undef TORC_COUNT
    ;

/// For each row of the table the collective whose row of schedules/collective.h names it.
std::array<std::optional<Collective>, kCallIds> collectivesOfCalls();

/// The same for one. In every call.
inline std::optional<Collective> collectiveOf(CallId id) {
  static const auto collectives = collectivesOfCalls();
  return collectives[static_cast<std::size_t>(id)];
}

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_INTERCEPTED_CALLS_H_
