// Rule 6, links, by cells: what the busiest link of a class carries is the most that the nodes of
// any cell send over it.
#include "ir/verifier/links.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "ir/verifier/cells/proof.h"
#include "schedules/topology/damage.h"

namespace torc::ir {
namespace {

/// Whether a region has as many blocks of live nodes on every node.
bool looksTheSame(const ScheduleView& schedule, const Region& region) {
  if (schedule.topology.dead_node_count == 0) return true;
  for (const Piece& piece : schedule.piecesOf(region)) {
    for (const Interval& interval : schedule.boxes[piece.box].axes) {
      if (interval.kind == IntervalKind::kRelative) return false;
    }
  }
  return true;
}

}  // namespace

void checkLinksOfCells(CellProof& proof) {
  VerifyContext& context = proof.context;
  const ScheduleView& schedule = context.schedule;
  const Topology& topology = context.topology;
  const VectorShares shares(schedule);
  std::map<PhaseLinks, std::vector<Doing>> senders;  // operations and their nodes
  std::map<PhaseLinks, std::set<std::uint32_t>> colors;
  std::vector<double> carried(schedule.operations.size(), 0.0);
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    const Operation& operation = schedule.operations[i];
    if (!sends(operation.kind)) continue;
    const RangesList& domain = proof.domains.of(operation);
    const Shift& shift = schedule.shifts[operation.peer];
    checkDamage(context, i, domain);
    if (isSignal(operation.kind)) continue;  // no load
    proof.work.done += std::max<std::size_t>(1, operation.a.pieces);
    const bool same = looksTheSame(schedule, operation.a);
    for (const Ranges& nodes : domain) {
      Coordinates at{};
      for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
        at[axis] = static_cast<std::int32_t>(nodes[axis].start);
        // Of several nodes that carry different shares none stands for all.
        if (!same && nodes[axis].length > 1) proof.work.done = proof.work.most + 1;
      }
      carried[i] = shares.of(operation.a, at);
    }
    for (std::uint32_t axis = 0; axis < topology.axis_count && !domain.empty(); ++axis) {
      if (shift[axis] == 0) continue;
      const PhaseLinks link{operation.phase, axis, topology.axes[axis].linkSign(shift[axis])};
      for (const Ranges& nodes : domain)
        senders[link].push_back({nodes, i});
      addColors(context, operation.a, colors[link]);
    }
    if (proof.work.tooMuch()) return;
  }
  for (auto& [link, list] : senders) {
    double busiest = 0;
    forEachCell(topology, std::move(list), proof.work,
                [&, axis = link.axis](const Ranges&, llvm::ArrayRef<std::uint32_t> doing) {
                  double load = 0;
                  for (std::uint32_t i : doing) {
                    const Shift& shift = schedule.shifts[schedule.operations[i].peer];
                    load += carried[i] * std::abs(shift[axis]);
                  }
                  busiest = std::max(busiest, load);
                });
    context.result.loads.push_back({link.axis, link.sign, link.phase, busiest});
  }
  checkPromise(context, colors);
  measureScratch(context);
}

}  // namespace torc::ir
