#include "ir/verifier/fact_joins.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "ir/verifier/box_algebra.h"

namespace torc::ir {
namespace {

/// Most pieces of facts cut for a new join.
constexpr std::size_t kMostPieces = 1 << 18;

/// Joins `b` to `a` if their nodes and values are equal, and their blocks differ on one axis only
/// and are adjacent there.
bool joinBlocks(Fact& a, const Fact& b, const BlockAxes& axes) {
  std::uint32_t differing = axes.count();
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    if (a.place.blocks[i] == b.place.blocks[i]) continue;
    if (differing != axes.count()) return false;
    differing = i;
  }
  return differing != axes.count() && a.value == b.value &&
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

/// The properties that joinable facts share: a list of numbers.
using Common = std::vector<std::int64_t>;

void append(Common& common, const Range& nodes) {
  common.insert(common.end(), {nodes.start, nodes.length});
}
void append(Common& common, const Span& blocks) {
  common.insert(common.end(),
                {blocks.start, blocks.length, blocks.start_slope, blocks.length_slope});
}

/// Rows of facts that may be joined, by their begins. Each fact is joined repeatedly to a fact that
/// begins at its end.
class Rows {
 public:
  /// Adds a fact to the row of `key`, in which it begins at `begin`.
  void add(Common key, std::int64_t begin, Fact fact) {
    key.push_back(begin);
    starts_[std::move(key)].push_back(facts_.size());
    facts_.push_back(std::move(fact));
  }
  /// The result of all joins. `next(fact, goesOn)` calls `goesOn` with the rows, and places in
  /// them, of possible continuations of a fact, until it returns true.
  template <typename Next, typename Join>
  std::vector<Fact> joined(Next next, Join join) {
    std::vector<bool> gone(facts_.size(), false);
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      const auto goesOn = [&](Common key, std::int64_t begin) {
        key.push_back(begin);
        const auto found = starts_.find(key);
        if (found == starts_.end()) return false;
        return std::ranges::any_of(found->second, [&](std::size_t other) {
          if (other == i || gone[other] || !join(facts_[i], facts_[other])) return false;
          gone[other] = true;
          return true;
        });
      };
      while (!gone[i] && next(facts_[i], goesOn)) {
      }
    }
    std::vector<Fact> left;
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      if (!gone[i]) left.push_back(std::move(facts_[i]));
    }
    return left;
  }

 private:
  std::vector<Fact> facts_;
  std::map<Common, std::vector<std::size_t>> starts_;
};

/// Joins facts of the same nodes whose blocks are adjacent, along one block axis after another.
std::vector<Fact> joinTouching(std::vector<Fact> facts, const FactSetting& setting) {
  const BlockAxes& axes = setting.axes;
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    const auto keyOf = [&](const Fact& fact) {
      Common common{fact.frame};
      for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis)
        append(common, fact.place.nodes[axis]);
      for (std::uint32_t other = 0; other < axes.count(); ++other) {
        if (other != i) append(common, fact.place.blocks[other]);
      }
      return common;
    };
    Rows rows;
    for (Fact& fact : facts)
      rows.add(keyOf(fact), fact.place.blocks[i].start, std::move(fact));
    facts = rows.joined(
        [&](const Fact& fact, auto goesOn) {
          const Span& span = fact.place.blocks[i];
          return goesOn(keyOf(fact), wrap(std::int64_t{span.start} + span.length, axes.size(i)));
        },
        [&](Fact& a, const Fact& b) {
          ++setting.work.done;
          return joinBlocks(a, b, axes);
        });
  }
  return facts;
}

/// Joins facts of consecutive nodes along an axis.
std::vector<Fact> joinFollowing(std::vector<Fact> facts, std::uint32_t axis,
                                const FactSetting& setting) {
  const BlockAxes& axes = setting.axes;
  const std::uint32_t size = axes.size(axis);
  const auto keyOf = [&](const Fact& fact, std::uint32_t first_node) {
    Common common{fact.frame, first_node};
    for (std::uint32_t i = 0; i < axes.count(); ++i) {
      if (axes.nodeAxis(i) == axis) continue;
      append(common, fact.place.nodes[axes.nodeAxis(i)]);
      append(common, fact.place.blocks[i]);
    }
    return common;
  };
  Rows rows;
  for (Fact& fact : facts)
    rows.add(keyOf(fact, fact.place.nodes[axis].start), fact.place.blocks[axis].start,
             std::move(fact));
  return rows.joined(
      [&](const Fact& fact, auto goesOn) {
        const Range& nodes = fact.place.nodes[axis];
        const Span& span = fact.place.blocks[axis];
        const Common key = keyOf(fact, wrap(std::int64_t{nodes.start} + nodes.length, size));
        const std::int64_t next = span.start + std::int64_t{span.start_slope} * nodes.length;
        if (goesOn(key, wrap(next, size))) return true;
        // The blocks of one node may continue in any way; others are fixed or move with the node.
        return nodes.length == 1 && span.length > 0 &&
               (goesOn(key, wrap(next + 1, size)) || goesOn(key, wrap(next - 1, size)));
      },
      [&](Fact& a, const Fact& b) { return joinFacts(a, b, setting); });
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
  std::uint32_t differing = axes.nodeAxes();
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    if (a.place.nodes[axis] == b.place.nodes[axis]) continue;
    if (differing != axes.nodeAxes()) return false;
    differing = axis;
  }
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

void joinAnew(std::vector<Fact>& facts, const FactSetting& setting) {
  const BlockAxes& axes = setting.axes;
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    const std::vector<bool> borders = bordersOf(facts, axis, axes.size(axis));
    if (std::ranges::count(borders, true) == 0) continue;
    std::vector<Fact> pieces;
    for (const Fact& fact : facts) {
      cut(fact, axis, borders, axes, pieces);
      if (pieces.size() > kMostPieces) return;
    }
    pieces = joinFollowing(joinTouching(std::move(pieces), setting), axis, setting);
    if (pieces.size() < facts.size()) facts = std::move(pieces);
  }
}

}  // namespace torc::ir
