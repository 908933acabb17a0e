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
//
// The rest goes from the root to its neighbour, from there along all later axes, and from each node
// of that plane one hop back: there its blocks have the root's coordinate. Messages of the rest
// come before those of the other planes on the same link.
#include "compiler/algorithms/scatter/axis_blocks.h"

#include <map>
#include <tuple>

#include <llvm/ADT/STLExtras.h>

#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

using ir::OperationIndices;

/// The last message along an axis, in each direction. The key is the last axis on which parents
/// differ from the root and their coordinate there; for the root, and for parents inside the tree
/// of this axis, it is the axis itself; for senders of a gather, the number of axes.
using Passed = std::map<std::tuple<std::size_t, std::int32_t, bool>, OperationIndices>;

/// The steps of one color: of its rest, or of all other blocks.
class AxisBlocks {
 public:
  /// All others outlive it. `passed`: of the color, by axis.
  AxisBlocks(ir::StepBuilder& builder, std::uint32_t part, const BlockColor& color, bool is_rest,
             std::vector<Passed>& passed)
      : builder_(builder),
        part_(part),
        stream_(builder.addStream({part, 0})),
        color_(color),
        is_rest_(is_rest),
        is_scatter_(rowOf(builder.schedule().collective).describesOwnOut()),
        levels_(color.trees.size()),
        passed_(passed) {}

  /// The rounds of all axes, one axis after the other.
  std::size_t rounds() const {
    std::size_t rounds = 0;
    for (const AxisTree& tree : color_.trees)
      rounds += tree.rounds.size();
    return rounds;
  }
  /// Appends the steps of a round; a gather begins with the last round.
  void move(std::size_t round);
  /// Appends the copies of own blocks after all axes but the last: at the end of a scatter, at the
  /// start of a gather.
  void copyOwn();
  void copyAtRoot() {
    if (!is_rest_) builder_.copy(place(root()), own(Buffer::kOut), own(Buffer::kIn), {});
  }

 private:
  /// The dependences along an axis.
  struct Level {
    /// By coordinate. Scatter: the receive of the node's blocks; gather: its receives along this
    /// axis.
    std::map<std::int32_t, OperationIndices> ready_at;
    /// For all nodes with this axis as the last one on which they differ from the root. Scatter:
    /// the last of their receives; gather: their receives along later axes.
    OperationIndices ready;
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
    if (level > 0 && color_.rest != 0) {
      Interval& first = box[color_.trees[0].axis];
      first = color_.trees[0].others.front();
      if (is_rest_) first = Interval::absolute(color_.rest > 0 ? 1 : first.length);
    }
    return box;
  }
  Box root() const { return levels_.empty() ? Box{} : nodes(0, color_.trees[0].root); }
  /// The node that sends the blocks: the root, or for the rest its neighbour.
  Box source() const { return is_rest_ ? nodes(1, color_.trees[1].root) : root(); }
  /// Of operations of nodes at a coordinate of an axis. In chains it is one for all of them; those
  /// of receives in a gather differ from the rest's.
  std::int32_t key(const Interval& at) const {
    if (color_.rest == 0) return at.start;
    return is_rest_ && !is_scatter_ ? -2 : -1;
  }
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
    return is_rest_ ? inRootsPlane(box) : box;
  }
  Box inRootsPlane(Box box) const {
    box[color_.trees[0].axis] = color_.trees[0].root;
    return box;
  }
  Region region(Buffer buffer, llvm::ArrayRef<Box> boxes) {
    if (buffer == Buffer::kScratch && frame_ == kNone) {
      const Box& held = is_rest_ ? inRootsPlane({}) : color_.held;
      frame_ = builder_.addFrame({{part_, 1, builder_.box(held)}}, builder_.schedule().slot_count);
    }
    llvm::SmallVector<Piece, 4> pieces;
    for (const Box& box : boxes)
      pieces.push_back({part_, 1, builder_.box(box)});
    return builder_.region(buffer, pieces, buffer == Buffer::kScratch ? frame_ : kNone);
  }
  Region own(Buffer buffer) { return region(buffer, blocks(levels_.size(), {})); }
  void copyOwn(const Box& nodes, OperationIndices& ready);
  void moveRest();
  void hopOwn();

  void scatter(std::size_t level, const BlockEdge& edge);
  void gather(std::size_t level, const BlockEdge& edge);

  ir::StepBuilder& builder_;
  const std::uint32_t part_, stream_;
  const BlockColor& color_;
  const bool is_rest_, is_scatter_;
  std::uint32_t frame_ = kNone;
  std::vector<Level> levels_;
  std::vector<Passed>& passed_;
  OperationIndices at_source_;  // the receive of the rest; in a gather, those along all axes
};

std::vector<AxisBlocks::Parents> AxisBlocks::parentsOf(std::size_t level, const BlockEdge& edge) {
  const auto passed = [&](std::size_t of, std::int32_t at) -> OperationIndices& {
    return passed_[level][{of, at, edge.hops > 0}];
  };
  if (!edge.from_root) {
    const std::int32_t at = key(edge.parent);
    return {{nodes(level, edge.parent), false, levels_[level].ready_at[at], passed(level, at)}};
  }
  std::vector<Parents> parents;
  if (level == 0 || is_rest_ || color_.rest == 0) {
    Box nodes = source();
    nodes[color_.trees[level].axis] = edge.parent;
    // The neighbour with the rest is one of the nodes that have planes.
    parents.push_back({nodes, !is_rest_, at_source_, passed(is_rest_ ? 0 : level, 0)});
  }
  for (std::size_t of = is_rest_ ? 1 : 0; of < level; ++of) {
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
    OperationIndices after;
    if (color_.scatters_in_turn) after = passed;
    if (after.empty() || color_.rest != 0) after.append(ready);
    passed = {builder_.send(place(nodes), from, way, after)};
  }
  const bool is_last = !is_rest_ && level + 1 == levels_.size(), is_own = is_last && edge.is_leaf;
  const Region to = is_own ? own(Buffer::kOut) : region(Buffer::kScratch, blocks(level, edge.held));
  OperationIndices& ready = levels_[level].ready;
  ready = {builder_.receive(place(nodes(level, edge.child)), to, way, ready)};
  if (is_last && !is_own) copyOwn(nodes(level, edge.child), ready);
  levels_[level].ready_at[key(edge.child)] = ready;
}

void AxisBlocks::gather(std::size_t level, const BlockEdge& edge) {
  const Shift way = ir::hop(color_.trees[level].axis, -edge.hops);
  const bool is_last = !is_rest_ && level + 1 == levels_.size(), is_own = is_last && edge.is_leaf;
  const Region from =
      is_own ? own(Buffer::kIn) : region(Buffer::kScratch, blocks(level, edge.held));
  OperationIndices after;
  if (is_last && !is_own) copyOwn(nodes(level, edge.child), after);
  if (!is_own || color_.rest == 0) {
    after.append(levels_[level].ready_at[key(edge.child)]);
    after.append(levels_[level].ready);
  }
  OperationIndices& sent = passed_[level][{levels_.size(), 0, false}];
  if (color_.rest != 0) after.append(sent);
  sent = {builder_.send(place(nodes(level, edge.child)), from, way, after)};
  for (const auto& [nodes, is_root, ready, passed] : parentsOf(level, edge)) {
    const Region to = region(is_root ? Buffer::kOut : Buffer::kScratch, blocks(level, edge.sent));
    OperationIndices before;
    if (color_.gathers_in_turn) std::swap(before, passed);
    passed = {builder_.receive(place(nodes), to, way, before)};
    if (is_root) continue;
    for (const std::uint32_t one : before)
      llvm::erase(ready, one);
    ready.append(passed);
  }
}

void AxisBlocks::move(std::size_t round) {
  std::size_t level = 0;
  for (; round >= color_.trees[level].rounds.size(); ++level)
    round -= color_.trees[level].rounds.size();
  if (is_rest_ && level == 0) return moveRest();
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
    const std::uint32_t copied =
        builder_.copy(place(nodes), own(Buffer::kOut), own(Buffer::kScratch), ready);
    if (color_.rest != 0) ready = {copied};
  } else {
    ready.push_back(builder_.copy(place(nodes), own(Buffer::kScratch), own(Buffer::kIn), {}));
  }
}

/// The rest between the root and its neighbour: all blocks of the root's plane but its own.
void AxisBlocks::moveRest() {
  llvm::SmallVector<Box, 4> rest;
  for (std::size_t differing = 1; differing < levels_.size(); ++differing) {
    Box& box = rest.emplace_back();
    for (std::size_t before = 0; before < differing; ++before)
      box[color_.trees[before].axis] = color_.trees[before].root;
    box[color_.trees[differing].axis] = color_.trees[differing].others.front();
  }
  const Shift way = ir::hop(color_.trees[0].axis, is_scatter_ ? color_.rest : -color_.rest);
  const Region held = region(Buffer::kScratch, rest);
  OperationIndices& passed = passed_[0][{0, 0, color_.rest > 0}];
  if (is_scatter_) {
    passed = {builder_.send(place(root()), region(Buffer::kIn, rest), way, passed)};
    at_source_ = {builder_.receive(place(source()), held, way, {})};
  } else {
    at_source_.append(passed_[0][{levels_.size(), 0, false}]);
    builder_.send(place(source()), held, way, at_source_);
    passed = {builder_.receive(place(root()), region(Buffer::kOut, rest), way, passed)};
  }
}

/// The last hop of a scatter's rest, from the plane of the neighbour to the root's.
void AxisBlocks::hopOwn() {
  const Shift way = ir::hop(color_.trees[0].axis, is_scatter_ ? -color_.rest : color_.rest);
  Box mine = blocks(levels_.size(), {});
  mine[color_.trees[0].axis] = Interval::relative(0);
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    const Box there = nodes(level, color_.trees[level].others.front());
    const ir::StepPlace at = place(there), of_root = place(inRootsPlane(there));
    OperationIndices& ready = levels_[level].ready;
    if (is_scatter_) {
      builder_.send(at, own(Buffer::kScratch), way, ready);
      builder_.receive(of_root, region(Buffer::kOut, mine), way, {});
    } else {
      ready.push_back(builder_.receive(at, own(Buffer::kScratch), way, {}));
      builder_.send(of_root, region(Buffer::kIn, mine), way, {});
    }
  }
}

void AxisBlocks::copyOwn() {
  if (is_rest_) return hopOwn();
  for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
    for (const Interval& other : color_.trees[level].others)
      copyOwn(nodes(level, other), levels_[level].ready);
  }
}

}  // namespace

AxisTree blockTree(const Topology& topology, std::uint32_t axis, int sign,
                   RingTree (*tree_of)(std::uint32_t)) {
  const std::uint32_t size = topology.axes[axis].size;
  const RingTree rounds = tree_of(size);
  const std::vector<RingArc> arcs = arcsOf(rounds, size);
  const auto along = [&](std::uint32_t first, std::uint32_t count) {
    const std::uint32_t start = sign > 0 ? first : wrap(1 - std::int64_t{first} - count, size);
    return Interval::absolute(static_cast<std::int32_t>(start), count);
  };
  AxisTree tree{axis, Interval::absolute(0), {Interval::absolute(1, size - 1)}, {}};
  for (const auto& round : rounds) {
    std::vector<BlockEdge>& edges = tree.rounds.emplace_back();
    for (const RingTreeEdge& edge : round) {
      const RingArc& behind = arcs[edge.child];
      const Interval parent = along(edge.parent, 1), child = along(edge.child, 1);
      const Interval blocks = along(behind.first, behind.count);
      // Many edges of a round differ in their place alone.
      const auto seenFrom = [&](const Interval& node) {
        if (rounds.size() > 1) return blocks;
        const std::uint32_t ahead = wrap(std::int64_t{blocks.start} - node.start, size);
        return Interval::relative(static_cast<std::int32_t>(ahead), blocks.length);
      };
      edges.push_back({.parent = parent,
                       .child = child,
                       .hops = sign * distanceOf(edge, size),
                       .sent = edge.parent == 0 ? blocks : seenFrom(parent),
                       .held = seenFrom(child),
                       .from_root = edge.parent == 0,
                       .is_leaf = behind.count == 1});
    }
  }
  return tree;
}

ir::Program blocksAlongAxes(const Schedule& header, llvm::ArrayRef<BlockColor> colors) {
  ir::StepBuilder builder(header);
  const bool is_scatter = rowOf(header.collective).describesOwnOut();
  std::vector<std::vector<Passed>> passed(colors.size());
  std::vector<AxisBlocks> blocks;
  for (std::uint32_t part = 0; part < colors.size(); ++part) {
    const BlockColor& color = colors[part];
    passed[part].resize(color.trees.size());
    for (const bool is_rest : {is_scatter, !is_scatter}) {
      if (is_rest && (color.rest == 0 || color.trees.size() < 2)) continue;
      blocks.emplace_back(builder, part, color, is_rest, passed[part]);
    }
  }
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
  for (AxisBlocks& color : blocks)
    color.copyAtRoot();
  ir::Program program;
  program.schedule = builder.take();
  return program;
}

}  // namespace torc::compiler
