// Builds a random schedule record by record, each within the rules of validation.
#include "tests/ir/random_schedule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schedules/root.h"

namespace torc::ir {
namespace {

class Generator {
 public:
  explicit Generator(const Draw& draw) : draw_(draw) {}

  Schedule steps() {
    header();
    if (pick(0, 4) == 0) graph();
    for (std::int64_t n = pick(0, 3); n > 0; --n)
      unusedRecords();
    if (pick(0, 3) == 0) {
      s_.segments = static_cast<std::uint32_t>(pick(2, 5));
      s_.window = static_cast<std::uint32_t>(pick(1, kMaxSegmentsBefore));
    }
    if (partCount() == 0) return std::move(s_);
    for (std::int64_t n = pick(1, 4); n > 0; --n) {
      const std::uint32_t part = pick(0, 2) == 0 ? kNone : below(partCount());
      s_.streams.push_back({part, static_cast<std::uint32_t>(pick(0, 3))});
    }
    std::uint16_t phase = 0;
    for (std::int64_t n = pick(0, 12); n > 0; --n) {
      if (pick(0, 3) == 0) phase = static_cast<std::uint16_t>(phase + pick(1, 3));
      addOperation(phase);
    }
    return std::move(s_);
  }

  Program plan() {
    header();
    Program program;
    for (std::int64_t n = s_.colors.empty() ? 0 : pick(0, 8); n > 0; --n) {
      PlanOperation operation{static_cast<PlanKind>(pick(0, kPlanKindCount - 1))};
      if (operation.kind != PlanKind::kPhaseBarrier) {
        operation.color = below(static_cast<std::uint32_t>(s_.colors.size()));
      }
      if (operation.kind == PlanKind::kExchange) {
        operation.axes = 1 + below((1u << axes()) - 1);
      } else if (operation.kind != PlanKind::kPhaseBarrier) {
        operation.axis = below(axes());
        operation.half_latency = operation.isRing() && pick(0, 3) == 0;
      }
      program.plan.push_back(operation);
    }
    program.schedule = std::move(s_);
    return program;
  }

 private:
  std::int64_t pick(std::int64_t lowest, std::int64_t highest) { return draw_(lowest, highest); }
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(pick(0, std::int64_t{count} - 1));
  }
  std::uint32_t axes() const { return s_.topology.axis_count; }
  std::uint32_t partCount() const { return s_.view().partCount(); }
  const Axis& axis(std::uint32_t i) const { return s_.topology.axes[i]; }

  template <typename Order>
  void shuffledAxes(Order& order) {
    for (std::uint32_t i = 0; i < axes(); ++i)
      order[i] = static_cast<std::uint8_t>(i);
    for (std::uint32_t i = axes() - 1; i > 0; --i)
      std::swap(order[i], order[below(i + 1)]);
  }

  void header() {
    static const char* const kNames[] = {"a", "_x9", "reduce-scatter.v2", "send"};
    static const char* const kProducers[] = {"", "torc 0.1: assign-colors", "\"\\ // }"};
    static constexpr double kDoubles[] = {0.1, 1.0 / 3, 1e-7, 5e-324, 1.7976931348623157e308, 3};
    do {  // schedules of neighbours have parts of their own
      s_.collective = static_cast<Collective>(pick(0, kCollectiveCount - 1));
    } while (rowOf(s_.collective).isOfNeighbours());
    s_.flags = static_cast<std::uint32_t>(pick(0, kAllScheduleFlags));
    s_.name = kNames[pick(0, 3)];
    s_.producer = kProducers[pick(0, 2)];
    Topology& topology = s_.topology;
    topology.axis_count = static_cast<std::uint32_t>(pick(1, 4));
    for (std::uint32_t i = 0; i < axes(); ++i) {
      Axis& axis = topology.axes[i];
      axis.name = kAxisNames[i];
      axis.size = static_cast<std::uint32_t>(pick(1, 6));
      axis.kind = pick(0, 1) == 0 ? AxisKind::kTorus : AxisKind::kMesh;
      if (pick(0, 3) == 0) axis.bandwidth = kDoubles[pick(0, 5)];
      if (pick(0, 3) == 0) axis.latency = kDoubles[pick(0, 5)];
    }
    if (axes() > 1 && pick(0, 3) == 0) {
      topology.axes[axes() - 1].kind = AxisKind::kCore;
      topology.axes[axes() - 1].name = kCoreAxisName;
    }
    shuffledAxes(topology.order);
    for (std::int64_t n = pick(0, 3); n > 0; --n) {
      Color color;
      color.weight = static_cast<std::uint64_t>(pick(1, 9));
      if (pick(0, 9) == 0) color.weight <<= 58;
      color.directions = static_cast<std::uint32_t>(pick(1, 2));
      color.chunks = static_cast<std::uint32_t>(pick(1, 4));
      color.axis_count = axes();
      shuffledAxes(color.order);
      s_.colors.push_back(color);
      if (sumOfWeights() >> 63) s_.colors.back().weight = 1;
    }
  }

  /// Links between some nodes, and up to three switches.
  void graph() {
    for (std::uint32_t i = 0; i < axes(); ++i) {
      const Axis old = axis(i);
      s_.topology.axes[i] = {.size = old.size, .name = kAxisNames[i]};
    }
    s_.flags &= ~std::uint32_t{kConflictFreePhases};
    const auto ranks = static_cast<std::uint32_t>(s_.topology.ranks());
    static constexpr double kDoubles[] = {0.1, 5e10, 5e-324, 1.7976931348623157e308};
    for (std::int64_t n = pick(3, 20); n > 0; --n) {
      const std::uint32_t from = below(ranks + 3);
      s_.links.push_back({from, (from + 1 + below(ranks + 2)) % (ranks + 3), kDoubles[pick(0, 1)],
                          pick(0, 1) == 0 ? 0 : kDoubles[pick(0, 3)]});
    }
    sortLinks(s_.links);
    if (s_.links.size() < 3) s_.links.clear();  // as many switches as links at most
  }

  std::uint64_t sumOfWeights() const {
    std::uint64_t sum = 0;
    for (const Color& color : s_.colors)
      sum += color.weight;
    return sum;
  }

  void unusedRecords() {
    s_.boxes.push_back(box(everyone()));
    if (Shift shift{}; randomShift(everyone(), shift)) s_.shifts.push_back(shift);
  }

  Ranges everyone() const { return resolve(Box{}, s_.topology, Coordinates{}); }

  /// Index of an equal value, or of a new copy of it.
  template <typename T>
  std::uint32_t store(std::vector<T>& table, const T& value) {
    const auto found = std::ranges::find(table, value);
    const auto index = static_cast<std::uint32_t>(found - table.begin());
    if (found != table.end() && pick(0, 9) > 0) return index;
    table.push_back(value);
    return static_cast<std::uint32_t>(table.size() - 1);
  }

  Interval absolute(const Axis& axis) {
    const std::int64_t length = pick(1, axis.size);
    const std::int64_t last = axis.wraps() ? axis.size - 1 : axis.size - length;
    return Interval::absolute(static_cast<std::int32_t>(pick(0, last)),
                              static_cast<std::uint32_t>(length));
  }

  Interval rootRelative(const Axis& axis) {
    const std::int64_t last = std::int64_t{axis.size} - 1;
    const auto offset = static_cast<std::int32_t>(pick(-last, last));
    switch (pick(0, 2)) {
      case 0:
        return Interval::root(offset, static_cast<std::uint32_t>(pick(1, axis.size)));
      case 1:
        return Interval::fromRoot(offset, static_cast<std::uint32_t>(pick(0, last)));
      default:
        return Interval::toRoot(static_cast<std::uint32_t>(pick(0, last)), offset);
    }
  }

  Box guard() {
    Box guard;
    for (std::uint32_t i = 0; i < axes(); ++i) {
      if (pick(0, 1) == 0) continue;
      const bool may_be_root_relative =
          rowOf(s_.collective).isRooted() && !countsFromRoot(s_.view(), i);
      guard[i] =
          may_be_root_relative && pick(0, 1) == 0 ? rootRelative(axis(i)) : absolute(axis(i));
    }
    return guard;
  }

  /// A box that stays on the mesh axes for the nodes of `guard`.
  Box box(const Ranges& guard) {
    Box box;
    for (std::uint32_t i = 0; i < axes(); ++i) {
      const std::int64_t kind = pick(0, 2);
      if (kind == 0) continue;
      box[i] = absolute(axis(i));
      if (kind == 1) continue;
      std::int64_t first = -2 * std::int64_t{axis(i).size}, last = -first;
      if (!axis(i).wraps()) {
        first = -std::int64_t{guard[i].start};
        last = std::int64_t{axis(i).size} - box[i].length - guard[i].start - guard[i].length + 1;
        if (first > last) continue;
      }
      box[i] = Interval::relative(static_cast<std::int32_t>(pick(first, last)), box[i].length);
    }
    return box;
  }

  bool randomShift(const Ranges& guard, Shift& shift) {
    for (std::uint32_t i = 0; i < axes(); ++i) {
      std::int64_t last = std::int64_t{axis(i).size} - 1, first = -last;
      if (!axis(i).wraps()) {
        first = -std::int64_t{guard[i].start};
        last = std::int64_t{axis(i).size} - guard[i].start - guard[i].length;
      }
      shift[i] = static_cast<std::int32_t>(pick(first, last));
    }
    return shift != Shift{};
  }

  /// Which blocks of which parts a region has.
  using Blocks = std::vector<std::pair<Piece, Box>>;

  /// Index, for a piece, of the blocks of `box`; of pairs, of those from the node itself to `box`
  /// or, where they are `received`, from `box` to the node itself.
  std::uint32_t storeBlocks(const Box& box, bool received = false) {
    const std::uint32_t index = store(s_.boxes, box);
    if (!s_.view().hasPairs()) return index;
    const std::uint32_t own = store(s_.boxes, ownBox());
    return store(s_.pairs, received ? BoxPair{index, own} : BoxPair{own, index});
  }
  Box ownBox() const {
    Box own;
    for (std::uint32_t i = 0; i < axes(); ++i)
      own[i] = Interval::relative(0);
    return own;
  }

  Region region(Buffer buffer, const Blocks& blocks, std::uint32_t frame = kNone) {
    if (blocks.size() == 1 && blocks[0].first.parts == 1) {
      return boxRegion(buffer, blocks[0].first.part, storeBlocks(blocks[0].second), frame);
    }
    std::vector<Piece> list;
    for (const auto& [piece, box] : blocks)
      list.push_back({piece.part, piece.parts, storeBlocks(box)});
    const auto first = static_cast<std::uint32_t>(s_.pieces.size());
    s_.pieces.insert(s_.pieces.end(), list.begin(), list.end());
    return {.buffer = buffer,
            .pieces = static_cast<std::uint16_t>(list.size()),
            .box = first,
            .frame = frame};
  }

  /// A new frame, in a slot of its own or, once per operation, in one of an operation before.
  Region scratch(const Blocks& blocks) {
    const std::uint32_t shared = std::exchange(slots_before_, 0);
    const std::uint32_t slot = shared > 0 && pick(0, 2) == 0 ? below(shared) : s_.slot_count++;
    const Region all = region(Buffer::kScratch, blocks);
    s_.frames.push_back({all.part, all.box, slot, all.pieces});
    return wholeFrame(s_.frames.back(), static_cast<std::uint32_t>(s_.frames.size() - 1));
  }

  Region region(const Blocks& blocks, bool written) {
    // What only the root has is left alone.
    const CollectiveRow& row = rowOf(s_.collective);
    const bool may_be_in = !written && row.in_elsewhere != Holds::kNothing;
    const bool may_be_out = row.out_elsewhere != Holds::kNothing;
    const std::int64_t kind = pick(may_be_in ? 0 : 1, 2);
    if (kind == 2 || (kind == 1 && !may_be_out)) return scratch(blocks);
    return region(kind == 0 ? Buffer::kIn : Buffer::kOut, blocks);
  }

  /// One box of the stream's part; where it serves any, up to three pieces.
  Blocks randomBlocks(std::uint32_t served, const Ranges& admitted) {
    Blocks blocks;
    for (std::int64_t n = served == kNone ? pick(1, 3) : 1; n > 0; --n) {
      Piece piece{served, 1, kNone};
      if (served == kNone) {
        piece.part = below(partCount());
        if (s_.segments == 1) piece.parts = 1 + below(partCount() - piece.part);
      }
      Box blocks_of_piece = box(admitted);
      // Where a buffer may hold the own block alone, every region is that one.
      if (!rowOf(s_.collective).inWhole() || !rowOf(s_.collective).outWhole()) {
        for (std::uint32_t i = 0; i < axes(); ++i)
          blocks_of_piece[i] = Interval::relative(0);
      }
      blocks.push_back({piece, blocks_of_piece});
    }
    return blocks;
  }

  void addOperation(std::uint16_t phase) {
    slots_before_ = s_.slot_count;
    Operation operation;
    operation.phase = phase;
    operation.stream = below(static_cast<std::uint32_t>(s_.streams.size()));
    Ranges admitted = everyone();
    if (pick(0, 1) == 0) {
      operation.guard = store(s_.boxes, guard());
      const Box& guard = s_.boxes[operation.guard];
      admitted = resolve(guard, s_.topology, Coordinates{});
      for (std::uint32_t i = 0; i < axes(); ++i) {
        if (isRootRelative(guard[i].kind)) admitted[i] = everyone()[i];
      }
    }
    const bool reduces = rowOf(s_.collective).reduces();
    if (peerLoopOf(operation.stream) != kNone) return addPeerLoop(operation);
    Shift shift{};
    const bool moves = randomShift(admitted, shift);
    std::vector<OperationKind> kinds = {OperationKind::kCopy};
    if (moves) kinds.insert(kinds.end(), {OperationKind::kSend, OperationKind::kRecv});
    if (reduces) kinds.push_back(OperationKind::kReduce);
    if (moves && reduces) kinds.push_back(OperationKind::kRecvReduce);
    operation.kind = kinds[below(static_cast<std::uint32_t>(kinds.size()))];
    const OperationKind kind = operation.kind;

    const Blocks blocks = randomBlocks(s_.streams[operation.stream].part, admitted);
    if (!sends(kind)) operation.dst = region(blocks, true);
    if (kind != OperationKind::kRecv) operation.a = region(blocks, false);
    if (kind == OperationKind::kReduce) operation.b = region(blocks, false);
    if (kind == OperationKind::kRecvReduce) operation.b = scratch(blocks);
    if (kind == OperationKind::kCopy && operation.dst.buffer == operation.a.buffer &&
        operation.dst.frame == operation.a.frame) {
      operation.a = scratch(blocks);
    }
    if (sends(kind) || receives(kind)) operation.peer = store(s_.shifts, shift);
    append(operation);
  }

  /// The loop over peers of all messages of a stream; kNone where they have none.
  std::uint32_t peerLoopOf(std::uint32_t stream) {
    peer_loop_of_.resize(s_.streams.size(), kUnknown);
    if (peer_loop_of_[stream] != kUnknown) return peer_loop_of_[stream];
    peer_loop_of_[stream] = kNone;
    const CollectiveRow& row = rowOf(s_.collective);
    PeerLoop peers;
    for (std::uint32_t i = 0; i < axes(); ++i) {
      const std::int64_t last = std::int64_t{axis(i).size} - 1;
      peers.first[i] = static_cast<std::int32_t>(pick(-last, last));
      peers.count[i] = static_cast<std::uint32_t>(
          pick(1, std::min<std::int64_t>(axis(i).size, last - peers.first[i] + 1)));
    }
    peers.order = pick(0, 1) == 0 ? PeerOrder::kFixed : PeerOrder::kShuffled;
    peers.window = static_cast<std::uint16_t>(pick(0, 1) == 0 ? 0 : pick(1, kMaxWindow));
    const bool may_have = !row.reduces() && !row.isRooted() && !s_.topology.isDamaged() &&
                          s_.links.empty() && s_.streams[stream].part != kNone && peers.size() > 0;
    if (may_have && pick(0, 1) == 0) peer_loop_of_[stream] = store(s_.peer_loops, peers);
    return peer_loop_of_[stream];
  }

  /// Messages to or from each peer of a loop over peers: of pairs, from `in` or to `out`.
  void addPeerLoop(Operation operation) {
    operation.guard = kNone;
    operation.kind = pick(0, 1) == 0 ? OperationKind::kSend : OperationKind::kRecv;
    operation.peer_kind = PeerKind::kLoop;
    operation.peer = peerLoopOf(operation.stream);
    const bool sent = sends(operation.kind);
    Box blocks;
    for (std::uint32_t i = 0; i < axes(); ++i) {
      const std::int64_t kind = pick(0, 3);
      if (kind == 0) continue;
      blocks[i] = kind == 1 ? Interval::relative(0) : Interval::ofPeer(sent);
      if (kind == 2 && axis(i).wraps()) {
        blocks[i].start = static_cast<std::int32_t>(pick(-3, 3));
        blocks[i].length = static_cast<std::uint32_t>(pick(1, axis(i).size));
      }
    }
    const Buffer buffer = sent && s_.view().hasPairs() ? Buffer::kIn : Buffer::kOut;
    (sent ? operation.a : operation.dst) = boxRegion(buffer, s_.streams[operation.stream].part,
                                                     storeBlocks(blocks, /*received=*/!sent));
    append(operation);
  }

  void append(Operation operation) {
    operation.first_dependence = static_cast<std::uint32_t>(s_.dependences.size());
    for (std::uint32_t i = 0; i < s_.operations.size(); ++i) {
      if (pick(0, 3) > 0) continue;
      s_.dependences.push_back(i);
      ++operation.dependence_count;
    }
    if (s_.segments > 1 && pick(0, 1) == 0) {
      const auto itself = static_cast<std::uint32_t>(s_.operations.size());
      s_.dependences.push_back(
          s_.dependence(itself, {.segments = static_cast<std::uint16_t>(pick(1, 4))}));
      ++operation.dependence_count;
    }
    s_.operations.push_back(operation);
  }

  const Draw& draw_;
  Schedule s_;
  static constexpr std::uint32_t kUnknown = kNone - 1;
  std::vector<std::uint32_t> peer_loop_of_;  // by stream
  std::uint32_t slots_before_ = 0;           // that the operation being made may use too
};

}  // namespace

Schedule randomSchedule(const Draw& draw) {
  return Generator(draw).steps();
}

Program randomProgram(const Draw& draw) {
  if (draw(0, 3) == 0) return Generator(draw).plan();
  return {Generator(draw).steps(), {}};
}

}  // namespace torc::ir
