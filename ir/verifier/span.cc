// Spans: restriction, intersection, difference, union. If two spans move alike, the answer for the
// first node holds for all; otherwise it is computed node by node, and consecutive answers are
// joined.
#include "ir/verifier/span.h"

#include <algorithm>

#include <llvm/ADT/ArrayRef.h>

#include "ir/verifier/box_algebra.h"

namespace torc::ir {
namespace {

Span canonical(Span span, std::uint32_t nodes, std::uint32_t size) {
  if (nodes == 1) span.start_slope = 0, span.length_slope = 0;
  if (isFull(span, size)) span.start = span.start_slope = 0;
  return span;
}

Span constant(const Range& range) {
  return {range.start, range.length, 0, 0};
}

/// Joins ranges of consecutive nodes to spans.
class SpanMaker {
 public:
  SpanMaker(const Range& nodes, std::uint32_t size) : nodes_(nodes), size_(size) {}

  void add(std::uint32_t k, llvm::ArrayRef<Range> ranges) {
    open_.swap(before_);
    open_.clear();
    for (const Range& range : ranges)
      add(k, range);
    for (Run& run : before_) {
      if (!run.taken) close(run);
    }
  }
  NodeSpans finish() {
    for (const Run& run : open_)
      close(run);
    return std::move(result_);
  }

 private:
  struct Run {
    std::uint32_t first = 0;  // node, counted from the first of all
    std::uint32_t count = 0;
    Span span;
    bool taken = false;
  };

  void add(std::uint32_t k, const Range& range) {
    for (Run& run : before_) {
      Span span = run.span;
      if (run.taken || !extend(span, run.count, constant(range), 1, size_)) continue;
      if (run.count + 1 == size_ && span.length_slope != 0) continue;
      run.taken = true;
      open_.push_back({run.first, run.count + 1, span, false});
      return;
    }
    open_.push_back({k, 1, constant(range), false});
  }
  void close(const Run& run) {
    result_.push_back({{wrap(std::int64_t{nodes_.start} + run.first, size_), run.count}, run.span});
  }

  const Range nodes_;
  const std::uint32_t size_;
  llvm::SmallVector<Run, 4> before_, open_;
  NodeSpans result_;
};

/// `combine` of the ranges of two spans, for each of `nodes`.
template <typename Combine>
void combineSpans(const Span& a, const Span& b, const Range& nodes, std::uint32_t size,
                  ProofWork& work, NodeSpans& out, Combine combine) {
  const bool alike = a.length_slope == 0 && b.length_slope == 0 &&
                     (a.start_slope == b.start_slope || isFull(a, size) || isFull(b, size));
  if (alike) {
    const std::uint32_t slope = isFull(a, size) ? b.start_slope : a.start_slope;
    for (const Range& range : combine(rangeAt(a, 0, size), rangeAt(b, 0, size), size)) {
      out.push_back({nodes, canonical({range.start, range.length, slope, 0}, nodes.length, size)});
    }
    return;
  }
  work.done += nodes.length;
  SpanMaker maker(nodes, size);
  for (std::uint32_t k = 0; k < nodes.length && !work.tooMuch(); ++k)
    maker.add(k, combine(rangeAt(a, k, size), rangeAt(b, k, size), size));
  const NodeSpans made = maker.finish();
  out.append(made.begin(), made.end());
}

Span restricted(const NodeSpan& whole, const Range& nodes, std::uint32_t size) {
  return from(whole.span, wrap(std::int64_t{nodes.start} - whole.nodes.start, size), nodes.length,
              size);
}

}  // namespace

Range rangeAt(const Span& span, std::uint32_t k, std::uint32_t size) {
  const auto length = static_cast<std::uint32_t>(span.length + std::int64_t{span.length_slope} * k);
  if (length >= size) return {0, size};
  return {static_cast<std::uint32_t>((span.start + std::uint64_t{span.start_slope} * k) % size),
          length};
}

Span from(const Span& span, std::int64_t k, std::uint32_t nodes, std::uint32_t size) {
  if (followsBlock(span)) return span;
  Span result = span;
  result.start = wrap(span.start + std::int64_t{span.start_slope} * k, size);
  result.length = static_cast<std::uint32_t>(span.length + span.length_slope * k);
  return canonical(result, nodes, size);
}

Span spanOf(const Interval& interval, const Range& nodes, std::uint32_t size) {
  const Range first = resolve(interval, static_cast<std::int32_t>(nodes.start), size);
  const std::uint32_t slope = interval.kind == IntervalKind::kRelative ? 1 % size : 0;
  return canonical({first.start, first.length, slope, 0}, nodes.length, size);
}

std::uint64_t volume(const Span& span, std::uint32_t nodes) {
  const std::int64_t steps = std::int64_t{nodes} * (nodes - 1) / 2;
  return static_cast<std::uint64_t>(std::int64_t{span.length} * nodes + span.length_slope * steps);
}

unsigned __int128 volume(const Span& a, const Span& b, std::uint32_t nodes) {
  // The sums of k and of its square over the nodes; the products may be negative.
  const __int128 steps = __int128{nodes} * (nodes - 1) / 2;
  const __int128 squares = steps * (2 * __int128{nodes} - 1) / 3;
  return static_cast<unsigned __int128>(
      __int128{a.length} * b.length * nodes +
      (__int128{a.length} * b.length_slope + __int128{b.length} * a.length_slope) * steps +
      __int128{a.length_slope} * b.length_slope * squares);
}

NodeSpans intersect(const NodeSpan& a, const NodeSpan& b, std::uint32_t size, ProofWork& work) {
  ++work.done;
  NodeSpans result;
  for (const Range& nodes : intersect(a.nodes, b.nodes, size)) {
    combineSpans(
        restricted(a, nodes, size), restricted(b, nodes, size), nodes, size, work, result,
        [](const Range& x, const Range& y, std::uint32_t n) { return intersect(x, y, n); });
  }
  return result;
}

NodeSpans subtract(const NodeSpan& a, const NodeSpan& b, std::uint32_t size, ProofWork& work) {
  ++work.done;
  NodeSpans result;
  for (const Range& nodes : subtract(a.nodes, b.nodes, size))
    result.push_back({nodes, restricted(a, nodes, size)});
  for (const Range& nodes : intersect(a.nodes, b.nodes, size)) {
    combineSpans(restricted(a, nodes, size), restricted(b, nodes, size), nodes, size, work, result,
                 [](const Range& x, const Range& y, std::uint32_t n) { return subtract(x, y, n); });
  }
  return result;
}

std::uint32_t firstOverlap(const Span& a, const Span& b, std::uint32_t nodes, std::uint32_t size,
                           ProofWork& work) {
  ++work.done;
  if (isFull(a, size) || isFull(b, size)) return 0;
  const bool alike = a.length_slope == 0 && b.length_slope == 0 && a.start_slope == b.start_slope;
  const std::uint32_t looked_at = alike ? 1 : nodes;
  work.done += looked_at;
  for (std::uint32_t k = 0; k < looked_at; ++k) {
    if (overlaps(rangeAt(a, k, size), rangeAt(b, k, size), size)) return k;
  }
  return nodes;
}

bool join(Span& a, const Span& b, std::uint32_t nodes, std::uint32_t size) {
  const auto follows = [&](const Span& first, const Span& second) {
    return wrap(std::int64_t{first.start} + first.length, size) == second.start &&
           (nodes == 1 ||
            wrap(std::int64_t{first.start_slope} + first.length_slope, size) == second.start_slope);
  };
  // Lengths are linear: a fit at both ends is a fit between them.
  const std::int64_t first = std::int64_t{a.length} + b.length;
  const std::int64_t slope = std::int64_t{a.length_slope} + b.length_slope;
  if (std::max(first, first + slope * (nodes - 1)) > size) return false;
  const bool ahead = follows(a, b);
  if (!ahead && !follows(b, a)) return false;
  const Span& start = ahead ? a : b;
  a = canonical({start.start, static_cast<std::uint32_t>(first), start.start_slope,
                 static_cast<std::int32_t>(slope)},
                nodes, size);
  return true;
}

bool extend(Span& a, std::uint32_t nodes, const Span& b, std::uint32_t more, std::uint32_t size) {
  if (followsBlock(a) || followsBlock(b)) return followsBlock(a) && followsBlock(b);
  Span whole = a;
  if (nodes == 1 && more > 1) {
    whole = b;
    whole.start = wrap(std::int64_t{b.start} - b.start_slope, size);
    whole.length = static_cast<std::uint32_t>(std::int64_t{b.length} - b.length_slope);
    if (whole != Span{a.start, a.length, b.start_slope, b.length_slope}) return false;
  } else if (nodes == 1) {
    // Two nodes fit any line; the lines of schedules are fixed or move with the node.
    whole.start_slope = wrap(std::int64_t{b.start} - a.start, size);
    whole.length_slope = static_cast<std::int32_t>(std::int64_t{b.length} - a.length);
    if (whole.start_slope > 1 || std::abs(whole.length_slope) > 1) return false;
  } else {
    if (wrap(a.start + std::int64_t{a.start_slope} * nodes, size) != b.start ||
        std::int64_t{a.length} + std::int64_t{a.length_slope} * nodes != b.length ||
        (more > 1 && (a.start_slope != b.start_slope || a.length_slope != b.length_slope))) {
      return false;
    }
  }
  a = whole;
  return true;
}

}  // namespace torc::ir
