// Program: the IR that passes transform. A schedule (the lower level: step operations) or, before
// the expand passes, plan operations (the upper level), which state the work of a color in each
// phase. A program has plan operations or step operations, never both.
#ifndef TORC_IR_PROGRAM_H_
#define TORC_IR_PROGRAM_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "schedules/schedule.h"

namespace torc::ir {

enum class PlanKind : std::uint8_t {
  kRingReduceScatter = 0,  // bucket reduce-scatter of a color along one axis
  kRingAllgather = 1,      // bucket allgather of a color along one axis
  kPhaseBarrier = 2,       // begins the next phase
  kExchange = 3,           // all-to-all of a color among the nodes that differ only on some axes
  kRingScatter = 4,        // from the nodes with a color, each node its blocks, along one axis
  kRingAlltoall = 5,       // an exchange along one axis, from neighbour to neighbour around it
  kBruckAlltoall = 6,      // to the nodes that get a color the blocks of all others, along one axis
  kRingGather = 7,         // all blocks of an all-to-all from a node's cores to the first core
  kLeaderGather = 8,       // from the first core to each core its blocks
  kLeaderScatter = 9,      // from the first core to each the blocks that it gets
  kSwingReduceScatter = 10,  // of a color along one axis, in rounds with farther nodes, as in Swing
  kSwingAllgather = 11,
  kGroupReduceScatter = 12,  // the same in groups of nodes
  kGroupAllgather = 13,
};
inline constexpr int kPlanKindCount = 14;
std::string_view name(PlanKind kind);

/// The pass that expands such operations; "" for a phase barrier, which has no own pass.
std::string_view expanderOf(PlanKind kind);

/// One plan operation. Unused members are 0 or false: a phase barrier has no color and no axis, an
/// exchange has `axes` where the others have one `axis`. An exchange with a stride sends, along
/// `axis`, only to the nodes at multiples of the stride, with the blocks for as many nodes around
/// each; the next exchange along that axis completes it.
struct PlanOperation {
  PlanKind kind = PlanKind::kPhaseBarrier;
  std::uint32_t color = 0;
  std::uint32_t axis = 0;
  bool half_latency = false;  // on a ring: whole blocks both ways, half around it
  std::uint32_t axes = 0;     // a bit per axis
  std::uint32_t stride = 0;   // of an exchange, along `axis`, one of `axes`; 0: none

  /// Whether it may be a half-latency ring.
  bool isRing() const {
    return kind == PlanKind::kRingReduceScatter || kind == PlanKind::kRingAllgather ||
           kind == PlanKind::kRingScatter || kind == PlanKind::kRingGather;
  }
  /// Whether it uses rounds with farther nodes.
  bool isInRounds() const {
    return kind == PlanKind::kSwingReduceScatter || kind == PlanKind::kSwingAllgather ||
           kind == PlanKind::kGroupReduceScatter || kind == PlanKind::kGroupAllgather;
  }
  /// Whether it is a reduce-scatter along one axis.
  bool reduceScatters() const {
    return kind == PlanKind::kRingReduceScatter || kind == PlanKind::kSwingReduceScatter ||
           kind == PlanKind::kGroupReduceScatter;
  }
  /// Whether after it a node has only the blocks of its own coordinate.
  bool divides() const { return reduceScatters() || kind == PlanKind::kRingScatter; }
  /// Whether it is an all-to-all among the nodes that differ only on its axes.
  bool isExchange() const {
    return kind == PlanKind::kExchange || kind == PlanKind::kRingAlltoall ||
           kind == PlanKind::kBruckAlltoall;
  }
  /// Whether it moves an all-to-all's blocks to or from the leader of a node's cores.
  bool isOfLeader() const {
    return kind == PlanKind::kLeaderGather || kind == PlanKind::kLeaderScatter;
  }
  /// The axes along which data moves, a bit each.
  std::uint32_t axisSet() const {
    if (kind == PlanKind::kPhaseBarrier) return 0;
    return kind == PlanKind::kExchange ? axes : 1u << axis;
  }
  bool operator==(const PlanOperation&) const = default;
};

struct Program {
  Schedule schedule;
  std::vector<PlanOperation> plan;

  bool isPlan() const { return schedule.operations.empty() && !plan.empty(); }
  /// The pass that expands the plan: that of the first operation with one.
  std::string_view expander() const;
};

}  // namespace torc::ir

#endif  // TORC_IR_PROGRAM_H_
