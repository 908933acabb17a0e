// Import: makes each rank's operations relative to the rank, and merges ranks with equal
// operations.
#include "ir/exchange/import.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/exchange/chunk_cells.h"
#include "ir/exchange/chunk_flow.h"
#include "ir/exchange/program_order.h"
#include "ir/exchange/step_hazards.h"
#include "ir/step_builder.h"
#include "ir/thrown.h"

namespace torc::ir {
namespace {

/// Consecutive blocks along the fastest axis, of some parts; in an all-to-all, the blocks from the
/// nodes of one row to those of another. Offsets count from the executing node.
struct RelativePiece {
  std::uint32_t part = 0, parts = 1;
  Shift first{}, other{};  // of the blocks; of pairs, of their sources and of their destinations
  std::uint32_t length = 1, other_length = 1;

  auto operator<=>(const RelativePiece&) const = default;
};

/// An operation relative to its rank.
struct RelativeOperation {
  OperationKind kind = OperationKind::kCopy;
  std::int32_t channel = 0;
  Shift shift{};
  FlowSites sites;
  std::vector<RelativePiece> pieces;
  std::vector<std::uint32_t> after;  // indices of the rank's operations

  auto operator<=>(const RelativeOperation&) const = default;
};

class Importer {
 public:
  Importer(const RankPrograms& programs, const Topology& topology, const ProgramOrder& order,
           const StepHazards& hazards, ChunkFlow& flow)
      : programs_(programs), topology_(topology), order_(order), hazards_(hazards), flow_(flow) {
    divideBlocks();
  }

  /// Throws an error.
  ImportedSchedule run() {
    std::map<Operations, std::size_t> alike;  // class of the ranks with these operations
    std::vector<Class> classes;
    for (std::size_t rank = 0; rank < programs_.ranks.size(); ++rank) {
      std::vector<StepId> steps;
      Operations operations = relative(rank, steps);
      if (waits_ > kMaxForeignWaits) {
        throwError(programs_.at() + "its steps wait for each other more than " +
                   llvm::Twine(kMaxForeignWaits) +
                   " times, chunk by chunk: steps of fewer chunks wait for fewer");
      }
      const auto [found, is_new] = alike.try_emplace(std::move(operations), classes.size());
      if (is_new) classes.push_back({&found->first, std::move(steps), {}});
      classes[found->second].ranks.push_back(rank);
    }

    Schedule header = scheduleHeader(programs_.collective, topology_, 1);
    header.name = "imported-" + header.name;
    header.colors[0].chunks = parts_;
    header.links = programs_.links;
    StepBuilder builder(header);
    streams_.emplace(0, 0);
    for (const Class& one : classes) {
      for (const RelativeOperation& operation : *one.operations)
        streams_.emplace(operation.channel, 0);
    }
    for (auto& [channel, stream] : streams_)
      stream = builder.addStream({kNone, 0});
    ImportedSchedule imported;
    imported.steps = order_.size();
    imported.classes = static_cast<std::uint32_t>(classes.size());
    for (const Class& one : classes) {
      if (classes.size() == 1) {
        write(builder, one, kNone, imported.sources);
        continue;
      }
      for (const Box& box : boxesOf(one.ranks))
        write(builder, one, builder.box(box), imported.sources);
    }
    imported.schedule = builder.take();
    return imported;
  }

 private:
  using Operations = std::vector<RelativeOperation>;
  /// Ranks with equal operations.
  struct Class {
    const Operations* operations;
    std::vector<StepId> steps;  // of each operation, on the first rank
    std::vector<std::size_t> ranks;
  };

  /// Numbers blocks by the coordinates of an axis, so that as many ranks as possible have equal
  /// operations: most messages travel around the rings of an axis.
  void divideBlocks() {
    parts_ = static_cast<std::uint32_t>(programs_.chunks);
    if (programs_.collective == Collective::kBroadcast) return;
    while (block_axes_ < topology_.axis_count) {
      const std::uint32_t size = topology_.axes[topology_.order[block_axes_]].size;
      if (parts_ % size != 0) break;
      parts_ /= size;
      ++block_axes_;
    }
  }

  /// The shorter way around an axis to the same node; up if both are equally long.
  std::int32_t shortest(std::uint32_t axis, std::int32_t way) const {
    if (!topology_.axes[axis].wraps()) return way;
    const auto size = static_cast<std::int32_t>(topology_.axes[axis].size);
    const std::int32_t up = static_cast<std::int32_t>(wrap(way, topology_.axes[axis].size));
    return 2 * up > size ? up - size : up;
  }

  Shift distance(const Coordinates& from, const Coordinates& to) const {
    Shift shift{};
    for (std::size_t axis = 0; axis < topology_.axis_count; ++axis) {
      shift[axis] = shortest(axis, to[axis] - from[axis]);
    }
    return shift;
  }

  std::vector<RelativePiece> piecesOf(llvm::ArrayRef<ChunkNumber> chunks,
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
      RelativePiece* const last = pieces.empty() ? nullptr : &pieces.back();
      // The next part of the same blocks.
      if (last != nullptr && piece.first == last->first && piece.other == last->other &&
          last->length == 1 && last->other_length == 1 && piece.part == last->part + last->parts) {
        ++last->parts;
      } else {
        pieces.push_back(piece);
      }
      if (pieces.size() < 2 || block_axes_ == 0) continue;
      // Whole consecutive blocks along the fastest axis. Those of pairs have one source: a message
      // that moves several from one place (chunk_flow.h) has them from one node, or for one.
      RelativePiece& before = pieces[pieces.size() - 2];
      const RelativePiece& behind = pieces.back();
      if (behind.parts < parts_ || before.parts < parts_) continue;
      const std::uint32_t axis = topology_.order[0];
      std::uint32_t& length = is_of_pairs ? before.other_length : before.length;
      Shift next = is_of_pairs ? before.other : before.first;
      next[axis] = shortest(axis, next[axis] + static_cast<std::int32_t>(length));
      if (length < topology_.axes[axis].size &&
          next == (is_of_pairs ? behind.other : behind.first)) {
        ++length;
        pieces.pop_back();
      }
    }
    return pieces;
  }

  /// A rank's operations, in an order that equal ranks share, and their steps.
  Operations relative(std::size_t rank, std::vector<StepId>& steps) {
    const Coordinates at = topology_.coordinatesOf(static_cast<std::int32_t>(rank));
    const std::vector<FlowOperation> flow = std::move(flow_.operations[rank]);
    Operations unordered;
    for (const FlowOperation& one : flow) {
      unordered.push_back(
          {.kind = one.kind,
           .channel = one.channel,
           .shift = one.peer < 0 ? Shift{} : distance(at, topology_.coordinatesOf(one.peer)),
           .sites = one.sites,
           .pieces = piecesOf(flow_.chunksOf(one), at),
           .after = {}});
    }
    const auto levelOf = [&](std::size_t i) {
      const ActionId action = flow[i].action;
      if (action == kNoStep) return flow[i].after.empty() ? 0u : ~0u;
      return 2 * order_.levelOf(action / 2) + action % 2;
    };
    std::vector<std::uint32_t> sorted(flow.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::ranges::sort(sorted, [&](std::uint32_t left, std::uint32_t right) {
      const RelativeOperation &a = unordered[left], &b = unordered[right];
      return std::tuple(levelOf(left), a.kind, a.channel, a.shift, flow[left].part, a.pieces,
                        left) < std::tuple(levelOf(right), b.kind, b.channel, b.shift,
                                           flow[right].part, b.pieces, right);
    });

    // The operations of each action, by their new numbers.
    std::unordered_map<ActionId, llvm::SmallVector<std::uint32_t, 1>> of_action;
    for (std::uint32_t i = 0; i < sorted.size(); ++i) {
      if (flow[sorted[i]].action != kNoStep) of_action[flow[sorted[i]].action].push_back(i);
    }
    Operations ordered;
    ordered.reserve(sorted.size());
    std::unordered_map<std::uint32_t, std::uint32_t> frames;
    for (const std::uint32_t i : sorted) {
      if (waits_ > kMaxForeignWaits) break;
      const ActionId action = flow[i].action;
      RelativeOperation& operation = ordered.emplace_back(std::move(unordered[i]));
      steps.push_back(action == kNoStep ? kNoStep : action / 2);
      llvm::SmallVector<ActionId, 8> actions(llvm::ArrayRef<ActionId>(flow[i].after));
      if (action != kNoStep) {
        const llvm::ArrayRef<ActionId> before = hazards_.before(action);
        actions.append(before.begin(), before.end());
        if (const auto also = flow_.also_before.find(action); also != flow_.also_before.end())
          actions.append(also->second);
      }
      // An action without operations passes its dependences on.
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
      operation.after.erase(std::unique(operation.after.begin(), operation.after.end()),
                            operation.after.end());
      for (FlowPlace* place : {&operation.sites.dst, &operation.sites.a, &operation.sites.b}) {
        if (place->buffer != Buffer::kScratch) continue;
        const auto number = static_cast<std::uint32_t>(frames.size());
        place->frame = frames.try_emplace(place->frame, number).first->second;
      }
    }
    return ordered;
  }

  /// Boxes of nodes whose union is `ranks`.
  std::vector<Box> boxesOf(const std::vector<std::size_t>& ranks) const {
    // The nodes between two corners.
    const auto nodesOf = [&](const Coordinates& low, const Coordinates& high) {
      std::vector<std::size_t> nodes;
      for (Coordinates at = low;;) {
        nodes.push_back(static_cast<std::size_t>(topology_.rankOf(at)));
        std::size_t axis = 0;
        for (; axis < topology_.axis_count && at[axis] == high[axis]; ++axis)
          at[axis] = low[axis];
        if (axis == topology_.axis_count) return nodes;
        ++at[axis];
      }
    };
    std::vector<bool> left(programs_.ranks.size());
    for (const std::size_t rank : ranks)
      left[rank] = true;
    std::vector<Box> boxes;
    for (const std::size_t rank : ranks) {
      if (!left[rank]) continue;
      Coordinates low = topology_.coordinatesOf(static_cast<std::int32_t>(rank)), high = low;
      Box box;
      for (std::size_t axis = 0; axis < topology_.axis_count; ++axis) {
        const std::uint32_t size = topology_.axes[axis].size;
        while (high[axis] + 1 < static_cast<std::int32_t>(size)) {
          Coordinates from = low, to = high;
          from[axis] = to[axis] = high[axis] + 1;
          if (!llvm::all_of(nodesOf(from, to), [&](std::size_t node) { return bool{left[node]}; }))
            break;
          ++high[axis];
        }
        const auto length = static_cast<std::uint32_t>(high[axis] - low[axis] + 1);
        box[axis] = length == size ? Interval::all() : Interval::absolute(low[axis], length);
      }
      for (const std::size_t node : nodesOf(low, high))
        left[node] = false;
      boxes.push_back(box);
    }
    return boxes;
  }

  /// Appends the program of a class for the nodes of a guard.
  void write(StepBuilder& builder, const Class& one, std::uint32_t guard,
             std::vector<std::string>& sources) const {
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
    llvm::SmallVector<Piece, 8> pieces;
    const auto regionOf = [&](const FlowPlace& place) {
      if (place.buffer == Buffer::kNone) return Region{};
      if (place.buffer != Buffer::kScratch) return builder.region(place.buffer, pieces);
      const auto [frame, is_new] = frames.try_emplace(place.frame);
      // The first use of a frame fills it.
      if (is_new) frame->second = builder.addFrame(pieces, builder.schedule().slot_count);
      return builder.region(Buffer::kScratch, pieces, frame->second);
    };
    const std::vector<Box>& boxes = builder.schedule().boxes;
    const auto begin = static_cast<std::uint32_t>(builder.schedule().operations.size());
    OperationIndices after;
    for (std::size_t i = 0; i < one.operations->size(); ++i) {
      const RelativeOperation& from = (*one.operations)[i];
      pieces.clear();
      for (const RelativePiece& piece : from.pieces) {
        std::uint32_t blocks = boxAt(piece.first, piece.length);
        if (programs_.collective == Collective::kAlltoall) {
          const std::uint32_t others = boxAt(piece.other, piece.other_length);
          blocks = builder.pair(boxes[blocks], boxes[others]);
        }
        pieces.push_back({piece.part, piece.parts, blocks});
      }
      after.clear();
      for (const std::uint32_t before : from.after)
        after.push_back(begin + before);
      Operation operation;
      operation.kind = from.kind;
      operation.stream = streams_.at(from.channel);
      operation.guard = guard;
      // The operand of a received message is filled first.
      operation.b = regionOf(from.sites.b);
      operation.a = regionOf(from.sites.a);
      operation.dst = regionOf(from.sites.dst);
      if (sends(from.kind) || receives(from.kind)) operation.peer = builder.shift(from.shift);
      builder.addOperation(operation, after);
      std::string source = programs_.at() + "at the end";
      if (one.steps[i] != kNoStep) {
        source = programs_.at(order_.step(one.steps[i]).line) +
                 programs_.stepName(order_.placeOf(one.steps[i]));
        if (one.ranks.size() > 1)
          source += " (so on " + std::to_string(one.ranks.size()) + " gpus)";
      }
      sources.push_back(std::move(source));
    }
  }

  const RankPrograms& programs_;
  const Topology& topology_;
  const ProgramOrder& order_;
  const StepHazards& hazards_;
  ChunkFlow& flow_;
  std::map<std::int32_t, std::uint32_t> streams_;  // of channels
  std::uint64_t waits_ = 0;                        // dependences of all operations so far
  // A chunk is a part of the blocks of a node. With fewer chunks than nodes it covers all nodes
  // with equal coordinates on the first axes of the order of ranks.
  std::uint32_t block_axes_ = 0;  // number of these axes
  std::uint32_t parts_ = 1;       // of such blocks
};

}  // namespace

llvm::Expected<ImportedSchedule> importPrograms(const RankPrograms& programs,
                                                const Topology& topology) {
  return caught([&] {
    if (topology.ranks() != programs.ranks.size()) {
      throwError(llvm::Twine(programs.origin) + ": has " + llvm::Twine(programs.ranks.size()) +
                 " gpus; the torus has " + llvm::Twine(topology.ranks()) + " nodes");
    }
    if (const Status graph = validateGraph(topology, programs.links); !graph.ok())
      throwError(llvm::Twine(programs.origin) + ": " + graph.message());
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      if (rowOf(programs.collective).isRooted() && !topology.axes[axis].wraps()) {
        throwError(llvm::Twine(programs.origin) + ": has one root, and on the line " +
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
      throwError(programs.at() + "its steps touch " + llvm::Twine(touched) +
                 " chunks; the limit is " + llvm::Twine(kMaxForeignTouched));
    }
    const ProgramOrder order(programs);
    const ChunkCells cells(programs);
    const StepHazards hazards(programs, order, cells);
    ChunkFlow flow = ChunkFlow::of(programs, order, cells);
    return Importer(programs, topology, order, hazards, flow).run();
  });
}

}  // namespace torc::ir
