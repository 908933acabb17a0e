// Import: each rank's operations relative to itself; ranks that have the same ones, once.
#include "ir/exchange/import.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/exchange/chunk_cells.h"
#include "ir/exchange/chunk_flow.h"
#include "ir/exchange/program_order.h"
#include "ir/exchange/step_hazards.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "support/hash.h"

namespace torc::ir {
namespace {

/// Blocks in a row along the fastest axis, of some parts; in an all-to-all those from the nodes of
/// one row to those of another. Offsets are from the executing node.
struct RelativePiece {
  std::uint32_t part = 0, parts = 1;
  Shift first{}, other{};  // of the blocks; of pairs, of their sources, and of their destinations
  std::uint32_t length = 1, other_length = 1;

  auto operator<=>(const RelativePiece&) const = default;
};

/// An operation as its rank sees it.
struct RelativeOperation {
  OperationKind kind = OperationKind::kCopy;
  std::uint32_t channel = 0;
  Shift shift{};
  FlowPlace dst, a, b;
  std::vector<RelativePiece> pieces;
  std::vector<std::uint32_t> after;  // of the rank's operations
  StepId step = kNoStep;             // not compared

  bool isLike(const RelativeOperation& other) const {
    return kind == other.kind && channel == other.channel && shift == other.shift &&
           dst == other.dst && a == other.a && b == other.b && pieces == other.pieces &&
           after == other.after;
  }
};

class Importer {
 public:
  Importer(const RankPrograms& programs, const Topology& topology, const ProgramOrder& order,
           const ChunkCells& cells, const StepHazards& hazards, ChunkFlow& flow)
      : programs_(programs),
        topology_(topology),
        order_(order),
        cells_(cells),
        hazards_(hazards),
        flow_(flow) {
    divideBlocks();
  }

  llvm::Expected<ImportedSchedule> run();

 private:
  using Operations = std::vector<RelativeOperation>;

  void divideBlocks();
  std::int32_t shortest(std::uint32_t axis, std::int32_t way) const;
  Shift distance(const Coordinates& from, const Coordinates& to) const;
  std::vector<RelativePiece> piecesOf(llvm::ArrayRef<ChunkNumber> chunks,
                                      const Coordinates& at) const;
  Operations relative(std::size_t rank);
  void orderOperations(std::size_t rank, Operations& operations,
                       const std::vector<FlowOperation>& flow);
  std::vector<Box> boxesOf(const std::vector<std::size_t>& ranks) const;
  void write(StepBuilder& builder, const Operations& operations, std::uint32_t guard,
             std::size_t ranks, std::vector<std::string>& sources);

  const RankPrograms& programs_;
  const Topology& topology_;
  const ProgramOrder& order_;
  const ChunkCells& cells_;
  const StepHazards& hazards_;
  ChunkFlow& flow_;
  std::map<std::int32_t, std::uint32_t> streams_;  // of channels
  std::uint64_t waits_ = 0;                        // of all operations so far
  // A chunk is a part of the blocks of a node or, where there are fewer chunks than nodes, of all
  // nodes that are equal on the first axes of the order of ranks.
  std::uint32_t block_axes_ = 0;  // how many of these there are
  std::uint32_t parts_ = 1;       // of such blocks
};

/// So that as many ranks as can be do the same: what goes round the rings of an axis is numbered by
/// its coordinates, mostly.
void Importer::divideBlocks() {
  parts_ = static_cast<std::uint32_t>(programs_.chunks);
  if (programs_.collective == Collective::kBroadcast) return;
  while (block_axes_ < topology_.axis_count) {
    const std::uint32_t size = topology_.axes[topology_.order[block_axes_]].size;
    if (parts_ % size != 0) break;
    parts_ /= size;
    ++block_axes_;
  }
}

/// A way along an axis, or the one to the same node the other way round, where that is shorter; up
/// where both are as long.
std::int32_t Importer::shortest(std::uint32_t axis, std::int32_t way) const {
  if (!topology_.axes[axis].wraps()) return way;
  const auto size = static_cast<std::int32_t>(topology_.axes[axis].size);
  const std::int32_t up = static_cast<std::int32_t>(wrap(way, topology_.axes[axis].size));
  return 2 * up > size ? up - size : up;
}

Shift Importer::distance(const Coordinates& from, const Coordinates& to) const {
  Shift shift{};
  for (std::size_t axis = 0; axis < topology_.axis_count; ++axis) {
    shift[axis] = shortest(axis, to[axis] - from[axis]);
  }
  return shift;
}

std::vector<RelativePiece> Importer::piecesOf(llvm::ArrayRef<ChunkNumber> chunks,
                                              const Coordinates& at) const {
  const std::uint64_t per_rank = static_cast<std::uint64_t>(programs_.chunks);
  const bool is_of_pairs = programs_.collective == Collective::kAlltoall;
  std::vector<RelativePiece> pieces;
  for (const ChunkNumber chunk : chunks) {
    RelativePiece piece;
    piece.part = static_cast<std::uint32_t>(chunk % parts_);
    const auto nodeOf = [&](ChunkNumber block) {
      Coordinates node = topology_.coordinatesOf(static_cast<std::int32_t>(block));
      for (std::uint32_t i = block_axes_; i < topology_.axis_count; ++i)
        node[topology_.order[i]] = at[topology_.order[i]];
      return distance(at, node);
    };
    if (is_of_pairs) {
      piece.first = nodeOf(chunk / per_rank);
      piece.other = nodeOf(chunk % per_rank / parts_);
    } else {
      piece.first = nodeOf(chunk / parts_);
    }
    if (pieces.empty()) {
      pieces.push_back(piece);
      continue;
    }
    // The next part of the same blocks.
    RelativePiece& last = pieces.back();
    if (piece.first == last.first && piece.other == last.other && last.length == 1 &&
        last.other_length == 1 && piece.part == last.part + last.parts) {
      ++last.parts;
    } else {
      pieces.push_back(piece);
    }
    if (pieces.size() < 2) continue;
    // Whole blocks behind one another along the fastest axis.
    RelativePiece& before = pieces[pieces.size() - 2];
    const RelativePiece& behind = pieces.back();
    if (behind.parts < parts_ || before.parts < parts_ || block_axes_ == 0) continue;
    const auto follows = [&](const Shift& first, std::uint32_t length, const Shift& next) {
      const std::uint32_t axis = topology_.order[0];
      Shift expected = first;
      expected[axis] = shortest(axis, first[axis] + static_cast<std::int32_t>(length));
      return length < topology_.axes[axis].size && expected == next;
    };
    if (is_of_pairs ? before.length == 1 && before.first == behind.first &&
                          follows(before.other, before.other_length, behind.other)
                    : follows(before.first, before.length, behind.first)) {
      ++(is_of_pairs ? before.other_length : before.length);
      pieces.pop_back();
    }
  }
  return pieces;
}

/// A rank's operations, in an order that is the same on ranks that do the same.
Importer::Operations Importer::relative(std::size_t rank) {
  const Coordinates at = topology_.coordinatesOf(static_cast<std::int32_t>(rank));
  std::vector<FlowOperation> flow = std::move(flow_.operationsOf(rank));
  Operations operations(flow.size());
  for (std::size_t i = 0; i < flow.size(); ++i) {
    RelativeOperation& operation = operations[i];
    operation.kind = flow[i].kind;
    operation.channel = static_cast<std::uint32_t>(flow[i].channel);
    operation.dst = flow[i].dst;
    operation.a = flow[i].a;
    operation.b = flow[i].b;
    operation.step = flow[i].action == kNoStep ? kNoStep : flow[i].action / 2;
    operation.pieces = piecesOf(flow_.chunksOf(flow[i]), at);
    if (flow[i].peer >= 0) operation.shift = distance(at, topology_.coordinatesOf(flow[i].peer));
  }
  orderOperations(rank, operations, flow);
  return operations;
}

void Importer::orderOperations(std::size_t rank, Operations& operations,
                               const std::vector<FlowOperation>& flow) {
  const auto levelOf = [&](std::size_t i) {
    const ActionId action = flow[i].action;
    if (action == kNoStep) return flow[i].after.empty() ? 0u : ~0u;
    return 2 * order_.levelOf(action / 2) + action % 2;
  };
  std::vector<std::uint32_t> sorted(operations.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::sort(sorted, [&](std::uint32_t left, std::uint32_t right) {
    const RelativeOperation &a = operations[left], &b = operations[right];
    return std::tuple(levelOf(left), a.kind, a.channel, a.shift, flow[left].part, a.pieces, left) <
           std::tuple(levelOf(right), b.kind, b.channel, b.shift, flow[right].part, b.pieces,
                      right);
  });

  // The operations of each action, by their new numbers.
  std::unordered_map<ActionId, llvm::SmallVector<std::uint32_t, 1>> of_action;
  for (std::uint32_t i = 0; i < sorted.size(); ++i) {
    if (flow[sorted[i]].action != kNoStep) of_action[flow[sorted[i]].action].push_back(i);
  }
  std::unordered_map<ActionId, llvm::SmallVector<ActionId, 2>> also_before;
  for (const auto& [action, before] : flow_.alsoBefore(rank))
    also_before[action].push_back(before);

  Operations ordered;
  ordered.reserve(operations.size());
  std::unordered_map<std::uint32_t, std::uint32_t> frames;
  for (std::uint32_t i = 0; i < sorted.size() && waits_ <= kMaxForeignWaits; ++i) {
    RelativeOperation& operation = operations[sorted[i]];
    const ActionId action = flow[sorted[i]].action;
    llvm::SmallVector<ActionId, 8> actions(llvm::ArrayRef<ActionId>(flow[sorted[i]].after));
    if (action != kNoStep) {
      const llvm::ArrayRef<ActionId> before = hazards_.before(action);
      actions.append(before.begin(), before.end());
      if (const auto also = also_before.find(action); also != also_before.end()) {
        actions.append(also->second);
      }
    }
    // An action without operations passes on what it waits for.
    llvm::SmallDenseSet<ActionId, 16> seen;
    for (std::size_t k = 0; k < actions.size(); ++k) {
      if (!seen.insert(actions[k]).second) continue;
      const auto found = of_action.find(actions[k]);
      if (found == of_action.end()) {
        const llvm::ArrayRef<ActionId> passed = hazards_.before(actions[k]);
        actions.append(passed.begin(), passed.end());
      } else {
        operation.after.insert(operation.after.end(), found->second.begin(), found->second.end());
      }
    }
    waits_ += operation.after.size();
    std::ranges::sort(operation.after);
    const auto repeated = std::ranges::unique(operation.after);
    operation.after.erase(repeated.begin(), repeated.end());
    for (FlowPlace* place : {&operation.dst, &operation.a, &operation.b}) {
      if (place->buffer != Buffer::kScratch) continue;
      const auto number = static_cast<std::uint32_t>(frames.size());
      place->frame = frames.try_emplace(place->frame, number).first->second;
    }
    ordered.push_back(std::move(operation));
  }
  operations = std::move(ordered);
}

/// Boxes of nodes, which together are `ranks`.
std::vector<Box> Importer::boxesOf(const std::vector<std::size_t>& ranks) const {
  std::vector<bool> left(programs_.ranks.size());
  for (const std::size_t rank : ranks)
    left[rank] = true;
  std::vector<Box> boxes;
  for (const std::size_t rank : ranks) {
    if (!left[rank]) continue;
    Coordinates low = topology_.coordinatesOf(static_cast<std::int32_t>(rank)), high = low;
    // All nodes of the box that `low` and `high` are the corners of.
    const auto forAll = [&](const Coordinates& from, const Coordinates& to, const auto& does) {
      Coordinates at = from;
      for (;;) {
        if (!does(static_cast<std::size_t>(topology_.rankOf(at)))) return false;
        std::size_t axis = 0;
        while (axis < topology_.axis_count && at[axis] == to[axis]) {
          at[axis] = from[axis];
          ++axis;
        }
        if (axis == topology_.axis_count) return true;
        ++at[axis];
      }
    };
    for (std::size_t axis = 0; axis < topology_.axis_count; ++axis) {
      while (high[axis] + 1 < static_cast<std::int32_t>(topology_.axes[axis].size)) {
        Coordinates from = low, to = high;
        from[axis] = to[axis] = high[axis] + 1;
        if (!forAll(from, to, [&](std::size_t other) { return bool{left[other]}; })) break;
        ++high[axis];
      }
    }
    forAll(low, high, [&](std::size_t other) {
      left[other] = false;
      return true;
    });
    Box box;
    for (std::size_t axis = 0; axis < topology_.axis_count; ++axis) {
      const auto length = static_cast<std::uint32_t>(high[axis] - low[axis] + 1);
      box[axis] = length == topology_.axes[axis].size ? Interval::all()
                                                      : Interval::absolute(low[axis], length);
    }
    boxes.push_back(box);
  }
  return boxes;
}

/// Appends a program for the nodes of a guard.
void Importer::write(StepBuilder& builder, const Operations& operations, std::uint32_t guard,
                     std::size_t ranks, std::vector<std::string>& sources) {
  const auto boxAt = [&](const Shift& first, std::uint32_t length) {
    Box box;
    for (std::uint32_t i = 0; i < block_axes_; ++i) {
      const std::uint32_t axis = topology_.order[i];
      const std::uint32_t along = axis == topology_.order[0] ? length : 1;
      box[axis] = along == topology_.axes[axis].size ? Interval::all()
                                                     : Interval::relative(first[axis], along);
    }
    return builder.box(box);
  };
  std::unordered_map<std::uint32_t, std::uint32_t> frames;
  const auto regionOf = [&](const FlowPlace& place, llvm::ArrayRef<Piece> pieces) {
    if (place.buffer == Buffer::kNone) return Region{};
    if (place.buffer != Buffer::kScratch) return builder.region(place.buffer, pieces);
    const auto [frame, is_new] = frames.try_emplace(place.frame);
    // The first that names a frame fills it.
    if (is_new) frame->second = builder.addFrame(pieces, builder.schedule().slot_count);
    return builder.region(Buffer::kScratch, pieces, frame->second);
  };
  const auto begin = static_cast<std::uint32_t>(builder.schedule().operations.size());
  llvm::SmallVector<Piece, 8> pieces;
  OperationIndices after;
  for (const RelativeOperation& operation : operations) {
    pieces.clear();
    for (const RelativePiece& piece : operation.pieces) {
      const std::uint32_t box = boxAt(piece.first, piece.length);
      const bool is_of_pairs = programs_.collective == Collective::kAlltoall;
      const std::uint32_t blocks =
          is_of_pairs
              ? builder.pair(builder.schedule().boxes[box],
                             builder.schedule().boxes[boxAt(piece.other, piece.other_length)])
              : box;
      pieces.push_back({piece.part, piece.parts, blocks});
    }
    after.clear();
    for (const std::uint32_t before : operation.after)
      after.push_back(begin + before);
    // What a receive brings is filled first.
    const Region b = regionOf(operation.b, pieces);
    const Region a = regionOf(operation.a, pieces);
    const Region dst = regionOf(operation.dst, pieces);
    const StepPlace place{streams_.at(static_cast<std::int32_t>(operation.channel)), guard};
    Shift moves = operation.shift;
    switch (operation.kind) {
      case OperationKind::kSend:
        builder.send(place, a, moves, after);
        break;
      case OperationKind::kRecv:
      case OperationKind::kRecvReduce:
        for (std::int32_t& along : moves)
          along = -along;
        if (operation.kind == OperationKind::kRecv) {
          builder.receive(place, dst, moves, after);
        } else {
          builder.receiveAndReduce(place, dst, a, b, moves, after);
        }
        break;
      case OperationKind::kReduce:
        builder.reduce(place, dst, a, b, after);
        break;
      default:
        builder.copy(place, dst, a, after);
    }
    std::string source = programs_.at() + "at the end";
    if (operation.step != kNoStep) {
      const StepPosition at = order_.placeOf(operation.step);
      source = programs_.origin + ":" + std::to_string(order_.step(operation.step).line) +
               ": error: " + programs_.place(at.rank, at.block, at.index);
      if (ranks > 1) source += " (so on " + std::to_string(ranks) + " gpus)";
    }
    sources.push_back(std::move(source));
  }
}

llvm::Expected<ImportedSchedule> Importer::run() {
  std::uint64_t count = 0;
  for (std::size_t rank = 0; rank < programs_.ranks.size(); ++rank)
    count += flow_.operationsOf(rank).size();
  // Ranks that do the same are found by a hash first.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> alike;  // of classes
  struct Class {
    Operations operations;
    std::vector<std::size_t> ranks;
  };
  std::vector<Class> classes;
  for (std::size_t rank = 0; rank < programs_.ranks.size(); ++rank) {
    Operations operations = relative(rank);
    if (waits_ > kMaxForeignWaits) {
      return makeError(programs_.at() + "its steps wait for each other more than " +
                       llvm::Twine(kMaxForeignWaits) +
                       " times, chunk by chunk: steps of fewer chunks wait for fewer");
    }
    std::uint64_t hash = operations.size();
    for (const RelativeOperation& operation : operations) {
      hash = hashNumbers(hash, static_cast<std::uint64_t>(operation.kind), operation.channel,
                         operation.after.size());
      for (std::size_t axis = 0; axis < topology_.axis_count; ++axis) {
        hash = hashNumbers(hash, static_cast<std::uint64_t>(operation.shift[axis]),
                           static_cast<std::uint64_t>(
                               operation.pieces.empty() ? 0 : operation.pieces[0].first[axis]));
      }
    }
    std::vector<std::size_t>& candidates = alike[hash];
    const auto like = std::ranges::find_if(candidates, [&](std::size_t index) {
      return std::ranges::equal(classes[index].operations, operations,
                                [](const auto& a, const auto& b) { return a.isLike(b); });
    });
    if (like != candidates.end()) {
      classes[*like].ranks.push_back(rank);
    } else {
      candidates.push_back(classes.size());
      classes.push_back({std::move(operations), {rank}});
    }
  }

  Schedule header = scheduleHeader(programs_.collective, topology_, 1);
  header.name = "imported-" + header.name;
  header.colors[0].chunks = parts_;
  header.links = programs_.links;
  StepBuilder builder(header);
  streams_.emplace(0, 0);
  for (const Class& one : classes) {
    for (const RelativeOperation& operation : one.operations)
      streams_.emplace(static_cast<std::int32_t>(operation.channel), 0);
  }
  for (auto& [channel, stream] : streams_)
    stream = builder.addStream({kNone, 0});
  ImportedSchedule imported;
  imported.steps = order_.size();
  imported.classes = static_cast<std::uint32_t>(classes.size());
  for (const Class& one : classes) {
    if (classes.size() == 1) {
      write(builder, one.operations, kNone, one.ranks.size(), imported.sources);
      continue;
    }
    for (const Box& box : boxesOf(one.ranks))
      write(builder, one.operations, builder.box(box), one.ranks.size(), imported.sources);
  }
  imported.schedule = builder.take();
  return imported;
}

}  // namespace

llvm::Expected<ImportedSchedule> importPrograms(const RankPrograms& programs,
                                                const Topology& topology) {
  if (topology.ranks() != programs.ranks.size()) {
    return makeError(llvm::Twine(programs.origin) + ": has " + llvm::Twine(programs.ranks.size()) +
                     " gpus; the torus has " + llvm::Twine(topology.ranks()) + " nodes");
  }
  if (const Status graph = validateGraph(topology, programs.links); !graph.ok())
    return makeError(llvm::Twine(programs.origin) + ": " + graph.message());
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (rowOf(programs.collective).isRooted() && !topology.axes[axis].wraps()) {
      return makeError(llvm::Twine(programs.origin) + ": has one root, and on the line " +
                       llvm::Twine(topology.axes[axis].name) +
                       " a schedule would have to serve all: take a ring");
    }
  }
  std::uint64_t touched = 0;
  for (const RankProgram& rank : programs.ranks) {
    for (const ThreadBlock& block : rank.blocks) {
      for (const RankStep& step : block.steps)
        touched += static_cast<std::uint64_t>(step.count);
    }
  }
  if (touched > kMaxForeignTouched) {
    return makeError(programs.at() + "its steps touch " + llvm::Twine(touched) +
                     " chunks; the limit is " + llvm::Twine(kMaxForeignTouched));
  }
  llvm::Expected<ProgramOrder> order = ProgramOrder::of(programs);
  if (!order) return order.takeError();
  llvm::Expected<ChunkCells> cells = ChunkCells::of(programs);
  if (!cells) return cells.takeError();
  llvm::Expected<StepHazards> hazards = StepHazards::of(programs, *order, *cells);
  if (!hazards) return hazards.takeError();
  llvm::Expected<ChunkFlow> flow = ChunkFlow::of(programs, *order, *cells);
  if (!flow) return flow.takeError();
  return Importer(programs, topology, *order, *cells, *hazards, *flow).run();
}

}  // namespace torc::ir
