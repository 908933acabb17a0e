// Symbolic contents of memory: writing, reading, adding up, comparing.
#include "ir/verifier/contents.h"

#include <algorithm>

namespace torc {
namespace {

bool sameRanges(const Ranges& a, const Ranges& b, const Topology& topology) {
  return std::equal(a.begin(), a.begin() + topology.axis_count, b.begin());
}

/// Joins `b` to `a` where they differ on one axis alone and touch there.
bool joinBoxes(Ranges& a, const Ranges& b, const Topology& topology) {
  std::uint32_t differing = topology.axis_count;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (a[i] == b[i]) continue;
    if (differing != topology.axis_count || followsBlock(a[i]) || followsBlock(b[i])) return false;
    differing = i;
  }
  return differing != topology.axis_count &&
         join(a[differing], b[differing], topology.axes[differing].size);
}

bool sameValue(const Value& a, const Value& b, const Topology& topology) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!sameRanges(a[i], b[i], topology)) return false;
  }
  return true;
}

/// Replaces "follows the block" by the coordinate itself where the blocks have just one.
Contribution concrete(Contribution contribution, const Ranges& blocks, const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (followsBlock(contribution[i]) && blocks[i].length == 1) contribution[i] = blocks[i];
  }
  return contribution;
}

Coordinates firstOf(const Ranges& ranges) {
  Coordinates at{};
  for (int i = 0; i < kMaxAxes; ++i)
    at[i] = static_cast<std::int32_t>(ranges[i].start);
  return at;
}

/// Whether two contributions to some block of `blocks` share a rank; `shared` is one.
bool shareRank(const Contribution& a, const Contribution& b, const Ranges& blocks,
               const Topology& topology, Coordinates& shared) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Range& left = followsBlock(a[i]) ? blocks[i] : a[i];
    const Range& right = followsBlock(b[i]) ? blocks[i] : b[i];
    const auto common = intersect(left, right, topology.axes[i].size);
    if (common.empty()) return false;
    shared[i] = static_cast<std::int32_t>(common.front().start);
  }
  return true;
}

/// Adds a contribution to others that it is disjoint from, joined to those that it touches.
void insert(Contribution added, const Topology& topology, Value& value) {
  for (std::size_t i = 0; i < value.size();) {
    if (joinBoxes(added, value[i], topology)) {
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      ++i;
    }
  }
  value.push_back(added);
}

}  // namespace

void Contents::erase(const Ranges& blocks, const Topology& topology) {
  RangesList left;
  for (std::size_t i = 0; i < pieces_.size();) {
    if (!overlaps(pieces_[i].blocks, blocks, topology)) {
      ++i;
      continue;
    }
    left.clear();
    subtract(pieces_[i].blocks, blocks, topology, left);
    const Content cut = take(i);
    for (const Ranges& rest : left)
      add({rest, cut.value});
  }
}

void Contents::write(const Content& piece, const Topology& topology) {
  erase(piece.blocks, topology);
  Content grown = piece;
  for (std::size_t i = 0; i < pieces_.size();) {
    if (sameValue(pieces_[i].value, grown.value, topology) &&
        joinBoxes(grown.blocks, pieces_[i].blocks, topology)) {
      take(i);
      i = 0;
    } else {
      ++i;
    }
  }
  add(std::move(grown));
}

bool Contents::read(const Ranges& blocks, const Topology& topology, Pieces& out,
                    Coordinates& missing) const {
  std::uint64_t found = 0;
  RangesList common;
  for (const Content& piece : pieces_) {
    common.clear();
    intersect(piece.blocks, blocks, topology, common);
    for (const Ranges& box : common) {
      found += volume(box, topology);
      out.push_back({box, piece.value});
    }
  }
  if (found == volume(blocks, topology)) return true;
  RangesList left{blocks};
  for (const Content& piece : pieces_) {
    RangesList rest;
    for (const Ranges& box : left)
      subtract(box, piece.blocks, topology, rest);
    left = std::move(rest);
  }
  if (!left.empty()) missing = firstOf(left.front());
  return false;
}

bool accumulate(Value& a, const Value& b, const Ranges& blocks, const Topology& topology,
                Coordinates& twice) {
  for (const Contribution& added : b) {
    for (const Contribution& present : a) {
      if (shareRank(present, added, blocks, topology, twice)) return false;
    }
  }
  Value sum;
  const Value* const both[] = {&a, &b};
  for (const Value* value : both) {
    for (const Contribution& one : *value)
      insert(concrete(one, blocks, topology), topology, sum);
  }
  a = std::move(sum);
  return true;
}

void shift(Pieces& pieces, const Coordinates& distance, const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (distance[i] == 0) continue;
    const std::uint32_t size = topology.axes[i].size;
    for (Content& piece : pieces) {
      piece.blocks[i] = shifted(piece.blocks[i], distance[i], size);
      for (Contribution& contribution : piece.value) {
        if (followsBlock(contribution[i])) continue;
        contribution[i] = shifted(contribution[i], distance[i], size);
      }
    }
  }
}

bool equals(const Value& value, const Value& wanted, const Ranges& blocks, const Topology& topology,
            Coordinates& witness, bool& surplus) {
  auto concreteAll = [&](const Value& contributions, const Ranges& at) {
    Value result;
    for (const Contribution& contribution : contributions)
      result.push_back(concrete(contribution, at, topology));
    return result;
  };
  const Value target = concreteAll(wanted, blocks);
  const Value present = concreteAll(value, blocks);
  if (sameValue(present, target, topology)) return true;
  // What follows the block is made concrete at the first block; that is block enough to differ.
  Ranges first = blocks;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    first[i].length = 1;
  auto firstBeyond = [&](const Value& contributions, const Value& others) {
    RangesList left;
    for (const Contribution& box : concreteAll(contributions, first))
      left.push_back(box);
    for (const Contribution& other : concreteAll(others, first)) {
      RangesList rest;
      for (const Ranges& box : left)
        subtract(box, other, topology, rest);
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
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      if (followsBlock(contribution[i]) != followsBlock(target.front()[i])) {
        witness = firstOf(first);
        return false;
      }
    }
  }
  return true;
}

}  // namespace torc
