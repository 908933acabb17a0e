// Detours of rings: who has the blocks of a message that is dropped, the ways there, and the
// messages on them.
#include "passes/rings/detours.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/Twine.h>

#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "ir/verifier/ranges.h"
#include "passes/analysis/limits.h"
#include "schedules/broken_messages.h"
#include "schedules/topology/damage.h"

namespace torc::passes {
namespace {

// Nodes that are looked at for one way, at most.
constexpr std::size_t kMostVisited = 1u << 14;

struct Hop {
  std::uint32_t axis = 0;
  int sign = 1;
};
using Way = llvm::SmallVector<Hop, 4>;

/// Nodes that have some blocks, or sums of them, and what an operation calls these there.
struct Holders {
  ir::RangesList nodes;
  Region region;
  std::uint32_t behind = kNone;  // the operation after which sums can be added, or before all
};

struct Route {
  Way way;
  const Holders* holders = nullptr;
};

/// Boxes that make up `blocks`, `count` of them if there is so much to cut.
void cutInto(const Ranges& blocks, std::size_t count, const Topology& topology,
             std::vector<Ranges>& shares) {
  std::uint32_t longest = 0;
  for (std::uint32_t axis = 1; axis < topology.axis_count; ++axis) {
    if (blocks[axis].length > blocks[longest].length) longest = axis;
  }
  const auto [start, length] = blocks[longest];
  if (count < 2 || length < 2) return shares.push_back(blocks);
  const std::uint32_t size = topology.axes[longest].size;
  const auto part = static_cast<std::uint32_t>(count / 2);
  const auto low = std::max<std::uint32_t>(
      1, static_cast<std::uint32_t>(std::uint64_t{length} * part / count));
  Ranges half = blocks;
  half[longest] = {start, low};
  cutInto(half, part, topology, shares);
  half[longest] = {wrap(std::int64_t{start} + low, size), length - low};
  cutInto(half, count - part, topology, shares);
}

class Detours {
 public:
  explicit Detours(const Schedule& rings)
      : rings_(rings),
        view_(rings_.view()),
        topology_(rings_.topology),
        dropped_(view_),
        builder_(rings_) {}

  llvm::Expected<Schedule> run();

 private:
  void index();
  llvm::Error bring(std::uint32_t receive, const Coordinates& to);
  llvm::Error handOver(std::uint32_t send, const Coordinates& from);

  std::vector<Coordinates> nodesThatDrop(const Operation& operation);
  Holders holdersOf(const Operation& operation, const Region& wanted, const Ranges& blocks,
                    bool also_dropped);
  std::vector<Route> nearest(const Coordinates& from, const std::vector<Holders>& holders) const;
  std::optional<Route> wayFrom(const Coordinates& from, const Hop& first, std::size_t most,
                               const std::vector<Holders>& holders) const;
  std::optional<Coordinates> step(const Coordinates& from, const Hop& hop) const;

  llvm::Error share(std::uint32_t operation, const Region& region, const Coordinates& at,
                    const Ranges& blocks, const std::vector<Holders>& holders);
  void carry(const Operation& like, const Coordinates& at, const Region& region, const Route& route,
             const Ranges& blocks, const Ranges& share);
  Box shareOf(const Box& box, const Ranges& blocks, const Ranges& share) const;
  Region within(const Region& parts, const Region& region, const Box& box);
  ir::StepPlace placeOf(std::uint32_t stream, const Coordinates& at);

  /// The box of a region, all of whose pieces have the same.
  const Box& boxOf(const Region& region) const {
    return view_.boxes[view_.piecesOf(region)[0].box];
  }
  /// Whether only dead nodes own the blocks.
  bool isNothing(const Ranges& blocks) const {
    return rowOf(view_.collective).layout == Layout::kBlockMajor &&
           liveVolume(blocks, topology_) == 0;
  }
  /// Messages of the first part of a region, and whether one has all of its parts.
  const std::vector<std::uint32_t>& withPartOf(const Region& region) {
    return of_part_[view_.piecesOf(region)[0].part];
  }
  bool hasPartsOf(const Region& region, const Region& parts) const {
    return llvm::all_of(view_.piecesOf(parts), [&](const Piece& some) {
      return llvm::any_of(view_.piecesOf(region), [&](const Piece& piece) {
        return piece.part <= some.part && some.part + some.parts <= piece.part + piece.parts;
      });
    });
  }
  static const Region& movedBy(const Operation& operation) {
    return sends(operation.kind) ? operation.a : operation.dst;
  }

  const Schedule& rings_;
  const ScheduleView view_;
  const Topology& topology_;
  DroppedMessages dropped_;
  ir::StepBuilder builder_;
  llvm::DenseMap<std::uint32_t, std::vector<std::uint32_t>> of_part_;  // messages, by first part
  std::set<std::pair<std::uint32_t, std::uint16_t>> adding_;           // stream and phase, of sums
  llvm::DenseMap<std::uint32_t, std::uint32_t> streams_;               // of detours, by stream
  std::map<std::uint32_t, std::vector<std::function<void()>>> behind_;  // what an operation
};

llvm::Expected<Schedule> Detours::run() {
  index();
  for (std::uint32_t i = 0; i < view_.operations.size(); ++i) {
    const Operation& operation = view_.operations[i];
    builder_.setPhase(operation.phase);
    const std::vector<Coordinates> drop = nodesThatDrop(operation);
    if (operation.kind == OperationKind::kSend &&
        adding_.contains({operation.stream, operation.phase})) {
      for (const Coordinates& at : drop) {
        if (llvm::Error error = handOver(i, at)) return error;
      }
    }
    builder_.addOperation(operation, {});
    if (operation.kind == OperationKind::kRecv) {
      for (const Coordinates& at : drop) {
        if (llvm::Error error = bring(i, at)) return error;
      }
    } else if (operation.kind == OperationKind::kRecvReduce && operation.dst != operation.a) {
      for (const Coordinates& at : drop)
        builder_.copy(placeOf(operation.stream, at), operation.dst, operation.a, {});
    }
    for (const auto& add : behind_[i])
      add();
    if (llvm::Error error = checkLimits(builder_.schedule().operations.size(), 0)) return error;
  }
  return builder_.take();
}

/// The tables of the rings, and where to look for holders.
void Detours::index() {
  Schedule& built = builder_.schedule();
  built.streams = rings_.streams;
  built.frames = rings_.frames;
  built.slot_count = rings_.slot_count;
  for (const Box& box : rings_.boxes)
    builder_.box(box);
  for (const Shift& shift : rings_.shifts)
    builder_.shift(shift);
  built.pieces = rings_.pieces;
  for (std::uint32_t i = 0; i < view_.operations.size(); ++i) {
    const Operation& operation = view_.operations[i];
    if (operation.peer == kNone) continue;
    for (const Piece& piece : view_.piecesOf(movedBy(operation))) {
      for (std::uint32_t part = piece.part; part < piece.part + piece.parts; ++part)
        of_part_[part].push_back(i);
    }
    if (operation.kind == OperationKind::kRecvReduce)
      adding_.insert({operation.stream, operation.phase});
  }
}

/// The live nodes behind the guard of an operation whose message is dropped.
std::vector<Coordinates> Detours::nodesThatDrop(const Operation& operation) {
  std::set<Coordinates> nodes;
  for (const Ranges& box : dropped_.of(operation)) {
    const std::uint64_t count = volume(box, topology_);
    for (std::uint64_t k = 0; k < count; ++k) {
      Coordinates at{};
      std::uint64_t rest = k;
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        const auto along = static_cast<std::int64_t>(rest % box[axis].length);
        at[axis] = static_cast<std::int32_t>(
            wrap(box[axis].start + along, topology_.axes[axis].size));
        rest /= box[axis].length;
      }
      const bool admitted = operation.guard == kNone ||
                            admits(view_.boxes[operation.guard], topology_, at);
      if (admitted && !topology_.isDead(at)) nodes.insert(at);
    }
  }
  return {nodes.begin(), nodes.end()};
}

/// The live nodes behind the guard of `operation` for which what it moves is `blocks`, of the parts
/// of `wanted` at least.
Holders Detours::holdersOf(const Operation& operation, const Region& wanted, const Ranges& blocks,
                           bool also_dropped) {
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
                           : resolve(view_.boxes[operation.guard], topology_, Coordinates{});
  ir::intersect(nodes, guard, topology_, holders.nodes);
  if (also_dropped) return holders;
  for (const Ranges& dropped : dropped_.of(operation)) {
    ir::RangesList rest;
    for (const Ranges& some : holders.nodes)
      ir::subtract(some, dropped, topology_, rest);
    holders.nodes = std::move(rest);
  }
  return holders;
}

std::optional<Coordinates> Detours::step(const Coordinates& from, const Hop& hop) const {
  Coordinates to{};
  if (topology_.axes[hop.axis].size == 1 || !topology_.hasLink(from, hop.axis, hop.sign, to))
    return std::nullopt;
  return to;
}

/// The shortest way that begins with a hop, of at most so many.
std::optional<Route> Detours::wayFrom(const Coordinates& from, const Hop& first, std::size_t most,
                                      const std::vector<Holders>& holders) const {
  struct Reached {
    Coordinates at;
    Hop hop;
    std::size_t before;
    std::size_t hops;
  };
  const std::optional<Coordinates> begin = step(from, first);
  if (!begin) return std::nullopt;
  std::vector<Reached> reached = {{*begin, first, 0, 1}};
  std::set<Coordinates> seen = {from, *begin};
  for (std::size_t next = 0; next < reached.size() && reached.size() < kMostVisited; ++next) {
    const Reached here = reached[next];
    for (const Holders& some : holders) {
      const bool holds = llvm::any_of(some.nodes, [&](const Ranges& box) {
        for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
          if (!contains(box[axis], static_cast<std::uint32_t>(here.at[axis]),
                        topology_.axes[axis].size)) {
            return false;
          }
        }
        return true;
      });
      if (!holds) continue;
      Route route{{}, &some};
      for (std::size_t at = next; route.way.size() < here.hops; at = reached[at].before)
        route.way.push_back(reached[at].hop);
      std::reverse(route.way.begin(), route.way.end());
      return route;
    }
    if (here.hops == most) continue;
    for (std::uint32_t axis = 0; axis < static_cast<std::uint32_t>(topology_.dimensions()); ++axis) {
      for (const int sign : {1, -1}) {
        const std::optional<Coordinates> to = step(here.at, {axis, sign});
        if (to && seen.insert(*to).second)
          reached.push_back({*to, {axis, sign}, next, here.hops + 1});
      }
    }
  }
  return std::nullopt;
}

/// The shortest ways to holders, one over each link of the node that begins one.
std::vector<Route> Detours::nearest(const Coordinates& from,
                                    const std::vector<Holders>& holders) const {
  std::vector<Route> routes;
  for (std::uint32_t axis = 0; axis < static_cast<std::uint32_t>(topology_.dimensions()); ++axis) {
    for (const int sign : {1, -1}) {
      const std::size_t most = routes.empty() ? kMostVisited : routes.front().way.size();
      std::optional<Route> route = wayFrom(from, {axis, sign}, most, holders);
      if (!route) continue;
      if (route->way.size() < most) routes.clear();
      routes.push_back(std::move(*route));
    }
  }
  return routes;
}

/// What a receive that is dropped at a node would have brought.
llvm::Error Detours::bring(std::uint32_t receive, const Coordinates& to) {
  const Operation& operation = view_.operations[receive];
  const Ranges blocks = resolve(boxOf(operation.dst), topology_, to);
  if (isNothing(blocks)) return llvm::Error::success();
  std::vector<Holders> holders;
  for (const std::uint32_t i : withPartOf(operation.dst)) {
    if (i > receive) break;
    const Operation& earlier = view_.operations[i];
    // What is sent is there, whether the message is dropped or not.
    const bool also_dropped = i < receive;
    Holders some = holdersOf(earlier, operation.dst, blocks, also_dropped);
    if (!some.nodes.empty()) holders.push_back(std::move(some));
  }
  return share(receive, operation.dst, to, blocks, holders);
}

/// The sums that a send which is dropped at a node would have sent on.
llvm::Error Detours::handOver(std::uint32_t send, const Coordinates& from) {
  const Operation& operation = view_.operations[send];
  const Ranges blocks = resolve(boxOf(operation.a), topology_, from);
  if (isNothing(blocks)) return llvm::Error::success();
  std::vector<Holders> holders;
  ir::RangesList begun;  // nodes that have such sums already
  for (const std::uint32_t i : withPartOf(operation.a)) {
    const Operation& other = view_.operations[i];
    Holders some;
    if (i < send && other.kind == OperationKind::kRecvReduce) {
      llvm::append_range(begun, holdersOf(other, operation.a, blocks, true).nodes);
    } else if (i >= send && other.kind == OperationKind::kSend && other.a.buffer != Buffer::kIn) {
      const Holders all = holdersOf(other, operation.a, blocks, i > send);
      some.region = all.region;
      for (const Ranges& box : all.nodes) {
        for (const Ranges& nodes : begun)
          ir::intersect(box, nodes, topology_, some.nodes);
      }
    } else if (i > send && other.kind == OperationKind::kRecvReduce) {
      some = holdersOf(other, operation.a, blocks, true);
      some.behind = i;
    }
    if (!some.nodes.empty()) holders.push_back(std::move(some));
  }
  return share(send, operation.a, from, blocks, holders);
}

/// Divides `blocks`, which `region` of an operation names at a node, among the ways to holders.
llvm::Error Detours::share(std::uint32_t operation, const Region& region, const Coordinates& at,
                           const Ranges& blocks, const std::vector<Holders>& holders) {
  const Operation& like = view_.operations[operation];
  const std::vector<Route> routes = nearest(at, holders);
  if (routes.empty()) {
    return makeError("no way round what is dead for what node " +
                     llvm::Twine(nodeText(topology_, at)) + " should " +
                     (sends(like.kind) ? "send" : "receive") + " in phase " +
                     llvm::Twine(like.phase));
  }
  std::vector<Ranges> shares;
  cutInto(blocks, routes.size(), topology_, shares);
  for (std::size_t k = 0; k < shares.size(); ++k) {
    // Where there are more ways than shares, streams take different ones.
    const Route& route = routes[(k + like.stream) % routes.size()];
    if (isNothing(shares[k])) continue;
    auto add = [=, this, share = shares[k], holder = *route.holders, way = route.way] {
      carry(like, at, region, {way, &holder}, blocks, share);
    };
    if (route.holders->behind == kNone) {
      add();
    } else {
      behind_[route.holders->behind].push_back(std::move(add));
    }
  }
  return llvm::Error::success();
}

/// A share of what `region` is at a node, from node to node along a way: to the node that `like`
/// receives at, or from the one that it sends at.
void Detours::carry(const Operation& like, const Coordinates& at, const Region& region,
                    const Route& route, const Ranges& blocks, const Ranges& share) {
  const bool adds = sends(like.kind);
  const Box own = shareOf(boxOf(region), blocks, share);
  std::vector<Coordinates> nodes = {at};
  for (const Hop& hop : route.way)
    nodes.push_back(*step(nodes.back(), hop));
  std::vector<Region> regions = {within(region, region, own)};
  for (std::size_t k = 1; k + 1 < nodes.size(); ++k) {
    Box box = own;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (box[axis].kind == IntervalKind::kRelative)
        box[axis].start += at[axis] - nodes[k][axis];
    }
    Region frame = within(region, region, box);
    const PieceList pieces = builder_.schedule().view().piecesOf(frame);
    const std::vector<Piece> list(pieces.begin(), pieces.end());
    const std::uint32_t slot = builder_.schedule().slot_count;
    regions.push_back(builder_.region(Buffer::kScratch, list, builder_.addFrame(list, slot)));
  }
  regions.push_back(within(region, route.holders->region,
                           shareOf(boxOf(route.holders->region), blocks, share)));
  const auto message = [&](std::size_t from, std::size_t to, const Hop& hop, int sign) {
    const Shift moves = ir::hop(hop.axis, sign);
    builder_.send(placeOf(like.stream, nodes[from]), regions[from], moves, {});
    if (!adds || to + 1 < nodes.size()) {
      builder_.receive(placeOf(like.stream, nodes[to]), regions[to], moves, {});
      return;
    }
    const PieceList pieces = builder_.schedule().view().piecesOf(regions[to]);
    const std::vector<Piece> list(pieces.begin(), pieces.end());
    const std::uint32_t frame = builder_.addFrame(list, builder_.schedule().slot_count);
    builder_.receiveAndReduce(placeOf(like.stream, nodes[to]), regions[to], regions[to],
                              builder_.region(Buffer::kScratch, list, frame), moves, {});
  };
  const std::size_t hops = route.way.size();
  for (std::size_t k = 0; k < hops; ++k) {
    if (adds) {
      message(k, k + 1, route.way[k], route.way[k].sign);
    } else {
      message(hops - k, hops - k - 1, route.way[hops - k - 1], -route.way[hops - k - 1].sign);
    }
  }
}

/// The box, which stands for `blocks` at some node, of a share of these.
Box Detours::shareOf(const Box& box, const Ranges& blocks, const Ranges& share) const {
  Box result = box;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (share[axis] == blocks[axis]) continue;
    result[axis] =
        Interval::absolute(static_cast<std::int32_t>(share[axis].start), share[axis].length);
  }
  return result;
}

/// The parts of a region, where another one is, of the blocks of `box`.
Region Detours::within(const Region& parts, const Region& region, const Box& box) {
  std::vector<Piece> list;
  for (Piece piece : view_.piecesOf(parts)) {
    piece.box = builder_.box(box);
    list.push_back(piece);
  }
  return builder_.region(region.buffer, list, region.frame);
}

/// The detour's stream for the messages of a stream, on one node.
ir::StepPlace Detours::placeOf(std::uint32_t stream, const Coordinates& at) {
  Box node;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (topology_.axes[axis].size > 1) node[axis] = Interval::absolute(at[axis]);
  }
  const auto [entry, is_new] = streams_.try_emplace(stream, 0);
  if (is_new) entry->second = builder_.addStream(view_.streams[stream]);
  return {entry->second, builder_.box(node)};
}

}  // namespace

llvm::Expected<Schedule> addDetours(const Schedule& rings) {
  Schedule dropping = rings;
  dropping.flags = (dropping.flags | kDropsBroken) & ~std::uint32_t{kConflictFreePhases};
  return Detours(dropping).run();
}

bool isDetour(const ScheduleView& schedule, const Operation& operation) {
  return (schedule.flags & kDropsBroken) != 0 && operation.guard != kNone &&
         volume(resolve(schedule.boxes[operation.guard], schedule.topology, {}),
                schedule.topology) == 1;
}

}  // namespace torc::passes
