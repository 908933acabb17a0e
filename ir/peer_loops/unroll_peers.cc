// Unrolls loops over peers, message by message.
#include <utility>
#include <vector>

#include "ir/peer_loops/peer_loops.h"
#include "ir/schedule_builder.h"

namespace torc::ir {
namespace {

class Unroller {
 public:
  explicit Unroller(const ScheduleView& schedule)
      : schedule_(schedule), topology_(schedule.topology), builder_(headerOf(schedule)) {}

  UnrolledSchedule run() {
    builder_.addStorage(schedule_);
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = schedule_.operations[i];
      std::vector<std::uint32_t> after;
      for (const std::uint32_t dependence : schedule_.dependencesOf(operation)) {
        // Without dependences on earlier segments: segments are unrolled if the order matters.
        if (dependence < i)
          after.insert(after.end(), made_[dependence].begin(), made_[dependence].end());
      }
      made_.emplace_back();
      if (!operation.hasPeerLoop()) {
        const Shift shift = operation.peer == kNone ? Shift{} : schedule_.shifts[operation.peer];
        add(operation, shift, schedule_.guardBox(operation.guard), after);
        continue;
      }
      // The order of rank 0: messages between two nodes have the same order in any.
      for (const Shift& shift : shiftsOf(schedule_.peer_loops[operation.peer], 0, i))
        addWays(operation, receives(operation.kind) ? opposite(shift) : shift, after);
    }
    return {builder_.take(), std::move(source_)};
  }

 private:
  /// One message of a loop over peers. On every line, one operation for the nodes whose message
  /// stays inside, and one for those whose message goes the other way.
  void addWays(const Operation& operation, const Shift& shift,
               const std::vector<std::uint32_t>& after) {
    std::vector<std::uint32_t> lines;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (!topology_.axes[axis].wraps() && shift[axis] != 0) lines.push_back(axis);
    }
    for (std::uint32_t turned = 0; turned < 1u << lines.size(); ++turned) {
      Shift way = shift;
      Box guard = schedule_.guardBox(operation.guard);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::uint32_t axis = lines[i];
        const auto size = static_cast<std::int32_t>(topology_.axes[axis].size);
        const std::int32_t inside = size - std::abs(shift[axis]);  // this many stay inside
        const bool turns = turned >> i & 1;
        const bool from_start = (shift[axis] > 0) != turns;
        const std::int32_t count = turns ? size - inside : inside;
        guard[axis] =
            Interval::absolute(from_start ? 0 : size - count, static_cast<std::uint32_t>(count));
        if (turns) way[axis] += shift[axis] > 0 ? -size : size;
      }
      add(operation, way, guard, after);
    }
  }

  void add(Operation operation, const Shift& shift, const Box& guard,
           const std::vector<std::uint32_t>& after) {
    const auto change = [&](const Box& box) { return at(box, shift); };
    builder_.setRegions(operation, [&](const Region& region) {
      return builder_.piecesOf(schedule_, region, change);
    });
    if (operation.peer != kNone) operation.peer = builder_.shift(shift);
    operation.peer_kind = PeerKind::kShift;
    operation.guard = operation.guard == kNone && guard == Box{} ? kNone : builder_.box(guard);
    made_.back().push_back(builder_.addOperation(operation, after));
    source_.push_back(static_cast<std::uint32_t>(made_.size() - 1));
  }

  /// `box` for a peer at `shift`.
  Box at(Box box, const Shift& shift) const {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      Interval& interval = box[axis];
      if (isPeerRelative(interval.kind)) {
        interval = Interval::relative(interval.start + shift[axis], interval.length);
      }
    }
    return box;
  }

  const ScheduleView& schedule_;
  const Topology& topology_;
  ScheduleBuilder builder_;
  std::vector<std::vector<std::uint32_t>> made_;  // by operation of the schedule
  std::vector<std::uint32_t> source_;             // by operation made
};

}  // namespace

UnrolledSchedule unrollPeerLoops(const ScheduleView& schedule) {
  return Unroller(schedule).run();
}

}  // namespace torc::ir
