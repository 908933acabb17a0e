// Piece search: finds the piece of a frame that holds a piece of a region, for all nodes that
// execute the operation. Validation and expansion share it, so that the bounds checked by
// validation hold in expansion.
//
// Most regions name the pieces of their frame in order; others are found by part and box in an
// index of all pieces of the schedule, made on first use. The remaining case, a piece inside a
// larger one out of order, is searched linearly, and counted.
#ifndef TORC_SCHEDULES_PIECE_SEARCH_H_
#define TORC_SCHEDULES_PIECE_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

/// An interval in the view of a guard's nodes: equal values denote equal sets on all of them.
struct Seen {
  IntervalKind kind = IntervalKind::kAll;
  std::uint32_t start = 0;
  std::uint32_t length = 0;

  bool operator==(const Seen&) const = default;
};

inline Seen seen(const Interval& interval, const Range& guard, std::uint32_t size) {
  if (interval.kind == IntervalKind::kAll || interval.length == size) return {};
  if (interval.kind == IntervalKind::kRelative && guard.length > 1) {
    return {IntervalKind::kRelative, wrap(interval.start, size), interval.length};
  }
  if (isPeerRelative(interval.kind)) {
    return {interval.kind, wrap(interval.start, size), interval.length};
  }
  const Range range = resolve(interval, static_cast<std::int32_t>(guard.start), size);
  return {IntervalKind::kAbsolute, range.start, range.length};
}

inline bool holds(const Seen& outer, const Seen& inner, std::uint32_t size) {
  if (outer.kind == IntervalKind::kAll) return true;
  if (outer.kind != inner.kind) return false;
  const std::uint64_t offset = wrap(std::int64_t{inner.start} - outer.start, size);
  return offset + inner.length <= outer.length;
}

class PieceSearch {
 public:
  /// `schedule` outlives the search.
  explicit PieceSearch(const ScheduleView& schedule)
      : schedule_(schedule), axes_(schedule.blockAxes()) {}

  /// The first block axis on which `outer` lacks blocks of `inner` for a node of `guard`; kNone if
  /// there is none.
  std::uint32_t axisOutside(const Ranges& guard, std::uint32_t outer, std::uint32_t inner) const {
    return axisAgainst(guard, outer, inner, torc::holds);
  }
  /// The first block axis on which two boxes differ for the nodes of `guard`; kNone: they do not.
  std::uint32_t axisDiffering(const Ranges& guard, std::uint32_t one, std::uint32_t other) const {
    return axisAgainst(guard, one, other,
                       [](const Seen& a, const Seen& b, std::uint32_t) { return a == b; });
  }
  /// Whether `outer` has the blocks and parts of `inner` for all nodes of `guard`.
  bool holds(const Ranges& guard, const Piece& outer, const Piece& inner) const {
    return inner.part >= outer.part && inner.part + inner.parts <= outer.part + outer.parts &&
           axisOutside(guard, outer.box, inner.box) == kNone;
  }

  /// The number, within `frame`, of a piece that holds `piece`; the number of its pieces if there
  /// is none. The search starts at `next`, one after the last hit.
  std::size_t find(const Ranges& guard, const Frame& frame, const Piece& piece, std::size_t next) {
    const PieceList list = schedule_.piecesOf(frame);
    const auto held = [&](std::size_t number) { return holds(guard, list[number], piece); };
    if (next >= list.size()) next = 0;
    if (held(next)) return next;
    if (list.size() > kFew) {
      const std::size_t number = equalTo(frame, piece);
      if (number < list.size() && held(number)) return number;
    }
    for (std::size_t i = 1; i < list.size(); ++i, ++checks_) {
      const std::size_t number = next + i < list.size() ? next + i : next + i - list.size();
      if (held(number)) return number;
    }
    return list.size();
  }

  /// Pieces examined so far by linear search.
  std::uint64_t checks() const { return checks_; }

 private:
  static constexpr std::size_t kFew = 8;  // pieces that are searched linearly

  /// The first block axis on which the intervals of two boxes do not satisfy `rule`.
  template <typename Rule>
  std::uint32_t axisAgainst(const Ranges& guard, std::uint32_t one, std::uint32_t other,
                            Rule rule) const {
    for (std::uint32_t axis = 0; axis < axes_.count() && one != other; ++axis) {
      const std::uint32_t size = axes_.size(axis);
      const Range& executing = guard[axes_.nodeAxis(axis)];
      if (!rule(seen(schedule_.blockInterval(one, axis), executing, size),
                seen(schedule_.blockInterval(other, axis), executing, size), size)) {
        return axis;
      }
    }
    return kNone;
  }

  /// The first piece of `frame` with the part and the box of `piece`.
  std::size_t equalTo(const Frame& frame, const Piece& piece) {
    const std::span<const Piece> all = schedule_.pieces;
    const auto key = [&](std::uint32_t index) {
      return std::tuple(all[index].part, all[index].box, index);
    };
    if (sorted_.empty()) {
      sorted_.resize(all.size());
      std::iota(sorted_.begin(), sorted_.end(), 0u);
      std::ranges::sort(sorted_, {}, key);
    }
    const auto found =
        std::ranges::lower_bound(sorted_, std::tuple(piece.part, piece.box, frame.box), {}, key);
    if (found == sorted_.end() || *found - frame.box >= frame.pieces) return frame.pieces;
    return *found - frame.box;
  }

  const ScheduleView& schedule_;
  const BlockAxes axes_;
  std::vector<std::uint32_t> sorted_;  // all pieces, by part, box and number; empty: not yet made
  std::uint64_t checks_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_PIECE_SEARCH_H_
