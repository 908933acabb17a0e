// Facts: cutting, joining, adding up.
#include "ir/verifier/facts.h"

#include <algorithm>
#include <array>

#include <llvm/ADT/STLExtras.h>

#include "ir/verifier/fact_joins.h"
#include "ir/verifier/ranges.h"

namespace torc::ir {
namespace {

NodeSpan along(const Place& place, std::uint32_t block_axis, const BlockAxes& axes) {
  return {place.nodes[axes.nodeAxis(block_axis)], place.blocks[block_axis]};
}

/// Whether nodes and blocks may meet: quick, and sometimes wrongly true.
bool mayMeet(const Place& a, const Place& b, const FactSetting& setting) {
  ++setting.work.done;
  for (std::uint32_t i = 0; i < setting.axes.count(); ++i) {
    const std::uint32_t axis = setting.axes.nodeAxis(i), size = setting.axes.size(i);
    if (i == axis && !overlaps(a.nodes[axis], b.nodes[axis], size)) return false;
    const Span& x = a.blocks[i];
    const Span& y = b.blocks[i];
    if (x.start_slope != y.start_slope || x.length_slope != 0 || y.length_slope != 0) continue;
    if (isFull(x, size) || isFull(y, size)) continue;
    // Both move alike: as seen from the first common node of either order.
    const std::uint32_t ahead = nodeOffset(a.nodes[axis], b.nodes[axis], size);
    const std::uint32_t start = wrap(y.start - std::int64_t{y.start_slope} * ahead, size);
    if (!overlaps(Range{x.start, x.length}, Range{start, y.length}, size)) return false;
  }
  return true;
}

/// Axis by axis: what lies outside `place` on this axis is left over whole; what lies inside goes
/// on.
template <typename Facts>
void subtract(const Fact& fact, const Place& place, const FactSetting& setting, Facts& out) {
  const BlockAxes& axes = setting.axes;
  const auto commonWith = [&](const Fact& piece, std::uint32_t i) {
    return intersect(along(piece.place, i, axes), along(place, i, axes), axes.size(i),
                     setting.work);
  };
  std::array<NodeSpans, kMaxBlockAxes> common;
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    common[i] = commonWith(fact, i);
    if (!common[i].empty()) continue;
    out.push_back(fact);
    return;
  }
  FactList inside{fact};
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    FactList next;
    for (const Fact& piece : inside) {
      // Along an axis of the torus that has been cut already there are fewer nodes.
      if (i >= axes.nodeAxes()) common[i] = commonWith(piece, i);
      for (const NodeSpan& to : subtract(along(piece.place, i, axes), along(place, i, axes),
                                         axes.size(i), setting.work)) {
        out.push_back(piece);
        narrow(out.back(), i, to, axes);
      }
      for (const NodeSpan& to : common[i]) {
        next.push_back(piece);
        narrow(next.back(), i, to, axes);
      }
    }
    inside = std::move(next);
  }
}

/// Replaces "follows the block" by the block itself where each node has just one.
Spans concrete(Spans contribution, const BlockSpans& blocks, const BlockAxes& axes) {
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    const Span& block = blocks[axis];
    if (followsBlock(contribution[axis]) && block.length == 1 && block.length_slope == 0)
      contribution[axis] = block;
  }
  return contribution;
}

/// Adds a contribution to others that it is disjoint from, joined to those that it touches.
void insert(Spans added, const Ranges& nodes, const BlockAxes& axes, FactValue& value) {
  const std::uint32_t count = axes.nodeAxes();
  for (std::size_t i = 0; i < value.size();) {
    std::uint32_t differing = count;
    bool touch = true;
    for (std::uint32_t axis = 0; axis < count && touch; ++axis) {
      if (added[axis] == value[i][axis]) continue;
      touch = differing == count && !followsBlock(added[axis]) && !followsBlock(value[i][axis]);
      differing = axis;
    }
    if (touch && differing != count &&
        join(added[differing], value[i][differing], nodes[differing].length,
             axes.size(differing))) {
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      ++i;
    }
  }
  value.push_back(added);
}

/// Pairs of a node and a block.
unsigned __int128 volume(const Place& place, const BlockAxes& axes) {
  unsigned __int128 product = 1;
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    const Span& second = place.blocks[axes.count() - axes.nodeAxes() + axis];
    product *= axes.ends() == 1 ? volume(place.blocks[axis], place.nodes[axis].length)
                                : volume(place.blocks[axis], second, place.nodes[axis].length);
  }
  return product;
}

}  // namespace

Witness firstOf(const Place& place) {
  Witness witness;
  for (int axis = 0; axis < kMaxAxes; ++axis)
    witness.node[axis] = static_cast<std::int32_t>(place.nodes[axis].start);
  for (std::uint32_t i = 0; i < kMaxBlockAxes; ++i)
    witness.block[i] = static_cast<std::int32_t>(place.blocks[i].start);
  return witness;
}

BlockSpans allBlocks(const BlockAxes& axes) {
  BlockSpans blocks{};
  for (std::uint32_t i = 0; i < axes.count(); ++i)
    blocks[i] = {0, axes.size(i), 0, 0};
  return blocks;
}

void intersect(const Fact& fact, const Place& place, const FactSetting& setting, FactList& out) {
  if (!mayMeet(fact.place, place, setting)) return;
  const BlockAxes& axes = setting.axes;
  FactList pieces{fact};
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    FactList next;
    for (Fact& piece : pieces) {
      const NodeSpans common =
          intersect(along(piece.place, i, axes), along(place, i, axes), axes.size(i), setting.work);
      for (std::size_t k = 1; k < common.size(); ++k) {
        next.push_back(piece);
        narrow(next.back(), i, common[k], axes);
      }
      if (common.empty()) continue;
      narrow(piece, i, common[0], axes);
      next.push_back(std::move(piece));
    }
    pieces = std::move(next);
  }
  for (Fact& piece : pieces)
    out.push_back(std::move(piece));
}

void FactStore::erase(const Place& place, const FactSetting& setting) {
  std::vector<Fact> left;
  for (std::size_t i = 0; i < facts_.size();) {
    if (!mayMeet(facts_[i].place, place, setting)) {
      ++i;
      continue;
    }
    const Fact fact = std::move(facts_[i]);
    if (i + 1 != facts_.size()) facts_[i] = std::move(facts_.back());
    facts_.pop_back();
    subtract(fact, place, setting, left);
  }
  for (Fact& fact : left)
    facts_.push_back(std::move(fact));
  tidyUp(setting);
}

void FactStore::eraseOtherFrames(const Ranges& nodes, std::uint32_t frame,
                                 const FactSetting& setting) {
  const Place place{nodes, allBlocks(setting.axes)};
  std::vector<Fact> left;
  for (std::size_t i = 0; i < facts_.size();) {
    if (facts_[i].frame == frame || !mayMeet(facts_[i].place, place, setting)) {
      ++i;
      continue;
    }
    const Fact fact = std::move(facts_[i]);
    if (i + 1 != facts_.size()) facts_[i] = std::move(facts_.back());
    facts_.pop_back();
    subtract(fact, place, setting, left);
  }
  for (Fact& fact : left)
    facts_.push_back(std::move(fact));
}

void FactStore::write(Fact fact, const FactSetting& setting) {
  erase(fact.place, setting);
  add(std::move(fact), setting);
}

void FactStore::add(Fact fact, const FactSetting& setting) {
  for (std::size_t i = 0; i < facts_.size();) {
    if (joinFacts(fact, facts_[i], setting)) {
      if (i + 1 != facts_.size()) facts_[i] = std::move(facts_.back());
      facts_.pop_back();
      i = 0;
    } else {
      ++i;
    }
  }
  facts_.push_back(std::move(fact));
  tidyUp(setting);
}

void FactStore::tidyUp(const FactSetting& setting) {
  if (facts_.size() < untidy_) return;
  joinAnew(facts_, setting);
  untidy_ = std::max<std::size_t>(facts_.size() + facts_.size() / 4, kFewFacts);
}

void FactStore::take(const Ranges& nodes, const FactSetting& setting, FactList& out) {
  const Place place{nodes, allBlocks(setting.axes)};
  for (const Fact& fact : facts_)
    intersect(fact, place, setting, out);
  std::vector<Fact> left;
  for (const Fact& fact : facts_)
    subtract(fact, place, setting, left);
  facts_ = std::move(left);
}

bool FactStore::read(const Place& place, std::uint32_t frame, const FactSetting& setting,
                     FactList& out, Witness& missing) const {
  const std::size_t before = out.size();
  for (const Fact& fact : facts_) {
    if (fact.frame == frame) intersect(fact, place, setting, out);
  }
  unsigned __int128 found = 0;
  for (std::size_t i = before; i < out.size(); ++i)
    found += volume(out[i].place, setting.axes);
  if (found == volume(place, setting.axes)) return true;
  std::vector<Fact> left{{place, {}, frame}};
  for (const Fact& fact : facts_) {
    if (fact.frame != frame) continue;
    std::vector<Fact> rest;
    for (const Fact& piece : left)
      subtract(piece, fact.place, setting, rest);
    left = std::move(rest);
  }
  if (!left.empty()) missing = firstOf(left.front().place);
  return false;
}

bool FactStore::covers(const FactStore& other, const FactSetting& setting, Witness& missing) const {
  FactList found;
  return llvm::all_of(other.facts_, [&](const Fact& fact) {
    return read(fact.place, fact.frame, setting, found, missing);
  });
}

FactValue valueOn(const Fact& fact, const Ranges& nodes, const BlockAxes& axes) {
  FactValue value = fact.value;
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    if (nodes[axis] == fact.place.nodes[axis]) continue;
    const std::uint32_t size = axes.size(axis);
    const std::uint32_t offset = nodeOffset(fact.place.nodes[axis], nodes[axis], size);
    for (Spans& contribution : value)
      contribution[axis] = from(contribution[axis], offset, nodes[axis].length, size);
  }
  return value;
}

bool accumulate(Fact& a, const FactValue& b, const FactSetting& setting, Witness& twice) {
  const BlockAxes& axes = setting.axes;
  const Place& place = a.place;
  const auto shared = [&](const Spans& x, const Spans& y) {
    twice = firstOf(place);
    for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
      const std::uint32_t size = axes.size(axis);
      const Span& left = followsBlock(x[axis]) ? place.blocks[axis] : x[axis];
      const Span& right = followsBlock(y[axis]) ? place.blocks[axis] : y[axis];
      const std::uint32_t nodes = place.nodes[axis].length;
      const std::uint32_t k = firstOverlap(left, right, nodes, size, setting.work);
      if (k == nodes) return false;
      const Range common =
          ir::intersect(rangeAt(left, k, size), rangeAt(right, k, size), size).front();
      twice.node[axis] =
          static_cast<std::int32_t>(wrap(std::int64_t{place.nodes[axis].start} + k, size));
      twice.contributor[axis] = static_cast<std::int32_t>(common.start);
      const bool follows = followsBlock(x[axis]) || followsBlock(y[axis]);
      twice.block[axis] = static_cast<std::int32_t>(
          follows ? common.start : rangeAt(place.blocks[axis], k, size).start);
    }
    return true;
  };
  for (const Spans& added : b) {
    for (const Spans& present : a.value) {
      if (shared(present, added)) return false;
    }
  }
  FactValue sum;
  const FactValue* const both[] = {&a.value, &b};
  for (const FactValue* value : both) {
    for (const Spans& one : *value)
      insert(concrete(one, place.blocks, axes), place.nodes, axes, sum);
  }
  a.value = std::move(sum);
  return true;
}

void moveNodes(FactList& facts, const Coordinates& distance, const BlockAxes& axes) {
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    if (distance[axis] == 0) continue;
    const std::uint32_t size = axes.size(axis);
    for (Fact& fact : facts) {
      Range& nodes = fact.place.nodes[axis];
      if (nodes.length < size) {
        nodes.start = wrap(std::int64_t{nodes.start} + distance[axis], size);
        continue;
      }
      // All nodes stay all nodes: the k-th now has what the one `distance` before it had.
      rebase(fact, axis, -std::int64_t{distance[axis]}, size, axes);
    }
  }
}

}  // namespace torc::ir
