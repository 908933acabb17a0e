// Structural validation of operations. The nodes that execute an operation form, on every axis, a
// cyclic range: its guard. So conditions on "all executing nodes" are checked axis by axis, at the
// two ends of that range, in a time independent of the number of nodes.
#include "schedules/validation/validate_operations.h"

#include <algorithm>
#include <vector>

#include "schedules/root.h"
#include "schedules/topology/damage.h"
#include "schedules/validation/validate.h"
#include "schedules/validation/validate_regions.h"
#include "support/message.h"

namespace torc {
namespace {

/// The nodes that execute under a root-relative guard on an axis of `size`, for any root.
Range underAnyRoot(const Interval& interval, std::uint32_t size) {
  if (interval.kind == IntervalKind::kForRoots) return {0, size};
  const std::int64_t last_coordinate = std::int64_t{size} - 1;
  std::int64_t first = interval.start, last = last_coordinate + interval.start;
  if (interval.kind == IntervalKind::kFromRoot) last = interval.length;
  if (interval.kind == IntervalKind::kToRoot) first = interval.length;
  if (interval.kind == IntervalKind::kRoot) last += std::int64_t{interval.length} - 1;
  if (interval.kind == IntervalKind::kRootWithin) last = first + interval.length - 1;
  first = std::max<std::int64_t>(first, 0);
  last = std::min(last, last_coordinate);
  if (first > last) return {0, 0};
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - first + 1)};
}

class OperationValidator {
 public:
  OperationValidator(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks named)
      : schedule_(schedule),
        topology_(schedule.topology),
        regions_(schedule, part_count, named),
        peer_loop_of_(schedule.streams.size(), kUnknown) {}

  /// Checks `operation`, number `index`, as the one after those checked before.
  Status check(const Operation& operation, std::uint32_t index) {
    Status status = checkPlace(operation);
    if (status.ok()) status = checkDependences(operation, index);
    if (status.ok()) status = checkGuard(operation);
    if (status.ok()) status = checkPeer(operation);
    if (status.ok()) status = regions_.check(operation, guard_);
    return status;
  }

  /// Dependences of the operations checked so far.
  std::uint64_t dependences() const { return dependences_; }
  const RegionValidator& regions() const { return regions_; }

 private:
  Status checkPlace(const Operation& operation) {
    const auto kind = static_cast<unsigned>(operation.kind);
    if (kind >= kOperationKindCount) return malformed("operation kind ", kind, " is unknown");
    if (operation.peer_kind > PeerKind::kLoop) {
      return malformed("peer kind ", static_cast<unsigned>(operation.peer_kind), " is unknown");
    }
    if (operation.phase < phase_) {
      return malformed("phase ", operation.phase, " comes after phase ", phase_);
    }
    phase_ = operation.phase;
    if (operation.stream >= schedule_.streams.size())
      return noSuch("stream ", operation.stream, schedule_.streams.size());
    const bool reduces =
        operation.kind == OperationKind::kReduce || operation.kind == OperationKind::kRecvReduce;
    if (reduces && !rowOf(schedule_.collective).reduces()) {
      return malformed(name(operation.kind), " has no meaning: ", rowOf(schedule_.collective).name,
                       " does not reduce");
    }
    return {};
  }

  Status checkDependences(const Operation& operation, std::uint32_t index) {
    // Lists are contiguous and in order: each is read once, and a schedule has one table only.
    if (operation.first_dependence != dependences_) {
      return malformed("its dependences start at ", operation.first_dependence,
                       ", those before it end at ", dependences_);
    }
    if (operation.dependence_count > schedule_.dependences.size() - dependences_) {
      return malformed("its dependences end at ", dependences_ + operation.dependence_count,
                       ", the table at ", schedule_.dependences.size());
    }
    dependences_ += operation.dependence_count;
    std::int64_t previous = -1;
    for (const std::uint32_t dependence : schedule_.dependencesOf(operation)) {
      const std::uint32_t operation_before = operationOf(dependence);
      const std::uint32_t record = iterationsOf(dependence);
      if (dependence <= previous) {
        return malformed("dependence ", operation_before, " comes after ",
                         operationOf(static_cast<std::uint32_t>(previous)), "; they must ascend");
      }
      previous = dependence;
      if (record > schedule_.iterations.size()) {
        return malformed("depends on iterations ", record - 1,
                         ", which do not exist (schedule has ", schedule_.iterations.size(), ")");
      }
      if (record != 0 || !schedule_.loops.empty()) continue;  // validateLoops
      if (operation_before >= index) {
        return malformed("depends on operation ", operation_before, ", which is not above it");
      }
    }
    return {};
  }

  Status checkGuard(const Operation& operation) {
    Box guard;
    if (operation.guard != kNone) {
      if (operation.guard >= schedule_.boxes.size())
        return noSuch("guard: box ", operation.guard, schedule_.boxes.size());
      guard = schedule_.boxes[operation.guard];
    }
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (guard[axis].kind == IntervalKind::kRelative || isPeerRelative(guard[axis].kind)) {
        return malformed("guard: is relative on ", axisName(axis));
      }
    }
    guard_ = resolve(guard, topology_, Coordinates{});
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (isRootRelative(guard[axis].kind)) guard_[axis] = underAnyRoot(guard[axis], size(axis));
    }
    return {};
  }

  Status checkPeer(const Operation& operation) {
    const bool wanted = sends(operation.kind) || receives(operation.kind);
    if (!wanted) {
      if (operation.peer != kNone || operation.hasPeerLoop()) {
        return malformed(name(operation.kind), " has a peer");
      }
      return {};
    }
    Status status = operation.hasPeerLoop() ? checkLoop(operation) : checkShift(operation);
    if (!status.ok()) return status;
    const std::uint32_t peers = operation.hasPeerLoop() ? operation.peer : kNone;
    std::uint32_t& others = peer_loop_of_[operation.stream];
    if (others == kUnknown) others = peers;
    const bool same =
        others == peers || (others != kNone && peers != kNone &&
                            schedule_.peer_loops[others] == schedule_.peer_loops[peers]);
    if (same) return {};
    return malformed("peer: stream ", operation.stream,
                     " has messages to or from other loops over peers, or such without one");
  }

  Status checkShift(const Operation& operation) {
    if (operation.peer >= schedule_.shifts.size())
      return noSuch("peer: shift ", operation.peer, schedule_.shifts.size());
    const Shift& shift = schedule_.shifts[operation.peer];
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (topology_.axes[axis].wraps() || shift[axis] == 0) continue;
      const std::int64_t first = std::int64_t{guard_[axis].start} + shift[axis];
      const std::int64_t last = first + guard_[axis].length - 1;
      if (first < 0 || last >= size(axis)) {
        return malformed("peer: ", axisName(axis), "=", first < 0 ? first : last,
                         " is outside the mesh (size ", size(axis), ")");
      }
    }
    return checkPeerIsAlive(shift);
  }

  /// The peers of a loop execute the same operation as its node: the guard must not distinguish
  /// them.
  Status checkLoop(const Operation& operation) {
    if (operation.peer >= schedule_.peer_loops.size())
      return noSuch("peer: loop over peers ", operation.peer, schedule_.peer_loops.size());
    if (rowOf(schedule_.collective).isRooted() || rowOf(schedule_.collective).reduces() ||
        isSignal(operation.kind)) {
      return malformed(
          "peer: a loop over peers is for data that are moved between equals, not for ",
          isSignal(operation.kind) ? name(operation.kind) : rowOf(schedule_.collective).name);
    }
    const PeerLoop& peers = schedule_.peer_loops[operation.peer];
    peer_loop_messages_ += peers.size();
    if (peer_loop_messages_ > kMaxPeerLoopMessages) {
      return malformed("peer: loops over peers have more than ", kMaxPeerLoopMessages, " messages");
    }
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const bool still = peers.count[axis] == 1 && peers.first[axis] == 0;
      if (!still && guard_[axis].length != size(axis)) {
        return malformed("guard: restricts ", axisName(axis),
                         ", along which its loop over peers goes");
      }
    }
    return {};
  }

  /// Checks that no live node under the guard has a dead one at `shift`, unless such messages are
  /// dropped.
  Status checkPeerIsAlive(const Shift& shift) {
    if ((schedule_.flags & kDropsBroken) != 0) return {};
    for (const Coordinates& dead : topology_.deadNodes()) {
      Coordinates from{};
      bool executes = true;
      for (int axis = 0; axis < topology_.dimensions() && executes; ++axis) {
        const std::uint32_t at = wrap(std::int64_t{dead[axis]} - shift[axis], size(axis));
        from[axis] = static_cast<std::int32_t>(at);
        executes = contains(guard_[axis], at, size(axis));
      }
      if (executes && !topology_.isDead(from)) {
        return malformed("peer: node ", nodeText(topology_, dead), " is dead");
      }
    }
    return {};
  }

  std::uint32_t size(std::uint32_t axis) const { return topology_.axes[axis].size; }
  char axisName(std::uint32_t axis) const { return topology_.axes[axis].name; }

  const ScheduleView& schedule_;
  const Topology& topology_;
  Ranges guard_{};  // coordinates of the nodes that execute the current operation
  std::uint16_t phase_ = 0;
  std::uint64_t dependences_ = 0;
  RegionValidator regions_;

  /// Of each stream: the loop over peers of all its messages, or kNone if they have none.
  static constexpr std::uint32_t kUnknown = kNone - 1;
  std::vector<std::uint32_t> peer_loop_of_;
  std::uint64_t peer_loop_messages_ = 0;  // so far
};

}  // namespace

Status validateOperations(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks named,
                          std::uint64_t* piece_checks) {
  OperationValidator validator(schedule, part_count, named);
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    if (Status status = validator.check(schedule.operations[i], i); !status.ok()) {
      return status.annotated(message("operation ", i));
    }
  }
  if (piece_checks != nullptr) *piece_checks = validator.regions().pieceChecks();
  if (validator.dependences() != schedule.dependences.size()) {
    return malformed("dependences: ", schedule.dependences.size(), " records, operations use ",
                     validator.dependences());
  }
  return {};
}

}  // namespace torc
