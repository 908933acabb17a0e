// Covers sets of nodes by few disjoint boxes: the guards of nodes with equal operations.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_NODE_BOXES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_NODE_BOXES_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/trees/root_classes.h"

namespace torc::compiler {

class NodeBoxes {
 public:
  explicit NodeBoxes(const Topology& topology);

  /// Disjoint boxes with exactly these live nodes (ranks, each once). Rows along an axis are joined
  /// to planes along the next, and so on, in several orders of the axes; the result with the fewest
  /// boxes is returned. Time and memory grow with the nodes of the torus.
  llvm::SmallVector<Box, 1> cover(llvm::ArrayRef<std::uint32_t> nodes) const;

  /// Whether a node of the torus is in both boxes, of absolute intervals.
  bool meet(const Box& a, const Box& b) const { return absoluteMeet(a, b, sizes_); }
  /// The live nodes of boxes of absolute intervals, ascending.
  std::vector<std::uint32_t> nodesOf(llvm::ArrayRef<Box> boxes) const;

 private:
  using Order = llvm::SmallVector<std::uint32_t, kMaxAxes>;

  std::vector<Box> cover(const std::vector<bool>& member, const Order& order) const;
  std::vector<Box> rows(const std::vector<bool>& member, std::uint32_t axis) const;
  void joinAlong(std::uint32_t axis, std::vector<Box>& boxes) const;

  const Topology topology_;
  Order sizes_;                // by axis
  std::vector<Order> orders_;  // of the axes of more than one node
  std::array<std::uint32_t, kMaxAxes> stride_{};
  std::uint32_t places_ = 1;             // of the torus, including dead nodes
  std::vector<std::uint32_t> place_of_;  // by rank
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_NODE_BOXES_H_
