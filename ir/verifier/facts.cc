// Facts: cutting, joining, summing.
#include "ir/verifier/facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Sequence.h>

#include "ir/verifier/box_algebra.h"
#include "ir/verifier/fact_joins.h"

namespace torc::ir {
namespace {

NodeSpan along(const Place& place, std::uint32_t block_axis, const BlockAxes& axes) {
  return {place.nodes[axes.nodeAxis(block_axis)], place.blocks[block_axis]};
}

/// Whether nodes and blocks may meet: fast, with false positives.
bool mayMeet(const Place& a, const Place& b, const FactSetting& setting) {
  ++setting.work.done;
  for (std::uint32_t i = 0; i < setting.axes.count(); ++i) {
    const std::uint32_t axis = setting.axes.nodeAxis(i), size = setting.axes.size(i);
    if (i == axis && !overlaps(a.nodes[axis], b.nodes[axis], size)) return false;
    const Span& x = a.blocks[i];
    const Span& y = b.blocks[i];
    if (x.start_slope != y.start_slope || x.length_slope != 0 || y.length_slope != 0) continue;
    if (isFull(x, size) || isFull(y, size)) continue;
    // Both move alike: compared at the first common node of either order.
    const std::uint32_t ahead = nodeOffset(a.nodes[axis], b.nodes[axis], size);
    const std::uint32_t start = wrap(y.start - std::int64_t{y.start_slope} * ahead, size);
    if (!overlaps(Range{x.start, x.length}, Range{start, y.length}, size)) return false;
  }
  return true;
}

/// Axis by axis: the parts outside `place` on this axis are remainders; the part inside continues.
void subtractPlace(const Fact& fact, const Place& place, const FactSetting& setting,
                   FactList& out) {
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
  FactList inside;  // empty: the fact itself
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    FactList next;
    const bool whole = inside.empty();
    for (const Fact& piece : whole ? llvm::ArrayRef(fact) : llvm::ArrayRef(inside)) {
      const NodeSpans outside =
          subtract(along(piece.place, i, axes), along(place, i, axes), axes.size(i), setting.work);
      if (outside.empty()) {
        if (!whole) next.push_back(piece);
        continue;
      }
      for (const NodeSpan& to : outside) {
        out.push_back(piece);
        narrow(out.back(), i, to, axes);
      }
      // Along an axis of the torus already cut there are fewer nodes.
      if (i >= axes.nodeAxes()) common[i] = commonWith(piece, i);
      for (const NodeSpan& to : common[i]) {
        next.push_back(piece);
        narrow(next.back(), i, to, axes);
      }
      if (whole && next.empty()) return;
    }
    if (!whole && next.empty()) return;
    if (!next.empty()) inside = std::move(next);
  }
}

/// Replaces "follows the block" by the block itself if each node has only one.
Spans concrete(Spans contribution, const BlockSpans& blocks, const BlockAxes& axes) {
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    const Span& block = blocks[axis];
    if (followsBlock(contribution[axis]) && block.length == 1 && block.length_slope == 0)
      contribution[axis] = block;
  }
  return contribution;
}

/// Adds a contribution to others disjoint from it, joined to those that it touches.
void insert(const Spans& added, const Ranges& nodes, const BlockAxes& axes, FactValue& value) {
  addJoined(added, axes.nodeAxes(), value, [&](std::uint32_t axis, Span& a, const Span& b) {
    return !followsBlock(a) && !followsBlock(b) && join(a, b, nodes[axis].length, axes.size(axis));
  });
}

}  // namespace

unsigned __int128 volumeOf(const Place& place, const BlockAxes& axes) {
  unsigned __int128 product = 1;
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    const Span& second = place.blocks[axes.count() - axes.nodeAxes() + axis];
    product *= axes.ends() == 1 ? volume(place.blocks[axis], place.nodes[axis].length)
                                : volume(place.blocks[axis], second, place.nodes[axis].length);
  }
  return product;
}

Witness firstOf(const Place& place) {
  Witness witness{.node = firstNode(place.nodes)};
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
  const std::size_t first = out.size();
  out.push_back(fact);
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    std::size_t end = out.size();
    for (std::size_t k = first; k < end;) {
      const NodeSpans common = intersect(along(out[k].place, i, axes), along(place, i, axes),
                                         axes.size(i), setting.work);
      if (common.empty()) {
        out.erase(out.begin() + k);
        --end;
        continue;
      }
      for (std::size_t other = 1; other < common.size(); ++other) {
        Fact piece = out[k];
        narrow(piece, i, common[other], axes);
        out.push_back(std::move(piece));
      }
      narrow(out[k++], i, common[0], axes);
    }
  }
}

Outlines::Outlines(const BlockAxes& axes) : axes_(axes) {
  // Short axes have a bit for every coordinate; the others share the remaining bits.
  std::uint32_t left = 64, share = 64 / axes.nodeAxes(), longer = 0;
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis)
    axes.size(axis) <= share ? left -= axes.size(axis) : ++longer;
  std::uint32_t shift = 0;
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    const std::uint32_t width =
        axes.size(axis) <= share ? axes.size(axis) : std::min(axes.size(axis), left / longer);
    fields_[axis] = {shift, width, (~std::uint64_t{0} >> (64 - width)) << shift};
    all_ |= fields_[axis].all;
    shift += width;
    highest_ |= std::uint64_t{1} << (shift - 1);
  }
}

std::uint64_t Outlines::bitsOf(std::uint32_t axis, std::int64_t start, std::int64_t length) const {
  const auto& [shift, width, all] = fields_[axis];
  const std::uint32_t size = axes_.size(axis);
  if (length >= size) return all;
  const auto bitOf = [&, width = width](std::int64_t x) {
    return static_cast<std::uint32_t>(std::uint64_t{wrap(x, size)} * width / size);
  };
  const std::uint64_t from_first = ~std::uint64_t{0} << bitOf(start);
  const std::uint64_t to_last = ~std::uint64_t{0} >> (63 - bitOf(start + length - 1));
  const bool runs_over = wrap(start, size) + length > size;
  return ((runs_over ? from_first | to_last : from_first & to_last) << shift) & all;
}

Outline Outlines::of(const Place& place, std::uint32_t margin) const {
  Outline outline;
  for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
    const Range& nodes = place.nodes[axis];
    const auto bits = [&](std::int64_t start, std::int64_t length) {
      return bitsOf(axis, start - margin, length + 2 * std::int64_t{margin});
    };
    outline.nodes |= bits(nodes.start, nodes.length);
    for (std::uint32_t end = 0; end < axes_.ends(); ++end) {
      const Span& span = place.blocks[end * axes_.nodeAxes() + axis];
      const std::int64_t more = nodes.length - 1;  // coordinates added by the other nodes
      const bool stands = span.start_slope == 0, goes = span.start_slope == 1;
      const std::int64_t start = span.start, first = nodes.start;
      if ((!stands && !goes) || span.length_slope != 0) {
        outline.standing[end] |= fields_[axis].all;
        outline.moving[end] |= fields_[axis].all;
      } else {
        outline.standing[end] |= bits(start, span.length + (goes ? more : 0));
        outline.moving[end] |=
            bits(start - first - (goes ? 0 : more), span.length + (goes ? 0 : more));
      }
    }
  }
  return outline;
}

template <typename IsIt>
std::size_t FactStore::find(const Outline& outline, const FactSetting& setting, IsIt is_it) const {
  setting.work.done += 1 + groups_.size() / 4;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (!setting.outlines.meet(groups_[group], outline)) continue;
    const std::size_t end = std::min(facts_.size(), (group + 1) * kGroup);
    setting.work.done += kGroup / 8;
    for (std::size_t i = group * kGroup; i < end; ++i) {
      if (setting.outlines.meet(outlines_[i], outline) && is_it(i)) return i;
    }
  }
  return facts_.size();
}

void FactStore::push(Fact fact, const FactSetting& setting) {
  outlines_.push_back(setting.outlines.of(fact.place));
  outlines_.back().frame = fact.frame;
  if (facts_.size() % kGroup == 0) groups_.emplace_back();
  groups_.back().add(outlines_.back());
  facts_.push_back(std::move(fact));
}

void FactStore::remove(std::size_t i) {
  facts_[i] = {};
  outlines_[i] = {};
  ++gaps_;
  const std::size_t group = i / kGroup;
  const llvm::ArrayRef<Outline> all = outlines_;
  groups_[group] = {};
  for (const Outline& outline : all.slice(group * kGroup).take_front(kGroup))
    groups_[group].add(outline);
}

void FactStore::closeGaps() {
  std::size_t end = 0;
  groups_.clear();
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (isGap(i)) continue;
    if (i != end) {
      facts_[end] = std::move(facts_[i]);
      outlines_[end] = outlines_[i];
    }
    if (end % kGroup == 0) groups_.emplace_back();
    groups_.back().add(outlines_[end++]);
  }
  facts_.resize(end);
  outlines_.resize(end);
  if (end == 0) facts_ = {}, outlines_ = {};
  gaps_ = 0;
}

void FactStore::cutOut(const Place& place, std::optional<std::uint32_t> kept,
                       const FactSetting& setting, FactList* taken) {
  FactList left;
  find(setting.outlines.of(place), setting, [&](std::size_t i) {
    if (outlines_[i].frame == kept || !mayMeet(facts_[i].place, place, setting)) return false;
    if (taken != nullptr) intersect(facts_[i], place, setting, *taken);
    subtractPlace(facts_[i], place, setting, left);
    remove(i);
    return false;
  });
  if (gaps_ == facts_.size() || (gaps_ > kFewFacts && gaps_ > facts_.size() / 2)) closeGaps();
  for (Fact& fact : left)
    push(std::move(fact), setting);
}

void FactStore::erase(const Place& place, const FactSetting& setting) {
  cutOut(place, std::nullopt, setting, nullptr);
  tidyUp(setting);
}

void FactStore::eraseOtherFrames(const Ranges& nodes, std::uint32_t frame,
                                 const FactSetting& setting) {
  cutOut({nodes, allBlocks(setting.axes)}, frame, setting, nullptr);
}

void FactStore::take(const Ranges& nodes, const FactSetting& setting, FactList& out) {
  cutOut({nodes, allBlocks(setting.axes)}, std::nullopt, setting, &out);
}

void FactStore::write(Fact fact, const FactSetting& setting) {
  erase(fact.place, setting);
  add(std::move(fact), setting);
}

void FactStore::add(Fact fact, const FactSetting& setting) {
  join(std::move(fact), setting);
  tidyUp(setting);
}

void FactStore::join(Fact fact, const FactSetting& setting) {
  for (;;) {
    const std::size_t i = find(setting.outlines.of(fact.place, 1), setting,
                               [&](std::size_t k) { return joinFacts(fact, facts_[k], setting); });
    if (i == facts_.size()) break;
    remove(i);
  }
  push(std::move(fact), setting);
}

void FactStore::tidyUp(const FactSetting& setting) {
  if (facts_.size() - gaps_ < untidy_) return;
  closeGaps();
  const FactSetting by_node{setting.axes, setting.work, /*apart=*/true, setting.outlines};
  for (std::uint32_t axis = 0; axis < setting.axes.nodeAxes(); ++axis) {
    FactStore blocks, nodes;
    for (Fact& piece : piecesOf(facts_, axis, setting.axes))
      blocks.join(std::move(piece), by_node);
    blocks.closeGaps();
    for (Fact& fact : blocks.facts_)
      nodes.join(std::move(fact), setting);
    nodes.closeGaps();
    if (!nodes.facts_.empty() && nodes.facts_.size() < facts_.size()) *this = std::move(nodes);
  }
  untidy_ = std::max<std::size_t>(2 * facts_.size(), kFewFacts);
}

bool FactStore::read(const Place& place, std::uint32_t frame, const FactSetting& setting,
                     FactList& out, Witness& missing) const {
  const std::size_t before = out.size();
  find(setting.outlines.of(place), setting, [&](std::size_t i) {
    if (outlines_[i].frame == frame) intersect(facts_[i], place, setting, out);
    return false;
  });
  unsigned __int128 found = 0;
  for (std::size_t i = before; i < out.size(); ++i)
    found += volumeOf(out[i].place, setting.axes);
  if (found == volumeOf(place, setting.axes)) return true;
  FactList left{{place, {}, frame}};
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (isGap(i) || facts_[i].frame != frame) continue;
    FactList rest;
    for (const Fact& piece : left)
      subtractPlace(piece, facts_[i].place, setting, rest);
    left = std::move(rest);
  }
  if (!left.empty()) missing = firstOf(left.front().place);
  return false;
}

unsigned __int128 FactStore::volume(const FactSetting& setting) const {
  unsigned __int128 sum = 0;
  for (std::size_t i = 0; i < facts_.size(); ++i)
    sum += isGap(i) ? 0 : volumeOf(facts_[i].place, setting.axes);
  return sum;
}

FactList FactStore::all() const {
  FactList facts;
  llvm::copy_if(facts_, std::back_inserter(facts),
                [&](const Fact& fact) { return !isGap(std::size_t(&fact - facts_.data())); });
  return facts;
}

bool FactStore::covers(const FactStore& other, const FactSetting& setting, Witness& missing) const {
  FactList found;
  return llvm::all_of(llvm::seq(other.facts_.size()), [&](std::size_t i) {
    const Fact& fact = other.facts_[i];
    return other.isGap(i) || read(fact.place, fact.frame, setting, found, missing);
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
  for (const FactValue* value : {&std::as_const(a.value), &b}) {
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
      // All nodes stay all nodes: the k-th gets the value from `distance` before it.
      rebase(fact, axis, -std::int64_t{distance[axis]}, size, axes);
    }
  }
}

}  // namespace torc::ir
