// Rule 6, links: what each class of directed links carries in each phase, and the promise of
// assign-permutations that no two colors share a link within a phase. Also the scratch needed.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "ir/verifier_context.h"

namespace torc {
namespace {

struct LinkClass {
  std::uint32_t phase;
  std::uint32_t axis;
  int sign;
  auto operator<=>(const LinkClass&) const = default;
};

/// The direction in which a message over `distance` uses links of `axis`. A line of two has one
/// cable: both ways round are called +.
int linkSign(const Axis& axis, std::int32_t distance) {
  const bool one_cable = axis.kind == AxisKind::kMesh && axis.size == 2;
  return distance > 0 || one_cable ? 1 : -1;
}

}  // namespace

void checkLinks(VerifyContext& context) {
  const ScheduleView& schedule = context.schedule;
  const Topology& topology = context.topology;
  const VectorShares shares(schedule);
  std::map<LinkClass, double> busiest;
  std::map<LinkClass, std::set<std::uint32_t>> colors;
  for (std::uint32_t c = 0; c < context.classCount(); ++c) {
    const Coordinates at = context.coordinatesOf(c);
    std::map<LinkClass, double> load;
    for (const Operation& operation : schedule.operations) {
      if (!sends(operation.kind) || !context.executes(c, operation)) continue;
      const double carried = shares.of(operation.a, at);
      const Shift& shift = schedule.shifts[operation.peer];
      for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
        if (shift[axis] == 0) continue;
        const LinkClass link{operation.phase, axis, linkSign(topology.axes[axis], shift[axis])};
        load[link] += carried * std::abs(shift[axis]);
        colors[link].insert(context.parts.index(operation.a.part).color);
      }
    }
    for (const auto& [link, share] : load)
      busiest[link] = std::max(busiest[link], share);
  }
  for (const auto& [link, share] : busiest) {
    context.result.loads.push_back({link.axis, link.sign, link.phase, share});
  }
  if (schedule.flags & kConflictFreePhases) {
    for (const auto& [link, users] : colors) {
      if (users.size() < 2 || topology.axes[link.axis].kind == AxisKind::kCore) continue;
      context.fault(Rule::kLinks, kNone,
                    "promised conflict-free phases, but in phase " + std::to_string(link.phase) +
                        " colors " + std::to_string(*users.begin()) + " and " +
                        std::to_string(*std::next(users.begin())) + " both use links " +
                        topology.axes[link.axis].name + (link.sign > 0 ? "+" : "-"));
    }
  }
  std::vector<double> slots(schedule.slot_count, 0.0);
  for (const Frame& frame : schedule.frames) {
    const Region whole{Buffer::kScratch, {}, frame.part, frame.box, kNone};
    slots[frame.slot] = std::max(slots[frame.slot], shares.of(whole, {}));
  }
  context.result.slots = schedule.slot_count;
  for (double slot : slots)
    context.result.scratch_share += slot;
}

}  // namespace torc
