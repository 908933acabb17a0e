// Coordinates of the root by axis, and their product.
#include "ir/verifier/roots.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <llvm/ADT/STLExtras.h>

#include "schedules/root.h"

namespace torc::ir {
namespace {

/// What ends on a line, and how far from the root it matters.
struct Line {
  std::set<std::int64_t> ends;  // the first coordinate of an interval, or the one behind its last
  std::int64_t reach = 0;
};

Line lineOf(const ScheduleView& schedule, std::uint32_t axis) {
  Line line{{0, schedule.topology.axes[axis].size}};
  std::int64_t offset = 0, blocks = 0, hop = 1;  // from the root, from a node, of a message
  for (const Box& box : schedule.boxes) {
    const Interval& interval = box[axis];
    switch (interval.kind) {
      case IntervalKind::kAll:
      case IntervalKind::kForRoots:
        break;
      case IntervalKind::kAbsolute:
      case IntervalKind::kRootWithin:
        line.ends.insert({interval.start, std::int64_t{interval.start} + interval.length});
        break;
      case IntervalKind::kRelative:
      case IntervalKind::kPlusShift:  // of loops over peers, which rooted collectives have not
      case IntervalKind::kMinusShift:
        blocks = std::max(blocks, std::abs(std::int64_t{interval.start}) + interval.length - 1);
        break;
      case IntervalKind::kRoot:
        offset = std::max(offset, std::abs(std::int64_t{interval.start}) + interval.length - 1);
        break;
      case IntervalKind::kFromRoot:
        line.ends.insert(std::int64_t{interval.length} + 1);
        offset = std::max(offset, std::abs(std::int64_t{interval.start}));
        break;
      case IntervalKind::kToRoot:
        line.ends.insert(interval.length);
        offset = std::max(offset, std::abs(std::int64_t{interval.start}));
        break;
    }
  }
  for (const Shift& shift : schedule.shifts)
    hop = std::max(hop, std::abs(std::int64_t{shift[axis]}));
  line.reach = offset + 2 * blocks + hop;  // both ends of a message name blocks
  return line;
}

/// The coordinates near an end, and of the others between two ends the first.
std::vector<std::int32_t> coordinatesToProve(const Line& line, std::uint32_t size) {
  std::vector<std::int32_t> coordinates;
  bool after_near = true;
  for (std::int64_t x = 0; x < size; ++x) {
    const auto above = line.ends.upper_bound(x);
    const bool is_near = (above != line.ends.end() && *above - x <= line.reach) ||
                         (above != line.ends.begin() && x - *std::prev(above) <= line.reach);
    if (is_near || after_near) coordinates.push_back(static_cast<std::int32_t>(x));
    after_near = is_near;
  }
  return coordinates;
}

}  // namespace

std::vector<Coordinates> rootsToProve(const ScheduleView& schedule, bool all) {
  std::vector<Coordinates> roots(1);
  if (!rowOf(schedule.collective).isRooted()) return roots;
  const Topology& topology = schedule.topology;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (countsFromRoot(schedule, axis)) continue;
    Line line = lineOf(schedule, axis);
    if (all || topology.isDamaged()) line.reach = topology.axes[axis].size;
    const std::vector<Coordinates> before = std::move(roots);
    roots.clear();
    for (const std::int32_t x : coordinatesToProve(line, topology.axes[axis].size)) {
      for (Coordinates root : before) {
        root[axis] = x;
        roots.push_back(root);
      }
    }
  }
  llvm::erase_if(roots, [&](const Coordinates& at) { return topology.isDead(at); });
  return roots;
}

}  // namespace torc::ir
