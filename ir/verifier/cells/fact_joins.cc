#include "ir/verifier/cells/fact_joins.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "ir/verifier/ranges.h"

namespace torc::ir {
namespace {

/// Facts into which some are cut, at most, to be joined anew.
constexpr std::size_t kMostPieces = 1 << 18;

/// Joins `b` to `a` where the nodes are the same, the blocks differ on one axis alone and touch
/// there, and the values are the same.
bool joinBlocks(Fact& a, const Fact& b, const Topology& topology) {
  std::uint32_t differing = topology.axis_count;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (a.place.blocks[axis] == b.place.blocks[axis]) continue;
    if (differing != topology.axis_count) return false;
    differing = axis;
  }
  return differing != topology.axis_count && a.value == b.value &&
         join(a.place.blocks[differing], b.place.blocks[differing], a.place.nodes[differing].length,
              topology.axes[differing].size);
}

/// Joins `b` to `a` where they differ on one axis alone, b's nodes follow a's there, and blocks and
/// values go on as they do in `a`.
bool joinNodes(Fact& a, const Fact& b, std::uint32_t axis, const Topology& topology) {
  const std::uint32_t size = topology.axes[axis].size;
  const Range& before = a.place.nodes[axis];
  const Range& behind = b.place.nodes[axis];
  const std::uint32_t total = before.length + behind.length;
  if (total > size || wrap(std::int64_t{before.start} + before.length, size) != behind.start)
    return false;
  if (a.value.size() != b.value.size()) return false;
  const auto sameElsewhere = [&](const Spans& x, const Spans& y) {
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      if (i != axis && x[i] != y[i]) return false;
    }
    return true;
  };
  if (!sameElsewhere(a.place.blocks, b.place.blocks)) return false;
  const auto goesOn = [&](Span& span, const Span& more) {
    return extend(span, before.length, more, behind.length, size) &&
           (total < size || span.length_slope == 0);
  };
  Fact whole = a;
  if (!goesOn(whole.place.blocks[axis], b.place.blocks[axis])) return false;
  llvm::SmallVector<bool, 8> used(b.value.size(), false);
  for (Spans& contribution : whole.value) {
    bool found = false;
    for (std::size_t i = 0; i < b.value.size() && !found; ++i) {
      if (used[i] || !sameElsewhere(contribution, b.value[i])) continue;
      found = used[i] = goesOn(contribution[axis], b.value[i][axis]);
    }
    if (!found) return false;
  }
  if (total == size) {  // all nodes: counted from coordinate 0
    const std::int64_t back = -std::int64_t{before.start};
    whole.place.nodes[axis] = {0, size};
    Span& blocks = whole.place.blocks[axis];
    blocks = from(blocks, back, size, size);
    for (Spans& contribution : whole.value)
      contribution[axis] = from(contribution[axis], back, size, size);
  } else {
    whole.place.nodes[axis].length = total;
  }
  a = std::move(whole);
  return true;
}

/// Where facts of different nodes begin along an axis.
std::vector<bool> bordersOf(const std::vector<Fact>& facts, std::uint32_t axis,
                            std::uint32_t size) {
  std::vector<bool> borders(size, false);
  for (const Fact& fact : facts) {
    const Range& nodes = fact.place.nodes[axis];
    if (nodes.length == size) continue;
    borders[nodes.start] = true;
    borders[wrap(std::int64_t{nodes.start} + nodes.length, size)] = true;
  }
  return borders;
}

/// The pieces of `fact` between borders.
void cut(const Fact& fact, std::uint32_t axis, const std::vector<bool>& borders,
         std::vector<Fact>& out) {
  const auto size = static_cast<std::uint32_t>(borders.size());
  const Range nodes = fact.place.nodes[axis];
  for (std::uint32_t first = 0; first < nodes.length;) {
    std::uint32_t end = first + 1;
    while (end < nodes.length && !borders[wrap(std::int64_t{nodes.start} + end, size)])
      ++end;
    Fact piece = fact;
    const Range part{wrap(std::int64_t{nodes.start} + first, size), end - first};
    narrow(piece, axis, {part, from(fact.place.blocks[axis], first, end - first, size)}, size);
    out.push_back(std::move(piece));
    first = end;
  }
}

/// Joins facts with the same key as long as some can be.
template <typename Key, typename Join>
std::vector<Fact> joined(std::vector<Fact> facts, Key key_of, Join join) {
  std::map<decltype(key_of(facts.front())), std::vector<Fact>> groups;
  for (Fact& fact : facts) {
    std::vector<Fact>& group = groups[key_of(fact)];
    for (std::size_t i = 0; i < group.size();) {
      if (join(fact, group[i])) {
        group.erase(group.begin() + static_cast<std::ptrdiff_t>(i));
        i = 0;
      } else {
        ++i;
      }
    }
    group.push_back(std::move(fact));
  }
  facts.clear();
  for (auto& [key, group] : groups)
    std::ranges::move(group, std::back_inserter(facts));
  return facts;
}

/// What facts have in common that may be joined: a list of numbers.
using Common = std::vector<std::int64_t>;

void append(Common& common, const Range& nodes) {
  common.insert(common.end(), {nodes.start, nodes.length});
}
void append(Common& common, const Span& blocks) {
  common.insert(common.end(),
                {blocks.start, blocks.length, blocks.start_slope, blocks.length_slope});
}

}  // namespace

std::uint32_t nodeOffset(const Range& whole, const Range& part, std::uint32_t size) {
  return wrap(std::int64_t{part.start} - whole.start, size);
}

/// `fact` with other nodes and blocks, which are among its own, along one axis.
void narrow(Fact& fact, std::uint32_t axis, const NodeSpan& to, std::uint32_t size) {
  const std::uint32_t offset = nodeOffset(fact.place.nodes[axis], to.nodes, size);
  if (to.nodes != fact.place.nodes[axis]) {
    for (Spans& contribution : fact.value)
      contribution[axis] = from(contribution[axis], offset, to.nodes.length, size);
  }
  fact.place.nodes[axis] = to.nodes;
  fact.place.blocks[axis] = to.span;
}

bool joinFacts(Fact& a, const Fact& b, const CellSetting& setting) {
  ++setting.work.done;
  const Topology& topology = setting.topology;
  if (a.frame != b.frame) return false;
  std::uint32_t differing = topology.axis_count;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (a.place.nodes[axis] == b.place.nodes[axis]) continue;
    if (differing != topology.axis_count) return false;
    differing = axis;
  }
  if (differing == topology.axis_count) return joinBlocks(a, b, topology);
  if (joinNodes(a, b, differing, topology)) return true;
  Fact reversed = b;
  if (!joinNodes(reversed, a, differing, topology)) return false;
  a = std::move(reversed);
  return true;
}

void joinAnew(std::vector<Fact>& facts, const CellSetting& setting) {
  const Topology& topology = setting.topology;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const std::vector<bool> borders = bordersOf(facts, axis, topology.axes[axis].size);
    if (std::ranges::count(borders, true) == 0) continue;
    std::vector<Fact> pieces;
    for (const Fact& fact : facts) {
      cut(fact, axis, borders, pieces);
      if (pieces.size() > kMostPieces) return;
    }
    const auto nodes = [&](const Fact& fact) {
      Common common{fact.frame};
      for (std::uint32_t i = 0; i < topology.axis_count; ++i)
        append(common, fact.place.nodes[i]);
      return common;
    };
    const auto elsewhere = [&](const Fact& fact) {
      Common common{fact.frame};
      for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
        if (i == axis) continue;
        append(common, fact.place.nodes[i]);
        append(common, fact.place.blocks[i]);
      }
      return common;
    };
    pieces = joined(std::move(pieces), nodes, [&](Fact& a, const Fact& b) {
      ++setting.work.done;
      return joinBlocks(a, b, topology);
    });
    pieces = joined(std::move(pieces), elsewhere,
                    [&](Fact& a, const Fact& b) { return joinFacts(a, b, setting); });
    if (pieces.size() < facts.size()) facts = std::move(pieces);
  }
}

}  // namespace torc::ir
