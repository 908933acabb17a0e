// The blocks of a color from or to the root along binomial trees, as steps.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_BINOMIAL_BLOCKS_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_BINOMIAL_BLOCKS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/scatter/root_colors.h"
#include "compiler/algorithms/trees/ring_tree.h"
#include "ir/step_builder.h"

namespace torc::compiler {

/// The steps of a color of a scatter or a gather, round by round.
class BinomialBlocks {
 public:
  /// `builder` outlives it.
  BinomialBlocks(ir::StepBuilder& builder, std::uint32_t part, const WayOut& way);

  /// The rounds of all axes, one axis after the other.
  std::uint32_t rounds() const;
  /// Appends the steps of a round. Rounds 0, 1, ... are those of a scatter; a gather begins with
  /// the last one.
  void scatter(std::uint32_t round);
  void gather(std::uint32_t round);
  /// Appends the copies of own blocks: the end of a scatter, the beginning of a gather.
  void copyOwn();

 private:
  using Indices = llvm::SmallVector<std::uint32_t, 8>;

  /// An axis of the order, and who waits for what along it.
  struct Level {
    std::uint32_t axis = 0;
    std::uint32_t size = 1;
    RingTree tree;
    std::vector<RingArc> arcs;
    /// By coordinate: of a scatter the receive of what a node holds, of a gather what it receives
    /// along this axis.
    std::vector<Indices> ready;
    /// Of all nodes that differ from the root on this axis last: of a scatter the last of their
    /// receives, of a gather what they receive along the axes behind it.
    Indices all_ready;
    /// Of a scatter the last send, by coordinate; at the root's by direction and by who sends.
    std::vector<Indices> sent;
    std::vector<Indices> sent_at_root[2];
  };

  Interval along(std::size_t level, std::uint32_t first, std::uint32_t count) const;
  /// Those at `along` on an axis, and at the root's coordinates of those behind it.
  Box nodes(std::size_t level, const Interval& along) const;
  Box nodesAt(std::size_t level, std::uint32_t coordinate) const {
    return nodes(level, along(level, coordinate, 1));
  }
  /// Those that differ from the root on that axis last.
  Box others(std::size_t level) const {
    return nodes(level, Interval::absolute(1, levels_[level].size - 1));
  }
  Box root() const;
  ir::StepPlace place(const Box& nodes);

  /// The blocks that a node at that coordinate gets from its parent along an axis, or sends there.
  Box behind(std::size_t level, std::uint32_t coordinate) const;
  /// Whether these are its own alone.
  bool isLeaf(std::size_t level, std::uint32_t coordinate) const {
    return level + 1 == levels_.size() && levels_[level].arcs[coordinate].count == 1;
  }
  Region region(Buffer buffer, const Box& box);
  Region own(Buffer buffer);
  /// Where the node has them.
  Region heldAt(std::size_t level, std::uint32_t coordinate);
  /// From parent to child in a scatter, back in a gather.
  Shift moves(const Level& level, const RingTreeEdge& edge) const;
  std::pair<std::size_t, std::size_t> levelAndRound(std::uint32_t round) const;

  ir::StepBuilder& builder_;
  const std::uint32_t part_;
  const std::uint32_t stream_;
  const int sign_;
  const bool is_scatter_;
  std::uint32_t frame_ = kNone;
  std::vector<Level> levels_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_BINOMIAL_BLOCKS_H_
