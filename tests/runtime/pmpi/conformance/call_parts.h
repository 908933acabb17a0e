// What the two halves of the calls share: call.cc, and rooted_calls.cc.
#ifndef TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_CALL_PARTS_H_
#define TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_CALL_PARTS_H_

#include <numeric>
#include <vector>

#include "tests/runtime/pmpi/conformance/call.h"
#include "tests/runtime/pmpi/mpi4_names.h"

namespace conformance {

/// Calls one of the three forms of a function; their arguments differ at the end only.
template <typename Blocking, typename Nonblocking, typename Init, typename... Arguments>
int dispatch(Form form, Blocking blocking, Nonblocking nonblocking, Init init, MPI_Request* request,
             Arguments... arguments) {
  if (form == Form::kBlocking) return blocking(arguments...);
  if (form == Form::kNonblocking) return nonblocking(arguments..., request);
  return init(arguments..., MPI_INFO_NULL, request);
}

inline std::vector<int> worldRanks(MPI_Group group) {
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> ranks(size), world_ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  return world_ranks;
}

/// Elements of `type` in so many units.
inline int64_t elementsOf(int64_t units, const Type& type) {
  return units * kUnitAtoms / static_cast<int64_t>(type.atoms().size());
}

/// What a rank contributes to calls that only move data.
inline Value movedValue(int world_rank, int round, int64_t atom) {
  return {(world_rank * 31 + round * 17 + atom * 3 + atom / 101) % 120, atom % 50};
}

}  // namespace conformance

#endif  // TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_CALL_PARTS_H_
