#include "ir/verifier/roots/root_shifts.h"

#include <cstdlib>
#include <map>
#include <numeric>
#include <span>

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/STLExtras.h>

#include "schedules/root.h"

namespace torc::ir {
namespace {

/// Kind of a guard on an axis along which the root moves.
enum class Along : std::uint8_t { kAll, kAbsolute, kFromRoot, kOther };

Along alongOf(const Interval& interval, std::uint32_t size) {
  switch (interval.kind) {
    case IntervalKind::kAll:
      return Along::kAll;
    case IntervalKind::kAbsolute:
      return interval.length == size ? Along::kAll : Along::kAbsolute;
    case IntervalKind::kForRoots: {
      const RootSpan span = interval.rootSpan();
      if (span.first_from_root != span.last_from_root) return Along::kOther;
      if (span.first_from_root) return Along::kFromRoot;
      const bool all = wrap(std::int64_t{span.last} - span.first + 1, size) == 0;
      return all ? Along::kAll : Along::kAbsolute;
    }
    default:
      return Along::kOther;
  }
}

std::int64_t hopsOf(const Shift& shift) {
  return std::accumulate(shift.begin(), shift.end(), std::int64_t{0},
                         [](auto sum, auto along) { return sum + std::abs(std::int64_t{along}); });
}

enum class Where : std::uint8_t { kPlane, kOutside, kCrossing, kCommon };

const Interval& guardOf(const ScheduleView& schedule, std::uint32_t operation, std::uint32_t axis) {
  return schedule.guardBox(schedule.operations[operation].guard)[axis];
}

/// The coordinates of an operation's guard on an axis on which the root is fixed.
Range rangeOf(const ScheduleView& schedule, std::uint32_t operation, std::uint32_t axis,
              const Coordinates& root) {
  const std::uint32_t size = schedule.topology.axes[axis].size;
  const Interval& interval = guardOf(schedule, operation, axis);
  return resolve(isRootRelative(interval.kind) ? atRoot(interval, root[axis], size) : interval, 0,
                 size);
}

/// Whether all blocks and frames are `*` on `axis`.
bool namesAll(const ScheduleView& schedule, std::uint32_t axis) {
  const auto isAll = [&](std::uint32_t box) {
    return schedule.boxes[box][axis].kind == IntervalKind::kAll;
  };
  const auto areAll = [&](const auto& blocks) {
    return llvm::all_of(schedule.piecesOf(blocks),
                        [&](const Piece& piece) { return isAll(piece.box); });
  };
  return llvm::all_of(schedule.frames, areAll) &&
         llvm::all_of(schedule.operations, [&](const Operation& operation) {
           return areAll(operation.dst) && areAll(operation.a) && areAll(operation.b);
         });
}

}  // namespace

Conflicts conflictsOf(const ScheduleView& schedule, bool in_place) {
  const std::span<const Operation> operations = schedule.operations;
  struct Use {
    std::uint32_t operation = 0;
    bool writes = false;
  };
  std::map<std::pair<Buffer, std::uint32_t>, std::vector<Use>> memory;  // by part or group
  std::vector<llvm::BitVector> reached;                                 // transitive dependences
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const auto use = [&](const Region& region, bool writes) {
      if (region.buffer == Buffer::kScratch)
        return memory[{region.buffer, schedule.frames[region.frame].group()}].push_back(
            {i, writes});
      for (const Piece& piece : schedule.piecesOf(region)) {
        for (std::uint32_t part = piece.part; part < piece.part + piece.parts; ++part)
          memory[{in_place ? Buffer::kIn : region.buffer, part}].push_back({i, writes});
      }
    };
    const Operation& operation = operations[i];
    if (operation.dst.present()) use(operation.dst, true);
    if (operation.a.present()) use(operation.a, false);
    if (operation.b.present()) use(operation.b, operation.kind == OperationKind::kRecvReduce);
    reached.emplace_back(static_cast<unsigned>(operations.size()));
    for (const std::uint32_t dependence : schedule.dependencesOf(operation)) {
      reached[i].set(operationOf(dependence));
      reached[i] |= reached[operationOf(dependence)];
    }
  }
  Conflicts conflicts;
  for (const auto& [place, uses] : memory) {
    for (auto later = uses.begin(); later != uses.end(); ++later) {
      for (auto earlier = uses.begin(); earlier != later; ++earlier) {
        if ((earlier->writes || later->writes) && earlier->operation != later->operation &&
            !reached[later->operation].test(earlier->operation)) {
          conflicts.push_back({earlier->operation, later->operation});
        }
      }
    }
  }
  return conflicts;
}

RootShifts::RootShifts(const ScheduleView& schedule, std::uint32_t operations_per_segment)
    : schedule_(schedule), per_segment_(operations_per_segment) {}

bool RootShifts::isFree(std::uint32_t axis, llvm::ArrayRef<std::uint32_t> active,
                        const std::array<bool, kMaxAxes>& is_fixed, const Coordinates& root) {
  const Topology& topology = schedule_.topology;
  const Collective collective = schedule_.collective;
  if ((collective != Collective::kBroadcast && collective != Collective::kReduce) ||
      !topology.axes[axis].isRing() || !topology.deadLinks().empty() ||
      topology.deadNodes().empty() || !namesAll(schedule_, axis)) {
    return false;
  }
  for (std::uint32_t across = 0; across < topology.axis_count; ++across) {
    const auto plane = static_cast<std::uint32_t>(topology.deadNodes().front()[across]);
    if (is_fixed[across] && across != axis && root[across] != static_cast<std::int32_t>(plane) &&
        isSeparated(axis, active, across, plane, is_fixed, root)) {
      return true;
    }
  }
  return false;
}

bool RootShifts::isSeparated(std::uint32_t axis, llvm::ArrayRef<std::uint32_t> active,
                             std::uint32_t across, std::uint32_t plane,
                             const std::array<bool, kMaxAxes>& is_fixed, const Coordinates& root) {
  const Topology& topology = schedule_.topology;
  const bool reduces = schedule_.collective == Collective::kReduce;
  const std::uint32_t size = topology.axes[across].size;
  if (llvm::any_of(topology.deadNodes(), [&](const Coordinates& dead) {
        return dead[across] != static_cast<std::int32_t>(plane);
      })) {
    return false;
  }
  std::vector<std::optional<Where>> places(schedule_.operations.size());
  std::vector<char> of_common(schedule_.streams.size(), 0), of_others(schedule_.streams.size(), 0);
  const auto adds_received = [&](const Operation& operation) {
    return llvm::any_of(schedule_.dependencesOf(operation), [&](std::uint32_t dependence) {
      const std::uint32_t before = operationOf(dependence);
      return places[before] == Where::kCrossing && receives(schedule_.operations[before].kind);
    });
  };
  for (const std::uint32_t index : active) {
    const Operation& operation = schedule_.operations[index];
    const Along along = alongOf(guardOf(schedule_, index, axis), topology.axes[axis].size);
    const Range range = rangeOf(schedule_, index, across, root);
    if (along == Along::kOther || operation.hasPeerLoop()) return false;
    const bool in_plane = contains(range, plane, size);
    const bool is_message = sends(operation.kind) || receives(operation.kind);
    if (in_plane && range.length > 1) {
      places[index] = Where::kCommon;
      of_common[operation.stream] |= is_message;
      if (along != Along::kAll) return false;
      continue;
    }
    of_others[operation.stream] = 1;
    const std::int32_t hop = is_message ? schedule_.shifts[operation.peer][across] : 0;
    if (is_message && hopsOf(schedule_.shifts[operation.peer]) > 1) return false;
    if (in_plane) {
      places[index] = Where::kPlane;
      if (along == Along::kFromRoot) return false;
      const bool leaves = wrap(hop, size) != 0;
      if (leaves && sends(operation.kind) != reduces) return false;
      continue;
    }
    const bool may_cross =
        is_message && contains(range, wrap(std::int64_t{plane} - hop, size), size);
    if (may_cross &&
        (range.length > 1 || along == Along::kFromRoot || receives(operation.kind) != reduces)) {
      return false;
    }
    const bool crosses = may_cross || (reduces && !is_message && along != Along::kFromRoot &&
                                       (along == Along::kAbsolute || adds_received(operation)));
    if (!crosses && along == Along::kAbsolute) return false;
    places[index] = crosses ? Where::kCrossing : Where::kOutside;
  }
  for (std::size_t stream = 0; stream < of_common.size(); ++stream) {
    if (of_common[stream] != 0 && of_others[stream] != 0) return false;
  }
  // Operations that wait for each other in their own segment, also through operations that no node
  // executes.
  std::vector<std::uint32_t> waits(places.size(), 0);  // a bit for each Where
  const auto bitOf = [](Where where) { return 1u << static_cast<int>(where); };
  for (std::uint32_t index = 0; index < places.size(); ++index) {
    for (const std::uint32_t dependence : schedule_.dependencesOf(schedule_.operations[index])) {
      const std::uint32_t before = operationOf(dependence);
      if (before / per_segment_ != index / per_segment_) continue;
      waits[index] |= waits[before] | (places[before] ? bitOf(*places[before]) : 0);
    }
    const auto waitsFor = [&](std::uint32_t bits) { return (waits[index] & bits) != 0; };
    if (places[index] == Where::kCommon && waitsFor(~bitOf(Where::kCommon))) return false;
    if (places[index] == Where::kOutside && !reduces && waitsFor(bitOf(Where::kCrossing)))
      return false;
    if (places[index] == Where::kCrossing && reduces && waitsFor(bitOf(Where::kOutside)))
      return false;
  }
  if (!conflicts_) conflicts_ = conflictsOf(schedule_, /*in_place=*/false);
  const auto areApart = [&](std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      if (is_fixed[i] && !overlaps(rangeOf(schedule_, a, i, root), rangeOf(schedule_, b, i, root),
                                   topology.axes[i].size)) {
        return true;
      }
    }
    return false;
  };
  return llvm::none_of(*conflicts_, [&](const auto& pair) {
    const auto& [a, b] = pair;
    const bool meet = (places[a] == Where::kCrossing && places[b] == Where::kOutside) ||
                      (places[a] == Where::kOutside && places[b] == Where::kCrossing);
    return meet && !areApart(a, b);
  });
}

}  // namespace torc::ir
