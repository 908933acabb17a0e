// Algorithms between recursive doubling (exchanges of whole vectors: the fewest rounds and the most
// bytes) and the rings (the fewest bytes and the most steps): along one axis after another a
// reduce-scatter in ceil(log2 d) rounds, or fewer in groups, then allgathers in reverse. Swing in N
// colors, each in two mirrored directions, takes on a torus of N axes
//   2 sum_i sum_s (alpha + share_i delta(s) / 2^(s+1) n beta / (2N)),
// delta(s) = (2^(s+1) + (-1)^s) / 3 the hops of round s, share_i the share of the data left by
// earlier axes.
//
// The paper alternates between the axes round by round, and would need a separate operation for
// every node. Axis by axis, a node's coordinate on one axis determines its blocks, so that the
// program grows with the sum of the sizes.
#include "compiler/algorithms/rounds/rounds.h"

#include "compiler/algorithms/bucket/bucket.h"
#include "passes/analysis/plan_axes.h"
#include "passes/analysis/ring_rounds.h"

namespace torc::compiler {
namespace {

/// Longer axes are estimated without counting their rounds: their proof is infeasible anyway.
constexpr std::uint32_t kLongest = 16384;

/// Estimates a program with the rounds of `rounds_of` on each axis. `pair_steps`: proof steps for
/// two operations of a part that meet.
ProgramSize estimate(const CollectiveSpec& spec,
                     std::vector<passes::RingRound> (*rounds_of)(std::uint32_t, bool,
                                                                 std::uint32_t),
                     double pair_steps) {
  double messages = 0, pieces = 0;  // per part, in a reduce-scatter
  const Topology& topology = spec.topology;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size == 1) continue;
    if (axis.size > kLongest) {  // at least one message per node, with a list of its blocks
      messages += axis.size;
      pieces += axis.size;
      continue;
    }
    for (const passes::RingRound& round : rounds_of(axis.size, axis.wraps(), 0)) {
      messages += static_cast<double>(round.size());
      for (const passes::RingMessage& message : round)
        pieces += static_cast<double>(message.blocks.size()) / 2;
    }
  }
  const CollectiveRow& row = rowOf(spec.collective);
  const double parts = 2.0 * static_cast<double>(passes::networkAxes(topology).size());
  // A message is a send and a receive, and in a reduce-scatter also an addition.
  const double operations = (row.reduces() ? 3 : 0) + (row.outWhole() ? 2 : 0);
  ProgramSize size;
  size.operations = parts * operations * messages;
  size.pieces = parts * pieces;
  size.boxes = pieces;
  size.proof_steps = pair_steps * parts * messages * messages;
  return size;
}

}  // namespace

llvm::Expected<ir::Program> lowerSwing(const CollectiveSpec& spec) {
  return planAxisByAxis(spec, ir::PlanKind::kSwingReduceScatter, ir::PlanKind::kSwingAllgather);
}

llvm::Expected<ir::Program> lowerGroups(const CollectiveSpec& spec) {
  return planAxisByAxis(spec, ir::PlanKind::kGroupReduceScatter, ir::PlanKind::kGroupAllgather);
}

ProgramSize estimateSwing(const CollectiveSpec& spec) {
  return estimate(spec, passes::swingRounds, 10);
}

ProgramSize estimateGroups(const CollectiveSpec& spec) {
  return estimate(spec, passes::groupRounds, 1);
}

}  // namespace torc::compiler
