// Steps of the blocks along a tree: first scatter, then gather.
#include "compiler/algorithms/scatter/block_tree.h"

#include <algorithm>
#include <bit>

#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {
namespace {

/// `count` blocks in direction `sign`, starting with the block of the node at `offset` from the
/// executing node.
Interval ahead(int sign, std::uint32_t offset, std::uint32_t count) {
  const auto first = static_cast<std::int32_t>(offset);
  const auto last = static_cast<std::int32_t>(offset + count - 1);
  return Interval::relative(sign > 0 ? first : -last, count);
}

}  // namespace

std::vector<LineEdge> lineTree(std::uint32_t nodes, std::uint32_t size) {
  std::vector<LineEdge> edges;
  const std::uint32_t opposite = std::bit_floor(nodes);
  const bool is_opposite = opposite > 1 && 2 * opposite == size;
  const std::uint32_t end = is_opposite ? nodes : nodes + 1;
  for (std::uint32_t reach = std::bit_floor(end - 1); reach > 0; reach /= 2) {
    const bool hands_on = is_opposite && 2 * reach == opposite;
    for (std::uint32_t child = reach; child < end; child += 2 * reach) {
      const std::uint32_t more = hands_on && child == reach ? 1 : 0;
      edges.push_back({child - reach, child, std::min(reach, end - child) + more});
    }
    if (hands_on) edges.push_back({reach, opposite, 1});
  }
  return edges;
}

Interval BlockTree::away(std::uint32_t level, int sign, std::uint32_t first,
                         std::uint32_t last) const {
  const std::uint32_t around = size(level);
  const std::uint32_t start = sign > 0 ? first : around - last;
  return Interval::absolute(static_cast<std::int32_t>(start % around), last - first + 1);
}

std::array<BlockTree::Arm, 2> BlockTree::arms(std::uint32_t level) const {
  const std::uint32_t around = size(level);
  return {Arm{sign_, lineTree(around / 2, around)},
          Arm{-sign_, lineTree((around - 1) / 2, around)}};
}

/// The nodes that have a load before it goes through their planes.
Box BlockTree::lineOf(Load load) const {
  Box nodes = root();
  nodes[order_[0]] = load == Load::kRest ? away(0, -sign_, 1, 1) : others(0);
  return nodes;
}

/// The nodes at `along` on axis number `level` that move a load along this axis.
Box BlockTree::atLevel(Load load, std::uint32_t level, const Interval& along) const {
  Box nodes = level == 0 ? root() : lineOf(load);
  for (std::uint32_t done = 1; done < level; ++done)
    nodes[order_[done]] = Interval::all();
  nodes[order_[level]] = along;
  return nodes;
}

/// The nodes that have a load after all axes before number `level`.
llvm::SmallVector<BlockTree::Holder, 8> BlockTree::holders(Load load, std::uint32_t level) const {
  if (level == 0) return {{root(), 0}};
  llvm::SmallVector<Holder, 8> list = {{lineOf(load), 0}};
  for (std::uint32_t done = 1; done < level; ++done)
    list.push_back({atLevel(load, done, others(done)), done});
  return list;
}

/// The blocks of a load in the subtree of a node that has it, at `along` on axis number `level`.
Box BlockTree::blocksOf(Load load, std::uint32_t level, const Interval& along) const {
  Box blocks;
  for (std::uint32_t done = 0; done < level; ++done)
    blocks[order_[done]] = Interval::relative(0);
  if (load == Load::kRest) blocks[order_[0]] = Interval::absolute(0);
  if (level < levels()) blocks[order_[level]] = along;
  return blocks;
}

/// The same for nodes of `holder`. The node of the line that has the rest is at 0 on earlier axes,
/// and so are the blocks that it holds.
Box BlockTree::blocksOf(Load load, std::uint32_t level, const Holder& holder,
                        const Interval& along) const {
  Box blocks = blocksOf(load, level, along);
  for (std::uint32_t done = 1; done < level && load == Load::kRest && holder.level == 0; ++done)
    blocks[order_[done]] = Interval::absolute(0);
  return blocks;
}

/// The root's plane without the root, by the first axis on which they differ.
llvm::SmallVector<Box, 4> BlockTree::restBlocks() const {
  llvm::SmallVector<Box, 4> list;
  for (std::uint32_t differing = 1; differing < levels(); ++differing) {
    Box blocks;
    for (std::uint32_t before = 0; before < differing; ++before)
      blocks[order_[before]] = Interval::absolute(0);
    blocks[order_[differing]] = others(differing);
    list.push_back(blocks);
  }
  return list;
}

Box BlockTree::root() const {
  Box nodes;
  for (const std::uint32_t axis : order_)
    nodes[axis] = Interval::absolute(0);
  return nodes;
}

Box BlockTree::own() const {
  Box blocks;
  for (const std::uint32_t axis : order_)
    blocks[axis] = Interval::relative(0);
  return blocks;
}

Region BlockTree::region(Buffer buffer, llvm::ArrayRef<Box> blocks, std::uint32_t frame) {
  llvm::SmallVector<Piece, 4> pieces;
  for (const Box& box : blocks)
    pieces.push_back({part_, 1, builder_.box(box)});
  return builder_.region(buffer, pieces, frame);
}

Region BlockTree::newFrame(llvm::ArrayRef<Box> blocks) {
  const Region all = region(Buffer::kScratch, blocks);
  const std::uint32_t frame = builder_.addFrame(Frame{.part = all.part,
                                                      .box = all.box,
                                                      .slot = builder_.schedule().slot_count,
                                                      .pieces = all.pieces});
  return wholeFrame(builder_.schedule().frames[frame], frame);
}

/// Blocks of a load at `along` on an axis, in the frame of the nodes that forward them along that
/// axis.
Region BlockTree::passing(Load load, std::uint32_t level, const Interval& along) {
  std::uint32_t& frame = (load == Load::kRest ? rest_ : planes_)[level].frame;
  if (frame == kNone) frame = newFrame({blocksOf(load, level, Interval::all())}).frame;
  return region(Buffer::kScratch, {blocksOf(load, level, along)}, frame);
}

/// The place of a load after axis number `level`. For the planes, after the last axis, this is the
/// buffer of the own block alone.
BlockTree::Held& BlockTree::held(Load load, std::uint32_t level) {
  Held& held = (load == Load::kRest ? rest_ : planes_)[level];
  if (held.is_made) return held;
  held.is_made = true;
  if (load == Load::kRest && level == 0) {
    held.region = newFrame(restBlocks());
  } else if (!isLast(load, level)) {
    held.region =
        inside(passing(load, level, Interval::all()), {blocksOf(load, level + 1, Interval::all())});
  } else {
    const bool is_scatter = rowOf(builder_.schedule().collective).describesOwnOut();
    held.region = region(is_scatter ? Buffer::kOut : Buffer::kIn, {own()});
  }
  return held;
}

// Scatter.

void BlockTree::scatter(std::uint32_t level) {
  if (level == levels()) return scatterRest();
  if (level == 0) {
    const ir::StepPlace place{newStream(), guard(root())};
    builder_.copy(place, region(Buffer::kOut, {own()}), region(Buffer::kIn, {own()}), {});
  }
  link_ = {};
  if (level > 0 && hasRest()) scatterAlong(Load::kRest, level, newStream());
  scatterAlong(Load::kPlanes, level, newStream());
  if (level < last()) copyOwn(level);
}

void BlockTree::scatterAlong(Load load, std::uint32_t level, std::uint32_t stream) {
  const auto sources = holders(load, level);
  link_.held.resize(sources.size());
  if (level == 0 && hasRest()) {
    const Shift moves = ir::hop(order_[0], -sign_);
    link_.held[0][1] = {
        builder_.send({stream, guard(root())}, region(Buffer::kIn, restBlocks()), moves, {})};
    Held& arrived = held(Load::kRest, 0);
    const ir::StepPlace place{stream, guard(lineOf(Load::kRest))};
    arrived.ready = {builder_.receive(place, arrived.region, moves, {})};
  }
  Indices received;  // receives of all nodes so far
  for (const auto& [number, arm] : llvm::enumerate(arms(level))) {
    for (const auto& [parent, child, count] : arm.edges) {
      const std::uint32_t hops = child - parent;
      const Shift moves = ir::hop(order_[level], arm.sign * static_cast<int>(hops));
      for (std::size_t i = 0; parent == 0 && i < sources.size(); ++i) {
        Indices& sent = link_.held[i][number];
        const Box blocks =
            blocksOf(load, level, sources[i], away(level, arm.sign, child, child + count - 1));
        Region source = region(Buffer::kIn, {blocks});
        if (level > 0) {
          const Held& from = held(load, sources[i].level);
          source = inside(from.region, {blocks});
          sent.append(from.ready.begin(), from.ready.end());
        }
        sent = {builder_.send({stream, guard(sources[i].nodes)}, source, moves, sent)};
      }
      if (parent > 0) {
        Indices after = link_.passed;
        after.append(received);
        link_.passed = {
            builder_.send(at(load, level, away(level, arm.sign, parent, parent), stream),
                          passing(load, level, ahead(arm.sign, hops, count)), moves, after)};
      }
      const ir::StepPlace place = at(load, level, away(level, arm.sign, child, child), stream);
      const bool is_own = isLast(load, level) && count == 1;
      const Region to =
          is_own ? region(Buffer::kOut, {own()}) : passing(load, level, ahead(arm.sign, 0, count));
      received = {builder_.receive(place, to, moves, received)};
      if (isLast(load, level) && !is_own) {
        received = {
            builder_.copy(place, region(Buffer::kOut, {own()}), inside(to, {own()}), received)};
      }
    }
  }
  held(load, level).ready = received;
}

/// One further step, from the last plane to the root's.
void BlockTree::scatterRest() {
  if (!hasRest()) return;
  const std::uint32_t stream = newStream();
  for (std::uint32_t level = 1; level < levels(); ++level) {
    const Interval along = others(level);
    Box nodes = atLevel(Load::kRest, level, along);
    const Held& from = held(Load::kRest, level);
    const Box blocks = blocksOf(Load::kRest, levels(), {});
    const Shift moves = ir::hop(order_[0], sign_);
    builder_.send({stream, guard(nodes)}, inside(from.region, {blocks}), moves, from.ready);
    nodes[order_[0]] = Interval::absolute(0);
    builder_.receive({stream, guard(nodes)}, region(Buffer::kOut, {own()}), moves, {});
  }
}

/// Copies the own block of nodes without a further axis to send along, from their held blocks.
void BlockTree::copyOwn(std::uint32_t level) {
  const Held& from = held(Load::kPlanes, level);
  const Box nodes = atLevel(Load::kPlanes, level, others(level));
  builder_.copy({newStream(), guard(nodes)}, region(Buffer::kOut, {own()}),
                inside(from.region, {own()}), from.ready);
}

// Gather.

void BlockTree::gather(std::uint32_t level) {
  if (level == levels()) return gatherRest();
  link_ = {};
  gatherAlong(Load::kPlanes, level, newStream());
  if (level > 0 && hasRest()) gatherAlong(Load::kRest, level, newStream());
  if (level > 0) return;
  const ir::StepPlace place{newStream(), guard(root())};
  builder_.copy(place, region(Buffer::kOut, {own()}), region(Buffer::kIn, {own()}), {});
}

void BlockTree::gatherAlong(Load load, std::uint32_t level, std::uint32_t stream) {
  const auto targets = holders(load, level);
  link_.held.resize(targets.size());
  const Held gathered = held(load, level);
  Indices received;  // receives of all forwarding nodes so far
  for (const auto& [number, arm] : llvm::enumerate(arms(level))) {
    for (const auto& [parent, child, count] : llvm::reverse(arm.edges)) {
      const std::uint32_t hops = child - parent;
      const Shift moves = ir::hop(order_[level], -arm.sign * static_cast<int>(hops));
      const ir::StepPlace place = at(load, level, away(level, arm.sign, child, child), stream);
      const bool is_own = isLast(load, level) && count == 1;
      Region from = gathered.region;
      Indices after = link_.passed;
      if (!is_own) {
        from = passing(load, level, ahead(arm.sign, 0, count));
        after.append(received);
        after.append(gathered.ready.begin(), gathered.ready.end());
        if (isLast(load, level)) {
          after.push_back(builder_.copy(place, inside(from, {own()}), gathered.region, {}));
        }
      }
      link_.passed = {builder_.send(place, from, moves, after)};
      for (std::size_t i = 0; parent == 0 && i < targets.size(); ++i) {
        const Box blocks =
            blocksOf(load, level, targets[i], away(level, arm.sign, child, child + count - 1));
        const Region to = level == 0 ? region(Buffer::kOut, {blocks})
                                     : inside(held(load, targets[i].level).region, {blocks});
        Indices& before = link_.held[i][number];
        before = {builder_.receive({stream, guard(targets[i].nodes)}, to, moves, before)};
      }
      if (parent > 0) {
        received = {builder_.receive(at(load, level, away(level, arm.sign, parent, parent), stream),
                                     passing(load, level, ahead(arm.sign, hops, count)), moves,
                                     received)};
      }
    }
  }
  for (std::size_t i = 0; level > 0 && i < targets.size(); ++i) {
    for (const Indices& last : link_.held[i])
      held(load, targets[i].level).ready.append(last);
  }
  if (level > 0 || !hasRest()) return;
  const Held& rest = held(Load::kRest, 0);
  const Shift moves = ir::hop(order_[0], sign_);
  Indices after = link_.passed;
  after.append(rest.ready.begin(), rest.ready.end());
  builder_.send({stream, guard(lineOf(Load::kRest))}, rest.region, moves, after);
  builder_.receive({stream, guard(root())}, region(Buffer::kOut, restBlocks()), moves,
                   link_.held[0][1]);
}

/// The first step, from the root's plane to the last plane; own blocks are also copied into the
/// held blocks of planes.
void BlockTree::gatherRest() {
  for (std::uint32_t level = 0; level < last(); ++level) {
    Held& to = held(Load::kPlanes, level);
    const Box nodes = atLevel(Load::kPlanes, level, others(level));
    to.ready.push_back(builder_.copy({newStream(), guard(nodes)}, inside(to.region, {own()}),
                                     region(Buffer::kIn, {own()}), {}));
  }
  if (!hasRest()) return;
  const std::uint32_t stream = newStream();
  for (std::uint32_t level = 1; level < levels(); ++level) {
    const Interval along = others(level);
    Box nodes = atLevel(Load::kRest, level, along);
    Held& to = held(Load::kRest, level);
    const Box blocks = blocksOf(Load::kRest, levels(), {});
    const Shift moves = ir::hop(order_[0], -sign_);
    to.ready.push_back(
        builder_.receive({stream, guard(nodes)}, inside(to.region, {blocks}), moves, {}));
    nodes[order_[0]] = Interval::absolute(0);
    builder_.send({stream, guard(nodes)}, region(Buffer::kIn, {own()}), moves, {});
  }
}

}  // namespace torc::compiler
