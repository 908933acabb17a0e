// Stand-ins for dead nodes, and the ways of messages that are dropped.
#include "passes/detours/stand_ins.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/Twine.h>

#include "ir/make_error.h"
#include "passes/analysis/limits.h"
#include "passes/detours/detour_builder.h"
#include "passes/detours/detour_routes.h"
#include "schedules/expansion/shares.h"
#include "schedules/topology/damage.h"

namespace torc::passes {
namespace {

class StandIns {
 public:
  explicit StandIns(const Schedule& rings)
      : rings_(rings),
        view_(rings_.view()),
        topology_(rings_.topology),
        shares_(view_),
        builder_(rings_) {}

  llvm::Expected<Schedule> run();

 private:
  /// One end of a message: the place that it has on the torus, and who is there.
  struct End {
    Coordinates place{}, node{};
    bool stands_in = false;
  };

  llvm::Error standInForCopies(const Operation& copy);
  llvm::Error standInForMessages(const Operation& send, const Operation& receive);
  llvm::Error bring(const Operation& send, const Operation& receive, const Coordinates& from);
  std::optional<End> endAt(const Coordinates& place, std::uint32_t part) const;
  std::set<Coordinates> brokenSenders(const Shift& moves) const;
  /// The place that is so far from `at`, along or against a shift.
  Coordinates moved(Coordinates at, const Shift& moves, int sign) const {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      at[axis] = static_cast<std::int32_t>(
          wrap(std::int64_t{at[axis]} + sign * moves[axis], topology_.axes[axis].size));
    return at;
  }
  const Way* wayOf(const Coordinates& from, const Coordinates& to, double load);

  bool isNothing(const Region& region, const Coordinates& at) const;
  /// Index of the pair of boxes that `box` names at a node, whoever names it.
  std::uint32_t absolute(std::uint32_t box, const Coordinates& at);
  Region regionAt(const Region& region, const End& end);
  Region relayOf(const Region& region, const Coordinates& at);
  std::uint32_t partOf(const Operation& operation) const {
    return view_.streams[operation.stream].part;
  }

  const Schedule& rings_;
  const ScheduleView view_;
  const Topology& topology_;
  const VectorShares shares_;
  DetourBuilder builder_;
  llvm::DenseMap<std::uint32_t, std::uint32_t> streams_;                   // of detours, by stream
  std::map<std::pair<std::uint32_t, Coordinates>, std::uint32_t> frames_;  // of a place
  std::map<std::pair<Coordinates, Coordinates>, std::vector<Route>> routes_;  // from and to
  std::map<std::pair<Coordinates, Hop>, double> loads_;  // what links carry of them
};

llvm::Expected<Schedule> StandIns::run() {
  llvm::DenseMap<std::uint32_t, std::vector<const Operation*>> sent;  // by stream
  llvm::DenseMap<std::uint32_t, std::size_t> received;
  for (const Operation& operation : view_.operations) {
    if (operation.peer == kNone) continue;
    if (operation.hasPeerLoop() || operation.guard != kNone) {
      return makeError("messages between all nodes cannot avoid the damage");
    }
    if (sends(operation.kind)) sent[operation.stream].push_back(&operation);
  }
  for (const Operation& operation : view_.operations) {
    builder_.setPhase(operation.phase);
    builder_.addOperation(operation, {});
    llvm::Error error = llvm::Error::success();
    if (operation.kind == OperationKind::kCopy) {
      error = standInForCopies(operation);
    } else if (receives(operation.kind)) {
      const Operation& send = *sent[operation.stream][received[operation.stream]++];
      error = standInForMessages(send, operation);
    }
    if (error) return error;
    if (llvm::Error limit = checkLimits(builder_.schedule().operations.size(), 0)) return limit;
  }
  return builder_.take();
}

llvm::Error StandIns::standInForCopies(const Operation& copy) {
  for (const Coordinates& dead : topology_.deadNodes()) {
    if (copy.a.buffer != Buffer::kScratch || copy.dst.buffer != Buffer::kScratch) continue;
    const std::optional<End> end = endAt(dead, partOf(copy));
    if (!end) continue;
    builder_.copy(builder_.at(copy.stream, end->node), regionAt(copy.dst, *end),
                  regionAt(copy.a, *end), {});
  }
  return llvm::Error::success();
}

/// All messages of a send and its receive that are dropped.
llvm::Error StandIns::standInForMessages(const Operation& send, const Operation& receive) {
  for (const Coordinates& from : brokenSenders(view_.shifts[send.peer])) {
    if (isNothing(send.a, from)) continue;
    if (llvm::Error error = bring(send, receive, from)) return error;
  }
  return llvm::Error::success();
}

llvm::Error StandIns::bring(const Operation& send, const Operation& receive,
                            const Coordinates& from) {
  const Coordinates to = moved(from, view_.shifts[send.peer], 1);
  const std::optional<End> source = endAt(from, partOf(send)), target = endAt(to, partOf(send));
  const auto noWay = [&] {
    return makeError("no way round what is dead from node " +
                     llvm::Twine(nodeText(topology_, from)) + " to " + nodeText(topology_, to));
  };
  if (!source || !target) return noWay();
  const Region held = regionAt(send.a, *source), wanted = regionAt(receive.dst, *target);
  if (source->node == target->node) {
    builder_.copy(builder_.at(send.stream, source->node), wanted, held, {});
    return llvm::Error::success();
  }
  const Way* const way = wayOf(source->node, target->node, shares_.of(send.a, from));
  if (way == nullptr) return noWay();
  Region here = held;
  Coordinates at = source->node;
  for (const Hop& hop : *way) {
    const Coordinates next = *hopFrom(topology_, at, hop);
    const Region there = next == target->node ? wanted : relayOf(send.a, from);
    builder_.send(builder_.at(send.stream, at), here, ir::hop(hop.axis, hop.sign), {});
    builder_.receive(builder_.at(send.stream, next), there, ir::hop(hop.axis, hop.sign), {});
    here = there;
    at = next;
  }
  return llvm::Error::success();
}

/// The node at a place, or, where that is dead, its stand-in for a part.
std::optional<StandIns::End> StandIns::endAt(const Coordinates& place, std::uint32_t part) const {
  if (!topology_.isDead(place)) return End{place, place, false};
  // Neighbours that live, from near to far, whatever its own links are.
  std::vector<Coordinates> near = {place}, live;
  std::set<Coordinates> seen = {place};
  while (live.empty() && !near.empty()) {
    std::vector<Coordinates> next;
    for (const Coordinates& at : near) {
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        for (const int sign : {1, -1}) {
          Coordinates beside = at;
          beside[axis] = static_cast<std::int32_t>(
              wrap(std::int64_t{at[axis]} + sign, topology_.axes[axis].size));
          if (!seen.insert(beside).second) continue;
          next.push_back(beside);
          if (!topology_.isDead(beside)) live.push_back(beside);
        }
      }
    }
    near = std::move(next);
  }
  if (live.empty()) return std::nullopt;
  return End{place, live[part % live.size()], true};
}

/// The places from which a hop would be over something dead.
std::set<Coordinates> StandIns::brokenSenders(const Shift& moves) const {
  std::set<Coordinates> places;
  for (const Coordinates& dead : topology_.deadNodes()) {
    places.insert(dead);
    places.insert(moved(dead, moves, -1));
  }
  for (const DeadLink& link : topology_.deadLinks()) {
    if (moves[link.axis] > 0) places.insert(link.from);
    if (moves[link.axis] < 0) places.insert(moved(link.from, moves, -1));
  }
  return places;
}

/// The way of a message between two nodes, of the shortest ones that whose busiest link carries
/// least so far; null if there is none.
const Way* StandIns::wayOf(const Coordinates& from, const Coordinates& to, double load) {
  const auto [entry, is_new] = routes_.try_emplace({from, to});
  const std::vector<Route>& routes = entry->second;
  if (is_new)
    entry->second = shortestRoutes(topology_, from, {{{boxOfNode(topology_, to)}, {}, kNone}});
  if (routes.empty()) return nullptr;
  const auto busiest = [&](const Way& way) {
    double most = 0;
    Coordinates at = from;
    for (const Hop& hop : way) {
      most = std::max(most, loads_[{at, hop}]);
      at = *hopFrom(topology_, at, hop);
    }
    return std::pair(most, way.size());
  };
  const Way& way = llvm::min_element(routes, [&](const Route& a, const Route& b) {
                     return busiest(a.way) < busiest(b.way);
                   })->way;
  Coordinates at = from;
  for (const Hop& hop : way) {
    loads_[{at, hop}] += load;
    at = *hopFrom(topology_, at, hop);
  }
  return &way;
}

/// Whether all blocks of a region are from dead nodes, or to such.
bool StandIns::isNothing(const Region& region, const Coordinates& at) const {
  const BoxPair& pair = view_.pairs[view_.piecesOf(region)[0].box];
  return liveVolume(resolve(view_.boxes[pair.source], topology_, at), topology_) == 0 ||
         liveVolume(resolve(view_.boxes[pair.destination], topology_, at), topology_) == 0;
}

std::uint32_t StandIns::absolute(std::uint32_t box, const Coordinates& at) {
  const auto fixed = [&](std::uint32_t index) {
    Box result = view_.boxes[index];
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (result[axis].kind != IntervalKind::kRelative) continue;
      const Range range = resolve(result[axis], at[axis], topology_.axes[axis].size);
      result[axis] = Interval::absolute(static_cast<std::int32_t>(range.start), range.length);
    }
    return result;
  };
  return builder_.pair(fixed(view_.pairs[box].source), fixed(view_.pairs[box].destination));
}

/// What `region` is at the place of an end: a stand-in has frames of its own for it.
Region StandIns::regionAt(const Region& region, const End& end) {
  if (!end.stands_in) return region;
  const auto [entry, is_new] = frames_.try_emplace({region.frame, end.place}, kNone);
  if (is_new) {
    const Frame& frame = view_.frames[region.frame];
    const Piece whole{frame.part, 1, absolute(frame.box, end.place)};
    entry->second = builder_.newFrame(whole).frame;
  }
  const Piece piece{region.part, 1, absolute(region.box, end.place)};
  return builder_.region(Buffer::kScratch, piece, entry->second);
}

/// All of a new frame for what `region` is at a place.
Region StandIns::relayOf(const Region& region, const Coordinates& at) {
  const Piece piece{region.part, 1, absolute(region.box, at)};
  return builder_.newFrame(piece);
}

}  // namespace

llvm::Expected<Schedule> addStandIns(Schedule rings) {
  const Schedule dropping = droppingBroken(std::move(rings));
  return StandIns(dropping).run();
}

}  // namespace torc::passes
