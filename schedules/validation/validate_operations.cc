// Structural validation of operations. The nodes that execute an operation form, on every axis, a
// cyclic range: its guard. So conditions on "all executing nodes" are checked axis by axis, at the
// two ends of that range, in a time independent of the number of nodes.
#include "schedules/validation/validate_operations.h"

#include <algorithm>
#include <vector>

#include "schedules/faults/reject.h"
#include "schedules/root.h"
#include "schedules/topology/damage.h"
#include "schedules/validation/validate.h"
#include "schedules/validation/validate_regions.h"
#include "support/message.h"

namespace torc {
namespace {

/// The nodes that execute under a root-relative guard on an axis, for any root.
Range underAnyRoot(const Interval& interval, const Axis& axis) {
  const RootEnds ends = interval.rootEnds();
  const std::int64_t last_coordinate = std::int64_t{axis.size} - 1;
  std::int64_t first_root = 0, last_root = last_coordinate;
  if (interval.kind == IntervalKind::kForRoots) {
    if (axis.wraps()) return {0, axis.size};
    first_root = interval.rootSpan().from;
    last_root = interval.rootSpan().to;
  }
  const std::int64_t first =
      std::max<std::int64_t>(ends.first + (ends.first_from_root ? first_root : 0), 0);
  const std::int64_t last =
      std::min(ends.last + (ends.last_from_root ? last_root : 0), last_coordinate);
  if (first > last) return {0, 0};
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - first + 1)};
}

class OperationValidator : public RegionValidator {
 public:
  OperationValidator(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks named)
      : RegionValidator(schedule, part_count, named),
        peer_loop_of_(schedule.streams.size(), kUnknown) {}

  /// Checks `operation`, number `index`, as the one after those checked before.
  void check(const Operation& operation, std::uint32_t index) {
    checkPlace(operation);
    checkDependences(operation, index);
    checkGuard(operation);
    checkPeer(operation);
    checkRegions(operation);
  }

  /// Dependences of the operations checked so far.
  std::uint64_t dependences() const { return dependences_; }

 private:
  void checkPlace(const Operation& operation) {
    const auto kind = static_cast<unsigned>(operation.kind);
    rejectIf(kind >= kOperationKindCount, "operation kind ", kind, " is unknown");
    rejectIf(operation.peer_kind > PeerKind::kLoop, "peer kind ",
             static_cast<unsigned>(operation.peer_kind), " is unknown");
    rejectIf(operation.phase < phase_, "phase ", operation.phase, " comes after phase ", phase_);
    phase_ = operation.phase;
    checkExists("stream ", operation.stream, schedule_.streams.size());
    const bool reduces = regionsOf(operation.kind).b;
    rejectIf(reduces && !rowOf(schedule_.collective).reduces(), name(operation.kind),
             " has no meaning: ", rowOf(schedule_.collective).name, " does not reduce");
  }

  void checkDependences(const Operation& operation, std::uint32_t index) {
    // Lists are contiguous and in order: each is read once, and a schedule has one table only.
    rejectIf(operation.first_dependence != dependences_, "its dependences start at ",
             operation.first_dependence, ", those before it end at ", dependences_);
    rejectIf(operation.dependence_count > schedule_.dependences.size() - dependences_,
             "its dependences end at ", dependences_ + operation.dependence_count,
             ", the table at ", schedule_.dependences.size());
    dependences_ += operation.dependence_count;
    std::int64_t previous = -1;
    for (const std::uint32_t dependence : schedule_.dependencesOf(operation)) {
      const std::uint32_t operation_before = operationOf(dependence);
      const std::uint32_t record = iterationsOf(dependence);
      rejectIf(dependence <= previous, "dependence ", operation_before, " comes after ",
               operationOf(static_cast<std::uint32_t>(previous)), "; they must ascend");
      previous = dependence;
      rejectIf(record > schedule_.iterations.size(), "depends on iterations ", record - 1,
               ", which do not exist (schedule has ", schedule_.iterations.size(), ")");
      if (record != 0 || !schedule_.loops.empty()) continue;  // validateLoops
      rejectIf(operation_before >= index, "depends on operation ", operation_before,
               ", which is not above it");
    }
  }

  void checkGuard(const Operation& operation) {
    Box guard;
    if (operation.guard != kNone) {
      checkExists("guard: box ", operation.guard, schedule_.boxes.size());
      guard = schedule_.boxes[operation.guard];
    }
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      rejectIf(guard[axis].kind == IntervalKind::kRelative || isPeerRelative(guard[axis].kind),
               "guard: is relative on ", axisName(axis));
    }
    guard_ = resolve(guard, topology_, Coordinates{});
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (isRootRelative(guard[axis].kind))
        guard_[axis] = underAnyRoot(guard[axis], topology_.axes[axis]);
    }
  }

  void checkPeer(const Operation& operation) {
    const bool wanted = sends(operation.kind) || receives(operation.kind);
    if (!wanted) {
      rejectIf(operation.peer != kNone || operation.hasPeerLoop(), name(operation.kind),
               " has a peer");
      return;
    }
    operation.hasPeerLoop() ? checkLoop(operation) : checkShift(operation);
    const std::uint32_t peers = operation.hasPeerLoop() ? operation.peer : kNone;
    std::uint32_t& others = peer_loop_of_[operation.stream];
    if (others == kUnknown) others = peers;
    const bool same =
        others == peers || (others != kNone && peers != kNone &&
                            schedule_.peer_loops[others] == schedule_.peer_loops[peers]);
    if (same) return;
    reject("peer: stream ", operation.stream,
           " has messages to or from other loops over peers, or such without one");
  }

  void checkShift(const Operation& operation) {
    checkExists("peer: shift ", operation.peer, schedule_.shifts.size());
    const Shift& shift = schedule_.shifts[operation.peer];
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (topology_.axes[axis].wraps() || shift[axis] == 0) continue;
      within([&] { checkReach(axis, shift[axis], std::int64_t{shift[axis]} + 1); }, "peer");
    }
    checkPeerIsAlive(shift);
  }

  /// The peers of a loop execute the same operation as its node: the guard must not distinguish
  /// them.
  void checkLoop(const Operation& operation) {
    checkExists("peer: loop over peers ", operation.peer, schedule_.peer_loops.size());
    rejectIf(rowOf(schedule_.collective).isRooted() || rowOf(schedule_.collective).reduces() ||
                 isSignal(operation.kind),
             "peer: a loop over peers is for data that are moved between equals, not for ",
             isSignal(operation.kind) ? name(operation.kind) : rowOf(schedule_.collective).name);
    const PeerLoop& peers = schedule_.peer_loops[operation.peer];
    peer_loop_messages_ += peers.size();
    rejectIf(peer_loop_messages_ > kMaxPeerLoopMessages, "peer: loops over peers have more than ",
             kMaxPeerLoopMessages, " messages");
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      rejectIf(peers.moves(axis) && guard_[axis].length != size(axis), "guard: restricts ",
               axisName(axis), ", along which its loop over peers goes");
    }
  }

  /// Checks that no live node under the guard has a dead one at `shift`, unless such messages are
  /// dropped.
  void checkPeerIsAlive(const Shift& shift) {
    if ((schedule_.flags & kDropsBroken) != 0) return;
    for (const Coordinates& dead : topology_.deadNodes()) {
      Coordinates from{};
      bool executes = true;
      for (int axis = 0; axis < topology_.dimensions() && executes; ++axis) {
        const std::uint32_t at = wrap(std::int64_t{dead[axis]} - shift[axis], size(axis));
        from[axis] = static_cast<std::int32_t>(at);
        executes = contains(guard_[axis], at, size(axis));
      }
      if (executes && !topology_.isDead(from))
        reject("peer: node ", nodeText(topology_, dead), " is dead");
    }
  }

  std::uint16_t phase_ = 0;
  std::uint64_t dependences_ = 0;

  /// Of each stream: the loop over peers of all its messages, or kNone if they have none.
  static constexpr std::uint32_t kUnknown = kNone - 1;
  std::vector<std::uint32_t> peer_loop_of_;
  std::uint64_t peer_loop_messages_ = 0;  // so far
};

}  // namespace

std::uint64_t validateOperations(const ScheduleView& schedule, std::uint32_t part_count,
                                 NamedBlocks named) {
  OperationValidator validator(schedule, part_count, named);
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    within([&] { validator.check(schedule.operations[i], i); }, "operation ", i);
  }
  rejectIf(validator.dependences() != schedule.dependences.size(),
           "dependences: ", schedule.dependences.size(), " records, operations use ",
           validator.dependences());
  return validator.pieceChecks();
}

}  // namespace torc
