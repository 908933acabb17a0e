// Scatter and gather along binomial trees, one axis after another: in the fewest rounds, for short
// vectors. The root sends along the first axis, to every child the blocks of the planes behind it;
// then all nodes of that line send along the second what they have, and so on. The trees have two
// arms (ring_tree.h), so that no block makes a detour, and half of a ring's blocks leave the root
// each way round. What a child gets is half of what its parent has. On axes of powers of two, in
// one color, n bytes take
//   sum log2(d_i) alpha + sum d_i / 2 hops + (p - 1) / p n beta,
// as each node but the root gets one message, and the next one is half as long.
//
// A message has a guard for its sender and one for its receiver, by their coordinates on the axis.
// All nodes at the root's coordinate of an axis send alike along it, but they have to wait for
// different receives, so that there is a send for the root, and one for each axis on which the
// others differ from it last. Receives of an axis name the one before, so that whoever waits for
// the last of them waits for the own: dependences pass through operations that a node does not
// execute. What a node sends over a link waits for what it sent there before: the longest message,
// for which most nodes wait, does not share the link with those behind it.
//
// Memory. What a node holds for others lies in a frame of all blocks, each at its place. A node
// that has no block but its own receives it into `out`, others copy it there.
//
// A gather is the mirror image: a node sends when it has what is behind it, or its own block alone
// as it lies in `in`.
#include "compiler/algorithms/scatter/binomial_blocks.h"

namespace torc::compiler {

BinomialBlocks::BinomialBlocks(ir::StepBuilder& builder, std::uint32_t part, const WayOut& way)
    : builder_(builder),
      part_(part),
      stream_(builder.addStream({part, 0})),
      sign_(way.sign),
      is_scatter_(rowOf(builder.schedule().collective).describesOwnOut()) {
  for (const std::uint32_t axis : way.order) {
    Level level;
    level.axis = axis;
    level.size = builder.schedule().topology.axes[axis].size;
    level.tree = twoArmTree(level.size);
    level.arcs = arcsOf(level.tree, level.size);
    level.ready.resize(level.size);
    level.sent.resize(level.size);
    levels_.push_back(std::move(level));
  }
}

std::uint32_t BinomialBlocks::rounds() const {
  std::size_t rounds = 0;
  for (const Level& level : levels_)
    rounds += level.tree.size();
  return static_cast<std::uint32_t>(rounds);
}

/// `count` coordinates of a tree from `first` on, where the tree of this color has them.
Interval BinomialBlocks::along(std::size_t level, std::uint32_t first, std::uint32_t count) const {
  const std::uint32_t size = levels_[level].size;
  const std::uint32_t start = sign_ > 0 ? first : wrap(1 - std::int64_t{first} - count, size);
  return Interval::absolute(static_cast<std::int32_t>(start), count);
}

Box BinomialBlocks::nodes(std::size_t level, const Interval& along) const {
  Box box;
  box[levels_[level].axis] = along;
  for (std::size_t behind = level + 1; behind < levels_.size(); ++behind)
    box[levels_[behind].axis] = Interval::absolute(0);
  return box;
}

Box BinomialBlocks::root() const {
  return levels_.empty() ? Box{} : nodes(0, Interval::absolute(0));
}

ir::StepPlace BinomialBlocks::place(const Box& nodes) {
  return {stream_, nodes == Box{} ? kNone : builder_.box(nodes)};
}

Region BinomialBlocks::region(Buffer buffer, const Box& box) {
  if (buffer == Buffer::kScratch && frame_ == kNone) {
    frame_ = builder_.addFrame({{part_, 1, builder_.box({})}}, builder_.schedule().slot_count);
  }
  return builder_.region(buffer, {{part_, 1, builder_.box(box)}},
                         buffer == Buffer::kScratch ? frame_ : kNone);
}

Region BinomialBlocks::own(Buffer buffer) {
  Box box;
  for (const Level& level : levels_)
    box[level.axis] = Interval::relative(0);
  return region(buffer, box);
}

Box BinomialBlocks::behind(std::size_t level, std::uint32_t coordinate) const {
  Box box;
  for (std::size_t before = 0; before < level; ++before)
    box[levels_[before].axis] = Interval::relative(0);
  const RingArc& arc = levels_[level].arcs[coordinate];
  box[levels_[level].axis] = along(level, arc.first, arc.count);
  return box;
}

Region BinomialBlocks::heldAt(std::size_t level, std::uint32_t coordinate) {
  if (isLeaf(level, coordinate)) return own(is_scatter_ ? Buffer::kOut : Buffer::kIn);
  return region(Buffer::kScratch, behind(level, coordinate));
}

Shift BinomialBlocks::moves(const Level& level, const RingTreeEdge& edge) const {
  const std::int32_t outward = sign_ * distanceOf(edge, level.size);
  Shift shift{};
  shift[level.axis] = is_scatter_ ? outward : -outward;
  return shift;
}

std::pair<std::size_t, std::size_t> BinomialBlocks::levelAndRound(std::uint32_t round) const {
  std::size_t level = 0, left = round;
  for (; left >= levels_[level].tree.size(); ++level)
    left -= levels_[level].tree.size();
  return {level, left};
}

void BinomialBlocks::scatter(std::uint32_t round) {
  const auto [number, in_level] = levelAndRound(round);
  Level& level = levels_[number];
  for (const RingTreeEdge& edge : level.tree[in_level]) {
    const Shift way = moves(level, edge);
    const Box box = behind(number, edge.child);
    // `sent`: what the nodes have sent before over the same link.
    const auto send = [&](const Box& nodes, Buffer from, const Indices& ready, Indices& sent) {
      Indices after = sent.empty() ? ready : sent;
      sent = {builder_.send(place(nodes), region(from, box), way, after)};
    };
    if (edge.parent != 0) {
      send(nodesAt(number, edge.parent), Buffer::kScratch, level.ready[edge.parent],
           level.sent[edge.parent]);
    } else {
      std::vector<Indices>& sent = level.sent_at_root[distanceOf(edge, level.size) > 0];
      sent.resize(number + 1);
      send(root(), Buffer::kIn, {}, sent[number]);
      for (std::size_t k = 0; k < number; ++k)
        send(others(k), Buffer::kScratch, levels_[k].all_ready, sent[k]);
    }
    const std::uint32_t received = builder_.receive(
        place(nodesAt(number, edge.child)), heldAt(number, edge.child), way, level.all_ready);
    level.all_ready = level.ready[edge.child] = {received};
  }
}

void BinomialBlocks::gather(std::uint32_t round) {
  const auto [number, in_level] = levelAndRound(round);
  Level& level = levels_[number];
  for (const RingTreeEdge& edge : level.tree[in_level]) {
    const Shift way = moves(level, edge);
    const Box box = behind(number, edge.child);
    Indices after = level.ready[edge.child];
    if (!isLeaf(number, edge.child)) {
      after.append(level.all_ready.begin(), level.all_ready.end());
    }
    builder_.send(place(nodesAt(number, edge.child)), heldAt(number, edge.child), way, after);
    if (edge.parent != 0) {
      level.ready[edge.parent].push_back(builder_.receive(place(nodesAt(number, edge.parent)),
                                                          region(Buffer::kScratch, box), way, {}));
      continue;
    }
    builder_.receive(place(root()), region(Buffer::kOut, box), way, {});
    for (std::size_t k = 0; k < number; ++k) {
      levels_[k].all_ready.push_back(
          builder_.receive(place(others(k)), region(Buffer::kScratch, box), way, {}));
    }
  }
}

void BinomialBlocks::copyOwn() {
  builder_.copy(place(root()), own(Buffer::kOut), own(Buffer::kIn), {});
  const auto copy = [&](const Box& nodes, Indices& ready) {
    const Region held = own(Buffer::kScratch);
    if (is_scatter_) {
      builder_.copy(place(nodes), own(Buffer::kOut), held, ready);
    } else {
      ready.push_back(builder_.copy(place(nodes), held, own(Buffer::kIn), {}));
    }
  };
  for (std::size_t number = 0; number < levels_.size(); ++number) {
    Level& level = levels_[number];
    if (number + 1 < levels_.size()) {
      copy(others(number), level.all_ready);
      continue;
    }
    for (std::uint32_t coordinate = 1; coordinate < level.size; ++coordinate) {
      if (isLeaf(number, coordinate)) continue;
      copy(nodesAt(number, coordinate), level.ready[coordinate]);
    }
  }
}

}  // namespace torc::compiler
