// Span: a cyclic range of coordinates of one axis, for each of some consecutive nodes along that
// axis. Its start and its length change by constant amounts from node to node. For any number of
// nodes, "the block before the node's own" (x-1), "blocks 3 to 5" and "everything up to the node"
// (0 to x) are one span each.
#ifndef TORC_IR_VERIFIER_SPAN_H_
#define TORC_IR_VERIFIER_SPAN_H_

#include <array>
#include <cstdint>

#include <llvm/ADT/SmallVector.h>

#include "schedules/box.h"

namespace torc::ir {

/// The range of the k-th of `nodes` consecutive nodes on an axis of `size` starts at start + k *
/// start_slope (modulo the size), with length + k * length_slope coordinates, 1 to size. A span of
/// length 0 is no range: it stands for the block itself (contents that follow it).
struct Span {
  std::uint32_t start = 0;
  std::uint32_t length = 0;
  std::uint32_t start_slope = 0;  // below the size; 0 if there is one node, or the range is full
  std::int32_t length_slope = 0;  // 0 if there is one node

  bool operator==(const Span&) const = default;
};
using Spans = std::array<Span, kMaxAxes>;

inline bool followsBlock(const Span& span) {
  return span.length == 0;
}
inline bool isFull(const Span& span, std::uint32_t size) {
  return span.length == size && span.length_slope == 0;
}

/// Work of the proof by cells so far, in steps of a few nanoseconds. Beyond the limit the proof
/// gives up, and its results so far are meaningless.
struct ProofWork {
  std::uint64_t done = 0;
  std::uint64_t most = 0;

  bool tooMuch() const { return done > most; }
};

Range rangeAt(const Span& span, std::uint32_t k, std::uint32_t size);
/// The span of `nodes` nodes from the k-th on.
Span from(const Span& span, std::int64_t k, std::uint32_t nodes, std::uint32_t size);
/// The span of an interval for the `nodes`.
Span spanOf(const Interval& interval, const Range& nodes, std::uint32_t size);
/// Sum of the lengths over `nodes` nodes.
std::uint64_t volume(const Span& span, std::uint32_t nodes);
/// Sum of the products of the lengths of two spans.
unsigned __int128 volume(const Span& a, const Span& b, std::uint32_t nodes);

/// Consecutive nodes along an axis, and a span for them: a set of pairs of node and block. If it
/// has all nodes of the axis, the length of the span does not change.
struct NodeSpan {
  Range nodes;
  Span span;
};
using NodeSpans = llvm::SmallVector<NodeSpan, 2>;

/// The pairs of node and block in both `a` and `b`.
NodeSpans intersect(const NodeSpan& a, const NodeSpan& b, std::uint32_t size, ProofWork& work);
/// The pairs in `a` and not in `b`.
NodeSpans subtract(const NodeSpan& a, const NodeSpan& b, std::uint32_t size, ProofWork& work);

/// The first of `nodes` nodes for which two spans share a coordinate; `nodes` if there is none.
std::uint32_t firstOverlap(const Span& a, const Span& b, std::uint32_t nodes, std::uint32_t size,
                           ProofWork& work);

/// Joins `b` to `a` if they are disjoint and adjacent for every one of `nodes` nodes.
bool join(Span& a, const Span& b, std::uint32_t nodes, std::uint32_t size);
/// Extends `a`, of `nodes` nodes, by the `more` nodes behind them with span `b`. False, and `a`
/// unchanged, if the result is no span.
bool extend(Span& a, std::uint32_t nodes, const Span& b, std::uint32_t more, std::uint32_t size);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_SPAN_H_
