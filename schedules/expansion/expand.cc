// The flat program of one rank: guards decided, peers as ranks, regions as
// runs, tags assigned.
#include "schedules/expansion/expand.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "schedules/expansion/placement.h"

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
    for (const Operation& operation : schedule.operations) {
      if (sends(operation.kind)) ++base_[operation.stream];
      if (receives(operation.kind)) ++receives_of[operation.stream];
    }
    for (std::size_t stream = 0; stream < base_.size(); ++stream) {
      const std::uint32_t here = std::max(base_[stream], receives_of[stream]);
      base_[stream] = count_;
      count_ += here;
    }
  }

  std::uint32_t next(std::uint32_t stream, std::int32_t peer, bool sending) {
    const std::uint64_t key = (static_cast<std::uint64_t>(stream) << 32) |
                              (static_cast<std::uint64_t>(peer) << 1) | (sending ? 1 : 0);
    return base_[stream] + used_[key]++;
  }
  std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint32_t> base_;  // first tag of each stream
  std::unordered_map<std::uint64_t, std::uint32_t> used_;
  std::uint32_t count_ = 0;
};

/// Maps dependences of the schedule to those of the flat program. Where an
/// operation is gone, what it depended on stands in for it.
class DependenceMap {
 public:
  explicit DependenceMap(const ScheduleView& schedule)
      : schedule_(schedule), flat_(schedule.operations.size(), kNone) {
    passed_.resize(schedule.operations.size());
  }

  /// The flat dependences of operation `index`, ascending, each once.
  const std::vector<std::uint32_t>& resolve(std::uint32_t index) {
    work_.clear();
    for (std::uint32_t d : schedule_.dependencesOf(schedule_.operations[index])) {
      if (flat_[d] != kNone) {
        work_.push_back(flat_[d]);
      } else {
        work_.insert(work_.end(), passed_[d].begin(), passed_[d].end());
      }
    }
    std::sort(work_.begin(), work_.end());
    work_.erase(std::unique(work_.begin(), work_.end()), work_.end());
    return work_;
  }
  void keep(std::uint32_t index, std::uint32_t flat) { flat_[index] = flat; }
  void drop(std::uint32_t index) { passed_[index] = resolve(index); }

 private:
  const ScheduleView& schedule_;
  std::vector<std::uint32_t> flat_;                 // kNone: gone
  std::vector<std::vector<std::uint32_t>> passed_;  // for those that are gone
  std::vector<std::uint32_t> work_;
};

}  // namespace

std::uint32_t tagCount(const ScheduleView& schedule) {
  return TagCounter(schedule).count();
}

StatusOr<FlatProgram> expand(const ScheduleView& schedule, std::int32_t rank, const Counts& counts,
                             bool in_place) {
  const std::uint64_t ranks = schedule.topology.ranks();
  if (rank < 0 || static_cast<std::uint64_t>(rank) >= ranks) {
    return Status(StatusCode::kInvalidArgument, "rank " + std::to_string(rank) +
                                                    " is not in the torus " +
                                                    schedule.topology.shape() + " (ranks 0 to " +
                                                    std::to_string(ranks - 1) + ")");
  }
  // Only in an allgather does in place change where blocks lie.
  const bool own_block_in_out = in_place && schedule.collective == Collective::kAllgather;
  Placement placement(schedule, rank, counts, own_block_in_out);
  if (Status status = placement.prepare(); !status.ok()) return status;

  FlatProgram program;
  program.rank = rank;
  program.in_elements = placement.inElements();
  program.out_elements = placement.outElements();
  program.scratch_elements = placement.scratchElements();

  const Coordinates at = schedule.topology.coordinatesOf(rank);
  TagCounter tags(schedule);
  program.tag_count = tags.count();
  DependenceMap dependences(schedule);
  program.operations.reserve(schedule.operations.size());

  auto place = [&](const Region& region) {
    FlatRegion flat;
    if (!region.present()) return flat;
    flat.buffer = region.buffer;
    flat.first_extent = static_cast<std::uint32_t>(program.extents.size());
    flat.elements = placement.append(region, program.extents);
    flat.extent_count = static_cast<std::uint32_t>(program.extents.size()) - flat.first_extent;
    return flat;
  };

  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    const Operation& operation = schedule.operations[i];
    if (operation.guard != kNone &&
        !admits(schedule.boxes[operation.guard], schedule.topology, at)) {
      dependences.drop(i);
      continue;
    }
    FlatOperation flat;
    flat.kind = operation.kind;
    flat.phase = operation.phase;
    flat.stream = operation.stream;
    flat.source = i;
    if (operation.peer != kNone) {
      flat.peer = schedule.topology.neighbour(at, schedule.shifts[operation.peer]);
      flat.tag = tags.next(operation.stream, flat.peer, sends(operation.kind));
    }
    const std::size_t extents_before = program.extents.size();
    flat.dst = place(operation.dst);
    flat.a = place(operation.a);
    flat.b = place(operation.b);
    const bool empty = std::max(flat.dst.elements, flat.a.elements) == 0;
    const bool onto_itself = operation.kind == OperationKind::kCopy && own_block_in_out &&
                             operation.a.buffer == Buffer::kIn &&
                             operation.dst.buffer == Buffer::kOut;
    if (empty || onto_itself) {
      program.extents.resize(extents_before);
      dependences.drop(i);
      continue;
    }
    const std::vector<std::uint32_t>& after = dependences.resolve(i);
    flat.first_dependence = static_cast<std::uint32_t>(program.dependences.size());
    flat.dependence_count = static_cast<std::uint32_t>(after.size());
    program.dependences.insert(program.dependences.end(), after.begin(), after.end());
    dependences.keep(i, static_cast<std::uint32_t>(program.operations.size()));
    program.operations.push_back(flat);
  }
  return program;
}

}  // namespace torc
