// What a pipeline along trees costs: the short model by which the number of segments is chosen, and
// a smaller machine's times are carried over to a larger one's.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_TREE_PIPELINE_H_
#define TORC_COMPILER_ALGORITHMS_TREES_TREE_PIPELINE_H_

#include <cstdint>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "model/machines/machine.h"
#include "schedules/topology/topology.h"

namespace torc::compiler {

/// A pipeline whose deepest node is `hops` messages from the root, and whose busiest link carries
/// `share` of the vector, in so many `messages` of a segment one after the other.
struct TreePipeline {
  double hops = 0;
  double share = 1;
  double messages = 1;

  /// (hops - 1 + S) max(tau + t / W, t), t = share n beta / S: seconds of a vector of `bytes` in S
  /// `segments`, whose messages take tau to start, and of each of which W are `in_flight` on a
  /// link, a start-up apart; with what a node adds to each that it `reduces`.
  double seconds(const model::Machine& machine, double bytes, double segments,
                 std::uint32_t in_flight, bool reduces) const;
  /// The number of segments for which that is least: sqrt((hops - 1) share n beta / tau), at least
  /// 1 and at most `most`.
  std::uint32_t bestSegments(const model::Machine& machine, double bytes, std::uint32_t most) const;
  /// Segments of `in_flight` messages each of which takes twice its start-up to move, at most
  /// `most`: more of them hide start-ups no longer.
  std::uint32_t mostStaggered(const model::Machine& machine, double bytes, std::uint32_t in_flight,
                              std::uint32_t most) const;
};

/// The rectangular trees on a torus: sum(d_i - 1) + 1 hops, one less on one axis; 1/(2N) of the
/// vector on a link.
TreePipeline rectangularPipeline(const Topology& topology);
/// The dimension-order tree: the way to the farthest node, and all of the vector on a link.
TreePipeline dimensionTreePipeline(const Topology& topology);

/// Of some `trees` on all nodes, whose program does not grow with the axes: only its proof goes
/// from node to node along each, in `of_node` steps.
ProgramSize treesSize(const CollectiveSpec& spec, double trees, double of_node);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_TREE_PIPELINE_H_
