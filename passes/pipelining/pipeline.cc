// Cuts every part into K chunks and clones its stream, frames and operations for each of them. So
// one chunk is reduced, or already in the next phase, while the next one is transferred ("Optimal
// Bucket Algorithms for Large MPI Collectives on Torus Interconnects", section 4, "Overlapping
// computation and communication"). The price is K times the messages.
//
// chunks=auto takes the number that the cost model (model/simulator/pipeline_cost.h) predicts to be
// best for a vector of `bytes` on `machine`, with two chunks on a link at a time.
//
// The list is ordered by phase, then by chunk, with all streams in each: earlier phases, then
// earlier chunks come first wherever the order of the list decides (order-links).
//
// Chunks are pieces of a part's elements, so no chunk touches the data of another: an operation of
// chunk j depends on chunk j of its former dependences, also across streams. A barrier between two
// phases thereby becomes one per chunk; infer-dependences{by=phase} makes barriers over all chunks.
// sends=in-turn lets a send also wait for the same send of the chunk before, for pipelines in which
// no other pass orders chunks: else all chunks share a link, and end together.
#include "passes/pipelining/pipeline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/make_error.h"
#include "ir/schedule_builder.h"
#include "model/machines/machine.h"
#include "model/simulator/pipeline_cost.h"
#include "passes/analysis/limits.h"
#include "schedules/validation/validate.h"

namespace torc::passes {
namespace {

constexpr std::uint32_t kInFlight = 2;  // on a link at a time: order-links

// Most pieces of a schedule with cut parts if chunks could be dealt whole parts instead.
constexpr std::uint64_t kMostCutPieces = 1u << 12;

/// The division of parts into chunks. Parts of one color and direction are alike in size, and there
/// are as many as the color already has chunks. Whichever of their elements a chunk has, they stay
/// adjacent in it, so that a piece of all of them is one piece of the chunk.
///
/// Every chunk of cut parts lists all pieces again. If these are too many, chunks are dealt the
/// existing parts instead: they are less even, but each piece stays one.
class Chunks {
 public:
  Chunks(const ScheduleView& schedule, std::uint32_t chunks)
      : chunks_(chunks), deals_(dealsChunks(schedule, chunks)) {
    std::uint32_t first = 0;
    for (const Color& color : schedule.colors) {
      for (std::uint32_t direction = 0; direction < color.directions; ++direction) {
        groups_.push_back({first, color.chunks});
        first += color.chunks;
      }
    }
  }

  /// Whether chunks are dealt the existing parts, and none is cut.
  bool deals() const { return deals_; }

  std::uint32_t partOf(std::uint32_t part, std::uint32_t chunk) const {
    return place(groupOf(part), part, chunk);
  }

  /// The share of chunk `chunk` in the parts of these pieces. A piece of several groups becomes
  /// several.
  llvm::SmallVector<Piece, 4> chunkOf(const PieceList& pieces, std::uint32_t chunk) const {
    llvm::SmallVector<Piece, 4> list;
    for (const Piece& piece : pieces) {
      const std::uint32_t end = piece.part + piece.parts;
      for (std::uint32_t part = piece.part; part < end;) {
        const Group& group = groupOf(part);
        const std::uint32_t group_end = std::min(end, group.first + group.parts);
        if (deals_) {
          const std::uint32_t dealt = group.parts / chunks_;
          const std::uint32_t low = std::max(part, group.first + chunk * dealt);
          const std::uint32_t high = std::min(group_end, group.first + (chunk + 1) * dealt);
          if (low < high) list.push_back({low, high - low, piece.box});
        } else {
          list.push_back({place(group, part, chunk), group_end - part, piece.box});
        }
        part = group_end;
      }
    }
    return list;
  }

 private:
  struct Group {
    std::uint32_t first, parts;
  };

  const Group& groupOf(std::uint32_t part) const {
    return *std::prev(llvm::upper_bound(groups_, part, [](std::uint32_t value, const Group& group) {
      return value < group.first;
    }));
  }

  std::uint32_t place(const Group& group, std::uint32_t part, std::uint32_t chunk) const {
    return group.first * chunks_ + chunk * group.parts + (part - group.first);
  }

  const std::uint32_t chunks_;
  const bool deals_;
  llvm::SmallVector<Group, 8> groups_;  // by first part
};

class Pipeline final : public Pass {
 public:
  explicit Pipeline(const PipelinePass& options)
      : Pass("pipeline", "cuts every part into chunks that follow each other", PassLevel::kStep),
        chunks_(*this, "chunks", "pieces of each part", 1, kMostChunksOfPart, options.chunks,
                "auto"),
        bytes_(*this, "bytes", "size of the whole vector; for chunks=auto", options.bytes),
        machine_(*this, "machine", "preset or file; for chunks=auto", options.machine),
        sends_(*this, "sends", "of the chunks: at the same time, or one by one", options.sends) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    const Schedule& old = program.schedule;
    std::uint32_t chunks = *chunks_;
    if (isAutomatic()) {
      llvm::Expected<model::Machine> machine = model::findMachine(*machine_);
      if (!machine) return machine.takeError();
      machine = model::partitionOf(*machine, old.topology.shape());
      if (!machine) return machine.takeError();
      const model::PipelineCost cost(old.view(), *machine, static_cast<double>(*bytes_));
      chunks = cost.bestChunks(kInFlight);
      seconds_ = cost.seconds(chunks, kInFlight);
    }
    chosen_ = chunks;
    if (chunks == 1 || old.colors.empty()) return PassResult::kWithoutChange;
    if (llvm::Error error = checkLimits(std::uint64_t{chunks} * old.operations.size(),
                                        std::uint64_t{chunks} * old.dependences.size())) {
      return error;
    }
    if (std::uint64_t{chunks} * old.view().partCount() > kMaxParts) {
      return makeError("the schedule would have more than " + llvm::Twine(kMaxParts) + " parts");
    }
    program.schedule = cut(old, chunks, *sends_ == ChunkSends::kInTurn);
    return PassResult::kWithChange;
  }

 private:
  static Schedule cut(const Schedule& old, std::uint32_t chunks, bool in_turn) {
    const ScheduleView view = old.view();
    const Chunks places(view, chunks);
    ir::ScheduleBuilder builder(old);
    if (!places.deals()) {
      for (Color& color : builder.schedule().colors)
        color.chunks *= chunks;
    }
    builder.schedule().boxes = old.boxes;
    builder.schedule().pairs = old.pairs;
    builder.schedule().shifts = old.shifts;
    builder.schedule().peer_loops = old.peer_loops;
    for (const Stream& stream : old.streams) {
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const bool any = stream.part == kNone;
        builder.addStream({any ? kNone : places.partOf(stream.part, chunk), stream.core});
      }
    }
    // If chunks are dealt parts, some have no share of a frame, and its slot may be superfluous.
    std::map<std::uint32_t, std::uint32_t> slots;
    const auto slotOf = [&](std::uint32_t slot) {
      if (!places.deals()) return slot;
      return slots.try_emplace(slot, static_cast<std::uint32_t>(slots.size())).first->second;
    };
    std::vector<std::uint32_t> frames;  // by old frame and chunk; kNone: no share
    for (const Frame& frame : old.frames) {
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const auto pieces = places.chunkOf(view.piecesOf(frame), chunk);
        frames.push_back(
            pieces.empty() ? kNone : builder.addFrame(pieces, slotOf(frame.slot * chunks + chunk)));
      }
    }
    if (!places.deals()) builder.schedule().slot_count = old.slot_count * chunks;

    // By old operation and chunk: its clone, or the clone's dependences if the chunk has no share
    // in it.
    using Clones = llvm::SmallVector<std::uint32_t, 1>;
    std::vector<Clones> clones(old.operations.size() * chunks);
    llvm::SmallVector<std::uint32_t, 16> dependences;
    const auto addPhase = [&](std::size_t begin, std::size_t end, std::uint32_t chunk) {
      for (std::size_t i = begin; i < end; ++i) {
        Operation operation = old.operations[i];
        operation.stream = operation.stream * chunks + chunk;
        dependences.clear();
        for (const std::uint32_t before : view.dependencesOf(operation))
          dependences.append(clones[before * chunks + chunk]);
        if (in_turn && chunk > 0 && sends(operation.kind)) {
          dependences.append(clones[i * chunks + chunk - 1]);
        }
        bool is_empty = false;
        for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
          if (!region->present()) continue;
          const auto pieces = places.chunkOf(view.piecesOf(*region), chunk);
          is_empty |= pieces.empty();
          if (pieces.empty()) break;
          const std::uint32_t frame = region->frame;
          *region = builder.region(region->buffer, pieces,
                                   frame == kNone ? kNone : frames[frame * chunks + chunk]);
        }
        Clones& clone = clones[i * chunks + chunk];
        if (is_empty) {
          llvm::sort(dependences);
          dependences.erase(llvm::unique(dependences), dependences.end());
          clone.assign(dependences.begin(), dependences.end());
        } else {
          clone = {builder.addOperation(operation, dependences)};
        }
      }
    };
    for (std::size_t begin = 0, end; begin < old.operations.size(); begin = end) {
      const std::uint16_t phase = old.operations[begin].phase;
      end = begin;
      while (end < old.operations.size() && old.operations[end].phase == phase)
        ++end;
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
        addPhase(begin, end, chunk);
    }
    return builder.take();
  }

  bool isAutomatic() const { return *chunks_ == 0; }
  bool means(const PassOption& option) const override {
    if (&option == &sends_) return *sends_ == ChunkSends::kInTurn;
    return isAutomatic() || &option == &chunks_;
  }

  IntegerOption chunks_;
  BytesOption bytes_;
  NameOption machine_;
  ChoiceOption<ChunkSends> sends_;
  PassStatistic chosen_{*this, "chunks"};
  PassStatistic seconds_{*this, "predicted seconds (chunks=auto)"};
};

}  // namespace

llvm::ArrayRef<llvm::StringRef> words(ChunkSends) {
  static constexpr llvm::StringRef kWords[] = {"together", "in-turn"};
  return kWords;
}

bool dealsChunks(const ScheduleView& schedule, std::uint32_t chunks) {
  if (schedule.streams.empty() || schedule.pieces.size() * chunks <= kMostCutPieces) return false;
  return llvm::all_of(schedule.streams,
                      [](const Stream& stream) { return stream.part == kNone; }) &&
         llvm::all_of(schedule.colors,
                      [&](const Color& color) { return color.chunks % chunks == 0; });
}

std::unique_ptr<Pass> makePass(const PipelinePass& options) {
  return std::make_unique<Pipeline>(options);
}

}  // namespace torc::passes
