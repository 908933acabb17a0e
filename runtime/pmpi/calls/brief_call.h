// Brief calls: as much of a blocking call as tells whether one like it is kept ready
// (runtime/pmpi/calls/repeated_call.h). That is asked of every call, and short ones take little
// longer than to describe them (runtime/pmpi/calls/describe_call.h, of the same parameters).
#ifndef TORC_RUNTIME_PMPI_CALLS_BRIEF_CALL_H_
#define TORC_RUNTIME_PMPI_CALLS_BRIEF_CALL_H_

#include <utility>

#include <mpi.h>

#include "runtime/pmpi/calls/describe_call.h"
#include "runtime/pmpi/calls/repeated_call.h"

namespace torc::runtime::pmpi {

inline BriefCall briefOf(CallKey key, const void* in, void* out) {
  key.in_is_out = in == MPI_IN_PLACE;
  key.out_is_in = out == MPI_IN_PLACE;
  return {key, in, out};
}

template <typename Count>
BriefCall briefReduction(CallId id, const void* in, void* out, Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm) {
  return briefOf({.id = id, .type = type, .op = op, .count = count}, contributionOf(in, out), out);
}

template <typename Count>
BriefCall briefRootedReduction(CallId id, const void* in, void* out, Count count, MPI_Datatype type,
                               MPI_Op op, int root, MPI_Comm comm) {
  return briefOf({.id = id, .root = root, .type = type, .op = op, .count = count},
                 contributionOf(in, out, root, comm), out);
}

template <typename Count>
BriefCall briefRootedExchange(CallId id, const void* in, Count in_count, MPI_Datatype in_type,
                              void* out, Count count, MPI_Datatype type, int root, MPI_Comm) {
  if (id == CallId::kScatter) {
    std::swap(in_count, count);
    std::swap(in_type, type);
  }
  return briefOf({.id = id,
                  .root = root,
                  .type = type,
                  .own_type = in_type,
                  .count = count,
                  .own_count = in_count},
                 in, out);
}

template <typename Count>
BriefCall briefExchange(CallId id, const void* in, Count in_count, MPI_Datatype in_type, void* out,
                        Count count, MPI_Datatype type, MPI_Comm comm) {
  return briefRootedExchange(id, in, in_count, in_type, out, count, type, 0, comm);
}

template <typename Count>
BriefCall briefBroadcast(CallId id, void* buffer, Count count, MPI_Datatype type, int root,
                         MPI_Comm) {
  return briefOf({.id = id, .root = root, .type = type, .count = count}, MPI_IN_PLACE, buffer);
}

inline BriefCall briefNothing(CallId id, MPI_Comm) {
  return briefOf({.id = id, .type = MPI_BYTE, .op = MPI_BOR, .count = 1}, &barrier_zero,
                 &barrier_sum);
}

// Calls with lists are never kept.
struct NoBriefCall {};
#define TORC_NO_BRIEF_CALL(parameters)                          \
  template <typename... Parameters>                             \
  NoBriefCall brief##parameters(CallId, const Parameters&...) { \
    return {};                                                  \
  }
TORC_NO_BRIEF_CALL(ReductionV)
TORC_NO_BRIEF_CALL(GatherV)
TORC_NO_BRIEF_CALL(RootedGatherV)
TORC_NO_BRIEF_CALL(RootedScatterV)
TORC_NO_BRIEF_CALL(ExchangeV)
TORC_NO_BRIEF_CALL(ExchangeW)
TORC_NO_BRIEF_CALL(NeighborExchangeW)
#undef TORC_NO_BRIEF_CALL

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_BRIEF_CALL_H_
