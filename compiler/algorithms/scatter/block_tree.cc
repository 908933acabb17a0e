// Steps of the blocks along a tree: scatter, then gather.
#include "compiler/algorithms/scatter/block_tree.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {

Interval BlockTree::away(std::uint32_t level, std::uint32_t first, std::uint32_t last) const {
  const std::uint32_t around = size(level);
  const std::uint32_t start = sign_ > 0 ? first : around - last;
  return Interval::absolute(static_cast<std::int32_t>(start % around), last - first + 1);
}

/// Who has a load once it is on its line.
Box BlockTree::lineOf(Load load) const {
  Box nodes = root();
  const std::uint32_t end = size(0) - 1;
  nodes[order_[0]] = load == Load::kRest ? away(0, end, end) : away(0, 1, end);
  return nodes;
}

/// Those that move a load along axis number `level`, at `along` there.
Box BlockTree::atLevel(Load load, std::uint32_t level, const Interval& along) const {
  Box nodes = level == 0 ? root() : lineOf(load);
  for (std::uint32_t done = 1; done < level; ++done)
    nodes[order_[done]] = Interval::all();
  nodes[order_[level]] = along;
  return nodes;
}

/// Those that have a load once it has gone along all axes before number `level`.
llvm::SmallVector<BlockTree::Holder, 8> BlockTree::holders(Load load, std::uint32_t level) const {
  if (level == 0) return {{root(), 0}};
  llvm::SmallVector<Holder, 8> list = {{lineOf(load), 0}};
  for (std::uint32_t done = 1; done < level; ++done)
    list.push_back({atLevel(load, done, away(done, 1, size(done) - 1)), done});
  return list;
}

/// The blocks of a load behind a node that has it, at `along` on axis number `level`.
Box BlockTree::blocksOf(Load load, std::uint32_t level, const Interval& along) const {
  Box blocks;
  for (std::uint32_t done = 0; done < level; ++done)
    blocks[order_[done]] = Interval::relative(0);
  if (load == Load::kRest) blocks[order_[0]] = Interval::absolute(0);
  if (level < levels()) blocks[order_[level]] = along;
  return blocks;
}

/// The root's plane without the root, by the first axis on which they differ.
llvm::SmallVector<Box, 4> BlockTree::restBlocks() const {
  llvm::SmallVector<Box, 4> list;
  for (std::uint32_t differing = 1; differing < levels(); ++differing) {
    Box blocks;
    for (std::uint32_t before = 0; before < differing; ++before)
      blocks[order_[before]] = Interval::absolute(0);
    blocks[order_[differing]] = away(differing, 1, size(differing) - 1);
    list.push_back(blocks);
  }
  return list;
}

/// What goes along an axis, the nearest first.
llvm::SmallVector<BlockTree::Row, 8> BlockTree::rows(Load load, std::uint32_t level) const {
  llvm::SmallVector<Row, 8> list;
  for (std::uint32_t reach = 1; reach < size(level); ++reach)
    list.push_back({{blocksOf(load, level, away(level, reach, reach))}, reach});
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

Region BlockTree::newFrame(llvm::ArrayRef<Box> blocks, std::uint32_t slot) {
  const Region all = region(Buffer::kScratch, blocks);
  const std::uint32_t frame = builder_.addFrame(
      Frame{.part = all.part, .box = all.box, .slot = slot, .pieces = all.pieces});
  return wholeFrame(builder_.schedule().frames[frame], frame);
}

/// What holds a load after axis number `level`: of the planes, behind the last axis the own block
/// in the buffer that has it alone.
BlockTree::Held& BlockTree::held(Load load, std::uint32_t level) {
  Held& held = (load == Load::kRest ? rest_ : planes_)[level];
  if (held.is_made) return held;
  held.is_made = true;
  if (load == Load::kRest && level == 0) {
    held.region = newFrame(restBlocks(), freeSlot());
  } else if (load == Load::kRest || level < last()) {
    const Box blocks = blocksOf(load, level + 1, Interval::all());
    held.region = newFrame({blocks}, freeSlot());
  } else {
    const bool is_scatter = rowOf(builder_.schedule().collective).describesOwnOut();
    held.region = region(is_scatter ? Buffer::kOut : Buffer::kIn, {own()});
  }
  return held;
}

/// Receives a row and sends it on, on all nodes before the last that it reaches. Those at which the
/// slot was used before wait; to others that would mean to wait for what they have sent themselves.
void BlockTree::handOn(const Row& row, Load load, std::uint32_t level, std::uint32_t stream,
                       const Shift& moves) {
  if (row.reach == 1) return;
  const auto nodes = [&](std::uint32_t first, std::uint32_t end) {
    return ir::StepPlace{stream, guard(atLevel(load, level, away(level, first, end - 1)))};
  };
  Turn& turn = turns_[link_.turns++ % 2];
  if (turn.slot == kNone) turn.slot = freeSlot();
  const Region passing = newFrame(row.blocks, turn.slot);
  Indices after = link_.passed;
  const std::uint32_t used = std::min(turn.reach, row.reach);
  if (used > 1) {
    after.push_back(builder_.receive(nodes(1, used), passing, moves, {turn.taken}));
  }
  if (used < row.reach) {
    after.push_back(builder_.receive(nodes(used, row.reach), passing, moves, {}));
  }
  turn.taken = builder_.send(nodes(1, row.reach), passing, moves, after);
  turn.reach = row.reach;
  link_.passed = {turn.taken};
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
  turns_[0] = turns_[1] = {};
  if (level == 0 && hasRest()) {
    const Row row{restBlocks(), size(0) - 1};
    scatterRow(row, load, level, stream);
    Held& arrived = held(Load::kRest, 0);
    const ir::StepPlace place{stream, guard(lineOf(Load::kRest))};
    arrived.ready = {builder_.receive(place, arrived.region, out(0), {})};
  }
  const auto nearest_first = rows(load, level);
  for (const Row& row : llvm::reverse(nearest_first))
    scatterRow(row, load, level, stream);
  Held& arrived = held(load, level);
  const ir::StepPlace place{stream, guard(atLevel(load, level, away(level, 1, size(level) - 1)))};
  arrived.ready = {builder_.receive(place, arrived.region, out(level), {})};
}

void BlockTree::scatterRow(const Row& row, Load load, std::uint32_t level, std::uint32_t stream) {
  const auto sources = holders(load, level);
  link_.held.resize(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Indices after = link_.held[i];
    Region source = region(Buffer::kIn, row.blocks);
    if (level > 0) {
      const Held& from = held(load, sources[i].level);
      source = inside(from.region, row.blocks);
      after.append(from.ready.begin(), from.ready.end());
    }
    const ir::StepPlace place{stream, guard(sources[i].nodes)};
    link_.held[i] = {builder_.send(place, source, out(level), after)};
  }
  handOn(row, load, level, stream, out(level));
}

/// One step more, from the last plane to the root's.
void BlockTree::scatterRest() {
  if (!hasRest()) return;
  const std::uint32_t stream = newStream();
  for (std::uint32_t level = 1; level < levels(); ++level) {
    const Interval along = away(level, 1, size(level) - 1);
    Box nodes = atLevel(Load::kRest, level, along);
    const Held& from = held(Load::kRest, level);
    const Box blocks = blocksOf(Load::kRest, levels(), {});
    builder_.send({stream, guard(nodes)}, inside(from.region, {blocks}), out(0), from.ready);
    nodes[order_[0]] = Interval::absolute(0);
    builder_.receive({stream, guard(nodes)}, region(Buffer::kOut, {own()}), out(0), {});
  }
}

/// The own block of those who have no axis left to send along, out of what they hold.
void BlockTree::copyOwn(std::uint32_t level) {
  const Held& from = held(Load::kPlanes, level);
  const Box nodes = atLevel(Load::kPlanes, level, away(level, 1, size(level) - 1));
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
  turns_[0] = turns_[1] = {};
  const Held& gathered = held(load, level);
  const Box nodes = atLevel(load, level, away(level, 1, size(level) - 1));
  Indices after = link_.passed;
  after.append(gathered.ready.begin(), gathered.ready.end());
  link_.passed = {builder_.send({stream, guard(nodes)}, gathered.region, back(level), after)};
  for (const Row& row : rows(load, level))
    gatherRow(row, load, level, stream);
  if (level > 0 || !hasRest()) return;
  const Held& rest = held(Load::kRest, 0);
  after = link_.passed;
  after.append(rest.ready.begin(), rest.ready.end());
  link_.passed.push_back(
      builder_.send({stream, guard(lineOf(Load::kRest))}, rest.region, back(0), after));
  gatherRow({restBlocks(), size(0) - 1}, load, level, stream);
}

void BlockTree::gatherRow(const Row& row, Load load, std::uint32_t level, std::uint32_t stream) {
  handOn(row, load, level, stream, back(level));
  for (const Holder& holder : holders(load, level)) {
    const ir::StepPlace place{stream, guard(holder.nodes)};
    if (level == 0) {
      builder_.receive(place, region(Buffer::kOut, row.blocks), back(0), {});
    } else {
      Held& to = held(load, holder.level);
      to.ready.push_back(builder_.receive(place, inside(to.region, row.blocks), back(level), {}));
    }
  }
}

/// One step, from the root's plane to the last one. Likewise the first: own blocks go to what is
/// held of planes.
void BlockTree::gatherRest() {
  for (std::uint32_t level = 0; level < last(); ++level) {
    Held& to = held(Load::kPlanes, level);
    const Box nodes = atLevel(Load::kPlanes, level, away(level, 1, size(level) - 1));
    to.ready.push_back(builder_.copy({newStream(), guard(nodes)}, inside(to.region, {own()}),
                                     region(Buffer::kIn, {own()}), {}));
  }
  if (!hasRest()) return;
  const std::uint32_t stream = newStream();
  for (std::uint32_t level = 1; level < levels(); ++level) {
    const Interval along = away(level, 1, size(level) - 1);
    Box nodes = atLevel(Load::kRest, level, along);
    Held& to = held(Load::kRest, level);
    const Box blocks = blocksOf(Load::kRest, levels(), {});
    to.ready.push_back(
        builder_.receive({stream, guard(nodes)}, inside(to.region, {blocks}), back(0), {}));
    nodes[order_[0]] = Interval::absolute(0);
    builder_.send({stream, guard(nodes)}, region(Buffer::kIn, {own()}), back(0), {});
  }
}

}  // namespace torc::compiler
