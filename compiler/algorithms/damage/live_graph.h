// The live nodes of a damaged torus and the links between them, as a graph for algorithms without
// symmetry.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_LIVE_GRAPH_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_LIVE_GRAPH_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "schedules/box.h"
#include "schedules/topology/topology.h"

namespace torc::compiler {

/// One direction of a cable, or of the connection between neighbouring cores of a node.
struct LiveArc {
  std::uint32_t from = 0, to = 0;  // ranks
  std::uint32_t axis = 0;
  int sign = 1;
  std::uint32_t cable = 0;  // the same for both directions
  bool network = true;      // false: between cores, without a limit of bandwidth
  double bandwidth = 1;     // relative to the others, as in Axis
};

/// The box of one node, for guards and blocks: absolute, `*` on axes of one node.
Box boxOf(const Topology& topology, std::uint32_t node);

class LiveGraph {
 public:
  explicit LiveGraph(const Topology& topology);

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(arcs_of_.size()); }
  std::uint32_t cables() const { return static_cast<std::uint32_t>(arcs_.size() / 2); }
  /// Arc 2c leads up cable c, arc 2c + 1 down.
  const LiveArc& arc(std::uint32_t arc) const { return arcs_[arc]; }
  llvm::ArrayRef<LiveArc> arcs() const { return arcs_; }
  /// Arcs that leave a node.
  llvm::ArrayRef<std::uint32_t> arcsFrom(std::uint32_t node) const { return arcs_of_[node]; }
  static std::uint32_t reverse(std::uint32_t arc) { return arc ^ 1; }

  /// Hops from `node` to every other node.
  std::vector<std::uint32_t> distancesFrom(std::uint32_t node) const;

 private:
  std::vector<LiveArc> arcs_;
  std::vector<std::vector<std::uint32_t>> arcs_of_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_LIVE_GRAPH_H_
