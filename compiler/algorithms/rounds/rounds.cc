// Between the exchanges of whole vectors (recursive doubling), which take the fewest rounds and the
// most bytes, and the rings, which take the fewest bytes and the most steps: along one axis after
// another a reduce-scatter in ceil(log2 d) rounds, or fewer in groups, then allgathers in reverse.
// Swing in N colors, each in two directions that mirror each other, takes on a torus of N axes
//   2 sum_i sum_s (alpha + share_i delta(s) / 2^(s+1) n beta / (2N)),
// delta(s) = (2^(s+1) + (-1)^s) / 3 the hops of round s, share_i what axes before leave of the
// data.
//
// The paper takes turns among the axes round by round, which needs an operation of its own for
// every node; axis by axis a node's blocks are known by its coordinate on one axis, so that the
// program grows with the sum of the sizes.
#include "compiler/algorithms/rounds/rounds.h"

#include "compiler/algorithms/bucket/bucket.h"
#include "passes/analysis/plan_axes.h"
#include "passes/analysis/ring_rounds.h"

namespace torc::compiler {
namespace {

/// Axes beyond which rounds are not gone through to be counted: their proof is out of reach.
constexpr std::uint32_t kLongest = 16384;

/// Of a program whose rounds on an axis are those of `rounds_of`. `pair_steps`: of the proof, for
/// two operations of a part that meet.
ProgramSize estimate(const CollectiveSpec& spec,
                     std::vector<passes::RingRound> (*rounds_of)(std::uint32_t, bool,
                                                                 std::uint32_t),
                     double pair_steps) {
  double messages = 0, pieces = 0;  // of a part, in a reduce-scatter
  const Topology& topology = spec.topology;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size == 1) continue;
    if (axis.size > kLongest) {  // one message of each node at least, in lists of its blocks
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
  // A message is a send and a receive, and in a reduce-scatter an addition.
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
