// Rule 6, links: the load of each class of directed links in each phase, as the maximum over cells.
// Also the promise of assign-permutations that no two colors share a link within a phase. Also
// computes the share of scratch. A message over a dead link, or through a dead node, is a fault; a
// message of several hops goes along one axis after the other, X first. On a graph a message goes
// over one link or over switches, and loads are not computed.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/peer_loops/peer_loops.h"
#include "ir/verifier/rule_context.h"
#include "schedules/broken_messages.h"
#include "schedules/topology/damage.h"

namespace torc::ir {
namespace {

/// All links of one axis and sign, in one phase.
struct PhaseLinks {
  std::uint32_t phase;
  std::uint32_t axis;
  int sign;
  auto operator<=>(const PhaseLinks&) const = default;
};

/// A fault if the send `operation` uses a dead link or a dead node from one of the nodes of
/// `senders`.
void checkDamage(VerifyContext& context, std::uint32_t operation, const RangesList& senders) {
  const Topology& topology = context.topology;
  if (!topology.isDamaged() || context.full()) return;
  const Shift& shift = context.schedule.shifts[context.schedule.operations[operation].peer];
  RangesList common;
  const auto someOf = [&](const Ranges& nodes) {
    common = intersect(senders, nodes, topology);
    return !common.empty();
  };
  std::string dead;  // one fault per operation is enough
  for (const DeadLink& link : topology.deadLinks()) {
    if (!dead.empty()) break;
    const std::optional<Ranges> over = sendersOver(topology, shift, link);
    if (over && someOf(*over)) dead = " sends over the dead link " + linkText(topology, link);
  }
  for (const Coordinates& node : topology.deadNodes()) {
    if (!dead.empty()) break;
    if (llvm::any_of(sendersThrough(topology, shift, node), someOf))
      dead = " sends through the dead node " + nodeText(topology, node);
  }
  if (dead.empty()) return;
  context.fault(Rule::kLinks, operation, "on ", context.rankText(firstNode(common.front())), dead);
}

/// The nodes whose blocks on one axis, given by `interval`, include those of a dead node.
Range nodesThatName(const Interval& interval, std::int32_t dead, std::uint32_t size) {
  const Range named = resolve(interval, 0, size);
  if (interval.kind == IntervalKind::kRelative && named.length < size)
    return {wrap(std::int64_t{dead} - named.start - named.length + 1, size), named.length};
  return contains(named, static_cast<std::uint32_t>(dead), size) ? Range{0, size} : Range{};
}

class LinkChecker : public RuleChecker {
 public:
  explicit LinkChecker(VerifyContext& context)
      : RuleChecker(context), shares_(schedule_), written_shares_(context_.written) {}

  void run() {
    if (schedule_.isOnGraph()) return checkGraph();
    for (std::uint32_t i = 0; i < schedule_.operations.size() && !context_.work.tooMuch(); ++i) {
      const Operation& operation = schedule_.operations[i];
      if (!sends(operation.kind)) continue;
      if (operation.hasPeerLoop()) {
        addPeerLoop(i);
        continue;
      }
      const RangesList& senders = context_.domains.of(operation);
      checkDamage(context_, i, senders);
      if (!isSignal(operation.kind)) addLoads(operation, senders);
    }
    for (auto& [link, users] : links_) {
      double busiest = 0;
      forEachCell(topology_, std::move(users.senders), context_.work,
                  [&, &loads = users.loads](const Ranges&, llvm::ArrayRef<std::uint32_t> doing) {
                    double load = 0;
                    for (std::uint32_t i : doing)
                      load += loads[i];
                    busiest = std::max(busiest, load);
                  });
      context_.result.loads.push_back({link.axis, link.sign, link.phase, busiest});
    }
    checkPromise();
  }

 private:
  /// A fault if some node sends to a node that no route reaches. Messages of the same nodes over
  /// equal shifts are checked once, and are one fault.
  void checkGraph() {
    GraphRoutes routes(schedule_.links, topology_.ranks());
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // guard, shift
    for (std::uint32_t i = 0; i < schedule_.operations.size() && !context_.full(); ++i) {
      const Operation& operation = schedule_.operations[i];
      if (!sends(operation.kind) || !seen.emplace(operation.guard, operation.peer).second) continue;
      const Shift& shift = schedule_.shifts[operation.peer];
      for (const Ranges& nodes : context_.domains.of(operation)) {
        const std::optional<Coordinates> from = senderWithoutWay(routes, nodes, shift);
        if (context_.work.tooMuch()) return;
        if (!from) continue;
        context_.fault(Rule::kLinks, i, "on ", context_.rankText(*from), " sends to rank ",
                       topology_.neighbour(*from, shift),
                       ", to which neither a link nor switches lead");
        break;
      }
    }
  }

  std::optional<Coordinates> senderWithoutWay(GraphRoutes& routes, const Ranges& nodes,
                                              const Shift& shift) {
    Coordinates at{};
    const std::uint64_t count = volume(nodes, topology_);
    for (std::uint64_t number = 0; number < count; ++number) {
      std::uint64_t rest = number;
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        const Range& along = nodes[axis];
        at[axis] = static_cast<std::int32_t>((along.start + rest % along.length) %
                                             topology_.axes[axis].size);
        rest /= along.length;
      }
      const std::uint64_t work = routes.work();
      const std::vector<std::uint32_t> way =
          routes.between(static_cast<std::uint32_t>(topology_.rankOf(at)),
                         static_cast<std::uint32_t>(topology_.neighbour(at, shift)));
      context_.work.done += 1 + routes.work() - work;
      if (way.empty()) return at;
      if (context_.work.tooMuch()) break;
    }
    return std::nullopt;
  }

  struct Users {
    std::vector<Doing> senders;
    std::vector<double> loads;  // of a sender, by its number
    std::set<std::uint32_t> colors;
  };

  /// All cores of a node share its links.
  void add(const Operation& operation, std::uint32_t axis, int sign, Ranges senders, double load) {
    if (topology_.hasCores() && topology_.axes[axis].kind != AxisKind::kCore) {
      Range& cores = senders[topology_.axis_count - 1];
      load *= cores.length;
      cores = {0, topology_.axes[topology_.axis_count - 1].size};
    }
    Users& users = links_[{operation.phase, axis, sign}];
    users.senders.push_back({senders, static_cast<std::uint32_t>(users.loads.size())});
    users.loads.push_back(load);
    for (const Piece& piece : schedule_.piecesOf(operation.a)) {
      users.colors.insert(context_.parts.index(piece.part).color);
      users.colors.insert(context_.parts.index(piece.part + piece.parts - 1).color);
    }
  }

  void addLoads(const Operation& operation, const RangesList& senders) {
    const Shift& shift = schedule_.shifts[operation.peer];
    context_.work.done += std::max<std::size_t>(1, operation.a.pieces);
    for (const Ranges& nodes : alike(operation.a, senders)) {
      const double carried = shares_.of(operation.a, firstNode(nodes));
      Ranges on_way = nodes;
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        if (shift[axis] == 0) continue;
        addHops(operation, axis, shift[axis], on_way, carried);
        on_way[axis] = shifted(on_way[axis], shift[axis], topology_.axes[axis].size);
      }
    }
  }

  /// Adds the load of messages from `senders` that go `hops` along `axis`: every hop uses the link
  /// of the node before it.
  void addHops(const Operation& operation, std::uint32_t axis, std::int32_t hops, Ranges senders,
               double carried) {
    const Axis& along = topology_.axes[axis];
    const int sign = along.linkSign(hops);
    const auto length = static_cast<std::uint32_t>(std::abs(hops));
    const Range from = senders[axis];
    if (from.length >= along.size || length >= along.size) {
      // Every node of the axis is passed equally often.
      senders[axis] = {0, along.size};
      add(operation, axis, sign, senders,
          carried * std::min(from.length, along.size) * length / along.size);
      return;
    }
    // For each sender the nodes that it passes, or for each hop its senders: the smaller number of
    // the two.
    const auto [times, nodes] = std::minmax(from.length, length);
    const std::int64_t first = hops > 0 ? from.start : std::int64_t{from.start} - length + 1;
    for (std::uint32_t i = 0; i < times; ++i) {
      senders[axis] = {wrap(first + i, along.size), nodes};
      add(operation, axis, sign, senders, carried);
    }
  }

  /// Adds the load of the messages of a loop over peers: all have equal size.
  void addPeerLoop(std::uint32_t index) {
    const Operation& operation = schedule_.operations[index];
    const PeerLoop& peers = schedule_.peer_loops[operation.peer];
    const double carried = written_shares_.of(context_.written.operations[index].a, {});
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const PeerLoopLoad messages = loadOf(topology_, peers, axis);
      for (const auto& [sign, count] : {std::pair(1, messages.up), std::pair(-1, messages.down)}) {
        if (count == 0) continue;
        for (const Ranges& nodes : context_.domains.of(operation))
          add(operation, axis, sign, nodes, carried * static_cast<double>(count));
      }
    }
  }

  /// Splits `boxes` into boxes of nodes for which a region has equally many blocks of live nodes.
  RangesList alike(const Region& region, RangesList boxes) {
    const auto dimensions = static_cast<std::uint32_t>(topology_.dimensions());
    for (const Coordinates& dead : topology_.deadNodes()) {
      for (const Piece& piece : schedule_.piecesOf(region)) {
        for (std::uint32_t end = 0; end < context_.axes.ends(); ++end) {
          Ranges naming = allNodes(topology_);
          for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
            naming[axis] = nodesThatName(
                schedule_.blockInterval(piece.box, end * context_.axes.nodeAxes() + axis),
                dead[axis], topology_.axes[axis].size);
          }
          RangesList cut;
          for (const Ranges& nodes : boxes) {
            ++context_.work.done;
            intersect(nodes, naming, topology_, cut);
            subtract(nodes, naming, topology_, cut);
          }
          boxes = std::move(cut);
        }
      }
    }
    return boxes;
  }

  /// A fault if conflict-free phases are promised and two colors use the same links in a phase.
  void checkPromise() {
    if (!(schedule_.flags & kConflictFreePhases)) return;
    for (const auto& [link, users] : links_) {
      const Axis& axis = topology_.axes[link.axis];
      if (users.colors.size() < 2 || axis.kind == AxisKind::kCore) continue;
      context_.fault(Rule::kLinks, kNone, "promised conflict-free phases, but in phase ",
                     link.phase, " colors ", *users.colors.begin(), " and ",
                     *std::next(users.colors.begin()), " both use links ", axis.name,
                     link.sign > 0 ? '+' : '-');
    }
  }

  const VectorShares shares_, written_shares_;
  std::map<PhaseLinks, Users> links_;
};

}  // namespace

void checkLinks(VerifyContext& context) {
  LinkChecker(context).run();
  context.result.slots = context.schedule.slot_count;
  context.result.scratch_share = VectorShares(context.schedule).scratch();
}

}  // namespace torc::ir
