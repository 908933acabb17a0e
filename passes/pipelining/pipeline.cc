// Cuts every part into K chunks and clones its stream, frames and operations for each of them, so
// that one chunk is reduced, or already in the next phase, while the next one is transferred
// ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects", section 4,
// "Overlapping computation and communication"). The price is K times the messages.
//
// chunks=auto takes the number that the cost model (model/simulator/pipeline_cost.h) predicts to be
// best for a vector of `bytes` on `machine`, with two chunks on a link at a time.
//
// order=phases lists phase after phase, and in a phase chunk after chunk, in each of them all
// streams: earlier phases, then earlier chunks come first wherever the order of the list decides
// (order-links).
//
// order=wavefronts skews the list (loop skewing; L. Lamport, "The Parallel Execution of DO Loops",
// CACM 1974), so that early chunks are gathered while late ones are reduced. Lines need that. The
// link behind the k-th of a line's d nodes carries d - k blocks of a reduce-scatter, the last ones
// of its steps, and k of an allgather, the first ones: the allgather of a chunk and the
// reduce-scatter of a later one fill the link for d steps, where either alone takes d - 1.
//
// A wavefront has a chunk in each phase. Let R_0, ..., R_{M-1} be the reduce-scatters of all colors
// in order, G_{M-1}, ..., G_0 the allgathers. On a link the allgathers have to be first: then they
// and the reduce-scatters tile the wavefront. And a phase must not stand just behind the one that
// it waits for, which may be longer on another axis. Both holds in the order
//   ..., G_2, G_0, ..., G_3, G_1, R_1, R_3, ..., R_0, R_2, ...
// (three axes: G_2, G_0, G_1, R_1, R_0, R_2), R_i of the chunk ceil(i / 2) before that of R_0, and
// G_i of the one ceil(i / 2) after that of G_0, which is 2 ceil((M - 1) / 2) + 1 chunks before that
// of R_0. So few chunks are only reduced at the beginning, or only gathered at the end, when lines
// are idle. Chunks of several colors may meet on a link: the promise conflict-free-phases ends.
//
// Chunks are pieces of a part's elements, so no chunk touches the data of another: an operation of
// chunk j depends on chunk j of what it depended on, also across streams. A barrier between two
// phases thereby becomes one per chunk; infer-dependences{by=phase} draws barriers over all chunks.
// sends=in-turn lets a send also wait for the same send of the chunk before, where no other pass
// puts chunks in order: else all chunks share a link, and end together.
#include "passes/pipelining/pipeline.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/schedule_builder.h"
#include "model/machines/machine.h"
#include "model/simulator/pipeline_cost.h"
#include "passes/analysis/limits.h"
#include "schedules/validate.h"

namespace torc::passes {
namespace {

constexpr std::uint32_t kInFlight = 2;  // on a link at a time: order-links

// Pieces of a schedule whose parts are cut although chunks could be dealt them.
constexpr std::uint64_t kMostCutPieces = 1u << 12;

/// Which parts the chunks are. Parts of one color and direction, of which there are as many as the
/// color has chunks already, are alike in size: whichever elements a chunk has of them, they stay
/// neighbours in it, so that a piece of all of them is one piece of the chunk.
///
/// Every chunk of cut parts lists all pieces again. Where they become too many, chunks are dealt
/// the parts that there are instead: they are less even, but each piece stays one.
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

  /// Whether chunks are dealt the parts that there are, and none is cut.
  bool deals() const { return deals_; }

  std::uint32_t partOf(std::uint32_t part, std::uint32_t chunk) const {
    return place(groupOf(part), part, chunk);
  }

  /// What chunk `chunk` has of the parts of these pieces. A piece of several groups becomes
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
        sends_(*this, "sends", "of the chunks: at the same time, or one by one", options.sends),
        order_(*this, "order", "of the list: phase after phase, or chunks one phase apart",
               options.order) {}

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
      return passError("the schedule would have more than " + llvm::Twine(kMaxParts) + " parts");
    }
    const std::vector<Turn> turns = turnsOf(old, chunks);
    if (!turns.empty() && turns.back().phase > std::numeric_limits<std::uint16_t>::max()) {
      return passError("the schedule would have more than 65536 wavefronts");
    }
    program.schedule = cut(old, chunks, turns, *sends_ == ChunkSends::kInTurn);
    if (isSkewed()) program.schedule.flags &= ~kConflictFreePhases;
    return PassResult::kWithChange;
  }

 private:
  /// The operations of one phase, for one chunk, and the phase that they are to be in.
  struct Turn {
    std::size_t begin, end;
    std::uint32_t chunk, phase;
  };

  /// All of them in the order of the list to be.
  std::vector<Turn> turnsOf(const Schedule& old, std::uint32_t chunks) const {
    std::vector<Turn> turns;
    for (std::size_t begin = 0, end; begin < old.operations.size(); begin = end) {
      const std::uint16_t phase = old.operations[begin].phase;
      end = begin;
      while (end < old.operations.size() && old.operations[end].phase == phase)
        ++end;
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
        turns.push_back({begin, end, chunk, phase});
    }
    if (isSkewed()) skew(turns, chunks);
    return turns;
  }

  /// Puts turns, which are in the order of phases, into wavefronts, and numbers what these have of
  /// one kind and parity as phases.
  static void skew(std::vector<Turn>& turns, std::uint32_t chunks) {
    const auto phases = static_cast<std::uint32_t>(turns.size() / chunks);
    for (std::uint32_t i = 0; i < turns.size(); ++i)
      turns[i].phase = 4 * turns[i].chunk + delayOf(i / chunks, phases);
    // Of one kind and parity the outermost phases are in the middle: of a reduce-scatter, the
    // latest chunk first; of an allgather, the earliest phases, which are those of the latest
    // chunk.
    std::ranges::sort(turns, [](const Turn& a, const Turn& b) {
      return a.phase != b.phase ? a.phase < b.phase : a.chunk > b.chunk;
    });
    std::uint32_t number = 0, before = turns.empty() ? 0 : turns.front().phase;
    for (Turn& turn : turns) {
      number += turn.phase != before;
      before = std::exchange(turn.phase, number);
    }
  }

  /// How far phase number `place` of `phases` is behind the first wavefront of its chunk, in
  /// quarters of wavefronts: allgathers of even and of odd numbers, counted from the last, then
  /// reduce-scatters of odd and of even numbers, counted from the first.
  static std::uint32_t delayOf(std::uint32_t place, std::uint32_t phases) {
    const auto wavefronts = [](std::uint32_t number) { return (number + 1) / 2; };
    const std::uint32_t half = (phases + 1) / 2;
    if (place < half) return 4 * wavefronts(place) + (place % 2 == 1 ? 2 : 3);
    const std::uint32_t last = 2 * wavefronts(half - 1) + 1;
    const std::uint32_t number = phases - 1 - place;
    return 4 * (last - wavefronts(number)) + number % 2;
  }

  static Schedule cut(const Schedule& old, std::uint32_t chunks, llvm::ArrayRef<Turn> turns,
                      bool in_turn) {
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
    builder.schedule().families = old.families;
    for (const Stream& stream : old.streams) {
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const bool any = stream.part == kNone;
        builder.addStream({any ? kNone : places.partOf(stream.part, chunk), stream.core});
      }
    }
    // Where chunks are dealt parts, some have none of a frame, and its slot may not be needed.
    std::map<std::uint32_t, std::uint32_t> slots;
    const auto slotOf = [&](std::uint32_t slot) {
      if (!places.deals()) return slot;
      return slots.try_emplace(slot, static_cast<std::uint32_t>(slots.size())).first->second;
    };
    std::vector<std::uint32_t> frames;  // by old frame and chunk; kNone: the chunk has none of it
    for (const Frame& frame : old.frames) {
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const auto pieces = places.chunkOf(view.piecesOf(frame), chunk);
        frames.push_back(
            pieces.empty() ? kNone : builder.addFrame(pieces, slotOf(frame.slot * chunks + chunk)));
      }
    }
    if (!places.deals()) builder.schedule().slot_count = old.slot_count * chunks;

    // By old operation and chunk: its clone, or what that would wait for if the chunk has no part
    // in it.
    using Clones = llvm::SmallVector<std::uint32_t, 1>;
    std::vector<Clones> clones(old.operations.size() * chunks);
    llvm::SmallVector<std::uint32_t, 16> dependences;
    for (const auto& [begin, end, chunk, phase] : turns) {
      for (std::size_t i = begin; i < end; ++i) {
        Operation operation = old.operations[i];
        operation.phase = static_cast<std::uint16_t>(phase);
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
    }
    return builder.take();
  }

  bool isAutomatic() const { return *chunks_ == 0; }
  bool isSkewed() const { return *order_ == ChunkOrder::kWavefronts; }
  bool means(const PassOption& option) const override {
    if (&option == &sends_) return *sends_ == ChunkSends::kInTurn;
    if (&option == &order_) return isSkewed();
    return isAutomatic() || &option == &chunks_;
  }

  IntegerOption chunks_;
  BytesOption bytes_;
  NameOption machine_;
  ChoiceOption<ChunkSends> sends_;
  ChoiceOption<ChunkOrder> order_;
  PassStatistic chosen_{*this, "chunks"};
  PassStatistic seconds_{*this, "predicted seconds (chunks=auto)"};
};

}  // namespace

llvm::ArrayRef<llvm::StringRef> words(ChunkSends) {
  static constexpr llvm::StringRef kWords[] = {"together", "in-turn"};
  return kWords;
}

llvm::ArrayRef<llvm::StringRef> words(ChunkOrder) {
  static constexpr llvm::StringRef kWords[] = {"phases", "wavefronts"};
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
