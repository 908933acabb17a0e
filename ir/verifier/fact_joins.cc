#include "ir/verifier/fact_joins.h"

#include <algorithm>
#include <utility>

#include "ir/verifier/box_algebra.h"

namespace torc::ir {
namespace {

/// Most pieces of facts cut for a new join.
constexpr std::size_t kMostPieces = 1 << 14;

/// Joins `b` to `a` if their nodes and values are equal, and their blocks differ on one axis only
/// and are adjacent there.
bool joinBlocks(Fact& a, const Fact& b, const BlockAxes& axes) {
  const std::uint32_t differing = differingAxis(a.place.blocks, b.place.blocks, axes.count());
  return differing < axes.count() && a.value == b.value &&
         join(a.place.blocks[differing], b.place.blocks[differing],
              a.place.nodes[axes.nodeAxis(differing)].length, axes.size(differing));
}

/// Joins `b` to `a` if they differ on one axis only, b's nodes follow a's there, and blocks and
/// values continue those of `a`.
bool joinNodes(Fact& a, const Fact& b, std::uint32_t axis, const BlockAxes& axes) {
  const std::uint32_t size = axes.size(axis);
  const Range& before = a.place.nodes[axis];
  const Range& behind = b.place.nodes[axis];
  const std::uint32_t total = before.length + behind.length;
  if (total > size || wrap(std::int64_t{before.start} + before.length, size) != behind.start)
    return false;
  if (a.value.size() != b.value.size()) return false;
  const auto goesOn = [&](Span& span, const Span& more) {
    return extend(span, before.length, more, behind.length, size) &&
           (total < size || span.length_slope == 0);
  };
  BlockSpans blocks = a.place.blocks;
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    const bool follows = axes.nodeAxis(i) == axis ? goesOn(blocks[i], b.place.blocks[i])
                                                  : blocks[i] == b.place.blocks[i];
    if (!follows) return false;
  }
  const auto sameElsewhere = [&](const Spans& x, const Spans& y) {
    for (std::uint32_t i = 0; i < axes.nodeAxes(); ++i) {
      if (i != axis && x[i] != y[i]) return false;
    }
    return true;
  };
  FactValue value = a.value;
  llvm::SmallVector<bool, 8> used(b.value.size(), false);
  for (Spans& contribution : value) {
    bool found = false;
    for (std::size_t i = 0; i < b.value.size() && !found; ++i) {
      if (used[i] || !sameElsewhere(contribution, b.value[i])) continue;
      found = used[i] = goesOn(contribution[axis], b.value[i][axis]);
    }
    if (!found) return false;
  }
  a.place.blocks = blocks;
  a.value = std::move(value);
  a.place.nodes[axis].length = total;
  if (total == size) {  // all nodes: counted from coordinate 0
    const std::int64_t first = before.start;
    a.place.nodes[axis] = {0, size};
    rebase(a, axis, -first, size, axes);
  }
  return true;
}

/// Begins of facts' nodes along an axis.
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
         const BlockAxes& axes, std::vector<Fact>& out) {
  const auto size = static_cast<std::uint32_t>(borders.size());
  const Range nodes = fact.place.nodes[axis];
  for (std::uint32_t first = 0; first < nodes.length;) {
    std::uint32_t end = first + 1;
    while (end < nodes.length && !borders[wrap(std::int64_t{nodes.start} + end, size)])
      ++end;
    out.push_back(fact);
    narrow(out.back(), axis, Range{wrap(std::int64_t{nodes.start} + first, size), end - first},
           axes);
    first = end;
  }
}

}  // namespace

std::uint32_t nodeOffset(const Range& whole, const Range& part, std::uint32_t size) {
  return wrap(std::int64_t{part.start} - whole.start, size);
}

void rebase(Fact& fact, std::uint32_t axis, std::int64_t k, std::uint32_t nodes,
            const BlockAxes& axes) {
  const std::uint32_t size = axes.size(axis);
  for (std::uint32_t i = axis; i < axes.count(); i += axes.nodeAxes())
    fact.place.blocks[i] = from(fact.place.blocks[i], k, nodes, size);
  for (Spans& contribution : fact.value)
    contribution[axis] = from(contribution[axis], k, nodes, size);
}

void narrow(Fact& fact, std::uint32_t axis, const Range& nodes, const BlockAxes& axes) {
  if (nodes == fact.place.nodes[axis]) return;
  rebase(fact, axis, nodeOffset(fact.place.nodes[axis], nodes, axes.size(axis)), nodes.length,
         axes);
  fact.place.nodes[axis] = nodes;
}

void narrow(Fact& fact, std::uint32_t block_axis, const NodeSpan& to, const BlockAxes& axes) {
  narrow(fact, axes.nodeAxis(block_axis), to.nodes, axes);
  fact.place.blocks[block_axis] = to.span;
}

bool joinFacts(Fact& a, const Fact& b, const FactSetting& setting) {
  ++setting.work.done;
  const BlockAxes& axes = setting.axes;
  if (a.frame != b.frame) return false;
  const std::uint32_t differing = differingAxis(a.place.nodes, b.place.nodes, axes.nodeAxes());
  if (differing == kNone) return false;
  if (differing == axes.nodeAxes()) return joinBlocks(a, b, axes);
  if (setting.apart) return false;
  if (joinNodes(a, b, differing, axes)) return true;
  const Range& behind = b.place.nodes[differing];
  if (wrap(std::int64_t{behind.start} + behind.length, axes.size(differing)) !=
      a.place.nodes[differing].start) {
    return false;
  }
  Fact reversed = b;
  if (!joinNodes(reversed, a, differing, axes)) return false;
  a = std::move(reversed);
  return true;
}

std::vector<Fact> piecesOf(const std::vector<Fact>& facts, std::uint32_t axis,
                           const BlockAxes& axes) {
  const std::vector<bool> borders = bordersOf(facts, axis, axes.size(axis));
  std::vector<Fact> pieces;
  if (std::ranges::count(borders, true) == 0) return pieces;
  for (const Fact& fact : facts) {
    cut(fact, axis, borders, axes, pieces);
    if (pieces.size() > kMostPieces) return {};
  }
  // Pieces of the same nodes are found fast if they are consecutive.
  std::ranges::stable_sort(pieces, {},
                           [&](const Fact& piece) { return piece.place.nodes[axis].start; });
  return pieces;
}

}  // namespace torc::ir
