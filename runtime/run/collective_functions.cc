// Functions by collective, from the table of calls: variables with the names of its parameters give
// their arguments. torc's functions have MPI's parameters, except for the schedule in front, wider
// counts, and a handle instead of the communicator.
#include "runtime/run/collective_functions.h"

#include <algorithm>
#include <cstddef>

#include "runtime/job/call_table.h"

namespace torc::runtime {
namespace {

/// A list of both functions.
struct List {
  const std::vector<int>& of_mpi;
  const std::vector<std::int64_t>& of_torc;
  operator const int*() const { return of_mpi.data(); }
  operator const std::int64_t*() const { return of_torc.data(); }
};

// Where torc.h has another name than the table, or no function.
constexpr auto* torc_bcast_init = &torc_broadcast_init;
template <typename... Arguments>
int torc_alltoallw_init(Arguments...) {
  return TORC_ERR_UNSUPPORTED;
}
template <typename... Arguments>
int torc_neighbor_alltoallw_init(Arguments...) {
  return TORC_ERR_UNSUPPORTED;
}

/// A collective's functions are consecutive in the table: first the one for a vector or blocks of
/// one length, then the one for blocks of different lengths; of a reduce_scatter the other way
/// round.
CallId functionOf(const FunctionArguments& arguments) {
  const Collective collective = arguments.collective;
  const bool is_second = arguments.has_lists != (collective == Collective::kReduceScatter);
  const auto first = std::ranges::find(kCollectivesOfCalls, collective);
  return static_cast<CallId>(first - kCollectivesOfCalls + (is_second && first[1] == collective));
}

/// Calls MPI's function, or creates torc's collective if there is a place for it.
int call(const FunctionArguments& arguments, MPI_Comm comm, torc_schedule* schedule,
         torc_collective** made) {
  const auto& [collective, own_block, has_lists, contribution, in_apart, out, elements, blocks,
               int_blocks, type, op, root] = arguments;
  const bool is_vector = rowOf(collective).counts == CountOf::kVector;
  const List counts{int_blocks.counts, blocks.counts}, in_counts = counts;
  const List displacements{int_blocks.displacements, blocks.displacements},
      in_displacements = displacements;
  const std::int64_t in_count = blocks.counts[static_cast<std::size_t>(own_block)];
  const std::int64_t count = is_vector   ? static_cast<std::int64_t>(elements)
                             : has_lists ? in_count
                                         : blocks.counts[0];
  const MPI_Datatype in_type = type, *const types = nullptr, *const in_types = nullptr;
  // MPI's reduce is never called in place: MPICH 4.0.2 then crashes with more than 2048 bytes at
  // another root than rank 0.
  const bool is_apart = made == nullptr && collective == Collective::kReduce;
  const void* const in = is_apart ? in_apart : contribution;
  switch (functionOf(arguments)) {
#define TORC_CALL(Name, name, parameters, collective)                    \
  case CallId::k##Name:                                                  \
    if (made == nullptr) return MPI_##Name(TORC_GIVEN(parameters) comm); \
    return torc_##name##_init(schedule, TORC_GIVEN(parameters) made);
    TORC_COLLECTIVES(TORC_CALL)
#undef TORC_CALL
    case CallId::kBarrier:
      break;
  }
  return TORC_ERR_UNSUPPORTED;
}

}  // namespace

int initTorc(const FunctionArguments& arguments, torc_schedule* schedule,
             torc_collective** collective) {
  return call(arguments, MPI_COMM_NULL, schedule, collective);
}

int callMpi(const FunctionArguments& arguments, MPI_Comm comm) {
  return call(arguments, comm, nullptr, nullptr);
}

}  // namespace torc::runtime
