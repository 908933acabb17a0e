// Detours of rings: divides the data among routes, and adds the messages.
#include "passes/detours/ring_detours.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include "passes/analysis/limits.h"
#include "passes/detours/detour_builder.h"
#include "passes/detours/detour_routes.h"
#include "schedules/expansion/shares.h"

namespace torc::passes {
namespace {

// Number of pieces into which a node's missing data of a phase are cut to be divided among routes.
constexpr std::uint32_t kPieces = 60;
// Data below this share of the ordinary load of links take one route.
constexpr double kLittle = 1.0 / 32;

using Visit = llvm::function_ref<void(std::size_t route, const Ranges& share)>;

/// Cuts `blocks` into boxes in proportion to the weights; with few blocks some boxes are empty.
/// Routes count from `first`.
void cutByWeights(const Ranges& blocks, llvm::ArrayRef<double> weights, std::size_t first,
                  const Topology& topology, Visit visit) {
  if (weights.size() == 1) return visit(first, blocks);
  std::uint32_t longest = 0;
  for (std::uint32_t axis = 1; axis < topology.axis_count; ++axis) {
    if (blocks[axis].length > blocks[longest].length) longest = axis;
  }
  const auto [start, length] = blocks[longest];
  const std::size_t half = weights.size() / 2;
  const llvm::ArrayRef<double> low = weights.take_front(half), high = weights.drop_front(half);
  const double low_sum = std::accumulate(low.begin(), low.end(), 0.0);
  const double sum = std::accumulate(high.begin(), high.end(), low_sum);
  const auto cut = static_cast<std::uint32_t>(std::lround(length * low_sum / sum));
  Ranges box = blocks;
  if (cut > 0) {
    if (cut < length) box[longest] = {start, cut};
    cutByWeights(box, low, first, topology, visit);
  }
  if (cut < length) {
    if (cut > 0)
      box[longest] = {wrap(std::int64_t{start} + cut, topology.axes[longest].size), length - cut};
    cutByWeights(box, high, first + half, topology, visit);
  }
}

/// The missing data of a node in a phase, step by step, with routes over the same links.
struct Group {
  std::vector<std::size_t> needs;
  double load = 0;              // share of the vector, of all steps
  std::vector<double> weights;  // of its routes
};

class Detours {
 public:
  explicit Detours(const Schedule& rings)
      : rings_(rings),
        view_(rings_.view()),
        topology_(rings_.topology),
        routes_(view_),
        builder_(rings_) {}

  llvm::Expected<Schedule> run();

 private:
  void group();
  void divide();
  void share(const Need& need, const Group& group, std::size_t number);
  void carry(const Need& need, const Route& route, const Ranges& share);
  Box shareOf(const Box& box, const Ranges& blocks, const Ranges& share) const;
  Region within(const Region& parts, const Region& region, const Box& box);
  Region newFrameLike(const Region& region);
  bool adds(const Need& need) const { return sends(view_.operations[need.operation].kind); }
  const Region& missing(const Need& need) const {
    const Operation& operation = view_.operations[need.operation];
    return adds(need) ? operation.a : operation.dst;
  }

  const Schedule& rings_;
  const ScheduleView view_;
  const Topology& topology_;
  DetourRoutes routes_;
  DetourBuilder builder_;
  std::vector<Need> needs_;  // by operation
  std::vector<Group> groups_;
  std::vector<std::pair<std::size_t, std::size_t>> place_;              // by need: group, index
  std::map<std::uint32_t, std::vector<std::function<void()>>> behind_;  // by operation: additions
                                                                        // after it
};

llvm::Expected<Schedule> Detours::run() {
  if (llvm::Error error = routes_.needs().moveInto(needs_)) return error;
  group();
  divide();
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < view_.operations.size(); ++i) {
    const Operation& operation = view_.operations[i];
    builder_.setPhase(operation.phase);
    const auto shareAll = [&] {
      for (; next < needs_.size() && needs_[next].operation == i; ++next)
        share(needs_[next], groups_[place_[next].first], place_[next].second);
    };
    if (sends(operation.kind)) shareAll();
    builder_.addOperation(operation, {});
    shareAll();
    if (operation.kind == OperationKind::kRecvReduce && operation.dst != operation.a) {
      for (const Coordinates& at : routes_.nodesThatDrop(operation))
        builder_.copy(builder_.at(operation.stream, at), operation.dst, operation.a, {});
    }
    if (const auto found = behind_.find(i); found != behind_.end()) {
      for (const auto& add : found->second)
        add();
    }
    if (llvm::Error error = checkLimits(builder_.schedule().operations.size(), 0)) return error;
  }
  return builder_.take();
}

void Detours::group() {
  const VectorShares shares(view_);
  std::map<std::tuple<std::uint32_t, std::uint16_t, bool, Coordinates, std::vector<Way>>,
           std::size_t>
      numbers;
  for (std::size_t i = 0; i < needs_.size(); ++i) {
    const Need& need = needs_[i];
    const Operation& operation = view_.operations[need.operation];
    std::vector<Way> ways;
    for (const Route& route : need.routes)
      ways.push_back(route.way);
    const auto [entry, is_new] = numbers.try_emplace(
        {operation.stream, operation.phase, adds(need), need.at, std::move(ways)}, groups_.size());
    if (is_new) groups_.emplace_back();
    Group& group = groups_[entry->second];
    place_.push_back({entry->second, group.needs.size()});
    group.needs.push_back(i);
    group.load += shares.of(missing(need), need.at);
  }
}

/// Divides the missing data among the routes of each group, the largest group first, piece by
/// piece: each piece takes the route whose busiest link carries least.
void Detours::divide() {
  const VectorShares shares(view_);
  std::map<Hop, double> of_rings;  // upper bound of the ordinary load of every node's links
  for (const Operation& operation : view_.operations) {
    if (operation.kind != OperationKind::kSend) continue;
    const Shift& shift = view_.shifts[operation.peer];
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (shift[axis] != 0)
        of_rings[{axis, shift[axis] > 0 ? 1 : -1}] += shares.of(operation.a, Coordinates{});
    }
  }
  double busiest_ring = 0;
  for (const auto& [hop, load] : of_rings)
    busiest_ring = std::max(busiest_ring, load);
  std::map<std::pair<Coordinates, Hop>, double> more;
  std::vector<Group*> groups;
  for (Group& group : groups_)
    groups.push_back(&group);
  llvm::stable_sort(groups, [](const Group* a, const Group* b) { return a->load > b->load; });
  for (Group* group : groups) {
    const Need& need = needs_[group->needs.front()];
    std::vector<std::vector<std::pair<Coordinates, Hop>>> links;
    for (const Route& route : need.routes) {
      links.emplace_back();
      Coordinates at = need.at;
      for (const Hop& hop : route.way) {
        const Coordinates next = *hopFrom(topology_, at, hop);
        // Sums leave the node, moved data arrive.
        links.back().push_back(adds(need) ? std::pair(at, hop)
                                          : std::pair(next, Hop{hop.axis, -hop.sign}));
        at = next;
      }
    }
    group->weights.assign(links.size(), 0);
    const std::uint32_t pieces = group->load < kLittle * busiest_ring ? 1 : kPieces;
    const double piece = group->load / pieces;
    for (std::uint32_t k = 0; k < pieces; ++k) {
      std::size_t best = 0;
      std::tuple<double, std::size_t> least{INFINITY, 0};
      for (std::size_t i = 0; i < links.size(); ++i) {
        double busiest = 0;
        for (const auto& link : links[i])
          busiest =
              std::max(busiest, of_rings[link.second] / topology_.axes[link.second.axis].bandwidth +
                                    more[link]);
        if (const std::tuple load(busiest, links[i].size()); load < least) {
          least = load;
          best = i;
        }
      }
      group->weights[best] += 1.0 / pieces;
      for (const auto& link : links[best])
        more[link] += piece / topology_.axes[link.second.axis].bandwidth;
    }
  }
}

/// Divides the blocks of a need, `number` of its group, by the group's weights. If there are no
/// more blocks than routes, steps take different routes, a run of steps each.
void Detours::share(const Need& need, const Group& group, std::size_t number) {
  const auto send = [&](std::size_t route, const Ranges& share) {
    if (routes_.isNothing(share)) return;
    const Route& taken = need.routes[route];
    if (taken.holders.behind == kNone) return carry(need, taken, share);
    behind_[taken.holders.behind].push_back(
        [this, &need, &taken, share] { carry(need, taken, share); });
  };
  const std::uint64_t units = volume(need.blocks, topology_);
  if (units > group.weights.size()) {
    std::vector<double> weights;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < group.weights.size(); ++i) {
      if (group.weights[i] == 0) continue;
      weights.push_back(group.weights[i]);
      numbers.push_back(i);
    }
    return cutByWeights(need.blocks, weights, 0, topology_,
                        [&](std::size_t i, const Ranges& box) { send(numbers[i], box); });
  }
  for (std::uint64_t unit = 0; unit < units; ++unit) {
    Ranges block = need.blocks;
    std::uint64_t rest = unit;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const auto [start, length] = need.blocks[axis];
      const auto along = static_cast<std::int64_t>(rest % length);
      rest /= length;
      if (length > 1) block[axis] = {wrap(start + along, topology_.axes[axis].size), 1};
    }
    const double step =
        (static_cast<double>(number) + 0.5) / static_cast<double>(group.needs.size());
    double before = (static_cast<double>(unit) + step) / static_cast<double>(units);
    std::size_t route = 0;
    while (route + 1 < group.weights.size() && before >= group.weights[route])
      before -= group.weights[route++];
    send(route, block);
  }
}

/// Moves a share of a node's missing data hop by hop along a route: moved data to it, or sums from
/// it.
void Detours::carry(const Need& need, const Route& route, const Ranges& share) {
  const Region& region = missing(need);
  const std::uint32_t stream = view_.operations[need.operation].stream;
  const Box own = shareOf(routes_.boxOf(region), need.blocks, share);
  const Region& held = route.holders.region;
  const Region there = within(region, held, shareOf(routes_.boxOf(held), need.blocks, share));
  if (route.way.empty()) {
    builder_.copy(builder_.at(stream, need.at), within(region, region, own), there, {});
    return;
  }
  std::vector<Coordinates> nodes = {need.at};
  std::vector<Region> regions = {within(region, region, own)};
  for (const Hop& hop : route.way) {
    nodes.push_back(*hopFrom(topology_, nodes.back(), hop));
    if (nodes.size() > route.way.size()) break;
    Box box = own;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (box[axis].kind == IntervalKind::kRelative)
        box[axis].start += need.at[axis] - nodes.back()[axis];
    }
    regions.push_back(newFrameLike(within(region, region, box)));
  }
  regions.push_back(there);
  const auto message = [&](std::size_t from, std::size_t to, const Hop& hop) {
    const Shift moves = ir::hop(hop.axis, hop.sign);
    builder_.send(builder_.at(stream, nodes[from]), regions[from], moves, {});
    const ir::StepPlace place = builder_.at(stream, nodes[to]);
    if (adds(need) && to == route.way.size()) {
      builder_.receiveAndReduce(place, regions[to], regions[to], newFrameLike(regions[to]), moves,
                                {});
    } else {
      builder_.receive(place, regions[to], moves, {});
    }
  };
  const std::size_t hops = route.way.size();
  for (std::size_t k = 0; k < hops; ++k) {
    const Hop& hop = route.way[adds(need) ? k : hops - 1 - k];
    if (adds(need)) {
      message(k, k + 1, hop);
    } else {
      message(hops - k, hops - k - 1, {hop.axis, -hop.sign});
    }
  }
}

/// The box of a share of `blocks`, which `box` denotes at some node.
Box Detours::shareOf(const Box& box, const Ranges& blocks, const Ranges& share) const {
  Box result = box;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (share[axis] == blocks[axis]) continue;
    result[axis] =
        Interval::absolute(static_cast<std::int32_t>(share[axis].start), share[axis].length);
  }
  return result;
}

/// The parts of a region, in the buffer of another one, of the blocks of `box`.
Region Detours::within(const Region& parts, const Region& region, const Box& box) {
  std::vector<Piece> list;
  for (Piece piece : view_.piecesOf(parts)) {
    piece.box = builder_.box(box);
    list.push_back(piece);
  }
  return builder_.region(region.buffer, list, region.frame);
}

/// All of a new frame, alone in its slot, for the contents of a region of the new schedule.
Region Detours::newFrameLike(const Region& region) {
  const PieceList pieces = builder_.schedule().view().piecesOf(region);
  return builder_.newFrame(std::vector<Piece>(pieces.begin(), pieces.end()));
}

}  // namespace

llvm::Expected<Schedule> addDetours(Schedule rings) {
  const Schedule dropping = droppingBroken(std::move(rings));
  return Detours(dropping).run();
}

}  // namespace torc::passes
