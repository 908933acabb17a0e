// Rule 3, races: of two operations that touch the same memory of a rank, one of them writing, one
// depends on the other, directly or through others.
//
// Proved once for all nodes: two accesses meet on some node exactly if on every axis there is a
// coordinate which both guards admit and where both intervals hold a common block, because guards
// are boxes. Order is looked up for 64 operations at a time, one bit each.
#include <algorithm>

#include "ir/text.h"
#include "ir/verifier_context.h"
#include "ir/verifier_ranges.h"

namespace torc {
namespace {

/// One operation touching one region.
struct Access {
  std::uint32_t operation = 0;
  const Region* region = nullptr;
  Ranges at_origin;  // its blocks as the node at the origin sees them
  bool writes = false;
  bool onto_itself = false;  // copies in[b] to out[b]: nothing happens where they are one memory
};

struct Conflict {
  std::uint32_t first = 0, second = 0;  // operations, first < second
  const Region* first_region = nullptr;
  const Region* second_region = nullptr;
};

/// Whether two intervals share a block on every coordinate, or on none.
bool sameView(const Interval& a, const Interval& b) {
  return a.kind == b.kind || a.kind == IntervalKind::kAll || b.kind == IntervalKind::kAll;
}

/// Whether on some coordinate of one axis that both guards admit the intervals share a block.
bool meetOnAxis(const Interval& guard_a, const Interval& guard_b, const Interval& a,
                const Interval& b, std::uint32_t size) {
  for (std::uint32_t x = 0; x < size; ++x) {
    const auto at = static_cast<std::int32_t>(x);
    if (contains(resolve(guard_a, at, size), x, size) &&
        contains(resolve(guard_b, at, size), x, size) &&
        overlaps(resolve(a, at, size), resolve(b, at, size), size)) {
      return true;
    }
  }
  return false;
}

class RaceChecker {
 public:
  explicit RaceChecker(VerifyContext& context) : context_(context), schedule_(context.schedule) {}

  void run() {
    collect();
    for (const std::vector<Access>& accesses : storages_)
      findConflicts(accesses);
    checkOrder();
  }

 private:
  /// Storages: in and out of each part together (they may be one memory), then each slot.
  void collect() {
    storages_.resize(context_.parts.size() + schedule_.slot_count);
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = schedule_.operations[i];
      const bool onto_itself = operation.kind == OperationKind::kCopy &&
                               operation.a.buffer == Buffer::kIn &&
                               operation.dst.buffer == Buffer::kOut;
      add({i, &operation.dst, {}, true, onto_itself});
      add({i, &operation.a, {}, false, onto_itself});
      // recv_reduce fills b with what arrives; reduce only reads it.
      add({i, &operation.b, {}, operation.kind == OperationKind::kRecvReduce, false});
    }
  }

  void add(Access access) {
    const Region& region = *access.region;
    if (!region.present()) return;
    const std::uint32_t storage = region.buffer == Buffer::kScratch
                                      ? context_.parts.size() + schedule_.frames[region.frame].slot
                                      : region.part;
    access.at_origin = context_.rangesOf(region, {});
    storages_[storage].push_back(access);
  }

  void findConflicts(const std::vector<Access>& accesses) {
    for (std::size_t j = 1; j < accesses.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const Access& a = accesses[i];
        const Access& b = accesses[j];
        if (a.operation == b.operation || !(a.writes || b.writes) || !collide(a, b)) continue;
        conflicts_.push_back({a.operation, b.operation, a.region, b.region});
      }
    }
  }

  bool collide(const Access& a, const Access& b) const {
    const Region& left = *a.region;
    const Region& right = *b.region;
    bool whole_slot = false;
    if (left.buffer == Buffer::kScratch) {
      whole_slot = left.frame != right.frame;
    } else if (left.buffer != right.buffer) {
      if (!traits(schedule_.collective).in_place_aliases || a.onto_itself || b.onto_itself) {
        return false;
      }
    }
    const std::uint32_t guard_a = schedule_.operations[a.operation].guard;
    const std::uint32_t guard_b = schedule_.operations[b.operation].guard;
    if (whole_slot) return guardsMeet(guard_a, guard_b);
    const Box& box_a = schedule_.boxes[left.box];
    const Box& box_b = schedule_.boxes[right.box];
    bool anywhere = guard_a == kNone && guard_b == kNone;  // what holds at the origin holds
    for (std::uint32_t axis = 0; axis < context_.topology.axis_count; ++axis) {
      if (!sameView(box_a[axis], box_b[axis])) {
        anywhere = false;
      } else if (!overlaps(a.at_origin[axis], b.at_origin[axis],
                           context_.topology.axes[axis].size)) {
        return false;
      }
    }
    if (anywhere) return true;
    for (std::uint32_t axis = 0; axis < context_.topology.axis_count; ++axis) {
      if (!meetOnAxis(guardOnAxis(guard_a, axis), guardOnAxis(guard_b, axis), box_a[axis],
                      box_b[axis], context_.topology.axes[axis].size)) {
        return false;
      }
    }
    return true;
  }

  Interval guardOnAxis(std::uint32_t guard, std::uint32_t axis) const {
    return guard == kNone ? Interval::all() : schedule_.boxes[guard][axis];
  }

  /// Whether some node executes both.
  bool guardsMeet(std::uint32_t guard_a, std::uint32_t guard_b) const {
    if (guard_a == kNone || guard_b == kNone) return true;
    return overlaps(resolve(schedule_.boxes[guard_a], context_.topology, {}),
                    resolve(schedule_.boxes[guard_b], context_.topology, {}), context_.topology);
  }

  void checkOrder() {
    std::sort(conflicts_.begin(), conflicts_.end(), [](const Conflict& a, const Conflict& b) {
      return std::pair(a.first, a.second) < std::pair(b.first, b.second);
    });
    std::vector<std::uint64_t> after(schedule_.operations.size(), 0);
    for (std::size_t begin = 0; begin < conflicts_.size() && !context_.full();) {
      // The next up to 64 first operations, and the span of operations that matters.
      std::vector<std::uint32_t> sources;
      std::uint32_t last = 0;
      std::size_t end = begin;
      for (; end < conflicts_.size(); ++end) {
        if (sources.empty() || sources.back() != conflicts_[end].first) {
          if (sources.size() == 64) break;
          sources.push_back(conflicts_[end].first);
        }
        last = std::max(last, conflicts_[end].second);
      }
      std::size_t next_source = 0;
      for (std::uint32_t i = sources.front(); i <= last; ++i) {
        std::uint64_t mask = 0;
        for (std::uint32_t d : schedule_.dependencesOf(schedule_.operations[i])) {
          if (d >= sources.front()) mask |= after[d];
        }
        if (next_source < sources.size() && sources[next_source] == i) {
          mask |= std::uint64_t{1} << next_source++;
        }
        after[i] = mask;
      }
      std::size_t source = 0;
      for (; begin < end; ++begin) {
        const Conflict& conflict = conflicts_[begin];
        while (sources[source] != conflict.first)
          ++source;
        if (after[conflict.second] >> source & 1) continue;
        context_.fault(Rule::kRaces, conflict.second,
                       "touches " + regionText(schedule_, *conflict.second_region) + " while %" +
                           std::to_string(conflict.first) +
                           ", on which it does not "
                           "depend, may still touch " +
                           regionText(schedule_, *conflict.first_region));
      }
    }
  }

  VerifyContext& context_;
  const ScheduleView& schedule_;
  std::vector<std::vector<Access>> storages_;
  std::vector<Conflict> conflicts_;
};

}  // namespace

void checkRaces(VerifyContext& context) {
  RaceChecker(context).run();
}

}  // namespace torc
