// Chooses stand-ins for dead nodes, and routes for dropped messages.
#include "passes/detours/stand_ins.h"

#include <algorithm>
#include <array>
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

constexpr int kRounds = 3;   // for choosing routes
constexpr int kSquares = 2;  // cost of a link: its load to the 4th power

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
  /// One end of a message: its place on the torus, and the node that acts for it.
  struct End {
    Coordinates place{}, node{};
    bool stands_in = false;
  };

  void standInForCopies(const Operation& copy);
  void standInForMessages(const Operation& send, const Operation& receive);
  void bring(const Operation& send, const Operation& receive, const Coordinates& from);
  llvm::Error findWays();
  std::optional<End> endAt(const Coordinates& place, std::uint32_t part) const;
  std::set<Coordinates> brokenSenders(const Shift& moves) const;
  /// The place at a shift from `at`, in either direction.
  Coordinates moved(Coordinates at, const Shift& moves, int sign) const {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      at[axis] = static_cast<std::int32_t>(
          wrap(std::int64_t{at[axis]} + sign * moves[axis], topology_.axes[axis].size));
    return at;
  }
  /// A message on a detour, and its share of the vector.
  struct Bypass {
    Coordinates from{}, to{};
    double load = 0;
    Way way;
  };
  Way cheapestWay(const Bypass& bypass) const;
  void count(const Bypass& bypass, double times);

  bool isNothing(const Region& region, const Coordinates& at) const;
  /// Index of the pair of boxes that `box` denotes at a node, absolute.
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
  llvm::DenseMap<std::uint32_t, std::vector<const Operation*>> sent_;      // by stream
  std::array<std::array<double, 2>, kMaxAxes> whole_{};  // loads of links without damage
  double most_ = 0;                                      // maximum of whole_
  std::map<std::pair<Coordinates, Hop>, double> loads_;  // additional loads
  std::vector<Bypass> bypasses_;                         // in the order of the steps
  std::size_t next_ = 0;                                 // of them
};

llvm::Expected<Schedule> StandIns::run() {
  llvm::DenseMap<std::uint32_t, std::size_t> received;  // by stream
  for (const Operation& operation : view_.operations) {
    if (operation.peer == kNone) continue;
    if (operation.hasPeerLoop() || operation.guard != kNone) {
      return makeError("messages between all nodes cannot avoid the damage");
    }
    if (!sends(operation.kind)) continue;
    sent_[operation.stream].push_back(&operation);
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const std::int32_t hops = view_.shifts[operation.peer][axis];
      if (hops != 0) whole_[axis][hops > 0 ? 1 : 0] += shares_.of(operation.a, {});
      most_ = std::max({most_, whole_[axis][0], whole_[axis][1]});
    }
  }
  if (llvm::Error error = findWays()) return error;
  for (const Operation& operation : view_.operations) {
    builder_.setPhase(operation.phase);
    builder_.addOperation(operation, {});
    if (operation.kind == OperationKind::kCopy) {
      standInForCopies(operation);
    } else if (receives(operation.kind)) {
      const Operation& send = *sent_[operation.stream][received[operation.stream]++];
      standInForMessages(send, operation);
    }
    if (llvm::Error limit = checkLimits(builder_.schedule().operations.size(), 0)) return limit;
  }
  return builder_.take();
}

void StandIns::standInForCopies(const Operation& copy) {
  for (const Coordinates& dead : topology_.deadNodes()) {
    if (copy.a.buffer != Buffer::kScratch || copy.dst.buffer != Buffer::kScratch) continue;
    const std::optional<End> end = endAt(dead, partOf(copy));
    if (!end) continue;
    builder_.copy(builder_.at(copy.stream, end->node), regionAt(copy.dst, *end),
                  regionAt(copy.a, *end), {});
  }
}

/// Adds all dropped messages of a send and its receive.
void StandIns::standInForMessages(const Operation& send, const Operation& receive) {
  for (const Coordinates& from : brokenSenders(view_.shifts[send.peer])) {
    if (!isNothing(send.a, from)) bring(send, receive, from);
  }
}

void StandIns::bring(const Operation& send, const Operation& receive, const Coordinates& from) {
  const Coordinates to = moved(from, view_.shifts[send.peer], 1);
  const End source = *endAt(from, partOf(send)), target = *endAt(to, partOf(send));
  const Region held = regionAt(send.a, source), wanted = regionAt(receive.dst, target);
  if (source.node == target.node) {
    builder_.copy(builder_.at(send.stream, source.node), wanted, held, {});
    return;
  }
  Region here = held;
  Coordinates at = source.node;
  for (const Hop& hop : bypasses_[next_++].way) {
    const Coordinates next = *hopFrom(topology_, at, hop);
    const Region there = next == target.node ? wanted : relayOf(send.a, from);
    builder_.send(builder_.at(send.stream, at), here, ir::hop(hop.axis, hop.sign), {});
    builder_.receive(builder_.at(send.stream, next), there, ir::hop(hop.axis, hop.sign), {});
    here = there;
    at = next;
  }
}

/// The node at a place or, if it is dead, its stand-in for a part.
std::optional<StandIns::End> StandIns::endAt(const Coordinates& place, std::uint32_t part) const {
  if (!topology_.isDead(place)) return End{place, place, false};
  // Live neighbours, from near to far, whatever the state of the links.
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

/// The places from which a hop would use a dead link or node.
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

/// Chooses routes for all messages on detours: each in turn takes the cheapest, then all choose
/// again.
llvm::Error StandIns::findWays() {
  llvm::DenseMap<std::uint32_t, std::size_t> received;  // by stream
  for (const Operation& receive : view_.operations) {
    if (receive.peer == kNone || !receives(receive.kind)) continue;
    const Operation& send = *sent_[receive.stream][received[receive.stream]++];
    for (const Coordinates& from : brokenSenders(view_.shifts[send.peer])) {
      if (isNothing(send.a, from)) continue;
      const Coordinates to = moved(from, view_.shifts[send.peer], 1);
      const std::optional<End> source = endAt(from, partOf(send)), target = endAt(to, partOf(send));
      if (source && target && source->node == target->node) continue;
      Bypass bypass;
      if (source && target) {
        bypass = {source->node, target->node, shares_.of(send.a, from), {}};
        bypass.way = cheapestWay(bypass);
      }
      if (bypass.way.empty()) {
        return makeError("no way round what is dead from node " +
                         llvm::Twine(nodeText(topology_, from)) + " to " + nodeText(topology_, to));
      }
      count(bypass, 1);
      bypasses_.push_back(std::move(bypass));
    }
  }
  for (int round = 1; round < kRounds; ++round) {
    for (Bypass& bypass : bypasses_) {
      count(bypass, -1);
      bypass.way = cheapestWay(bypass);
      count(bypass, 1);
    }
  }
  return llvm::Error::success();
}

void StandIns::count(const Bypass& bypass, double times) {
  Coordinates at = bypass.from;
  for (const Hop& hop : bypass.way) {
    loads_[{at, hop}] += times * bypass.load;
    at = *hopFrom(topology_, at, hop);
  }
}

/// The cost of a link grows steeply with its load (balanced_routes.h takes the 16th power), so that
/// a longer route is taken if the shorter ones are busy. Empty if there is no route.
Way StandIns::cheapestWay(const Bypass& bypass) const {
  struct Reached {
    double cost = 0;
    Way way;
  };
  std::map<Coordinates, Reached> reached{{bypass.from, {}}};
  std::set<std::pair<double, Coordinates>> open{{0, bypass.from}};
  while (!open.empty()) {
    const auto [cost, at] = *open.begin();
    open.erase(open.begin());
    if (at == bypass.to) return reached[at].way;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      for (const int sign : {1, -1}) {
        const Hop hop{axis, sign};
        const std::optional<Coordinates> next = hopFrom(topology_, at, hop);
        if (!next) continue;
        const auto load = loads_.find({at, hop});
        const double carried = (load == loads_.end() ? 0 : load->second) + bypass.load;
        double power = (whole_[axis][sign > 0 ? 1 : 0] + carried) / most_;
        for (int i = 0; i < kSquares; ++i)
          power *= power;
        const auto [entry, is_new] = reached.try_emplace(*next);
        if (!is_new && entry->second.cost <= cost + power) continue;
        if (!is_new) open.erase({entry->second.cost, *next});
        entry->second = {cost + power, reached[at].way};
        entry->second.way.push_back(hop);
        open.insert({entry->second.cost, *next});
      }
    }
  }
  return {};
}

/// Whether all blocks of a region are from or to dead nodes.
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

/// `region` at the place of an end: a stand-in has frames of its own for it.
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

/// All of a new frame for `region` at a place.
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
