// Steps of blocks along trees, one axis after another. A message has a guard for its senders and
// one for its receivers. All nodes at the root's coordinate of an axis send alike along it. But the
// root sends from `in` at once, and other nodes wait for their receives. So there is a send for the
// root, and one for each earlier axis as the last one on which senders differ from the root.
// Receives of an axis form a chain of dependences. A node that waits for the last of them waits for
// its own one: dependences pass through operations that a node does not execute.
//
// Memory. The blocks that a node holds for others lie in one frame, each at its place. A node that
// holds only its own block receives it into `out`; other nodes copy it there.
//
// A gather is the mirror image: a node sends after it has received the blocks of its subtree, or
// just its own block from `in`.
#include "compiler/algorithms/scatter/axis_blocks.h"

#include <map>
#include <tuple>

#include <llvm/ADT/STLExtras.h>

#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

using ir::OperationIndices;

/// The steps of one color.
class AxisBlocks {
 public:
  /// `builder` and `color` outlive it.
  AxisBlocks(ir::StepBuilder& builder, std::uint32_t part, const BlockColor& color)
      : builder_(builder),
        part_(part),
        stream_(builder.addStream({part, 0})),
        color_(color),
        is_scatter_(rowOf(builder.schedule().collective).describesOwnOut()),
        levels_(color.trees.size()) {}

  /// The rounds of all axes, one axis after the other.
  std::size_t rounds() const {
    std::size_t rounds = 0;
    for (const AxisTree& tree : color_.trees)
      rounds += tree.rounds.size();
    return rounds;
  }
  /// Appends the steps of a round; a gather begins with the last round.
  void move(std::size_t round);
  /// Appends the copies of own blocks: at the end of a scatter, at the start of a gather.
  void copyOwn();

 private:
  /// The dependences along an axis.
  struct Level {
    /// By coordinate. Scatter: the receive of the node's blocks; gather: its receives along this
    /// axis.
    std::map<std::int32_t, OperationIndices> ready_at;
    /// For all nodes with this axis as the last one on which they differ from the root. Scatter:
    /// the last of their receives; gather: their receives along later axes.
    OperationIndices ready;
    /// The last message along the axis, in each direction. The key is the last axis on which
    /// parents differ from the root and their coordinate there; for the root, and for parents
    /// inside the tree of this axis, it is the axis itself.
    std::map<std::tuple<std::size_t, std::int32_t, bool>, OperationIndices> passed;
  };
  /// Parents of an edge, their dependences and their last messages.
  struct Parents {
    Box nodes;
    bool is_root = false;
    OperationIndices& ready;
    OperationIndices& passed;
  };

  /// Nodes at `along` on an axis, and at the root's coordinates on later axes.
  Box nodes(std::size_t level, const Interval& along) const {
    Box box;
    box[color_.trees[level].axis] = along;
    for (const AxisTree& behind : llvm::ArrayRef(color_.trees).drop_front(level + 1))
      box[behind.axis] = behind.root;
    return box;
  }
  Box root() const { return levels_.empty() ? Box{} : nodes(0, color_.trees[0].root); }
  ir::StepPlace place(const Box& nodes) {
    return {stream_, nodes == Box{} ? kNone : builder_.box(nodes)};
  }
  std::vector<Parents> parentsOf(std::size_t level, const BlockEdge& edge);

  /// The blocks at `along` on an axis and at the own coordinates on earlier axes.
  Box blocks(std::size_t level, const Interval& along) const {
    Box box;
    for (std::size_t before = 0; before < level; ++before)
      box[color_.trees[before].axis] = Interval::relative(0);
    if (level < levels_.size()) box[color_.trees[level].axis] = along;
    return box;
  }
  Region region(Buffer buffer, const Box& box) {
    if (buffer == Buffer::kScratch && frame_ == kNone) {
      frame_ = builder_.addFrame({{part_, 1, builder_.box(color_.held)}},
                                 builder_.schedule().slot_count);
    }
    return builder_.region(buffer, {{part_, 1, builder_.box(box)}},
                           buffer == Buffer::kScratch ? frame_ : kNone);
  }
  Region own(Buffer buffer) { return region(buffer, blocks(levels_.size(), {})); }
  void copyOwn(const Box& nodes, OperationIndices& ready);

  void scatter(std::size_t level, const BlockEdge& edge);
  void gather(std::size_t level, const BlockEdge& edge);

  ir::StepBuilder& builder_;
  const std::uint32_t part_, stream_;
  const BlockColor& color_;
  const bool is_scatter_;
  std::uint32_t frame_ = kNone;
  std::vector<Level> levels_;
  OperationIndices none_;  // dependences of the root
};

std::vector<AxisBlocks::Parents> AxisBlocks::parentsOf(std::size_t level, const BlockEdge& edge) {
  const auto passed = [&](std::size_t of, std::int32_t at) -> OperationIndices& {
    return levels_[level].passed[{of, at, edge.hops > 0}];
  };
  if (!edge.from_root) {
    const std::int32_t at = edge.parent.start;
    return {{nodes(level, edge.parent), false, levels_[level].ready_at[at], passed(level, at)}};
  }
  Box at_root = root();
  at_root[color_.trees[level].axis] = edge.parent;
  std::vector<Parents> parents{{at_root, true, none_, passed(level, 0)}};
  for (std::size_t of = 0; of < level; ++of) {
    for (const auto& [number, other] : llvm::enumerate(color_.trees[of].others)) {
      Box box = nodes(of, other);
      box[color_.trees[level].axis] = edge.parent;
      parents.push_back({box, false, levels_[of].ready, passed(of, static_cast<int>(number))});
    }
  }
  return parents;
}

void AxisBlocks::scatter(std::size_t level, const BlockEdge& edge) {
  const Shift way = ir::hop(color_.trees[level].axis, edge.hops);
  for (const auto& [nodes, is_root, ready, passed] : parentsOf(level, edge)) {
    const Region from = region(is_root ? Buffer::kIn : Buffer::kScratch, blocks(level, edge.sent));
    const OperationIndices after = color_.scatters_in_turn && !passed.empty() ? passed : ready;
    passed = {builder_.send(place(nodes), from, way, after)};
  }
  const bool is_own = edge.is_leaf && level + 1 == levels_.size();
  const Region to = is_own ? own(Buffer::kOut) : region(Buffer::kScratch, blocks(level, edge.held));
  OperationIndices& ready = levels_[level].ready;
  ready = {builder_.receive(place(nodes(level, edge.child)), to, way, ready)};
  levels_[level].ready_at[edge.child.start] = ready;
}

void AxisBlocks::gather(std::size_t level, const BlockEdge& edge) {
  const Shift way = ir::hop(color_.trees[level].axis, -edge.hops);
  const bool is_own = edge.is_leaf && level + 1 == levels_.size();
  const Region from =
      is_own ? own(Buffer::kIn) : region(Buffer::kScratch, blocks(level, edge.held));
  OperationIndices after = levels_[level].ready_at[edge.child.start];
  after.append(levels_[level].ready);
  builder_.send(place(nodes(level, edge.child)), from, way, after);
  for (const auto& [nodes, is_root, ready, passed] : parentsOf(level, edge)) {
    const Region to = region(is_root ? Buffer::kOut : Buffer::kScratch, blocks(level, edge.sent));
    OperationIndices before;
    if (color_.gathers_in_turn) std::swap(before, passed);
    passed = {builder_.receive(place(nodes), to, way, before)};
    if (is_root) continue;
    for (const std::uint32_t one : before)
      ready.erase(llvm::find(ready, one));
    ready.append(passed);
  }
}

void AxisBlocks::move(std::size_t round) {
  std::size_t level = 0;
  for (; round >= color_.trees[level].rounds.size(); ++level)
    round -= color_.trees[level].rounds.size();
  const llvm::ArrayRef edges(color_.trees[level].rounds[round]);
  if (is_scatter_) {
    for (const BlockEdge& edge : edges)
      scatter(level, edge);
  } else {
    for (const BlockEdge& edge : llvm::reverse(edges))
      gather(level, edge);
  }
}

void AxisBlocks::copyOwn(const Box& nodes, OperationIndices& ready) {
  if (is_scatter_) {
    builder_.copy(place(nodes), own(Buffer::kOut), own(Buffer::kScratch), ready);
  } else {
    ready.push_back(builder_.copy(place(nodes), own(Buffer::kScratch), own(Buffer::kIn), {}));
  }
}

void AxisBlocks::copyOwn() {
  builder_.copy(place(root()), own(Buffer::kOut), own(Buffer::kIn), {});
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (level + 1 < levels_.size()) {
      for (const Interval& other : color_.trees[level].others)
        copyOwn(nodes(level, other), levels_[level].ready);
      continue;
    }
    for (const auto& round : color_.trees[level].rounds) {
      for (const BlockEdge& edge : round) {
        if (!edge.is_leaf) {
          copyOwn(nodes(level, edge.child), levels_[level].ready_at[edge.child.start]);
        }
      }
    }
  }
}

}  // namespace

ir::Program blocksAlongAxes(const Schedule& header, llvm::ArrayRef<BlockColor> colors) {
  ir::StepBuilder builder(header);
  std::vector<AxisBlocks> blocks;
  for (const auto& [part, color] : llvm::enumerate(colors))
    blocks.emplace_back(builder, static_cast<std::uint32_t>(part), color);
  const bool is_scatter = rowOf(header.collective).describesOwnOut();
  const std::size_t rounds = blocks.front().rounds();
  const auto copyOwn = [&] {
    for (AxisBlocks& color : blocks)
      color.copyOwn();
  };
  if (!is_scatter) copyOwn();
  for (std::size_t round = 0; round < rounds; ++round) {
    builder.setPhase(static_cast<std::uint32_t>(round));
    for (AxisBlocks& color : blocks)
      color.move(is_scatter ? round : rounds - 1 - round);
  }
  if (is_scatter) copyOwn();
  ir::Program program;
  program.schedule = builder.take();
  return program;
}

}  // namespace torc::compiler
