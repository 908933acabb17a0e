#include "passes/loops/repetition.h"

#include <limits>

namespace torc::passes {
namespace {

bool isInt8(std::int64_t value) {
  return value >= std::numeric_limits<std::int8_t>::min() &&
         value <= std::numeric_limits<std::int8_t>::max();
}

/// Whether starts on an axis are cyclic.
bool countsRound(const Interval& interval, const Axis& axis) {
  return interval.kind == IntervalKind::kRelative && axis.wraps();
}

/// The interval that is `first` in iteration 0 and `second` in iteration 1.
std::optional<Interval> through(const Interval& first, const Interval& second, const Axis& axis) {
  if (first == second) return first;
  if (first.kind != second.kind ||
      (first.kind != IntervalKind::kAbsolute && first.kind != IntervalKind::kRelative)) {
    return std::nullopt;
  }
  std::int64_t step = std::int64_t{second.start} - first.start;
  if (countsRound(first, axis)) {
    step = wrap(step, axis.size);
    if (2 * step > axis.size) step -= axis.size;
  }
  const std::int64_t growth = std::int64_t{second.length} - first.length;
  if (!isInt8(step) || !isInt8(growth)) return std::nullopt;
  Interval through = first;
  through.loop = step != 0 || growth != 0;
  through.step = static_cast<std::int8_t>(step);
  through.growth = static_cast<std::int8_t>(growth);
  return through;
}

/// Whether `interval` is `through` in iteration `iteration`.
bool fits(const Interval& through, const Interval& interval, const Axis& axis,
          std::uint32_t iteration) {
  const Interval wanted = through.at({iteration});
  if (wanted == interval) return true;
  return wanted.kind == interval.kind && wanted.length == interval.length &&
         countsRound(interval, axis) &&
         wrap(std::int64_t{wanted.start} - interval.start, axis.size) == 0;
}

std::optional<Box> through(const Box& first, const Box& second, const Topology& topology) {
  Box box;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const auto interval = through(first[axis], second[axis], topology.axes[axis]);
    if (!interval) return std::nullopt;
    box[axis] = *interval;
  }
  return box;
}

bool fits(const Box& through, const Box& box, const Topology& topology, std::uint32_t iteration) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (!fits(through[axis], box[axis], topology.axes[axis], iteration)) return false;
  }
  return true;
}

const Box& sourceOf(const ScheduleView& schedule, std::uint32_t box) {
  return schedule.boxes[schedule.hasPairs() ? schedule.pairs[box].source : box];
}
const Box& destinationOf(const ScheduleView& schedule, std::uint32_t box) {
  return schedule.boxes[schedule.hasPairs() ? schedule.pairs[box].destination : box];
}

const Box& guardOf(const ScheduleView& schedule, const Operation& operation) {
  static const Box everyone;
  return operation.guard == kNone ? everyone : schedule.boxes[operation.guard];
}

std::array<const Region*, 3> regionsOf(const Operation& operation) {
  return {&operation.dst, &operation.a, &operation.b};
}

/// Whether two operations agree, apart from blocks, as iterations must.
bool areAlike(const Operation& a, const Operation& b) {
  if (a.kind != b.kind || a.peer_kind != b.peer_kind || a.phase != b.phase ||
      a.stream != b.stream || a.peer != b.peer || (a.guard == kNone) != (b.guard == kNone)) {
    return false;
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Region &one = *regionsOf(a)[i], &other = *regionsOf(b)[i];
    if (one.buffer != other.buffer || one.pieces != other.pieces ||
        (one.frame == kNone) != (other.frame == kNone)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RepeatedOperation> RepeatedOperation::make(const ScheduleView& schedule,
                                                         std::uint32_t first,
                                                         std::uint32_t second) {
  const Operation& one = schedule.operations[first];
  const Operation& other = schedule.operations[second];
  if (one.hasPeerLoop() || !areAlike(one, other)) return std::nullopt;
  RepeatedOperation repeated;
  repeated.first_ = one;
  repeated.has_pairs_ = schedule.hasPairs();
  const Topology& topology = schedule.topology;
  const auto add = [&](const PieceList& ones, const PieceList& others, List& list) {
    if (ones.size() != others.size()) return false;
    for (std::size_t i = 0; i < ones.size(); ++i) {
      if (ones[i].part != others[i].part || ones[i].parts != others[i].parts) return false;
      const auto box =
          through(sourceOf(schedule, ones[i].box), sourceOf(schedule, others[i].box), topology);
      const auto destination = through(destinationOf(schedule, ones[i].box),
                                       destinationOf(schedule, others[i].box), topology);
      if (!box || !destination) return false;
      list.push_back({ones[i].part, ones[i].parts, *box, *destination});
    }
    return true;
  };
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Region &region = *regionsOf(one)[i], &then = *regionsOf(other)[i];
    if (!region.present()) continue;
    if (!add(schedule.piecesOf(region), schedule.piecesOf(then), repeated.regions_[i])) {
      return std::nullopt;
    }
    if (region.frame != kNone &&
        !add(schedule.piecesOf(schedule.frames[region.frame]),
             schedule.piecesOf(schedule.frames[then.frame]), repeated.frames_[i])) {
      return std::nullopt;
    }
  }
  const auto guard = through(guardOf(schedule, one), guardOf(schedule, other), topology);
  if (!guard) return std::nullopt;
  // With damage no guard depends on a counter (schedules/validation/validate_loops.cc).
  if (topology.isDamaged() && *guard != guardOf(schedule, one)) return std::nullopt;
  repeated.guard_ = *guard;
  return repeated;
}

bool RepeatedOperation::fits(const ScheduleView& schedule, std::uint32_t index,
                             std::uint32_t iteration) const {
  const Operation& operation = schedule.operations[index];
  if (!areAlike(first_, operation)) return false;
  const Topology& topology = schedule.topology;
  const auto fit = [&](const List& list, const PieceList& pieces) {
    if (pieces.size() != list.size()) return false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (pieces[i].part != list[i].part || pieces[i].parts != list[i].parts ||
          !passes::fits(list[i].box, sourceOf(schedule, pieces[i].box), topology, iteration) ||
          !passes::fits(list[i].destination, destinationOf(schedule, pieces[i].box), topology,
                        iteration)) {
        return false;
      }
    }
    return true;
  };
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Region& region = *regionsOf(operation)[i];
    if (!region.present()) continue;
    if (!fit(regions_[i], schedule.piecesOf(region))) return false;
    if (region.frame != kNone &&
        !fit(frames_[i], schedule.piecesOf(schedule.frames[region.frame]))) {
      return false;
    }
  }
  return passes::fits(guard_, guardOf(schedule, operation), topology, iteration);
}

llvm::SmallVector<Piece, 4> RepeatedOperation::pieces(std::uint32_t region, bool of_frame,
                                                      ir::ScheduleBuilder& builder) const {
  llvm::SmallVector<Piece, 4> pieces;
  for (const RepeatedBlocks& blocks : (of_frame ? frames_ : regions_)[region]) {
    const std::uint32_t box =
        has_pairs_ ? builder.pair(blocks.box, blocks.destination) : builder.box(blocks.box);
    pieces.push_back({blocks.part, blocks.parts, box});
  }
  return pieces;
}

Repetition repetitionAt(const ScheduleView& schedule, std::uint32_t begin, std::uint32_t period,
                        std::uint32_t end) {
  Repetition repetition{begin, period, 1, {}};
  for (; repetition.end() + period <= end; ++repetition.count) {
    for (std::uint32_t position = 0; position < period; ++position) {
      const std::uint32_t index = repetition.end() + position;
      if (repetition.count == 1) {
        auto repeated = RepeatedOperation::make(schedule, begin + position, index);
        if (!repeated) return repetition;
        repetition.body.push_back(std::move(*repeated));
      } else if (!repetition.body[position].fits(schedule, index, repetition.count)) {
        return repetition;
      }
    }
  }
  return repetition;
}

}  // namespace torc::passes
