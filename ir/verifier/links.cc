// Rule 6, links: what each class of directed links carries in each phase, and the promise of
// assign-permutations that no two colors share a link within a phase. Also the scratch needed. A
// message that goes over a dead link, or through a dead node, is a fault; one that goes more than
// one hop is taken to go along one axis after the other, X first.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "ir/verifier/context.h"
#include "schedules/topology/damage.h"

namespace torc {
namespace {

struct LinkClass {
  std::uint32_t phase;
  std::uint32_t axis;
  int sign;
  auto operator<=>(const LinkClass&) const = default;
};

/// Whether a message that goes `shift` from a node of class `at`, one axis after the other, takes
/// `link`. Along a collapsed axis the class has a node at every coordinate; `at` becomes the one
/// that does.
bool takesLink(const VerifyContext& context, Coordinates& at, const Shift& shift,
               const DeadLink& link) {
  const Topology& topology = context.topology;
  if (shift[link.axis] == 0) return false;
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    const std::int64_t hops = shift[axis];
    // Axes before the link's have been travelled, those behind it not yet.
    const std::int64_t passed = axis < link.axis ? hops : axis == link.axis && hops < 0 ? -1 : 0;
    if (context.collapsed(axis)) {
      at[axis] = static_cast<std::int32_t>(wrap(link.from[axis] - passed, size));
    } else if (axis != link.axis) {
      if (wrap(at[axis] + passed, size) != static_cast<std::uint32_t>(link.from[axis]))
        return false;
    } else if (!topology.axes[axis].hasOneCable()) {
      const std::uint32_t lowest = wrap(at[axis] + std::min<std::int64_t>(hops, 0), size);
      const auto length = static_cast<std::uint32_t>(std::abs(hops));
      if (!contains({lowest, length}, static_cast<std::uint32_t>(link.from[axis]), size))
        return false;
    }
  }
  return true;
}

/// Whether a message that goes `shift` from the node at `at` passes through the node `dead`.
bool passesNode(const Topology& topology, Coordinates at, const Shift& shift,
                const Coordinates& dead) {
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    for (std::int32_t hop = 0; hop < std::abs(shift[axis]); ++hop) {
      at[axis] = static_cast<std::int32_t>(wrap(at[axis] + (shift[axis] > 0 ? 1 : -1), size));
      if (std::equal(dead.begin(), dead.begin() + dimensions, at.begin())) return true;
    }
  }
  return false;
}

/// A fault for each send that takes a dead link or goes through a dead node.
void checkDamage(VerifyContext& context) {
  const ScheduleView& schedule = context.schedule;
  const Topology& topology = context.topology;
  if (!topology.isDamaged()) return;
  for (std::uint32_t i = 0; i < schedule.operations.size() && !context.full(); ++i) {
    const Operation& operation = schedule.operations[i];
    if (!sends(operation.kind)) continue;
    const Shift& shift = schedule.shifts[operation.peer];
    std::string dead;  // what it uses; one fault per operation is enough
    for (std::uint32_t c = 0; c < context.classCount() && dead.empty(); ++c) {
      if (!context.executes(c, operation)) continue;
      Coordinates at;
      for (const DeadLink& link : topology.deadLinks()) {
        at = context.coordinatesOf(c);
        if (takesLink(context, at, shift, link)) {
          dead = " sends over the dead link " + linkText(topology, link);
          break;
        }
      }
      for (const Coordinates& node : topology.deadNodes()) {
        if (!dead.empty()) break;
        at = context.coordinatesOf(c);
        if (passesNode(topology, at, shift, node)) {
          dead = " sends through the dead node " + nodeText(topology, node);
        }
      }
      if (!dead.empty()) context.fault(Rule::kLinks, i, "on " + context.rankText(at) + dead);
    }
  }
}

}  // namespace

void checkLinks(VerifyContext& context) {
  checkDamage(context);
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
        const LinkClass link{operation.phase, axis, topology.axes[axis].linkSign(shift[axis])};
        load[link] += carried * std::abs(shift[axis]);
        for (const Piece& piece : schedule.piecesOf(operation.a)) {
          colors[link].insert(context.parts.index(piece.part).color);
          colors[link].insert(context.parts.index(piece.part + piece.parts - 1).color);
        }
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
    slots[frame.slot] = std::max(slots[frame.slot], shares.of(wholeFrame(frame, kNone), {}));
  }
  context.result.slots = schedule.slot_count;
  for (double slot : slots)
    context.result.scratch_share += slot;
}

}  // namespace torc
