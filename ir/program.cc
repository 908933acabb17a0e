// The kinds of plan operations.
#include "ir/program.h"

namespace torc::ir {
namespace {

struct PlanKindRow {
  std::string_view name;
  std::string_view expander;
};
constexpr PlanKindRow kPlanKinds[kPlanKindCount] = {
    {"ring_reduce_scatter", "expand-rings"},
    {"ring_allgather", "expand-rings"},
    {"phase_barrier", ""},
    {"exchange", "expand-exchanges"},
    {"ring_scatter", "expand-rings"},
    {"ring_alltoall", "expand-exchanges"},
    {"bruck_alltoall", "expand-exchanges"},
    {"ring_gather", "expand-rings"},
    {"leader_gather", "expand-exchanges"},
    {"leader_scatter", "expand-exchanges"},
    {"swing_reduce_scatter", "expand-rounds"},
    {"swing_allgather", "expand-rounds"},
    {"group_reduce_scatter", "expand-rounds"},
    {"group_allgather", "expand-rounds"},
};

}  // namespace

std::string_view name(PlanKind kind) {
  return kPlanKinds[static_cast<int>(kind)].name;
}

std::string_view expanderOf(PlanKind kind) {
  return kPlanKinds[static_cast<int>(kind)].expander;
}

std::string_view Program::expander() const {
  for (const PlanOperation& operation : plan) {
    if (operation.kind != PlanKind::kPhaseBarrier) return expanderOf(operation.kind);
  }
  return expanderOf(PlanKind::kRingAllgather);
}

}  // namespace torc::ir
