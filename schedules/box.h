// Box: a set of nodes or blocks, one cyclic interval per axis. An interval is absolute (`5`),
// relative to the executing node (`x+3`), or the whole axis (`*`). Boxes select blocks of a vector,
// and guards: the nodes that execute an operation. In operations of a loop over peers an interval
// may count from the peer (`x+i`). In a loop, start and length may depend on one of its counters
// (`x-2-i:1+i`).
#ifndef TORC_SCHEDULES_BOX_H_
#define TORC_SCHEDULES_BOX_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "schedules/topology/topology.h"

namespace torc {

enum class IntervalKind : std::uint8_t {
  kAll = 0,       // `*`: the whole axis; start and length are 0
  kAbsolute = 1,  // `5`, or `5:3` for 5, 6, 7
  kRelative = 2,  // `x+3`, or `x-1:2`: start counts from the executing node's coordinate

  // Root-relative, in guards of rooted collectives, on axes whose coordinates do not count from the
  // root: start counts from the root's coordinate. Coordinates outside the axis are cut off.
  kRoot = 3,      // `r`, or `r-1..r+1`
  kFromRoot = 4,  // `r+1..6`: up to the coordinate in `length`
  kToRoot = 5,    // `2..r-1`: `length` is the first coordinate, start the last one

  // In messages of a loop over peers: start counts from the coordinate of the peer, at +i for a
  // send, at -i for a receive.
  kPlusShift = 6,   // `x+i`, or `x+i-1:2`
  kMinusShift = 7,  // `x-i`

  kRootWithin = 8,  // root-relative: `r in 0..6`, the root's coordinate if it is one of those

  // Root-relative: `r+1..5 if r in 6..4`, cyclic on axes that wrap; empty for other roots.
  kForRoots = 9,  // see RootSpan
};
/// Whether an interval counts from the coordinate of the peer.
inline bool isPeerRelative(IntervalKind kind) {
  return kind == IntervalKind::kPlusShift || kind == IntervalKind::kMinusShift;
}
inline bool isRootRelative(IntervalKind kind) {
  return (kind >= IntervalKind::kRoot && kind <= IntervalKind::kToRoot) ||
         kind == IntervalKind::kRootWithin || kind == IntervalKind::kForRoots;
}
/// Whether one end of a root-relative interval is absolute.
inline bool hasAbsoluteEnd(IntervalKind kind) {
  return kind == IntervalKind::kFromRoot || kind == IntervalKind::kToRoot;
}

/// Maximal depth of nested loops around an operation.
inline constexpr std::uint32_t kMaxLoopDepth = 4;
/// The counters of these loops, the outermost one first. Each counts its iterations from 0.
using Counters = std::array<std::uint32_t, kMaxLoopDepth>;

/// A kForRoots interval: coordinates from `first` to `last`, each absolute or relative to the root,
/// for roots with a coordinate from `from` to `to`; both cyclic on axes that wrap, and on others
/// within the axis for all these roots. In the record, the two ends are
/// the halves of `start`, the two roots those of `length`. Bits 0 and 1 of `step` say which ends
/// count from the root.
struct RootSpan {
  bool first_from_root = false, last_from_root = false;
  std::int16_t first = 0, last = 0;
  std::uint16_t from = 0, to = 0;

  bool operator==(const RootSpan&) const = default;
};
inline constexpr std::uint32_t kMostOfRootSpan = 0x7fff;  // nodes of an axis that may have one

/// The two ends of an interval, each absolute or relative to the root.
struct RootEnds {
  bool first_from_root = false, last_from_root = false;
  std::int64_t first = 0, last = 0;
};

/// One axis of a box, with the same layout in memory and in a file.
struct Interval {
  IntervalKind kind = IntervalKind::kAll;
  // In a loop, of absolute and relative intervals: the depth (1 is outermost) of the loop whose
  // counter moves them, and the amounts added to start and length for every iteration.
  std::uint8_t loop = 0;  // 0: none
  std::int8_t step = 0;
  std::int8_t growth = 0;
  std::int32_t start = 0;
  std::uint32_t length = 0;

  static Interval all() { return {}; }
  static Interval absolute(std::int32_t start, std::uint32_t length = 1) {
    return {IntervalKind::kAbsolute, 0, 0, 0, start, length};
  }
  static Interval relative(std::int32_t start, std::uint32_t length = 1) {
    return {IntervalKind::kRelative, 0, 0, 0, start, length};
  }
  /// From the root's coordinate + `offset` on.
  static Interval root(std::int32_t offset = 0, std::uint32_t length = 1) {
    return {IntervalKind::kRoot, 0, 0, 0, offset, length};
  }
  /// From the root's coordinate + `offset` to `last`.
  static Interval fromRoot(std::int32_t offset, std::uint32_t last) {
    return {IntervalKind::kFromRoot, 0, 0, 0, offset, last};
  }
  /// From `first` to the root's coordinate + `offset`.
  static Interval toRoot(std::uint32_t first, std::int32_t offset) {
    return {IntervalKind::kToRoot, 0, 0, 0, offset, first};
  }
  /// The root's coordinate, if it is one of `length` from `start` on.
  static Interval rootWithin(std::int32_t start, std::uint32_t length) {
    return {IntervalKind::kRootWithin, 0, 0, 0, start, length};
  }
  static Interval forRoots(const RootSpan& span) {
    const auto both = [](std::uint16_t low, std::uint16_t high) {
      return std::uint32_t{low} | std::uint32_t{high} << 16;
    };
    const int ends = (span.first_from_root ? 1 : 0) + (span.last_from_root ? 2 : 0);
    return {IntervalKind::kForRoots,
            0,
            static_cast<std::int8_t>(ends),
            0,
            static_cast<std::int32_t>(both(static_cast<std::uint16_t>(span.first),
                                           static_cast<std::uint16_t>(span.last))),
            both(span.from, span.to)};
  }
  RootSpan rootSpan() const {
    return {(step & 1) != 0,
            (step & 2) != 0,
            static_cast<std::int16_t>(start & 0xffff),
            static_cast<std::int16_t>(start >> 16),
            static_cast<std::uint16_t>(length & 0xffff),
            static_cast<std::uint16_t>(length >> 16)};
  }
  /// The first and the last coordinate of a root-relative interval, or of its roots (kRootWithin).
  RootEnds rootEnds() const;
  /// From the peer's coordinate + `start` on, in a message that is sent or received.
  static Interval ofPeer(bool sent, std::int32_t start = 0, std::uint32_t length = 1) {
    return {sent ? IntervalKind::kPlusShift : IntervalKind::kMinusShift, 0, 0, 0, start, length};
  }
  /// The interval in one iteration.
  Interval at(const Counters& counters) const {
    if (loop == 0) return *this;
    const auto counter = std::int64_t{counters[loop - 1]};
    return {kind,
            0,
            0,
            0,
            static_cast<std::int32_t>(start + step * counter),
            static_cast<std::uint32_t>(length + growth * counter)};
  }
  bool operator==(const Interval&) const = default;
};
static_assert(sizeof(Interval) == 12);

/// A box over the axes of a topology; axes that the topology does not have are
/// `*`.
struct Box {
  std::array<Interval, kMaxAxes> axes{};

  Interval& operator[](std::size_t axis) { return axes[axis]; }
  const Interval& operator[](std::size_t axis) const { return axes[axis]; }
  bool operator==(const Box&) const = default;
};
static_assert(sizeof(Box) == 96);

/// Coordinates [start, start + length) of one axis, taken modulo its size where
/// it wraps. 0 <= start < size, 1 <= length <= size; a range of full length
/// starts at 0, so that equal sets are equal values.
struct Range {
  std::uint32_t start = 0;
  std::uint32_t length = 0;

  bool operator==(const Range&) const = default;
};

/// A box seen from one node: absolute ranges.
using Ranges = std::array<Range, kMaxAxes>;

/// The range that `interval` denotes for a node at `coordinate` on an axis of `size`; if it counts
/// from the peer, `coordinate` belongs to the peer. Precondition (checked by `validate` at load): 1
/// <= length <= size unless `*`.
Range resolve(const Interval& interval, std::int32_t coordinate, std::uint32_t size);

/// The absolute ranges of `box` for a node at `at`.
Ranges resolve(const Box& box, const Topology& topology, const Coordinates& at);

/// Whether `coordinate`, in [0, size), is in `range` on an axis of `size`.
inline bool contains(const Range& range, std::uint32_t coordinate, std::uint32_t size) {
  const std::uint32_t ahead = coordinate >= range.start ? 0 : size;
  return coordinate + ahead - range.start < range.length;
}
/// Whether two cyclic ranges share a coordinate.
inline bool overlaps(const Range& a, const Range& b, std::uint32_t size) {
  return (b.length > 0 && contains(a, b.start, size)) ||
         (a.length > 0 && contains(b, a.start, size));
}

/// `range` moved by `distance` along an axis of `size`; a full range stays as it is.
inline Range shifted(const Range& range, std::int64_t distance, std::uint32_t size) {
  return range.length == size ? range : Range{wrap(range.start + distance, size), range.length};
}

/// All nodes; the node at `at`; a node with all its cores.
Ranges allNodes(const Topology& topology);
Ranges nodeAt(const Topology& topology, const Coordinates& at);
Ranges nodeWithCores(const Topology& topology, const Coordinates& node);
/// The first node of a box.
Coordinates firstNode(const Ranges& nodes);
/// The box moved by `distance`, cyclically on every axis.
Ranges moved(const Ranges& nodes, const Coordinates& distance, const Topology& topology);
/// Whether the box has the node at `at`.
bool contains(const Ranges& nodes, const Topology& topology, const Coordinates& at);

/// Whether `guard` lets the node at `at` execute.
bool admits(const Box& guard, const Topology& topology, const Coordinates& at);

/// Number of coordinates in the box's ranges over the axes of `topology`.
std::uint64_t volume(const Ranges& ranges, const Topology& topology);
/// The same without the coordinates of dead nodes.
std::uint64_t liveVolume(const Ranges& ranges, const Topology& topology);

}  // namespace torc

#endif  // TORC_SCHEDULES_BOX_H_
