// Rule 6, links: what each class of directed links carries in each phase, and the promise of
// assign-permutations that no two colors share a link within a phase. Also the scratch needed. A
// message that goes over a dead link, or through a dead node, is a fault; one that goes more than
// one hop is taken to go along one axis after the other, X first.
#include "ir/verifier/links.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "ir/families/families.h"
#include "ir/verifier/context.h"
#include "schedules/topology/damage.h"

namespace torc::ir {
namespace {

/// Every node.
Ranges everywhere(const Topology& topology) {
  Ranges all{};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    all[axis] = {0, topology.axes[axis].size};
  return all;
}

/// The nodes that a class stands for.
Ranges nodesOf(const VerifyContext& context, std::uint32_t node_class) {
  Ranges nodes = everywhere(context.topology);
  const Coordinates at = context.coordinatesOf(node_class);
  for (std::uint32_t axis = 0; axis < context.topology.axis_count; ++axis) {
    if (!context.collapsed(axis)) nodes[axis] = {static_cast<std::uint32_t>(at[axis]), 1};
  }
  return nodes;
}

/// The nodes whose messages over `shift`, one axis after the other, take `link`. Axes before the
/// link's have been travelled there, those behind it not yet.
Ranges sendersOver(const Topology& topology, const Shift& shift, const DeadLink& link) {
  Ranges senders = everywhere(topology);
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    const std::int64_t from = link.from[axis];
    const std::int64_t hops = shift[axis];
    if (axis != link.axis) {
      senders[axis] = {wrap(axis < link.axis ? from - hops : from, size), 1};
    } else if (!topology.axes[axis].hasOneCable() && std::abs(hops) < size) {
      senders[axis] = {wrap(hops > 0 ? from - hops + 1 : from + 1, size),
                       static_cast<std::uint32_t>(std::abs(hops))};
    }
  }
  return senders;
}

/// Calls `visit(senders)` for the nodes whose messages over `shift` are at the site of `dead` after
/// one hop, two, and so on, until it returns true.
template <typename Visit>
void forEachWayThrough(const Topology& topology, const Shift& shift, const Coordinates& dead,
                       Visit visit) {
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  Ranges senders = everywhere(topology);
  for (std::uint32_t axis = 0; axis < dimensions; ++axis)
    senders[axis] = {static_cast<std::uint32_t>(dead[axis]), 1};
  for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
    for (std::int32_t hop = 0; hop < std::abs(shift[axis]); ++hop) {
      senders[axis] = shifted(senders[axis], shift[axis] > 0 ? -1 : 1, topology.axes[axis].size);
      if (visit(senders)) return;
    }
  }
}

/// Adds what the messages of a family, each of `carried`, load.
void addFamilyLoads(const VerifyContext& context, const Operation& operation, double carried,
                    std::map<PhaseLinks, double>& load,
                    std::map<PhaseLinks, std::set<std::uint32_t>>& colors) {
  const Family& family = context.schedule.families[operation.peer];
  for (std::uint32_t axis = 0; axis < context.topology.axis_count; ++axis) {
    const FamilyLoad messages = loadOf(context.topology, family, axis);
    for (const auto& [sign, count] : {std::pair(1, messages.up), std::pair(-1, messages.down)}) {
      if (count == 0) continue;
      const PhaseLinks link{operation.phase, axis, sign};
      load[link] += carried * static_cast<double>(count);
      addColors(context, operation.a, colors[link]);
    }
  }
}

}  // namespace

void checkDamage(VerifyContext& context, std::uint32_t operation, const RangesList& senders) {
  const Topology& topology = context.topology;
  if (!topology.isDamaged() || context.full()) return;
  const Shift& shift = context.schedule.shifts[context.schedule.operations[operation].peer];
  RangesList common;
  const auto someOf = [&](const Ranges& nodes) {
    for (const Ranges& box : senders)
      intersect(box, nodes, topology, common);
    return !common.empty();
  };
  std::string dead;  // what it uses; one fault per operation is enough
  for (const DeadLink& link : topology.deadLinks()) {
    if (!dead.empty() || shift[link.axis] == 0) continue;
    if (someOf(sendersOver(topology, shift, link)))
      dead = " sends over the dead link " + linkText(topology, link);
  }
  for (const Coordinates& node : topology.deadNodes()) {
    if (!dead.empty()) break;
    forEachWayThrough(topology, shift, node, someOf);
    if (!common.empty()) dead = " sends through the dead node " + nodeText(topology, node);
  }
  if (dead.empty()) return;
  Coordinates at{};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    at[axis] = static_cast<std::int32_t>(common.front()[axis].start);
  context.fault(Rule::kLinks, operation, "on " + context.rankText(at) + dead);
}

void addColors(const VerifyContext& context, const Region& region,
               std::set<std::uint32_t>& colors) {
  for (const Piece& piece : context.schedule.piecesOf(region)) {
    colors.insert(context.parts.index(piece.part).color);
    colors.insert(context.parts.index(piece.part + piece.parts - 1).color);
  }
}

void checkPromise(VerifyContext& context,
                  const std::map<PhaseLinks, std::set<std::uint32_t>>& colors) {
  if (!(context.schedule.flags & kConflictFreePhases)) return;
  for (const auto& [link, users] : colors) {
    const Axis& axis = context.topology.axes[link.axis];
    if (users.size() < 2 || axis.kind == AxisKind::kCore) continue;
    context.fault(Rule::kLinks, kNone,
                  "promised conflict-free phases, but in phase " + std::to_string(link.phase) +
                      " colors " + std::to_string(*users.begin()) + " and " +
                      std::to_string(*std::next(users.begin())) + " both use links " + axis.name +
                      (link.sign > 0 ? "+" : "-"));
  }
}

void measureScratch(VerifyContext& context) {
  const ScheduleView& schedule = context.schedule;
  context.result.slots = schedule.slot_count;
  context.result.scratch_share = VectorShares(schedule).scratch();
}

void checkLinks(VerifyContext& context) {
  const ScheduleView& schedule = context.schedule;
  const Topology& topology = context.topology;
  if (topology.isDamaged()) {
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      if (!sends(operation.kind)) continue;
      RangesList senders;
      for (std::uint32_t c = 0; c < context.classCount(); ++c) {
        if (context.executes(c, operation)) senders.push_back(nodesOf(context, c));
      }
      checkDamage(context, i, senders);
    }
  }
  const VectorShares shares(schedule), written_shares(context.written);
  std::map<PhaseLinks, double> busiest;
  std::map<PhaseLinks, std::set<std::uint32_t>> colors;
  for (std::uint32_t c = 0; c < context.classCount(); ++c) {
    const Coordinates at = context.coordinatesOf(c);
    std::map<PhaseLinks, double> load;
    for (const Operation& operation : schedule.operations) {
      if (operation.kind != OperationKind::kSend || !context.executes(c, operation)) continue;
      if (operation.hasFamily()) {
        const Region& message = context.written.operations[&operation - &schedule.operations[0]].a;
        addFamilyLoads(context, operation, written_shares.of(message, at), load, colors);
        continue;
      }
      const double carried = shares.of(operation.a, at);
      const Shift& shift = schedule.shifts[operation.peer];
      for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
        if (shift[axis] == 0) continue;
        const PhaseLinks link{operation.phase, axis, topology.axes[axis].linkSign(shift[axis])};
        load[link] += carried * std::abs(shift[axis]);
        addColors(context, operation.a, colors[link]);
      }
    }
    for (const auto& [link, share] : load)
      busiest[link] = std::max(busiest[link], share);
  }
  for (const auto& [link, share] : busiest) {
    context.result.loads.push_back({link.axis, link.sign, link.phase, share});
  }
  checkPromise(context, colors);
  measureScratch(context);
}

}  // namespace torc::ir
