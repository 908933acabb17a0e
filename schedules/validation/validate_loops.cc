// Structural validation of loops: nesting, work, dependence on counters, and the iterations that
// operations wait for.
#include "schedules/validation/validate_loops.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "schedules/faults/reject.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/validation/validate.h"
#include "schedules/validation/validate_operations.h"
#include "support/message.h"

namespace torc {
namespace {

/// Checks the place and length of each loop.
void validateTable(const ScheduleView& schedule) {
  std::vector<std::uint32_t> open;  // ends of the loops around the current one
  std::uint32_t begin = 0;
  checkEach("loop", schedule.loops, [&](const Loop& loop) {
    rejectIf(loop.begin == loop.end, "has no operations");
    rejectIf(loop.begin > loop.end || loop.end > schedule.operations.size(), "has operations ",
             loop.begin, " to before ", loop.end, " of ", schedule.operations.size());
    while (!open.empty() && open.back() <= loop.begin)
      open.pop_back();
    rejectIf(loop.begin < begin || (!open.empty() && loop.end > open.back()),
             "neither follows the loop before it nor lies inside it");
    begin = loop.begin;
    open.push_back(loop.end);
    rejectIf(open.size() > kMaxLoopDepth, "stands in more than ", kMaxLoopDepth - 1);
    rejectIf(loop.count < 1 || loop.count > kMaxLoopOperations, "has ", loop.count,
             " iterations, must have 1 to ", kMaxLoopOperations);
    rejectIf(schedule.operations[loop.begin].phase != schedule.operations[loop.end - 1].phase,
             "goes over from phase ", schedule.operations[loop.begin].phase, " to ",
             schedule.operations[loop.end - 1].phase);
  });
}

void validateIterationTable(const ScheduleView& schedule) {
  rejectIf(schedule.iterations.size() > kMaxIterationRecords,
           "iterations: ", schedule.iterations.size(), " records, at most ", kMaxIterationRecords);
  checkEach("iterations", schedule.iterations, [&](const Iterations& iterations) {
    const std::uint32_t least = iterations.segments > 0 ? 0 : 1;
    rejectIf(schedule.loops.empty() && (iterations.depth > 0 || least > 0), "of ", iterations.depth,
             " loops, and there are none");
    rejectIf(iterations.depth < least || iterations.depth > kMaxLoopDepth, "of ", iterations.depth,
             " loops, must be of ", least, " to ", kMaxLoopDepth);
    rejectIf(iterations.segments > (schedule.segments > 1 ? kMaxSegmentsBefore : 0), "of ",
             iterations.segments, " segments before, in a schedule of ", schedule.segments);
    for (std::uint32_t level = 0; level < kMaxLoopDepth; ++level) {
      const IterationOrigin origin = iterations.origin[level];
      rejectIf(level >= iterations.depth &&
                   (origin != IterationOrigin::kOwn || iterations.offset[level] != 0),
               "say something of loop ", level, " of ", iterations.depth);
      rejectIf(origin > IterationOrigin::kBack, "origin ", static_cast<unsigned>(origin),
               " is unknown");
      rejectIf(origin == IterationOrigin::kAll && iterations.offset[level] != 0,
               "all of a loop have no offset");
      rejectIf((origin == IterationOrigin::kLast && iterations.offset[level] > 0) ||
                   (origin == IterationOrigin::kFirst && iterations.offset[level] < 0),
               std::abs(iterations.offset[level]),
               origin == IterationOrigin::kLast ? " behind the last" : " before the first",
               " of loop ", level, " is none");
    }
  });
}

/// Checks the operations in loops.
class LoopValidator {
 public:
  explicit LoopValidator(const ScheduleView& schedule)
      : schedule_(schedule),
        axes_(schedule.blockAxes()),
        nest_(schedule),
        frames_(schedule.frames.size()) {}

  void check(std::uint32_t index) {
    index_ = index;
    around_ = nest_.aroundOperation(index);
    const Operation& operation = schedule_.operations[index];
    rejectIf(operation.hasPeerLoop() && around_.depth() > 0, "has a loop over peers inside a loop");
    if (!schedule_.loops.empty()) checkIterations(operation);
    for (const std::uint32_t dependence : schedule_.dependencesOf(operation)) {
      checkDependence(dependence);
    }
  }

 private:
  /// Checks that everything that depends on a counter is in range in every iteration, and that the
  /// work is bounded.
  void checkIterations(const Operation& operation) {
    checkGuard(operation.guard);
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present()) checkRegion(*region);
    }
    checkSlots(operation.dst, operation.a);
    checkSlots(operation.dst, operation.b);
    checkSlots(operation.a, operation.b);
    checkWork();
  }

  /// Expansion visits all of this for every iteration.
  void checkWork() {
    const Operation& operation = schedule_.operations[index_];
    std::uint64_t pieces = 0;
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      pieces += region->pieces;
      if (region->frame != kNone) pieces += schedule_.frames[region->frame].pieces;
    }
    const std::uint64_t runs = std::min(nest_.runs(index_), kMaxLoopOperations + 1);
    addWork(operations_, runs, 1, "operations");
    addWork(pieces_, runs * pieces, 4, "pieces");
  }

  /// Adds `work` of a segment to `sum`, and compares it with the limits for `times` as many
  /// operations: of the segments of a proof, and of all.
  void addWork(std::uint64_t& sum, std::uint64_t work, std::uint64_t times, const char* what) {
    sum += work;
    const std::uint64_t segments = schedule_.segments;
    const std::uint64_t proved = std::min<std::uint64_t>(segments, schedule_.window + 1);
    const struct {
      std::uint64_t segments, most;
    } limits[] = {{proved, times * mostLoopOperations(schedule_)},
                  {segments, times * kMaxLoopOperations}};
    for (const auto& limit : limits) {
      if (sum <= limit.most / limit.segments) continue;
      const std::string of =
          segments == 1 ? "" : ", of " + std::to_string(limit.segments) + " segments,";
      reject("the iterations up to here", of, " have more than ", limit.most, " ", what);
    }
  }

  void checkRegion(const Region& region) {
    checkBlocks(schedule_.piecesOf(region));
    if (region.frame != kNone) checkFrame(region);
  }

  void checkBlocks(const PieceList& pieces) {
    for (const Piece& piece : pieces) {
      for (std::uint32_t axis = 0; axis < axes_.count(); ++axis)
        checkInterval(schedule_.blockInterval(piece.box, axis), axes_.nodeAxis(axis));
    }
  }

  /// A frame that depends on a counter, or has copies, belongs to one iteration.
  void checkFrame(const Region& region) {
    const Frame& frame = schedule_.frames[region.frame];
    Use& use = frames_[region.frame];
    const bool is_used = use.known;
    if (!is_used) use = {true, depthOf(schedule_.piecesOf(frame)), around_};
    if (!is_used || use.depth > around_.depth()) {
      within([&] { checkBlocks(schedule_.piecesOf(frame)); }, "frame ", region.frame);
    }
    rejectIf(frame.copies > 1 && around_.depth() == 0, "frame ", region.frame, ": has ",
             frame.copies, " copies, but is used outside of loops");
    rejectIf((frame.copies > 1 || use.depth > 0) && use.loops != around_, "frame ", region.frame,
             ": is used in other loops, too");
    if (region != wholeFrame(frame, region.frame)) checkInside(region);
  }

  /// Checks that the frame of a region holds it in every iteration.
  void checkInside(const Region& region) {
    const PieceList outer = schedule_.piecesOf(schedule_.frames[region.frame]);
    std::size_t next = 0;  // mostly the pieces of a region follow the frame's order
    for (const Piece& piece : schedule_.piecesOf(region)) {
      std::size_t looked_at = 0;
      while (looked_at < outer.size() && !staysInside(outer[next], piece, outer.size() > 1)) {
        next = (next + 1) % outer.size();
        ++looked_at;
      }
      rejectIf(looked_at == outer.size(), "frame ", region.frame,
               ": may not hold the region in it in every iteration");
      next = (next + 1) % outer.size();
      piece_checks_ += looked_at;
      rejectIf(piece_checks_ > mostPieceChecks(schedule_),
               "takes too long to find in the pieces of frame ", region.frame);
    }
  }

  /// Checks that regions of an operation in two frames never share a slot: copies of unequal
  /// numbers would meet in some iteration.
  void checkSlots(const Region& one, const Region& other) {
    if (one.frame == kNone || other.frame == kNone || one.frame == other.frame) return;
    const Frame& first = schedule_.frames[one.frame];
    const Frame& second = schedule_.frames[other.frame];
    if (first.copies == second.copies || first.group() + first.copies <= second.group() ||
        second.group() + second.copies <= first.group())
      return;
    reject("frames ", one.frame, " and ", other.frame, " may be in one slot (",
           std::max(first.group(), second.group()), ")");
  }

  /// The depth of the innermost loop whose counter moves the blocks; 0: they are the same in all
  /// iterations.
  std::uint8_t depthOf(const PieceList& pieces) const {
    std::uint8_t depth = 0;
    for (const Piece& piece : pieces) {
      for (std::uint32_t axis = 0; axis < axes_.count(); ++axis)
        depth = std::max(depth, schedule_.blockInterval(piece.box, axis).loop);
    }
    return depth;
  }

  /// Whether blocks inside others in the first iteration stay inside in all: on every axis both
  /// move alike, or the distance between them stays in range. For several pieces the enclosing
  /// piece of the first iteration is still unknown.
  bool staysInside(const Piece& outer, const Piece& inner, bool of_several) const {
    for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
      const Interval& around = schedule_.blockInterval(outer.box, axis);
      const Interval& inside = schedule_.blockInterval(inner.box, axis);
      if (around.kind == IntervalKind::kAll) continue;
      const bool alike = around.loop == inside.loop && around.step == inside.step;
      if (alike && !of_several) continue;
      if (around.kind != inside.kind ||
          (around.loop != inside.loop && around.loop != 0 && inside.loop != 0)) {
        return false;
      }
      const std::uint32_t loop = std::max(around.loop, inside.loop);
      const std::int64_t last =
          loop == 0 ? 0 : std::int64_t{nest_.loop(around_[loop - 1]).count} - 1;
      const std::int64_t first_offset =
          wrap(std::int64_t{inside.start} - around.start, axes_.size(axis));
      const std::int64_t last_offset = first_offset + (inside.step - around.step) * last;
      const std::int64_t first_room = std::int64_t{around.length} - inside.length;
      const std::int64_t last_room = first_room + (around.growth - inside.growth) * last;
      if (first_offset > first_room || last_offset < 0 || last_offset > last_room) return false;
    }
    return !of_several ||
           (inner.part >= outer.part && inner.part + inner.parts <= outer.part + outer.parts);
  }

  void checkInterval(const Interval& interval, std::uint32_t axis) {
    if (interval.loop == 0) return;
    if (interval.loop > around_.depth())
      reject("goes on ", axisName(axis), " with the counter ", counterName(interval.loop - 1u),
             ", but stands in ", around_.depth(), " loops");
    const std::int64_t last = std::int64_t{nest_.loop(around_[interval.loop - 1u]).count} - 1;
    const Axis& along = schedule_.topology.axes[axis];
    const auto start = [&](std::int64_t i) { return interval.start + interval.step * i; };
    const auto length = [&](std::int64_t i) { return interval.length + interval.growth * i; };
    const auto fits = [&](std::int64_t i) {
      if (length(i) < 1 || length(i) > along.size) return false;
      if (interval.kind == IntervalKind::kRelative)
        return start(i) == static_cast<std::int32_t>(start(i));
      return start(i) >= 0 && start(i) + (along.wraps() ? 1 : length(i)) <= along.size;
    };
    if (fits(last)) return;
    std::int64_t first = 0;
    while (fits(first))
      ++first;
    std::string own;
    if (interval.kind == IntervalKind::kRelative) {
      own = static_cast<char>(along.name - 'A' + 'a');
      own += start(first) < 0 ? "" : "+";
    }
    reject("goes on ", axisName(axis), " to ", own, start(first), ":", length(first), " where ",
           counterName(interval.loop - 1u), " = ", first, " (size ", along.size, ")");
  }

  /// A guard that depends on a counter does not wrap around its axis, and nothing is dead.
  void checkGuard(std::uint32_t guard) {
    if (guard == kNone) return;
    const Topology& topology = schedule_.topology;
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      const Interval& interval = schedule_.boxes[guard][axis];
      if (interval.loop == 0) continue;
      within([&] { checkInterval(interval, axis); }, "guard");
      rejectIf(topology.isDamaged(), "guard: goes with a counter on ", axisName(axis),
               ", and some nodes are dead");
      const std::uint32_t level = interval.loop - 1u;
      const auto leaves = [&](std::uint32_t iteration) {
        Counters counters{};
        counters[level] = iteration;
        const Interval here = interval.at(counters);
        return here.start < 0 ||
               std::int64_t{here.start} + here.length > std::int64_t{topology.axes[axis].size};
      };
      if (!leaves(0) && !leaves(nest_.loop(around_[level]).count - 1)) continue;
      std::uint32_t first = 0;
      while (!leaves(first))
        ++first;
      reject("guard: leaves ", axisName(axis), " where ", counterName(level), " = ", first,
             " (size ", topology.axes[axis].size, ")");
    }
  }

  /// Dependences point to earlier operations in every iteration.
  void checkDependence(std::uint32_t dependence) {
    const std::uint32_t target = operationOf(dependence);
    rejectIf(target >= schedule_.operations.size(), "depends on operation ", target,
             ", which does not exist");
    const LoopsAround there = nest_.aroundOperation(target);
    const std::uint32_t shared = sharedDepth(around_, there);
    const Iterations iterations = iterationsNamed(schedule_, dependence, around_, there);
    rejectIf(iterationsOf(dependence) != 0 && iterations.depth != there.depth(),
             "depends on operation ", target, ", which stands in ", there.depth(), " loops, by ",
             iterations.depth, " of their iterations");
    bool earlier = iterations.segments > 0;  // or by a loop around both
    constexpr std::uint64_t kTimes = 8;      // as many dependences as operations
    std::uint64_t count = std::min(nest_.runs(index_), kMaxLoopOperations);
    for (std::uint32_t level = 0; level < there.depth(); ++level) {
      const IterationOrigin origin = iterations.origin[level];
      const std::int32_t offset = iterations.offset[level];
      const bool by_counter = origin == IterationOrigin::kOwn || origin == IterationOrigin::kBack;
      if (by_counter && level >= around_.depth())
        reject("depends on operation ", target, " by a counter ", counterName(level),
               " of its own, but stands in ", around_.depth(), " loops");
      if (origin == IterationOrigin::kAll) {
        const std::uint64_t all = nest_.loop(there[level]).count;
        count = std::min(count * all, kTimes * kMaxLoopOperations + 1);
      }
      if (level >= shared || earlier) continue;
      if (origin != IterationOrigin::kOwn || offset > 0)
        reject("depends on operation ", target, " of ",
               origin == IterationOrigin::kOwn ? "a later iteration"
                                               : "other iterations than earlier ones",
               " of the loop that both stand in (counter ", counterName(level), ")");
      earlier = offset < 0;
    }
    rejectIf(!earlier && target >= index_, "depends on operation ", target,
             ", which is not above it");
    if (!schedule_.loops.empty()) addWork(dependences_, count, kTimes, "dependences");
  }

  char axisName(std::uint32_t axis) const { return schedule_.topology.axes[axis].name; }

  const ScheduleView& schedule_;
  const BlockAxes axes_;
  const LoopNest nest_;
  /// A used frame.
  struct Use {
    bool known = false;
    std::uint8_t depth = 0;  // of the loops whose counters it depends on
    LoopsAround loops;       // around its users
  };
  std::vector<Use> frames_;
  std::uint64_t operations_ = 0, pieces_ = 0, dependences_ = 0;  // of all iterations so far
  std::uint64_t piece_checks_ = 0;                               // pieces of frames examined
  // Of the operation that is being checked:
  std::uint32_t index_ = 0;
  LoopsAround around_;
};

}  // namespace

std::uint64_t mostLoopOperations(const ScheduleView& schedule) {
  const std::uint64_t records =
      schedule.operations.size() + schedule.pieces.size() + schedule.frames.size();
  std::uint32_t longest = 1;
  for (std::uint32_t axis = 0; axis < schedule.topology.axis_count; ++axis)
    longest = std::max(longest, schedule.topology.axes[axis].size);
  const std::uint64_t small = (1u << 17) + 8 * std::min(longest, 1u << 16);
  return std::min(kMaxLoopOperations, small + 128 * records);
}

void validateLoops(const ScheduleView& schedule) {
  validateTable(schedule);
  validateIterationTable(schedule);
  LoopValidator validator(schedule);
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    within([&] { validator.check(i); }, "operation ", i);
  }
}

}  // namespace torc
