// Cost model of a pipeline along trees: selects the number of segments, and scales times of a
// smaller machine to a larger one.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_TREE_PIPELINE_H_
#define TORC_COMPILER_ALGORITHMS_TREES_TREE_PIPELINE_H_

#include <cstdint>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "model/machines/machine.h"
#include "schedules/topology/topology.h"

namespace torc::compiler {

/// A pipeline with `hops` messages from the root to the deepest node. Its busiest link carries
/// `share` of the vector, and a segment has `messages` sequential messages.
struct TreePipeline {
  double hops = 0;
  double share = 1;
  double messages = 1;

  /// (hops - 1 + S) max(tau + t / W, t), t = share n beta / S: seconds of a vector of `bytes` in S
  /// `segments`. Messages take tau to start; W messages of a segment are `in_flight` on a link, a
  /// start-up apart. If it `reduces`, the time includes the additions.
  double seconds(const model::Machine& machine, double bytes, double segments,
                 std::uint32_t in_flight, bool reduces) const;
  /// The number of segments that minimises the time: sqrt((hops - 1) share n beta / tau), at least
  /// 1 and at most `most`.
  std::uint32_t bestSegments(const model::Machine& machine, double bytes, std::uint32_t most) const;
  /// The number of segments, at most `most`, with `in_flight` messages whose transfer takes twice
  /// the start-up: further segments hide no more start-ups.
  std::uint32_t mostStaggered(const model::Machine& machine, double bytes, std::uint32_t in_flight,
                              std::uint32_t most) const;
};

/// The rectangular trees on a torus: sum(d_i - 1) + 1 hops, one less on one axis; 1/(2N) of the
/// vector on a link.
TreePipeline rectangularPipeline(const Topology& topology);
/// The dimension-order tree: the path to the farthest node, and the whole vector on a link.
TreePipeline dimensionTreePipeline(const Topology& topology);

/// The size of some `trees` on all nodes. The program does not grow with the axes; its proof goes
/// from node to node along each axis, in `of_node` steps.
ProgramSize treesSize(const CollectiveSpec& spec, double trees, double of_node);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_TREE_PIPELINE_H_
