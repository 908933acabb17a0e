// Breadth-first broadcast: an allgather in sum floor(d_i / 2) steps, the diameter of the torus,
// with one message per link and step (compiler/algorithms/bfb/bfb_routes.h has the paper and the
// routes).
//
// Allgather. In step t a node receives, over the link from its neighbour at s e_i, the blocks at
// distance t that are routed over this link. A block at offset x from the node is at x - s e_i from
// the neighbour, at distance t - 1, so the neighbour already has it.
//
// Reduce-scatter is the time reversal: in step D - t + 1 a node sends its sums of these blocks
// along the reversed link, and the neighbour adds them to its own sums. The sums are complete,
// because all contributions to them come from distance t + 1 in the previous step. The first
// addition to a block takes the node's contribution from `in`. So a node copies only blocks that
// get no addition and leave in a message with others. Sums accumulate in `out` (allreduce), or in a
// scratch frame for all blocks, the own one's in `out` (reduce_scatter).
//
// All nodes execute the same operations: the proof of one node proves the schedule.
#include "compiler/algorithms/bfb/bfb.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "compiler/algorithms/bfb/bfb_routes.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

/// Some parts of the block at an offset.
struct Unit {
  Coordinates offset{};
  std::uint32_t first = 0, count = 0;
};
using Units = std::vector<Unit>;

/// Offsets first .. first + length - 1 on every axis.
struct OffsetBox {
  Coordinates first{};
  Coordinates length{};
};

/// Joins boxes that are adjacent along `axis` and equal on all other axes.
void joinAlong(std::uint32_t axis, std::vector<OffsetBox>& boxes) {
  const auto elsewhere = [&](const OffsetBox& box) {
    OffsetBox key = box;
    key.first[axis] = key.length[axis] = 0;
    return std::pair(key.first, key.length);
  };
  std::sort(boxes.begin(), boxes.end(), [&](const OffsetBox& a, const OffsetBox& b) {
    return std::tuple(elsewhere(a), a.first[axis]) < std::tuple(elsewhere(b), b.first[axis]);
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    OffsetBox& last = boxes[kept];
    if (elsewhere(last) == elsewhere(boxes[i]) &&
        last.first[axis] + last.length[axis] == boxes[i].first[axis]) {
      last.length[axis] += boxes[i].length[axis];
    } else {
      boxes[++kept] = boxes[i];
    }
  }
  boxes.resize(boxes.empty() ? 0 : kept + 1);
}

/// The slot of received messages until they are added.
struct Staging {
  std::uint32_t slot = kNone;
  std::vector<std::uint32_t> users;  // operations that add from the frame in this slot
};

class Bfb {
 public:
  Bfb(const CollectiveSpec& spec, const BfbRoutes& routes)
      : topology_(spec.topology), routes_(routes), builder_(header(spec, routes)) {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      axes_.push_back(axis);
    std::stable_sort(axes_.begin(), axes_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return topology_.axes[a].size > topology_.axes[b].size;
    });
    writer_.resize(topology_.ranks() * routes.parts, kNone);
    reader_.resize(writer_.size(), kNone);
  }

  ir::Program run() {
    const CollectiveRow& collective = rowOf(builder_.schedule().collective);
    for (std::size_t i = 0; i < std::max<std::size_t>(routes_.links.size(), 1); ++i)
      builder_.addStream({.part = kNone, .core = 0});
    if (routes_.steps.empty()) {
      copyOwn();  // a single node
    } else {
      if (collective.reduces()) reduceScatter();
      if (collective.outWhole()) allgather();
    }
    return {builder_.take(), {}};
  }

 private:
  static Schedule header(const CollectiveSpec& spec, const BfbRoutes& routes) {
    Schedule schedule = ir::scheduleHeader(spec.collective, spec.topology);
    Color color;
    color.chunks = routes.parts;
    color.axis_count = spec.topology.axis_count;
    for (std::uint32_t i = 0; i < color.axis_count; ++i)
      color.order[i] = static_cast<std::uint8_t>(color.axis_count - 1 - i);  // X fastest
    schedule.colors.push_back(color);
    return schedule;
  }

  /// The units received over each link in step `t` of the allgather.
  std::vector<Units> unitsOf(std::size_t t) const {
    std::vector<Units> units(routes_.links.size());
    for (const BfbRoute& route : routes_.steps[t - 1]) {
      for (const BfbShare& share : route.shares)
        units[share.link].push_back({route.offset, share.first, share.count});
    }
    return units;
  }

  /// The pieces of `units`, moved by `distance` along the link's axis: grouped by parts, in boxes
  /// as long as possible.
  llvm::SmallVector<Piece, 8> piecesOf(const Units& units, const BfbLink& link, int distance) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<OffsetBox>> by_parts;
    for (const Unit& unit : units) {
      OffsetBox box{unit.offset, {}};
      box.length.fill(1);
      by_parts[{unit.first, unit.count}].push_back(box);
    }
    llvm::SmallVector<Piece, 8> pieces;
    for (auto& [parts, boxes] : by_parts) {
      for (const std::uint32_t axis : axes_)
        joinAlong(axis, boxes);
      for (const OffsetBox& box : boxes) {
        Box blocks;
        for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
          const auto length = static_cast<std::uint32_t>(box.length[axis]);
          if (length == topology_.axes[axis].size) continue;
          const std::int32_t moved = axis == link.axis ? distance * link.sign : 0;
          blocks[axis] = Interval::relative(box.first[axis] + moved, length);
        }
        pieces.push_back({parts.first, parts.second, builder_.box(blocks)});
      }
    }
    return pieces;
  }

  /// One stream per link; the place has no guard.
  static ir::StepPlace on(std::uint32_t link) { return {.stream = link}; }

  /// A reduction moves up a link, in the direction of `sign`; an allgather moves the other way.
  static Shift up(const BfbLink& link) { return ir::hop(link.axis, link.sign); }
  static Shift down(const BfbLink& link) { return ir::hop(link.axis, -link.sign); }

  /// Index of a block, by its offset, within a part.
  std::size_t indexOf(const Coordinates& offset, std::uint32_t part) const {
    std::size_t index = 0;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const std::uint32_t size = topology_.axes[axis].size;
      index = index * size + wrap(offset[axis], size);
    }
    return index * routes_.parts + part;
  }

  static Coordinates nearer(Coordinates offset, const BfbLink& link) {
    offset[link.axis] -= link.sign;
    return offset;
  }

  /// Calls `visit(state)` with the entry of `table` for every part of `units`; offsets are one hop
  /// nearer if `hop` is set.
  template <typename Visit>
  void forEach(const Units& units, const BfbLink* hop, std::vector<std::uint32_t>& table,
               Visit visit) const {
    for (const Unit& unit : units) {
      const Coordinates offset = hop ? nearer(unit.offset, *hop) : unit.offset;
      for (std::uint32_t i = 0; i < unit.count; ++i)
        visit(table[indexOf(offset, unit.first + i)]);
    }
  }

  /// The operations that last wrote the blocks of `units`.
  std::vector<std::uint32_t> writersOf(const Units& units, const BfbLink* hop) {
    std::vector<std::uint32_t> writers;
    forEach(units, hop, writer_, [&](std::uint32_t writer) {
      if (writer != kNone && (writers.empty() || writers.back() != writer)) {
        writers.push_back(writer);
      }
    });
    return writers;
  }
  void setWriter(const Units& units, const BfbLink* hop, std::uint32_t operation) {
    forEach(units, hop, writer_, [&](std::uint32_t& writer) { writer = operation; });
  }

  /// Splits `units` into parts without an entry in `table` and the others; offsets are one hop
  /// nearer if `hop` is set.
  std::pair<Units, Units> split(const Units& units, const BfbLink* hop,
                                const std::vector<std::uint32_t>& table) const {
    Units fresh, written;
    for (const Unit& unit : units) {
      const Coordinates offset = hop ? nearer(unit.offset, *hop) : unit.offset;
      for (std::uint32_t part = unit.first; part < unit.first + unit.count; ++part) {
        Units& list = table[indexOf(offset, part)] == kNone ? fresh : written;
        if (!list.empty() && list.back().offset == unit.offset &&
            list.back().first + list.back().count == part) {
          ++list.back().count;
        } else {
          list.push_back({unit.offset, part, 1});
        }
      }
    }
    return {std::move(fresh), std::move(written)};
  }

  // --- allgather ---

  void allgather() {
    const bool reduced = rowOf(builder_.schedule().collective).reduces();
    for (std::size_t t = 1; t <= routes_.steps.size(); ++t, nextPhase()) {
      const std::vector<Units> units = unitsOf(t);
      std::vector<llvm::SmallVector<Piece, 8>> received(units.size());
      for (std::uint32_t link = 0; link < units.size(); ++link) {
        if (units[link].empty()) continue;
        const BfbLink& from = routes_.links[link];
        // The own block is sent from `in`, so that the send does not wait for its copy in `out`.
        const Buffer buffer = t == 1 && !reduced ? Buffer::kIn : Buffer::kOut;
        const Region sent = builder_.region(buffer, piecesOf(units[link], from, -1));
        builder_.send(on(link), sent, down(from), writersOf(units[link], &from));
      }
      if (t == 1 && !reduced) copyOwn();
      std::vector<std::pair<std::uint32_t, std::uint32_t>> receives;
      for (std::uint32_t link = 0; link < units.size(); ++link) {
        if (units[link].empty()) continue;
        const BfbLink& from = routes_.links[link];
        const Region arrived = builder_.region(Buffer::kOut, piecesOf(units[link], from, 0));
        // In an allreduce, the sums at this place must have been sent before.
        std::vector<std::uint32_t> after;
        forEach(units[link], nullptr, reader_, [&](std::uint32_t reader) {
          if (reader != kNone && (after.empty() || after.back() != reader)) after.push_back(reader);
        });
        receives.push_back({link, builder_.receive(on(link), arrived, down(from), after)});
      }
      for (const auto& [link, operation] : receives)
        setWriter(units[link], nullptr, operation);
    }
  }

  void nextPhase() { builder_.setPhase(builder_.phase() + 1); }

  Units ownBlock() const { return {{Coordinates{}, 0, routes_.parts}}; }

  void copyOwn() {
    const auto own = piecesOf(ownBlock(), {}, 0);
    builder_.copy(on(0), builder_.region(Buffer::kOut, own), builder_.region(Buffer::kIn, own), {});
  }

  // --- reduce-scatter ---

  /// The region that accumulates the sums of blocks at distance `t`.
  Region sums(std::size_t t, llvm::ArrayRef<Piece> pieces) {
    if (t == 0 || builder_.schedule().collective == Collective::kAllreduce) {
      return builder_.region(Buffer::kOut, pieces);
    }
    if (sums_frame_ == kNone) {
      const Piece all{0, routes_.parts, builder_.box(Box())};
      sums_frame_ = builder_.addFrame(all, builder_.schedule().slot_count);
    }
    return builder_.region(Buffer::kScratch, pieces, sums_frame_);
  }

  void reduceScatter() {
    for (std::size_t t = routes_.steps.size(); t >= 1; --t, nextPhase()) {
      const std::vector<Units> units = unitsOf(t);
      std::vector<std::pair<Units, Units>> lists;  // in the receiver's order
      std::vector<std::uint32_t> begun = writer_;
      for (std::uint32_t link = 0; link < units.size(); ++link)
        lists.push_back(splitForReceiver(units[link], routes_.links[link], begun));
      for (std::uint32_t link = 0; link < units.size(); ++link)
        sendSums(t, link, lists[link]);
      for (std::uint32_t link = 0; link < units.size(); ++link)
        addReceived(t, link, lists[link]);
    }
  }

  /// Splits the units of `link` into parts that start a sum at the receiver and the others. `begun`
  /// has the sums that earlier links have started.
  std::pair<Units, Units> splitForReceiver(const Units& units, const BfbLink& link,
                                           std::vector<std::uint32_t>& begun) const {
    std::pair<Units, Units> result = split(units, &link, begun);
    forEach(units, &link, begun, [](std::uint32_t& entry) { entry = 0; });
    return result;
  }

  /// The pieces of a message, those that start a sum at the receiver first.
  llvm::SmallVector<Piece, 8> messagePieces(const std::pair<Units, Units>& list,
                                            const BfbLink& link, int distance) {
    llvm::SmallVector<Piece, 8> pieces = piecesOf(list.first, link, distance);
    llvm::append_range(pieces, piecesOf(list.second, link, distance));
    return pieces;
  }

  void sendSums(std::size_t t, std::uint32_t link, const std::pair<Units, Units>& list) {
    Units units = list.first;
    units.insert(units.end(), list.second.begin(), list.second.end());
    if (units.empty()) return;
    const BfbLink& over = routes_.links[link];
    const auto [fresh, written] = split(units, nullptr, writer_);
    const auto pieces = messagePieces(list, over, 0);
    if (!written.empty() && !fresh.empty()) {
      // These parts get no addition: the message has the node's own contribution.
      const auto copied = piecesOf(fresh, over, 0);
      const Region data = builder_.region(Buffer::kIn, copied);
      setWriter(fresh, nullptr, builder_.copy(on(link), sums(t, copied), data, {}));
    }
    const Region message = written.empty() ? builder_.region(Buffer::kIn, pieces) : sums(t, pieces);
    const std::uint32_t sent =
        builder_.send(on(link), message, up(over), writersOf(units, nullptr));
    forEach(units, nullptr, reader_, [&](std::uint32_t& reader) { reader = sent; });
  }

  void addReceived(std::size_t t, std::uint32_t link, const std::pair<Units, Units>& list) {
    if (list.first.empty() && list.second.empty()) return;
    const BfbLink& over = routes_.links[link];
    // The less recently used of two slots is free after its additions.
    Staging& staging = staging_[{link, builder_.phase() % 2}];
    if (staging.slot == kNone) staging.slot = builder_.schedule().slot_count;
    const std::uint32_t frame = builder_.addFrame(messagePieces(list, over, -1), staging.slot);
    const Region arrived = wholeFrame(builder_.schedule().frames[frame], frame);
    const std::uint32_t received =
        builder_.receive(on(link), arrived, up(over), std::exchange(staging.users, {}));
    for (const Units* units : {&list.first, &list.second}) {
      if (units->empty()) continue;
      const auto pieces = piecesOf(*units, over, -1);
      const Region total = sums(t - 1, pieces);
      const Region own = units == &list.first ? builder_.region(Buffer::kIn, pieces) : total;
      const Region added = builder_.region(Buffer::kScratch, pieces, frame);
      std::vector<std::uint32_t> after = writersOf(*units, &over);
      after.push_back(received);
      const std::uint32_t sum = builder_.reduce(on(link), total, own, added, after);
      setWriter(*units, &over, sum);
      staging.users.push_back(sum);
    }
  }

  const Topology& topology_;
  const BfbRoutes& routes_;
  ir::StepBuilder builder_;
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;  // longest first
  // By block and part: the operation that wrote it last (in `out` or scratch); the one that sent
  // its sum.
  std::vector<std::uint32_t> writer_, reader_;
  std::uint32_t sums_frame_ = kNone;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Staging> staging_;  // by link and parity
};

}  // namespace

/// Proof steps of one part: the part of a node is a list of blocks, which every operation on it
/// traverses axis by axis. A step is the work on three axes.
static double proofSteps(const Topology& topology) {
  const auto nodes = static_cast<double>(topology.ranks());
  return nodes * nodes * std::max(topology.axis_count, 3u) / 3;
}

std::uint32_t mostBfbParts(const Topology& topology) {
  const double most = kMostProofSteps / proofSteps(topology);
  return most < 2 ? 1 : static_cast<std::uint32_t>(std::min<double>(most, kMostBfbParts));
}

ProgramSize estimateBfb(const CollectiveSpec& spec) {
  const CollectiveRow& row = rowOf(spec.collective);
  double links = 0, steps = 0;
  for (std::uint32_t i = 0; i < spec.topology.axis_count; ++i) {
    const Axis& axis = spec.topology.axes[i];
    if (axis.size > 1) links += axis.isRing() ? 2 : 1;
    steps += axis.size / 2;
  }
  const auto nodes = static_cast<double>(spec.topology.ranks());
  ProgramSize size;
  size.boxes = nodes;
  // The allgather sends and receives a block; the reduce_scatter sends it, receives it into
  // scratch, and adds it, perhaps in two operations.
  if (row.outWhole()) {
    size.operations += 2 * links * steps;
    size.pieces += 2 * nodes;
  }
  if (row.reduces()) {
    size.operations += 4 * links * steps;
    size.pieces += 4 * nodes;
  }
  size.proof_steps = proofSteps(spec.topology);
  return size;
}

llvm::Expected<ir::Program> lowerBfb(const CollectiveSpec& spec) {
  llvm::Expected<BfbRoutes> routes = bfbRoutes(spec.topology, mostBfbParts(spec.topology));
  if (!routes) return routes.takeError();
  return Bfb(spec, *routes).run();
}

}  // namespace torc::compiler
