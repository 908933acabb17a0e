// Facts: cutting, joining, adding up.
#include "ir/verifier/cells/facts.h"

#include <algorithm>
#include <array>

#include "ir/verifier/cells/fact_joins.h"
#include "ir/verifier/ranges.h"

namespace torc::ir {
namespace {

NodeSpan along(const Place& place, std::uint32_t axis) {
  return {place.nodes[axis], place.blocks[axis]};
}

/// Whether nodes and blocks may meet: quick, and sometimes wrongly true.
bool mayMeet(const Place& a, const Place& b, const CellSetting& setting) {
  ++setting.work.done;
  for (std::uint32_t axis = 0; axis < setting.topology.axis_count; ++axis) {
    const std::uint32_t size = setting.topology.axes[axis].size;
    if (!overlaps(a.nodes[axis], b.nodes[axis], size)) return false;
    const Span& x = a.blocks[axis];
    const Span& y = b.blocks[axis];
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
void subtract(const Fact& fact, const Place& place, const CellSetting& setting, Facts& out) {
  std::array<NodeSpans, kMaxAxes> common;
  for (std::uint32_t axis = 0; axis < setting.topology.axis_count; ++axis) {
    common[axis] = intersect(along(fact.place, axis), along(place, axis),
                             setting.topology.axes[axis].size, setting.work);
    if (!common[axis].empty()) continue;
    out.push_back(fact);
    return;
  }
  FactList inside{fact};
  for (std::uint32_t axis = 0; axis < setting.topology.axis_count; ++axis) {
    const std::uint32_t size = setting.topology.axes[axis].size;
    const NodeSpans outside =
        subtract(along(fact.place, axis), along(place, axis), size, setting.work);
    FactList next;
    for (const Fact& piece : inside) {
      for (const NodeSpan& to : outside) {
        out.push_back(piece);
        narrow(out.back(), axis, to, size);
      }
      for (const NodeSpan& to : common[axis]) {
        next.push_back(piece);
        narrow(next.back(), axis, to, size);
      }
    }
    inside = std::move(next);
  }
}

/// Replaces "follows the block" by the block itself where each node has just one.
Spans concrete(Spans contribution, const Spans& blocks, const Topology& topology) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const Span& block = blocks[axis];
    if (followsBlock(contribution[axis]) && block.length == 1 && block.length_slope == 0)
      contribution[axis] = block;
  }
  return contribution;
}

/// Adds a contribution to others that it is disjoint from, joined to those that it touches.
void insert(Spans added, const Ranges& nodes, const Topology& topology, CellValue& value) {
  for (std::size_t i = 0; i < value.size();) {
    std::uint32_t differing = topology.axis_count;
    bool touch = true;
    for (std::uint32_t axis = 0; axis < topology.axis_count && touch; ++axis) {
      if (added[axis] == value[i][axis]) continue;
      touch = differing == topology.axis_count && !followsBlock(added[axis]) &&
              !followsBlock(value[i][axis]);
      differing = axis;
    }
    if (touch && differing != topology.axis_count &&
        join(added[differing], value[i][differing], nodes[differing].length,
             topology.axes[differing].size)) {
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      ++i;
    }
  }
  value.push_back(added);
}

std::uint64_t volume(const Place& place, const Topology& topology) {
  std::uint64_t product = 1;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    product *= volume(place.blocks[axis], place.nodes[axis].length);
  return product;
}

CellWitness firstOf(const Place& place) {
  CellWitness witness;
  for (int axis = 0; axis < kMaxAxes; ++axis) {
    witness.node[axis] = static_cast<std::int32_t>(place.nodes[axis].start);
    witness.block[axis] = static_cast<std::int32_t>(place.blocks[axis].start);
  }
  return witness;
}

}  // namespace

Spans allBlocks(const Topology& topology) {
  Spans blocks{};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    blocks[axis] = {0, topology.axes[axis].size, 0, 0};
  return blocks;
}

Spans blocksOf(const Box& box, const Ranges& nodes, const Topology& topology) {
  Spans blocks{};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    blocks[axis] = spanOf(box[axis], nodes[axis], topology.axes[axis].size);
  return blocks;
}

void intersect(const Fact& fact, const Place& place, const CellSetting& setting, FactList& out) {
  if (!mayMeet(fact.place, place, setting)) return;
  std::array<NodeSpans, kMaxAxes> common;
  for (std::uint32_t axis = 0; axis < setting.topology.axis_count; ++axis) {
    common[axis] = intersect(along(fact.place, axis), along(place, axis),
                             setting.topology.axes[axis].size, setting.work);
    if (common[axis].empty()) return;
  }
  FactList pieces{fact};
  for (std::uint32_t axis = 0; axis < setting.topology.axis_count; ++axis) {
    const std::size_t count = pieces.size();
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 1; k < common[axis].size(); ++k) {
        Fact piece = pieces[i];
        narrow(piece, axis, common[axis][k], setting.topology.axes[axis].size);
        pieces.push_back(std::move(piece));
      }
      narrow(pieces[i], axis, common[axis][0], setting.topology.axes[axis].size);
    }
  }
  for (Fact& piece : pieces)
    out.push_back(std::move(piece));
}

void FactStore::erase(const Place& place, const CellSetting& setting) {
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
                                 const CellSetting& setting) {
  const Place place{nodes, allBlocks(setting.topology)};
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

void FactStore::write(Fact fact, const CellSetting& setting) {
  erase(fact.place, setting);
  add(std::move(fact), setting);
}

void FactStore::add(Fact fact, const CellSetting& setting) {
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

void FactStore::tidyUp(const CellSetting& setting) {
  if (facts_.size() < untidy_) return;
  joinAnew(facts_, setting);
  untidy_ = std::max<std::size_t>(facts_.size() + facts_.size() / 4, kFewFacts);
}

void FactStore::take(const Ranges& nodes, const CellSetting& setting, FactList& out) {
  const Place place{nodes, allBlocks(setting.topology)};
  for (const Fact& fact : facts_)
    intersect(fact, place, setting, out);
  std::vector<Fact> left;
  for (const Fact& fact : facts_)
    subtract(fact, place, setting, left);
  facts_ = std::move(left);
}

bool FactStore::read(const Place& place, std::uint32_t frame, const CellSetting& setting,
                     FactList& out, CellWitness& missing) const {
  const std::size_t before = out.size();
  for (const Fact& fact : facts_) {
    if (fact.frame == frame) intersect(fact, place, setting, out);
  }
  std::uint64_t found = 0;
  for (std::size_t i = before; i < out.size(); ++i)
    found += volume(out[i].place, setting.topology);
  if (found == volume(place, setting.topology)) return true;
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

CellValue valueOn(const Fact& fact, const Ranges& nodes, const Topology& topology) {
  CellValue value = fact.value;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    const std::uint32_t offset = nodeOffset(fact.place.nodes[axis], nodes[axis], size);
    for (Spans& contribution : value)
      contribution[axis] = from(contribution[axis], offset, nodes[axis].length, size);
  }
  return value;
}

bool accumulate(Fact& a, const CellValue& b, const CellSetting& setting, CellWitness& twice) {
  const Topology& topology = setting.topology;
  const Place& place = a.place;
  const auto shared = [&](const Spans& x, const Spans& y) {
    twice = firstOf(place);
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      const std::uint32_t size = topology.axes[axis].size;
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
  CellValue sum;
  const CellValue* const both[] = {&a.value, &b};
  for (const CellValue* value : both) {
    for (const Spans& one : *value)
      insert(concrete(one, place.blocks, topology), place.nodes, topology, sum);
  }
  a.value = std::move(sum);
  return true;
}

void moveNodes(FactList& facts, const Coordinates& distance, const Topology& topology) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (distance[axis] == 0) continue;
    const std::uint32_t size = topology.axes[axis].size;
    for (Fact& fact : facts) {
      Range& nodes = fact.place.nodes[axis];
      if (nodes.length < size) {
        nodes.start = wrap(std::int64_t{nodes.start} + distance[axis], size);
        continue;
      }
      // All nodes stay all nodes: the k-th now has what the one `distance` before it had.
      Span& blocks = fact.place.blocks[axis];
      blocks = from(blocks, -std::int64_t{distance[axis]}, size, size);
      for (Spans& contribution : fact.value)
        contribution[axis] = from(contribution[axis], -std::int64_t{distance[axis]}, size, size);
    }
  }
}

}  // namespace torc::ir
