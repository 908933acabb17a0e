// Span: a cyclic range of coordinates of one axis, for each of the nodes that follow one another
// along that axis. Its start and its length change by the same amount from node to node, so that
// "the block before the node's own" (x-1), "blocks 3 to 5" and "everything up to the node itself"
// (0 to x) are one span each, however many nodes there are.
#ifndef TORC_IR_VERIFIER_SPAN_H_
#define TORC_IR_VERIFIER_SPAN_H_

#include <array>
#include <cstdint>

#include <llvm/ADT/SmallVector.h>

#include "schedules/box.h"

namespace torc::ir {

/// The range of the k-th of `nodes` nodes in a row on an axis of `size` starts at
/// start + k * start_slope (modulo the size) and is length + k * length_slope long, which is 1 to
/// size. A span of length 0 is no range: it stands for the block itself (contents that follow it).
struct Span {
  std::uint32_t start = 0;
  std::uint32_t length = 0;
  std::uint32_t start_slope = 0;  // below the size; 0 where there is one node, or all is covered
  std::int32_t length_slope = 0;  // 0 where there is one node

  bool operator==(const Span&) const = default;
};
using Spans = std::array<Span, kMaxAxes>;

inline bool followsBlock(const Span& span) {
  return span.length == 0;
}
inline bool isFull(const Span& span, std::uint32_t size) {
  return span.length == size && span.length_slope == 0;
}

/// What the proof by cells has done so far, in steps of a few nanoseconds. When it is too much the
/// proof gives up; what has been found until then says nothing.
struct ProofWork {
  std::uint64_t done = 0;
  std::uint64_t most = 0;

  bool tooMuch() const { return done > most; }
};

/// The range of the k-th node.
Range rangeAt(const Span& span, std::uint32_t k, std::uint32_t size);
/// The span of `nodes` nodes from the k-th on.
Span from(const Span& span, std::int64_t k, std::uint32_t nodes, std::uint32_t size);
/// The span of an interval for the `nodes`.
Span spanOf(const Interval& interval, const Range& nodes, std::uint32_t size);
/// Sum of the lengths over `nodes` nodes.
std::uint64_t volume(const Span& span, std::uint32_t nodes);
/// Sum of the products of the lengths of two spans.
unsigned __int128 volume(const Span& a, const Span& b, std::uint32_t nodes);

/// Nodes in a row along an axis, and a span for them: a set of pairs of node and block. Where all
/// nodes of the axis are in it the length of the span does not change.
struct NodeSpan {
  Range nodes;
  Span span;
};
using NodeSpans = llvm::SmallVector<NodeSpan, 2>;

/// The pairs of node and block that are in `a` and in `b`.
NodeSpans intersect(const NodeSpan& a, const NodeSpan& b, std::uint32_t size, ProofWork& work);
/// The pairs that are in `a` and not in `b`.
NodeSpans subtract(const NodeSpan& a, const NodeSpan& b, std::uint32_t size, ProofWork& work);

/// The first of `nodes` nodes for which two spans share a coordinate; `nodes` if there is none.
std::uint32_t firstOverlap(const Span& a, const Span& b, std::uint32_t nodes, std::uint32_t size,
                           ProofWork& work);

/// Joins `b` to `a` where for every one of `nodes` nodes they are disjoint and touch.
bool join(Span& a, const Span& b, std::uint32_t nodes, std::uint32_t size);
/// Makes `a`, of `nodes` nodes, the span of those and of the `more` nodes behind them, whose span
/// is `b`. False, and `a` as it was, where that is no span.
bool extend(Span& a, std::uint32_t nodes, const Span& b, std::uint32_t more, std::uint32_t size);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_SPAN_H_
