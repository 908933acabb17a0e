// Finds conflicts between accesses to memory.
#include "passes/analysis/conflicts.h"

#include <algorithm>

#include "ir/verifier/box_algebra.h"

namespace torc::passes {
namespace {

/// Whether two intervals share a coordinate of `axis` for some node between the guards.
bool intervalsMeet(const Interval& a, const Interval& b, const Interval& guard_a,
                   const Interval& guard_b, std::uint32_t size, bool wraps) {
  if (a.kind == IntervalKind::kAll || b.kind == IntervalKind::kAll) return true;
  if (a.kind == b.kind) {
    if (a.kind == IntervalKind::kRelative && !wraps) {
      // On a mesh x+3 and x-1 are never the same node, whatever the size.
      return a.start < b.start + static_cast<std::int64_t>(b.length) &&
             b.start < a.start + static_cast<std::int64_t>(a.length);
    }
    return overlaps(resolve(a, 0, size), resolve(b, 0, size), size);
  }
  // A relative interval x+r:m meets an absolute one s:n for x from s-r-m+1 to s-r+n-1.
  const Interval& relative = a.kind == IntervalKind::kRelative ? a : b;
  const Interval& absolute = a.kind == IntervalKind::kRelative ? b : a;
  std::int64_t first = std::int64_t{absolute.start} - relative.start - relative.length + 1;
  std::int64_t count = std::int64_t{absolute.length} + relative.length - 1;
  if (!wraps) {
    count = std::min<std::int64_t>(first + count, size) - std::max<std::int64_t>(first, 0);
    first = std::max<std::int64_t>(first, 0);
    if (count <= 0) return false;
  }
  Range nodes{wrap(first, size), static_cast<std::uint32_t>(count)};
  if (count >= size) nodes = {0, size};
  for (const Range& range :
       ir::intersect(resolve(guard_a, 0, size), resolve(guard_b, 0, size), size)) {
    if (overlaps(range, nodes, size)) return true;
  }
  return false;
}

/// Whether `outer` contains `inner` on every node; may be false although it does, which is enough
/// here.
bool intervalCovers(const Interval& outer, const Interval& inner, std::uint32_t size, bool wraps) {
  if (outer.kind == IntervalKind::kAll || outer == inner || outer.length == size) return true;
  if (outer.kind != inner.kind || isRootRelative(outer.kind)) return false;
  const std::int64_t distance = std::int64_t{inner.start} - outer.start;
  if (!wraps) return distance >= 0 && distance + inner.length <= outer.length;
  return std::uint64_t{wrap(distance, size)} + inner.length <= outer.length;
}

const Box& boxOrAll(const ScheduleView& schedule, std::uint32_t box) {
  static const Box all;
  return box == kNone ? all : schedule.boxes[box];
}

}  // namespace

ConflictIndex::ConflictIndex(const ScheduleView& schedule)
    : schedule_(schedule),
      row_(rowOf(schedule.collective)),
      axes_(schedule.blockAxes()),
      counts_round_(!schedule.peer_loops.empty()) {
  for (std::uint32_t axis = 1; axis < schedule.topology.axis_count; ++axis) {
    if (schedule.topology.axes[axis].size > schedule.topology.axes[longest_axis_].size)
      longest_axis_ = axis;
  }
}

void ConflictIndex::clear() {
  buffers_.clear();
  slots_.clear();
}

llvm::SmallVector<ConflictIndex::Access, 4> ConflictIndex::accessesOf(std::uint32_t index) const {
  const Operation& operation = schedule_.operations[index];
  const bool copies_in = operation.kind == OperationKind::kCopy &&
                         operation.a.buffer == Buffer::kIn && operation.dst.buffer == Buffer::kOut;
  llvm::SmallVector<Access, 4> accesses;
  auto add = [&](const Region& region, bool writes) {
    if (!region.present()) return;
    // Nothing writes `in`, unless it is `out`.
    if (region.buffer == Buffer::kIn && !row_.inPlaceAliases()) return;
    for (const Piece& piece : schedule_.piecesOf(region)) {
      for (std::uint32_t part = piece.part; part < piece.part + piece.parts; ++part) {
        accesses.push_back({index, part, piece.box, operation.guard, region.frame, region.buffer,
                            writes, copies_in});
      }
    }
  };
  add(operation.dst, true);
  add(operation.a, false);
  add(operation.b, operation.kind == OperationKind::kRecvReduce);
  return accesses;
}

ConflictIndex::Storage& ConflictIndex::storageOf(const Access& access) {
  // `in` and `out` of a part count as one memory, as they are in place. Slots may serve several
  // parts.
  if (access.frame == kNone) return buffers_[access.part];
  return slots_[schedule_.frames[access.frame].slot];
}

std::uint32_t ConflictIndex::offsetOf(const Access& access) const {
  const Interval& interval = schedule_.blockInterval(access.box, longest_axis_);
  if (interval.kind != IntervalKind::kRelative || interval.length != 1) return kNone;
  return wrap(interval.start, schedule_.topology.axes[longest_axis_].size);
}

void ConflictIndex::add(std::uint32_t operation, llvm::SmallVectorImpl<std::uint32_t>& conflicts) {
  const llvm::SmallVector<Access, 4> accesses = accessesOf(operation);
  for (const Access& access : accesses) {
    Storage& storage = storageOf(access);
    const std::uint32_t offset = offsetOf(access);
    if (access.frame != storage.frame) {
      // Frames of a slot always conflict.
      for (auto& [at, indexed] : storage.by_offset)
        storage.others.insert(storage.others.end(), indexed.begin(), indexed.end());
      storage.by_offset.clear();
      storage.frame = access.frame;
    }
    search(storage.others, access, conflicts);
    if (offset == kNone) {
      for (auto& entry : storage.by_offset)
        search(entry.second, access, conflicts);
    } else if (const auto found = storage.by_offset.find(offset);
               found != storage.by_offset.end()) {
      search(found->second, access, conflicts);
    }
  }
  for (const Access& access : accesses) {
    Storage& storage = storageOf(access);
    const std::uint32_t offset = offsetOf(access);
    const bool is_indexed = offset != kNone && access.frame == storage.frame;
    (is_indexed ? storage.by_offset[offset] : storage.others).push_back(access);
  }
}

/// Appends the accesses that conflict with `access`, and drops those that it covers: later
/// conflicts with a dropped access are also conflicts with `access`, which comes after it.
void ConflictIndex::search(std::vector<Access>& accesses, const Access& access,
                           llvm::SmallVectorImpl<std::uint32_t>& conflicts) const {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& earlier = accesses[i];
    if (conflict(earlier, access)) {
      conflicts.push_back(earlier.operation);
      if (covers(access, earlier)) continue;
    }
    accesses[kept++] = earlier;
  }
  accesses.resize(kept);
}

/// Whether two accesses of one storage can mean the same memory.
bool ConflictIndex::sameMemory(const Access& a, const Access& b) const {
  return a.buffer == b.buffer || !(a.copies_in || b.copies_in);
}

bool ConflictIndex::conflict(const Access& a, const Access& b) const {
  if (!a.writes && !b.writes) return false;
  if (!sameMemory(a, b) || !ir::guardsMeet(schedule_, a.guard, b.guard)) return false;
  if (a.frame != b.frame) return true;  // two frames of one slot overlap
  if (a.part != b.part) return false;
  if (a.box == b.box) return true;
  const Box& guard_a = boxOrAll(schedule_, a.guard);
  const Box& guard_b = boxOrAll(schedule_, b.guard);
  for (std::uint32_t i = 0; i < axes_.count(); ++i) {
    const std::uint32_t axis = axes_.nodeAxis(i);
    if (!intervalsMeet(schedule_.blockInterval(a.box, i), schedule_.blockInterval(b.box, i),
                       ir::guardOn(guard_a, axis, axes_.size(i)),
                       ir::guardOn(guard_b, axis, axes_.size(i)), axes_.size(i), wraps(axis))) {
      return false;
    }
  }
  return true;
}

bool ConflictIndex::wraps(std::uint32_t axis) const {
  return counts_round_ || schedule_.topology.axes[axis].wraps();
}

/// Whether `later` writes all the memory that `earlier` touches, on every node that executes
/// `earlier`, and conflicts with everything that `earlier` conflicts with.
bool ConflictIndex::covers(const Access& later, const Access& earlier) const {
  if (!later.writes || later.copies_in) return false;
  const Topology& topology = schedule_.topology;
  if (later.guard != kNone && later.guard != earlier.guard) {
    const Box& guard = boxOrAll(schedule_, earlier.guard);
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      if (!intervalCovers(schedule_.boxes[later.guard][i], guard[i], topology.axes[i].size,
                          topology.axes[i].wraps())) {
        return false;
      }
    }
  }
  if (later.frame != earlier.frame) {
    const Frame& frame = schedule_.frames[later.frame];
    return frame.pieces == 0 && later.box == frame.box;
  }
  for (std::uint32_t i = 0; i < axes_.count(); ++i) {
    if (!intervalCovers(schedule_.blockInterval(later.box, i),
                        schedule_.blockInterval(earlier.box, i), axes_.size(i),
                        wraps(axes_.nodeAxis(i)))) {
      return false;
    }
  }
  return true;
}

}  // namespace torc::passes
