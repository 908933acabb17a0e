// Rule 3, races: of two operations that touch the same memory of a rank, one of them writing, one
// depends on the other, directly or through others.
//
// Proved once for all nodes: two accesses meet on some node exactly if on every axis there is a
// coordinate which both guards admit and where both intervals hold a common block, because guards
// are boxes. Order is looked up for 64 operations at a time, one bit each.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "ir/text/text.h"
#include "ir/verifier/context.h"
#include "ir/verifier/ranges.h"

namespace torc {
namespace {

/// One operation touching one region.
struct Access {
  std::uint32_t operation = 0;
  const Region* region = nullptr;
  std::uint32_t box = kNone;  // the piece's; kNone: the whole frame
  Ranges at_origin;           // its blocks as the node at the origin sees them
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

constexpr std::size_t kLongList = 64;  // of accesses: not worth looking at pair by pair

class RaceChecker {
 public:
  explicit RaceChecker(VerifyContext& context) : context_(context), schedule_(context.schedule) {}

  void run() {
    checkLists();
    collect();
    for (std::size_t i = 0; i < storages_.size(); ++i) {
      const bool is_slot = i >= context_.parts.size();
      for (const std::vector<Access>& accesses : byNodes(storages_[i]))
        is_slot ? findConflicts(accesses) : findConflictsInPart(accesses);
    }
    for (const auto& [frame_part, together] : frame_parts_) {
      for (const std::vector<Access>& accesses : byNodes(together))
        findConflictsInPart(accesses);
    }
    checkOrder();
  }

 private:
  /// No list names a block of a part twice: its pieces would be written in any order, and a frame's
  /// would lie in two places.
  void checkLists() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // first piece, number of pieces
    const auto check = [&](const auto& blocks, std::uint32_t operation, const std::string& what) {
      if (blocks.pieces == 0 || !done.insert({blocks.box, blocks.pieces}).second) return;
      for (std::uint32_t c = 0; c < context_.classCount() && !context_.full(); ++c) {
        const PieceList pieces = schedule_.piecesOf(blocks);
        const std::size_t twice = findRepeated(pieces, context_.coordinatesOf(c));
        if (twice == pieces.size() && isAbsolute(pieces)) return;  // the same on every node
        if (twice == pieces.size()) continue;
        context_.fault(Rule::kRaces, operation,
                       what + ": piece " + std::to_string(twice) + " has blocks of one before it");
        return;
      }
    };
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = schedule_.operations[i];
      for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->present()) check(*region, i, regionText(schedule_, *region));
      }
    }
    for (std::size_t i = 0; i < schedule_.frames.size(); ++i)
      check(schedule_.frames[i], kNone, "frame f" + std::to_string(i));
  }

  bool isAbsolute(const PieceList& pieces) const {
    for (const Piece& piece : pieces) {
      for (const Interval& interval : schedule_.boxes[piece.box].axes) {
        if (interval.kind == IntervalKind::kRelative) return false;
      }
    }
    return true;
  }

  /// The first piece that overlaps one before it, seen from `at`; pieces.size() if there is none.
  std::size_t findRepeated(const PieceList& pieces, const Coordinates& at) const {
    std::vector<Ranges> ranges;
    std::uint64_t blocks = 0;
    for (const Piece& piece : pieces) {
      ranges.push_back(context_.rangesOf(piece, at));
      blocks += volume(ranges.back(), context_.topology) * piece.parts;
    }
    // Pair by pair, or for many small pieces block by block.
    if (blocks / pieces.size() < pieces.size() / 2) return findRepeatedBlock(pieces, ranges);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (pieces[k].part < pieces[i].part + pieces[i].parts &&
            pieces[i].part < pieces[k].part + pieces[k].parts &&
            overlaps(ranges[k], ranges[i], context_.topology)) {
          return i;
        }
      }
    }
    return pieces.size();
  }

  std::size_t findRepeatedBlock(const PieceList& pieces, const std::vector<Ranges>& ranges) const {
    std::unordered_set<std::uint64_t> seen;
    const Topology& topology = context_.topology;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::uint64_t volume_of_piece = volume(ranges[i], topology);
      for (std::uint64_t block = 0; block < volume_of_piece; ++block) {
        Coordinates at{};
        std::uint64_t rest = block;
        for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
          const Range& range = ranges[i][axis];
          at[axis] = static_cast<std::int32_t>(
              wrap(std::int64_t{range.start} + static_cast<std::int64_t>(rest % range.length),
                   topology.axes[axis].size));
          rest /= range.length;
        }
        const auto site = static_cast<std::uint64_t>(topology.siteOf(at));
        for (std::uint32_t part = 0; part < pieces[i].parts; ++part) {
          if (!context_.isFirstOfGroup(pieces[i].part + part)) continue;
          if (!seen.insert((pieces[i].part + part) * topology.sites() + site).second) return i;
        }
      }
    }
    return pieces.size();
  }

  /// Storages: in and out of each part together (they may be one memory); then each slot, whose
  /// frames exclude each other whole; then the parts of each frame.
  void collect() {
    storages_.resize(context_.parts.size() + schedule_.slot_count);
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = schedule_.operations[i];
      const bool onto_itself = operation.kind == OperationKind::kCopy &&
                               operation.a.buffer == Buffer::kIn &&
                               operation.dst.buffer == Buffer::kOut;
      add({i, &operation.dst, kNone, {}, true, onto_itself});
      add({i, &operation.a, kNone, {}, false, onto_itself});
      // recv_reduce fills b with what arrives; reduce only reads it.
      add({i, &operation.b, kNone, {}, operation.kind == OperationKind::kRecvReduce, false});
    }
  }

  void add(Access access) {
    const Region& region = *access.region;
    if (!region.present()) return;
    const bool scratch = region.buffer == Buffer::kScratch;
    if (scratch) {
      storages_[context_.parts.size() + schedule_.frames[region.frame].slot].push_back(access);
    }
    context_.forEachPart(region, [&](const Piece& piece, std::uint32_t part) {
      access.box = piece.box;
      access.at_origin = context_.rangesOf(piece, {});
      (scratch ? frame_parts_[{region.frame, part}] : storages_[part]).push_back(access);
    });
  }

  /// The same accesses in lists of which no two have a node in common: where every node has
  /// operations of its own, looking at all pairs would take too long.
  std::vector<std::vector<Access>> byNodes(const std::vector<Access>& accesses) const {
    if (accesses.size() <= kLongList) return {accesses};
    std::map<std::uint32_t, std::size_t> list_of;  // by guard
    for (const Access& access : accesses) {
      const std::uint32_t guard = schedule_.operations[access.operation].guard;
      if (guard == kNone) return {accesses};
      list_of.try_emplace(guard, list_of.size());
    }
    for (auto a = list_of.begin(); a != list_of.end(); ++a) {
      for (auto b = std::next(a); b != list_of.end(); ++b) {
        if (a->second == b->second || !guardsMeet(a->first, b->first)) continue;
        for (auto& entry : list_of) {
          if (&entry != &*b && entry.second == b->second) entry.second = a->second;
        }
        b->second = a->second;
      }
    }
    std::vector<std::vector<Access>> lists(list_of.size());
    for (const Access& access : accesses)
      lists[list_of.at(schedule_.operations[access.operation].guard)].push_back(access);
    return lists;
  }

  void findConflicts(const std::vector<Access>& accesses) {
    for (std::size_t j = 1; j < accesses.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i)
        findConflict(accesses[i], accesses[j]);
    }
  }

  void findConflict(const Access& a, const Access& b) {
    if (a.operation == b.operation || !(a.writes || b.writes) || !collide(a, b)) return;
    const bool in_order = a.operation < b.operation;
    const Access& first = in_order ? a : b;
    const Access& second = in_order ? b : a;
    conflicts_.push_back({first.operation, second.operation, first.region, second.region});
  }

  /// As findConflicts, for pieces. Those of one block on an axis, relative to the node, meet there
  /// only if they are at the same offset: long lists are looked through by their offsets.
  void findConflictsInPart(const std::vector<Access>& accesses) {
    if (accesses.size() <= kLongList) {
      findConflicts(accesses);
      return;
    }
    std::array<bool, kMaxAxes> by_offset{};
    for (std::uint32_t axis = 0; axis < context_.topology.axis_count; ++axis) {
      std::size_t single = 0;
      for (const Access& access : accesses)
        single += isSingle(access, axis);
      by_offset[axis] = single > accesses.size() / 2;
    }
    std::map<std::array<std::uint32_t, kMaxAxes>, std::vector<const Access*>> groups;
    std::vector<const Access*> others;
    for (const Access& access : accesses) {
      std::array<std::uint32_t, kMaxAxes> offsets{};
      bool all = true;
      for (std::uint32_t axis = 0; axis < context_.topology.axis_count; ++axis) {
        if (!by_offset[axis]) continue;
        all = all && isSingle(access, axis);
        offsets[axis] = access.at_origin[axis].start;
      }
      for (const Access* other : others)
        findConflict(*other, access);
      if (all) {
        std::vector<const Access*>& group = groups[offsets];
        for (const Access* other : group)
          findConflict(*other, access);
        group.push_back(&access);
      } else {
        for (const auto& [key, group] : groups) {
          for (const Access* other : group)
            findConflict(*other, access);
        }
        others.push_back(&access);
      }
    }
  }

  bool isSingle(const Access& access, std::uint32_t axis) const {
    const Interval& interval = schedule_.boxes[access.box][axis];
    return interval.kind == IntervalKind::kRelative && access.at_origin[axis].length == 1;
  }

  bool collide(const Access& a, const Access& b) const {
    const Region& left = *a.region;
    const Region& right = *b.region;
    const bool whole_slot = a.box == kNone;
    if (whole_slot && left.frame == right.frame) return false;  // part by part
    if (left.buffer != right.buffer) {
      if (!rowOf(schedule_.collective).inPlaceAliases() || a.onto_itself || b.onto_itself) {
        return false;
      }
    }
    const std::uint32_t guard_a = schedule_.operations[a.operation].guard;
    const std::uint32_t guard_b = schedule_.operations[b.operation].guard;
    if (whole_slot) return guardsMeet(guard_a, guard_b);
    const Box& box_a = schedule_.boxes[a.box];
    const Box& box_b = schedule_.boxes[b.box];
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
    // Lists may meet in many pieces.
    conflicts_.erase(std::unique(conflicts_.begin(), conflicts_.end(),
                                 [](const Conflict& a, const Conflict& b) {
                                   return a.first == b.first && a.second == b.second;
                                 }),
                     conflicts_.end());
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
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Access>> frame_parts_;
  std::vector<Conflict> conflicts_;
};

}  // namespace

void checkRaces(VerifyContext& context) {
  RaceChecker(context).run();
}

}  // namespace torc
