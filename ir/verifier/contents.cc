// Symbolic contents of memory: writing, reading, adding up, comparing.
#include "ir/verifier/contents.h"

#include <algorithm>

namespace torc::ir {
namespace {

/// Axes of a box of ranks, and of one of blocks.
std::uint32_t axisCount(const Ranges&, const BlockAxes& axes) {
  return axes.nodeAxes();
}
std::uint32_t axisCount(const BlockRanges&, const BlockAxes& axes) {
  return axes.count();
}

bool sameRanges(const Ranges& a, const Ranges& b, const BlockAxes& axes) {
  return std::equal(a.begin(), a.begin() + axes.nodeAxes(), b.begin());
}

/// Joins `b` to `a` where they differ on one axis alone and touch there.
template <typename Box>
bool joinBoxes(Box& a, const Box& b, const BlockAxes& axes) {
  const std::uint32_t count = axisCount(a, axes);
  std::uint32_t differing = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (a[i] == b[i]) continue;
    if (differing != count || followsBlock(a[i]) || followsBlock(b[i])) return false;
    differing = i;
  }
  return differing != count && join(a[differing], b[differing], axes.size(differing));
}

bool sameValue(const Value& a, const Value& b, const BlockAxes& axes) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!sameRanges(a[i], b[i], axes)) return false;
  }
  return true;
}

/// Replaces "follows the block" by the coordinate itself where the blocks have just one.
Contribution concrete(Contribution contribution, const BlockRanges& blocks, const BlockAxes& axes) {
  for (std::uint32_t i = 0; i < axes.nodeAxes(); ++i) {
    if (followsBlock(contribution[i]) && blocks[i].length == 1) contribution[i] = blocks[i];
  }
  return contribution;
}

template <std::size_t Axes>
std::array<std::int32_t, Axes> firstOf(const std::array<Range, Axes>& ranges) {
  std::array<std::int32_t, Axes> at{};
  for (std::size_t i = 0; i < Axes; ++i)
    at[i] = static_cast<std::int32_t>(ranges[i].start);
  return at;
}

/// Whether two contributions to some block of `blocks` share a rank; `shared` is one.
bool shareRank(const Contribution& a, const Contribution& b, const BlockRanges& blocks,
               const BlockAxes& axes, Coordinates& shared) {
  for (std::uint32_t i = 0; i < axes.nodeAxes(); ++i) {
    const Range& left = followsBlock(a[i]) ? blocks[i] : a[i];
    const Range& right = followsBlock(b[i]) ? blocks[i] : b[i];
    const auto common = intersect(left, right, axes.size(i));
    if (common.empty()) return false;
    shared[i] = static_cast<std::int32_t>(common.front().start);
  }
  return true;
}

/// Adds a contribution to others that it is disjoint from, joined to those that it touches.
void insert(Contribution added, const BlockAxes& axes, Value& value) {
  for (std::size_t i = 0; i < value.size();) {
    if (joinBoxes(added, value[i], axes)) {
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      ++i;
    }
  }
  value.push_back(added);
}

}  // namespace

void Contents::erase(const BlockRanges& blocks, const BlockAxes& axes) {
  BlockRangesList left;
  for (std::size_t i = 0; i < pieces_.size();) {
    if (!overlaps(pieces_[i].blocks, blocks, axes)) {
      ++i;
      continue;
    }
    left.clear();
    subtract(pieces_[i].blocks, blocks, axes, left);
    const Content cut = take(i);
    for (const BlockRanges& rest : left)
      add({rest, cut.value});
  }
}

void Contents::write(const Content& piece, const BlockAxes& axes) {
  erase(piece.blocks, axes);
  Content grown = piece;
  for (std::size_t i = 0; i < pieces_.size();) {
    if (sameValue(pieces_[i].value, grown.value, axes) &&
        joinBoxes(grown.blocks, pieces_[i].blocks, axes)) {
      take(i);
      i = 0;
    } else {
      ++i;
    }
  }
  add(std::move(grown));
}

bool Contents::read(const BlockRanges& blocks, const BlockAxes& axes, Pieces& out,
                    BlockCoordinates& missing) const {
  std::uint64_t found = 0;
  BlockRangesList common;
  for (const Content& piece : pieces_) {
    common.clear();
    intersect(piece.blocks, blocks, axes, common);
    for (const BlockRanges& box : common) {
      found += volume(box, axes);
      out.push_back({box, piece.value});
    }
  }
  if (found == volume(blocks, axes)) return true;
  BlockRangesList left{blocks};
  for (const Content& piece : pieces_) {
    BlockRangesList rest;
    for (const BlockRanges& box : left)
      subtract(box, piece.blocks, axes, rest);
    left = std::move(rest);
  }
  if (!left.empty()) missing = firstOf(left.front());
  return false;
}

bool accumulate(Value& a, const Value& b, const BlockRanges& blocks, const BlockAxes& axes,
                Coordinates& twice) {
  for (const Contribution& added : b) {
    for (const Contribution& present : a) {
      if (shareRank(present, added, blocks, axes, twice)) return false;
    }
  }
  Value sum;
  const Value* const both[] = {&a, &b};
  for (const Value* value : both) {
    for (const Contribution& one : *value)
      insert(concrete(one, blocks, axes), axes, sum);
  }
  a = std::move(sum);
  return true;
}

void shift(Pieces& pieces, const Coordinates& distance, const BlockAxes& axes) {
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    const std::int32_t along = distance[axes.nodeAxis(i)];
    if (along == 0) continue;
    const std::uint32_t size = axes.size(i);
    for (Content& piece : pieces) {
      piece.blocks[i] = shifted(piece.blocks[i], along, size);
      if (i >= axes.nodeAxes()) continue;
      for (Contribution& contribution : piece.value) {
        if (followsBlock(contribution[i])) continue;
        contribution[i] = shifted(contribution[i], along, size);
      }
    }
  }
}

bool equals(const Value& value, const Value& wanted, const BlockRanges& blocks,
            const BlockAxes& axes, Coordinates& witness, bool& surplus) {
  auto concreteAll = [&](const Value& contributions, const BlockRanges& at) {
    Value result;
    for (const Contribution& contribution : contributions)
      result.push_back(concrete(contribution, at, axes));
    return result;
  };
  const Value target = concreteAll(wanted, blocks);
  const Value present = concreteAll(value, blocks);
  if (sameValue(present, target, axes)) return true;
  // What follows the block is made concrete at the first block; that is block enough to differ.
  BlockRanges first = blocks;
  for (std::uint32_t i = 0; i < axes.count(); ++i)
    first[i].length = 1;
  auto firstBeyond = [&](const Value& contributions, const Value& others) {
    RangesList left;
    for (const Contribution& box : concreteAll(contributions, first))
      left.push_back(box);
    for (const Contribution& other : concreteAll(others, first)) {
      RangesList rest;
      for (const Ranges& box : left)
        subtract(box, other, axes, rest);
      left = std::move(rest);
    }
    if (!left.empty()) witness = firstOf(left.front());
    return !left.empty();
  };
  surplus = firstBeyond(present, target);
  if (surplus || firstBeyond(target, present)) return false;
  // Equal at the first block, written differently, over more blocks than one: equal only if no
  // axis follows the block on one side alone. All of `wanted` follows it on the same axes.
  for (const Contribution& contribution : present) {
    for (std::uint32_t i = 0; i < axes.nodeAxes(); ++i) {
      if (followsBlock(contribution[i]) != followsBlock(target.front()[i])) {
        witness = axes.nodeOf(firstOf(first));
        return false;
      }
    }
  }
  return true;
}

}  // namespace torc::ir
