// Searches for nodes that hold blocks, and routes to them.
#include "passes/detours/detour_routes.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Twine.h>

#include "ir/make_error.h"
#include "schedules/box.h"
#include "schedules/topology/damage.h"

namespace torc::passes {
namespace {

// Most nodes examined for one route.
constexpr std::size_t kMostVisited = 1u << 14;
// Most additional hops of a route over the shortest one.
constexpr std::size_t kMoreHops = 2;

const Region& movedBy(const Operation& operation) {
  return sends(operation.kind) ? operation.a : operation.dst;
}

bool contains(const ir::RangesList& boxes, const Coordinates& at, const Topology& topology) {
  return llvm::any_of(boxes, [&](const Ranges& box) {
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      if (!torc::contains(box[axis], static_cast<std::uint32_t>(at[axis]),
                          topology.axes[axis].size)) {
        return false;
      }
    }
    return true;
  });
}

/// The shortest route with a given first hop, up to a maximal length.
std::optional<Route> routeFrom(const Topology& topology, const Coordinates& from, const Hop& first,
                               std::size_t most, const std::vector<Holders>& holders) {
  struct Reached {
    Coordinates at;
    Hop hop;
    std::size_t before;
    std::size_t hops;
  };
  const std::optional<Coordinates> begin = hopFrom(topology, from, first);
  if (!begin) return std::nullopt;
  std::vector<Reached> reached = {{*begin, first, 0, 1}};
  std::set<Coordinates> seen = {from, *begin};
  for (std::size_t next = 0; next < reached.size() && reached.size() < kMostVisited; ++next) {
    const Reached here = reached[next];
    for (const Holders& some : holders) {
      if (!contains(some.nodes, here.at, topology)) continue;
      Route route{{}, some};
      for (std::size_t at = next; route.way.size() < here.hops; at = reached[at].before)
        route.way.push_back(reached[at].hop);
      std::reverse(route.way.begin(), route.way.end());
      return route;
    }
    if (here.hops == most) continue;
    for (std::uint32_t axis = 0; axis < static_cast<std::uint32_t>(topology.dimensions()); ++axis) {
      for (const int sign : {1, -1}) {
        const std::optional<Coordinates> to = hopFrom(topology, here.at, {axis, sign});
        if (to && seen.insert(*to).second)
          reached.push_back({*to, {axis, sign}, next, here.hops + 1});
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Coordinates> hopFrom(const Topology& topology, const Coordinates& from,
                                   const Hop& hop) {
  Coordinates to{};
  if (topology.axes[hop.axis].size == 1 || !topology.hasLink(from, hop.axis, hop.sign, to))
    return std::nullopt;
  return to;
}

namespace {

/// The shortest routes over each link of a node, without those much longer than others.
std::vector<Route> shortestRoutes(const Topology& topology, const Coordinates& from,
                                  const std::vector<Holders>& holders) {
  std::vector<Route> found;
  std::size_t most = kMostVisited;
  for (std::uint32_t axis = 0; axis < static_cast<std::uint32_t>(topology.dimensions()); ++axis) {
    for (const int sign : {1, -1}) {
      std::optional<Route> route = routeFrom(topology, from, {axis, sign}, most, holders);
      if (!route) continue;
      most = std::min(most, route->way.size() + kMoreHops);
      found.push_back(std::move(*route));
    }
  }
  llvm::erase_if(found, [&](const Route& route) { return route.way.size() > most; });
  return found;
}

}  // namespace

DetourRoutes::DetourRoutes(const ScheduleView& rings)
    : rings_(rings), topology_(rings.topology), dropped_(rings) {
  for (std::uint32_t i = 0; i < rings_.operations.size(); ++i) {
    const Operation& operation = rings_.operations[i];
    if (operation.peer == kNone) continue;
    for (const Piece& piece : rings_.piecesOf(movedBy(operation))) {
      for (std::uint32_t part = piece.part; part < piece.part + piece.parts; ++part)
        messages_[part].push_back(i);
    }
    if (operation.kind == OperationKind::kRecvReduce)
      adding_.insert({operation.stream, operation.phase});
  }
}

std::vector<Coordinates> DetourRoutes::nodesThatDrop(const Operation& operation) {
  std::set<Coordinates> nodes;
  for (const Ranges& box : dropped_.of(operation)) {
    const std::uint64_t count = volume(box, topology_);
    for (std::uint64_t k = 0; k < count; ++k) {
      Coordinates at{};
      std::uint64_t rest = k;
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        const auto along = static_cast<std::int64_t>(rest % box[axis].length);
        at[axis] =
            static_cast<std::int32_t>(wrap(box[axis].start + along, topology_.axes[axis].size));
        rest /= box[axis].length;
      }
      const bool admitted =
          operation.guard == kNone || admits(rings_.boxes[operation.guard], topology_, at);
      if (admitted && !topology_.isDead(at)) nodes.insert(at);
    }
  }
  return {nodes.begin(), nodes.end()};
}

llvm::Expected<std::vector<Need>> DetourRoutes::needs() {
  std::vector<Need> all;
  for (std::uint32_t i = 0; i < rings_.operations.size(); ++i) {
    const Operation& operation = rings_.operations[i];
    const bool adds = operation.kind == OperationKind::kSend &&
                      adding_.contains({operation.stream, operation.phase});
    if (!adds && operation.kind != OperationKind::kRecv) continue;
    for (const Coordinates& at : nodesThatDrop(operation)) {
      if (llvm::Error error = addNeed(i, at, all)) return error;
    }
  }
  return all;
}

/// Adds the blocks that `operation` leaves undelivered at a node, with their routes.
llvm::Error DetourRoutes::addNeed(std::uint32_t operation, const Coordinates& at,
                                  std::vector<Need>& all) {
  const Operation& dropped = rings_.operations[operation];
  const bool adds = sends(dropped.kind);
  const Region& region = movedBy(dropped);
  Need need{operation, at, resolve(boxOf(region), topology_, at), {}};
  if (isNothing(need.blocks)) return llvm::Error::success();
  std::vector<Holders> holders =
      adds ? whoTakes(operation, need.blocks) : whoHas(operation, need.blocks);
  if (holders.empty() && liveVolume(need.blocks, topology_) == 0) {
    holders = whoKeeps(region, need.blocks);
    const bool are_kept = llvm::any_of(kept_, [&](const auto& kept) {
      return kept.first == need.blocks && sharesPart(kept.second.region, region);
    });
    if (adds && !are_kept) {
      kept_.push_back({need.blocks, {{nodeAt(topology_, at)}, region, kNone}});
      return llvm::Error::success();
    }
  }
  if (!holders.empty() && contains(holders.front().nodes, at, topology_)) {
    // The node has them itself, in another buffer at most.
    if (holders.front().region.buffer == region.buffer) return llvm::Error::success();
    need.routes = {{{}, holders.front()}};
  } else {
    need.routes = shortestRoutes(topology_, at, holders);
  }
  if (need.routes.empty()) {
    return makeError("no way round what is dead for what node " +
                     llvm::Twine(nodeText(topology_, at)) + " should " +
                     (adds ? "send" : "receive") + " in phase " + llvm::Twine(dropped.phase));
  }
  all.push_back(std::move(need));
  return llvm::Error::success();
}

bool DetourRoutes::isNothing(const Ranges& blocks) const {
  return rowOf(rings_.collective).layout == Layout::kBlockMajor &&
         liveVolume(blocks, topology_) == 0;
}

/// The nodes that have the blocks of a dropped receive.
std::vector<Holders> DetourRoutes::whoHas(std::uint32_t receive, const Ranges& blocks) {
  const Region& wanted = rings_.operations[receive].dst;
  std::vector<Holders> holders;
  for (const std::uint32_t i : messages_[rings_.piecesOf(wanted)[0].part]) {
    if (i > receive) break;
    const Operation& earlier = rings_.operations[i];
    if (adding_.contains({earlier.stream, earlier.phase})) continue;  // partial sums
    // The data of a send were present, and data missed by an earlier receive have come by a detour.
    Holders some = holdersOf(earlier, wanted, blocks, i < receive);
    if (!some.nodes.empty()) holders.push_back(std::move(some));
  }
  return holders;
}

/// The nodes that keep the sums of a dead node's blocks.
std::vector<Holders> DetourRoutes::whoKeeps(const Region& wanted, const Ranges& blocks) const {
  std::vector<Holders> holders;
  for (const auto& [kept, holder] : kept_) {
    if (kept == blocks && hasPartsOf(holder.region, wanted)) holders.push_back(holder);
  }
  return holders;
}

/// The nodes that take sums of blocks that a dropped send would have forwarded.
std::vector<Holders> DetourRoutes::whoTakes(std::uint32_t send, const Ranges& blocks) {
  const Region& sums = rings_.operations[send].a;
  std::vector<Holders> holders;
  for (const std::uint32_t i : messages_[rings_.piecesOf(sums)[0].part]) {
    const Operation& other = rings_.operations[i];
    const bool sends_along = i == send && other.a.buffer != Buffer::kIn;
    const bool adds_later = i > send && other.kind == OperationKind::kRecvReduce;
    if (!sends_along && !adds_later) continue;
    Holders some = holdersOf(other, sums, blocks, adds_later);
    if (adds_later) some.behind = i;
    if (!some.nodes.empty()) holders.push_back(std::move(some));
  }
  return holders;
}

/// The live nodes under the guard of `operation` for which its blocks are `blocks`, of at least the
/// parts of `wanted`.
Holders DetourRoutes::holdersOf(const Operation& operation, const Region& wanted,
                                const Ranges& blocks, bool also_dropped) {
  const Region& region = movedBy(operation);
  Holders holders{{}, region, kNone};
  if (!hasPartsOf(region, wanted)) return holders;
  const Box& box = boxOf(region);
  Ranges nodes{};
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const std::uint32_t size = topology_.axes[axis].size;
    const Range named = resolve(box[axis], 0, size);
    if (named.length != blocks[axis].length) return holders;
    nodes[axis] = {0, size};
    if (box[axis].kind == IntervalKind::kRelative && named.length < size) {
      const std::int64_t at = std::int64_t{blocks[axis].start} - box[axis].start;
      if (!topology_.axes[axis].wraps() && (at < 0 || at >= size)) return holders;
      nodes[axis] = {wrap(at, size), 1};
    } else if (named != blocks[axis]) {
      return holders;
    }
  }
  const Ranges guard = operation.guard == kNone
                           ? nodes
                           : resolve(rings_.boxes[operation.guard], topology_, Coordinates{});
  ir::intersect(nodes, guard, topology_, holders.nodes);
  const auto leaveOut = [&](const Ranges& some) {
    ir::RangesList rest;
    for (const Ranges& box : holders.nodes)
      ir::subtract(box, some, topology_, rest);
    holders.nodes = std::move(rest);
  };
  for (const Coordinates& dead : topology_.deadNodes())
    leaveOut(nodeWithCores(topology_, dead));
  if (also_dropped) return holders;
  for (const Ranges& dropped : dropped_.of(operation))
    leaveOut(dropped);
  return holders;
}

bool DetourRoutes::sharesPart(const Region& a, const Region& b) const {
  return llvm::any_of(rings_.piecesOf(a), [&](const Piece& one) {
    return llvm::any_of(rings_.piecesOf(b), [&](const Piece& other) {
      return one.part < other.part + other.parts && other.part < one.part + one.parts;
    });
  });
}

bool DetourRoutes::hasPartsOf(const Region& region, const Region& wanted) const {
  return llvm::all_of(rings_.piecesOf(wanted), [&](const Piece& some) {
    return llvm::any_of(rings_.piecesOf(region), [&](const Piece& piece) {
      return piece.part <= some.part && some.part + some.parts <= piece.part + piece.parts;
    });
  });
}

}  // namespace torc::passes
