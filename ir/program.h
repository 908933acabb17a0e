// Program: what passes transform. A schedule (ir's lower level: step
// operations) plus, before the expand passes have run, plan operations (the
// upper level), which state what a color does in each phase. A program has plan
// operations or step operations, never both.
#ifndef TORC_IR_PROGRAM_H_
#define TORC_IR_PROGRAM_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

enum class PlanKind : std::uint8_t {
  kRingReduceScatter = 0,  // bucket reduce-scatter of a color along one axis
  kRingAllgather = 1,      // bucket allgather of a color along one axis
  kPhaseBarrier = 2,       // what follows belongs to the next phase
};
std::string_view name(PlanKind kind);

/// One plan operation. `color` and `axis` have no meaning for a phase barrier
/// (0), nor has `half_latency` (false).
struct PlanOperation {
  PlanKind kind = PlanKind::kPhaseBarrier;
  std::uint32_t color = 0;
  std::uint32_t axis = 0;
  bool half_latency = false;  // on a ring: whole blocks both ways, half around it

  bool operator==(const PlanOperation&) const = default;
};

struct Program {
  Schedule schedule;
  std::vector<PlanOperation> plan;

  bool isPlan() const { return schedule.operations.empty() && !plan.empty(); }
};

}  // namespace torc

#endif  // TORC_IR_PROGRAM_H_
