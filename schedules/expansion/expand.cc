// The flat program of one rank: guards evaluated, peers as ranks, regions as runs, tags assigned.
#include "schedules/expansion/expand.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "schedules/broken_messages.h"
#include "schedules/expansion/placement.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/loops/unroll.h"
#include "schedules/root.h"
#include "support/message.h"

namespace torc {
namespace {

/// Numbers the messages of a stream between two ranks: the same number at both
/// ends, because both see their operations in the schedule's order.
class TagCounter {
 public:
  /// A stream's range of tags has room for its sends and for its receives,
  /// whether or not they match.
  explicit TagCounter(const ScheduleView& schedule) : base_(schedule.streams.size(), 0) {
    std::vector<std::uint32_t> receives_of(schedule.streams.size(), 0);
    const LoopNest nest(schedule);
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      const auto runs = static_cast<std::uint32_t>(nest.runs(i));
      if (sends(operation.kind)) base_[operation.stream] += runs;
      if (receives(operation.kind)) receives_of[operation.stream] += runs;
    }
    for (std::size_t stream = 0; stream < base_.size(); ++stream) {
      const std::uint32_t here = std::max(base_[stream], receives_of[stream]);
      base_[stream] = count_;
      count_ += here;
    }
  }

  /// Begins the messages of the next segment, which have a range of tags of their own.
  void nextSegment() {
    first_ += count_;
    used_.clear();
  }
  std::uint32_t next(std::uint32_t stream, std::int32_t peer, bool sending) {
    const std::uint64_t key = (static_cast<std::uint64_t>(stream) << 32) |
                              (static_cast<std::uint64_t>(peer) << 1) | (sending ? 1 : 0);
    return first_ + base_[stream] + used_[key]++;
  }
  /// Tags of one segment.
  std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint32_t> base_;  // first tag of each stream
  std::unordered_map<std::uint64_t, std::uint32_t> used_;
  std::uint32_t count_ = 0;
  std::uint32_t first_ = 0;  // of the current segment
};

/// Maps dependences of the schedule to those of the flat program. A dropped operation is replaced
/// by its own dependences.
class DependenceMap {
 public:
  explicit DependenceMap(const ScheduleView& schedule) : schedule_(schedule) {
    std::uint32_t farthest = 0;
    for (const std::uint32_t dependence : schedule.dependences)
      farthest = std::max(farthest, schedule.segmentsBefore(dependence));
    segments_.resize(farthest + 1, std::vector<Place>(schedule.operations.size()));
  }

  /// Begins the operations of the next segment.
  void nextSegment() {
    ++segment_;
    std::rotate(segments_.begin(), segments_.end() - 1, segments_.end());
  }

  /// The flat dependences of operation `index`, ascending, each once.
  const std::vector<std::uint32_t>& resolve(std::uint32_t index) {
    work_.clear();
    for (std::uint32_t d : schedule_.dependencesOf(schedule_.operations[index])) {
      const std::uint32_t before = schedule_.segmentsBefore(d);
      if (before > segment_) continue;
      const Place& place = segments_[before][operationOf(d)];
      if (place.count == kKept) {
        work_.push_back(place.first);
      } else {
        const auto first = passed_.begin() + place.first;
        work_.insert(work_.end(), first, first + place.count);
      }
    }
    std::sort(work_.begin(), work_.end());
    work_.erase(std::unique(work_.begin(), work_.end()), work_.end());
    return work_;
  }
  void keep(std::uint32_t index, std::size_t flat) {
    segments_[0][index] = {static_cast<std::uint32_t>(flat), kKept};
  }
  /// Records a loop over peers: its messages are the flat operations [first, end).
  void keep(std::uint32_t index, std::size_t first, std::size_t end) {
    segments_[0][index] = {static_cast<std::uint32_t>(passed_.size()),
                           static_cast<std::uint32_t>(end - first)};
    for (std::size_t flat = first; flat < end; ++flat)
      passed_.push_back(static_cast<std::uint32_t>(flat));
  }
  /// `after` lists the operation's dependences, at most kMostPassed.
  void drop(std::uint32_t index, std::span<const std::uint32_t> after) {
    segments_[0][index] = {static_cast<std::uint32_t>(passed_.size()),
                           static_cast<std::uint32_t>(after.size())};
    passed_.insert(passed_.end(), after.begin(), after.end());
  }

 private:
  static constexpr std::uint32_t kKept = kNone;
  /// Of an operation: its number in the program, or the place of its replacement in passed_.
  struct Place {
    std::uint32_t first = 0, count = 0;
  };

  const ScheduleView& schedule_;
  std::uint32_t segment_ = 0;
  std::vector<std::vector<Place>> segments_;  // the current one, the one before it, ...
  std::vector<std::uint32_t> passed_;
  std::vector<std::uint32_t> work_;
};

Status checkRank(const Topology& topology, const char* what, std::int32_t rank) {
  const std::uint64_t ranks = topology.ranks();
  if (rank >= 0 && static_cast<std::uint64_t>(rank) < ranks) return {};
  return Status(StatusCode::kInvalidArgument,
                what + std::to_string(rank) + " is not in the torus " + topology.shape() +
                    " (ranks 0 to " + std::to_string(ranks - 1) + ")");
}

}  // namespace

std::uint32_t tagCount(const ScheduleView& schedule) {
  return TagCounter(schedule).count() * schedule.segments;
}

Status checkServesLists(const ScheduleView& schedule) {
  if (schedule.isDirect()) return {};
  return {StatusCode::kUnsupported,
          message("schedule ", schedule.name,
                  " forwards blocks of others, whose length only their two ranks know: counts that "
                  "differ take a direct one")};
}

StatusOr<FlatProgram> expand(const ScheduleView& any_root, std::int32_t rank, const Counts& counts,
                             bool in_place, std::int32_t root) {
  if (!any_root.loops.empty()) {
    const UnrolledLoops unrolled = unrollLoops(any_root);
    StatusOr<FlatProgram> program = expand(unrolled.schedule.view(), rank, counts, in_place, root);
    if (program.ok()) {
      for (FlatOperation& operation : program->operations)
        operation.source = unrolled.operations[operation.source];
    }
    return program;
  }
  for (const auto& [what, number] : {std::pair("rank ", rank), std::pair("root ", root)}) {
    if (Status status = checkRank(any_root.topology, what, number); !status.ok()) return status;
  }
  const RootedSchedule rooted(any_root, root);
  const ScheduleView& schedule = rooted.view();
  const CollectiveRow& row = rowOf(schedule.collective);
  const bool shares_block = in_place && row.inPlaceSharesBlock() && row.mayBeInPlace(rank == root);
  Placement placement(rooted, rank, counts, shares_block);
  if (Status status = placement.prepare(); !status.ok()) return status;

  FlatProgram program;
  program.rank = rank;
  program.root = root;
  program.in_elements = placement.inElements();
  program.out_elements = placement.outElements();
  program.scratch_elements = placement.scratchElements();

  const Coordinates at = rooted.coordinatesOf(rank);
  TagCounter tags(schedule);
  program.tag_count = tags.count() * schedule.segments;
  program.synchronous_sends = (schedule.flags & kSynchronousSends) != 0;
  DependenceMap dependences(schedule);
  std::vector<bool> waited_for(schedule.operations.size(), false);
  for (std::uint32_t dependence : schedule.dependences)
    waited_for[operationOf(dependence)] = true;
  DroppedMessages dropped(schedule);
  std::vector<bool> executes(schedule.operations.size(), true);
  for (std::size_t i = 0; i < executes.size(); ++i) {
    const Operation& operation = schedule.operations[i];
    executes[i] = admits(schedule.guardBox(operation.guard), schedule.topology, at) &&
                  !dropped.drops(operation, at);
  }
  program.operations.reserve(
      static_cast<std::size_t>(std::count(executes.begin(), executes.end(), true)) *
      schedule.segments);

  auto add = [&](FlatOperation flat, std::span<const std::uint32_t> after) {
    flat.first_dependence = static_cast<std::uint32_t>(program.dependences.size());
    flat.dependence_count = static_cast<std::uint32_t>(after.size());
    program.dependences.insert(program.dependences.end(), after.begin(), after.end());
    program.operations.push_back(flat);
  };
  auto keep = [&](const FlatOperation& flat, const std::vector<std::uint32_t>& after) {
    dependences.keep(flat.source, program.operations.size());
    add(flat, after);
  };
  std::uint32_t segment = 0;
  auto flatOf = [&](std::uint32_t index, OperationKind kind) {
    const Operation& operation = schedule.operations[index];
    FlatOperation flat;
    flat.kind = kind;
    flat.phase = operation.phase;
    flat.stream = operation.stream;
    flat.source = flat.unrolled = index;
    flat.segment = segment;
    return flat;
  };
  /// A join: completes after many operations, and stands for them.
  auto joinOf = [&](std::uint32_t index) { return flatOf(index, OperationKind::kCopy); };
  /// Drops an operation, or makes it a join if dropping would multiply dependences.
  auto drop = [&](std::uint32_t index) {
    const std::vector<std::uint32_t>& after = dependences.resolve(index);
    if (after.size() <= kMostPassed) return dependences.drop(index, after);
    keep(joinOf(index), after);
  };
  auto place = [&](const Region& region, const Ranges& guard) {
    FlatRegion flat;
    if (!region.present()) return flat;
    flat.buffer = region.buffer;
    flat.first_extent = static_cast<std::uint32_t>(program.extents.size());
    flat.elements = placement.append(region, guard, program.extents, program.loops);
    flat.extent_count = static_cast<std::uint32_t>(program.extents.size()) - flat.first_extent;
    return flat;
  };

  /// Adds the messages of a loop over peers, each after the operation's dependences.
  auto addPeerLoop = [&](const FlatOperation& message, const Ranges& guard) {
    const Operation& operation = schedule.operations[message.source];
    std::vector<std::uint32_t> after = dependences.resolve(message.source);
    const auto shifts = shiftsOf(schedule.peer_loops[operation.peer], rank, message.source);
    if (after.size() > 1 && shifts.size() > kMostPassed) {
      add(joinOf(message.source), after);
      after = {static_cast<std::uint32_t>(program.operations.size() - 1)};
    }
    const std::size_t first = program.operations.size();
    const std::size_t window =
        sends(operation.kind) && schedule.peer_loops[operation.peer].window > 0
            ? schedule.peer_loops[operation.peer].window
            : shifts.size();
    const std::size_t waits = after.size();
    for (const Shift& shift : shifts) {
      FlatOperation flat = message;
      const Coordinates peer_at =
          schedule.topology.moved(at, receives(operation.kind) ? opposite(shift) : shift);
      placement.setPeer(peer_at);
      flat.peer = rooted.rankOf(peer_at);
      flat.dst = place(operation.dst, guard);
      flat.a = place(operation.a, guard);
      if (std::max(flat.dst.elements, flat.a.elements) == 0) continue;
      flat.tag = tags.next(operation.stream, flat.peer, sends(operation.kind));
      const std::size_t now = program.operations.size();
      after.resize(waits);
      if (now - first >= window) after.push_back(static_cast<std::uint32_t>(now - window));
      add(flat, after);
    }
    const std::size_t end = program.operations.size();
    if (end == first) return drop(message.source);
    if (end - first <= kMostPassed) return dependences.keep(message.source, first, end);
    std::vector<std::uint32_t> all(end - first);
    std::iota(all.begin(), all.end(), static_cast<std::uint32_t>(first));
    if (waited_for[message.source]) keep(joinOf(message.source), all);
  };

  auto addOperation = [&](std::uint32_t i) {
    const Operation& operation = schedule.operations[i];
    if (!executes[i]) return drop(i);
    FlatOperation flat = flatOf(i, operation.kind);
    if (operation.hasPeerLoop()) return addPeerLoop(flat, schedule.guardRanges(operation.guard));
    if (operation.peer != kNone) {
      flat.peer = rooted.neighbour(at, schedule.shifts[operation.peer]);
      flat.tag = tags.next(operation.stream, flat.peer, sends(operation.kind));
    }
    const std::size_t extents_before = program.extents.size();
    const Ranges guard = schedule.guardRanges(operation.guard);
    flat.dst = place(operation.dst, guard);
    flat.a = place(operation.a, guard);
    flat.b = place(operation.b, guard);
    const bool empty =
        !isSignal(operation.kind) && std::max(flat.dst.elements, flat.a.elements) == 0;
    const bool onto_itself = operation.kind == OperationKind::kCopy && shares_block &&
                             operation.a.buffer == Buffer::kIn &&
                             operation.dst.buffer == Buffer::kOut;
    if (empty || onto_itself) {
      program.extents.resize(extents_before);
      return drop(i);
    }
    keep(flat, dependences.resolve(i));
  };
  for (; segment < schedule.segments; ++segment) {
    if (segment > 0) {
      dependences.nextSegment();
      tags.nextSegment();
    }
    placement.setSegment(segment);
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i)
      addOperation(i);
  }
  program.operations.shrink_to_fit();
  program.extents.shrink_to_fit();
  program.dependences.shrink_to_fit();
  return program;
}

}  // namespace torc
