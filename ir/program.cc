// Names of plan operations.
#include "ir/program.h"

namespace torc {

std::string_view name(PlanKind kind) {
  static constexpr std::string_view kNames[] = {"ring_reduce_scatter", "ring_allgather",
                                                "phase_barrier"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace torc
