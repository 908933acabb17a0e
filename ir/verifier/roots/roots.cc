// Chooses coordinates of the root by axis, and their product.
#include "ir/verifier/roots/roots.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/verifier/roots/root_shifts.h"
#include "schedules/root.h"

namespace torc::ir {
namespace {

/// Ends of intervals on a line, and the distance from the root up to which they matter.
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
      case IntervalKind::kPlusShift:  // of loops over peers, which rooted collectives do not have
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

/// The coordinates near an end, and the first of the others between two ends.
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

/// The same on a ring with damage around it, if guards are absolute or for some roots. std::nullopt
/// for other guards.
std::optional<std::vector<std::int32_t>> onDamagedRing(const ScheduleView& schedule,
                                                       std::uint32_t axis) {
  const Topology& topology = schedule.topology;
  const std::uint32_t size = topology.axes[axis].size;
  if (!topology.axes[axis].isRing()) return std::nullopt;
  std::set<std::uint32_t> ends;
  // Ends that count from the root, and the roots for which they do.
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> from_root{{0, 0, size - 1},
                                                                              {1, 0, size - 1}};
  std::vector<char> is_chosen(size, 0);
  const auto addEnd = [&](std::int64_t end) { ends.insert(wrap(end, size)); };
  for (const Coordinates& dead : topology.deadNodes()) {
    addEnd(dead[axis]);
    addEnd(std::int64_t{dead[axis]} + 1);
  }
  for (const DeadLink& link : topology.deadLinks()) {
    for (int end = 0; end < 3; ++end)
      addEnd(std::int64_t{link.from[axis]} + end);
  }
  for (const Box& box : schedule.boxes) {
    const Interval& interval = box[axis];
    if (interval.kind == IntervalKind::kAll) continue;
    if (interval.kind == IntervalKind::kAbsolute) {
      addEnd(interval.start);
      addEnd(std::int64_t{interval.start} + interval.length);
    } else if (interval.kind == IntervalKind::kForRoots) {
      const RootSpan span = interval.rootSpan();
      const auto add = [&](bool counts, std::int64_t end) {
        counts ? (void)from_root.insert({wrap(end, size), span.from, span.to}) : addEnd(end);
      };
      add(span.first_from_root, span.first);
      add(span.last_from_root, std::int64_t{span.last} + 1);
      const bool for_all = wrap(std::int64_t{span.to} + 1 - span.from, size) == 0;
      if (!for_all) is_chosen[span.from] = is_chosen[wrap(std::int64_t{span.to} + 1, size)] = 1;
    } else {
      return std::nullopt;
    }
  }
  for (const Shift& shift : schedule.shifts) {
    if (std::abs(shift[axis]) > 1) return std::nullopt;
  }
  // Roots that bring two ends as close as a hop, and the first of the others between them.
  for (const auto& [offset, first, last] : from_root) {
    const Range roots{first, wrap(std::int64_t{last} - first, size) + 1};
    for (const std::uint32_t end : ends) {
      for (std::int64_t hops = -1; hops <= 2; ++hops) {
        const std::uint32_t x = wrap(std::int64_t{end} - offset + hops, size);
        if (hops == 2 || contains(roots, x, size)) is_chosen[x] = 1;
      }
    }
  }
  std::vector<std::int32_t> coordinates;
  for (std::uint32_t x = 0; x < size; ++x) {
    if (is_chosen[x] != 0) coordinates.push_back(static_cast<std::int32_t>(x));
  }
  return coordinates;
}

/// Visits the axes, one of them first, and for each the coordinates of the root.
class RootsToProve {
 public:
  RootsToProve(const ScheduleView& schedule, bool all, std::uint32_t operations_per_segment)
      : schedule_(schedule), all_(all), shifts_(schedule, operations_per_segment) {}

  /// The fewest roots over the axes that may come first: an axis is free by one before it.
  std::vector<Coordinates> run() {
    std::vector<std::uint32_t> active(schedule_.operations.size());
    std::iota(active.begin(), active.end(), 0);
    const std::uint32_t orders = schedule_.topology.isDamaged() ? schedule_.topology.axis_count : 1;
    std::vector<Coordinates> fewest;
    for (first_ = 0; first_ < orders; ++first_) {
      roots_.clear();
      visit(0, active);
      if (first_ == 0 || roots_.size() < fewest.size()) fewest = roots_;
    }
    return fewest;
  }

 private:
  /// `depth`: how many axes come before.
  void visit(std::uint32_t depth, const std::vector<std::uint32_t>& active) {
    const Topology& topology = schedule_.topology;
    if (depth == topology.axis_count) {
      if (!topology.isDead(root_)) roots_.push_back(root_);
      return;
    }
    const std::uint32_t axis = depth == 0 ? first_ : depth <= first_ ? depth - 1 : depth;
    if (countsFromRoot(schedule_, axis)) return visit(depth + 1, active);
    // By executed operations: the coordinates, each with another set of operations.
    std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::int32_t>>> alike;
    for (const std::int32_t x : coordinatesOn(axis)) {
      std::vector<std::uint32_t> left = activeAt(axis, x, active);
      const auto same =
          llvm::find_if(alike, [&](const auto& other) { return other.first == left; });
      if (same == alike.end()) {
        alike.push_back({std::move(left), {x}});
      } else {
        same->second.push_back(x);
      }
    }
    for (const auto& [left, coordinates] : alike) {
      const bool is_free =
          !all_ && coordinates.size() > 1 && shifts_.isFree(axis, left, is_fixed_, root_);
      is_fixed_[axis] = !is_free;
      for (const std::int32_t x : coordinates) {
        root_[axis] = x;
        visit(depth + 1, left);
        if (is_free) break;
      }
      is_fixed_[axis] = false;
    }
    root_[axis] = 0;
  }

  std::vector<std::int32_t> coordinatesOn(std::uint32_t axis) const {
    const Topology& topology = schedule_.topology;
    Line line = lineOf(schedule_, axis);
    if (all_ || topology.isDamaged()) {
      if (!all_) {
        if (auto coordinates = onDamagedRing(schedule_, axis)) return *coordinates;
      }
      line.reach = topology.axes[axis].size;
    }
    return coordinatesToProve(line, topology.axes[axis].size);
  }

  /// Operations of `active` whose guards are for a root at `x`.
  std::vector<std::uint32_t> activeAt(std::uint32_t axis, std::int32_t x,
                                      const std::vector<std::uint32_t>& active) const {
    std::vector<std::uint32_t> left;
    llvm::copy_if(active, std::back_inserter(left), [&](std::uint32_t operation) {
      const Interval& interval = schedule_.guardBox(schedule_.operations[operation].guard)[axis];
      return interval.kind != IntervalKind::kForRoots ||
             atRoot(interval, x, schedule_.topology.axes[axis].size).length > 0;
    });
    return left;
  }

  const ScheduleView& schedule_;
  const bool all_;
  RootShifts shifts_;
  std::uint32_t first_ = 0;
  Coordinates root_{};
  std::array<bool, kMaxAxes> is_fixed_{};
  std::vector<Coordinates> roots_;
};

}  // namespace

std::vector<Coordinates> rootsToProve(const ScheduleView& schedule, bool all,
                                      std::uint32_t operations_per_segment) {
  if (!rowOf(schedule.collective).isRooted()) return std::vector<Coordinates>(1);
  return RootsToProve(schedule, all, operations_per_segment).run();
}

}  // namespace torc::ir
