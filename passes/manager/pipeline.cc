// Cuts every part into K chunks and clones its stream, frames and operations for each of them, so
// that one chunk is reduced, or already in the next phase, while the next one is transferred
// ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects", section 4,
// "Overlapping computation and communication"). The price is K times the messages.
//
// chunks=auto takes the number that the cost model (model/simulator/pipeline_cost.h) predicts to be
// best for a vector of `bytes` on `machine`, with two chunks on a link at a time.
//
// A phase lists chunk after chunk, in each of them all streams: earlier chunks come first wherever
// the order of the list decides (order-links).
//
// Chunks are pieces of a part's elements, so no chunk touches the data of another: an operation of
// chunk j depends on chunk j of what it depended on, also across streams. A barrier between two
// phases thereby becomes one per chunk; infer-dependences{by=phase} draws barriers over all chunks.
// sends=in-turn lets a send also wait for the same send of the chunk before, where no other pass
// puts chunks in order: else all chunks share a link, and end together.
#include "passes/manager/pipeline.h"

#include "ir/schedule_builder.h"
#include "model/machines/machine.h"
#include "model/simulator/pipeline_cost.h"
#include "passes/analysis/limits.h"
#include "schedules/validate.h"

namespace torc {
namespace {

constexpr std::uint32_t kInFlight = 2;  // on a link at a time: order-links

enum Sends { kTogether, kInTurn };  // order of the option's words

/// Chunk `chunk` of `chunks` of the parts of these pieces. Chunks of one part follow one another in
/// the order of parts, so that a piece of several parts becomes several.
llvm::SmallVector<Piece, 4> chunkOf(const PieceList& pieces, std::uint32_t chunk,
                                    std::uint32_t chunks) {
  llvm::SmallVector<Piece, 4> list;
  for (const Piece& piece : pieces) {
    for (std::uint32_t i = 0; i < piece.parts; ++i)
      list.push_back({(piece.part + i) * chunks + chunk, 1, piece.box});
  }
  return list;
}

class Pipeline final : public Pass {
 public:
  Pipeline()
      : Pass("pipeline", "cuts every part into chunks that follow each other", PassLevel::kStep) {}

  llvm::Expected<PassResult> run(Program& program) override {
    const Schedule& old = program.schedule;
    std::uint32_t chunks = *chunks_;
    if (isAutomatic()) {
      llvm::Expected<Machine> machine = findMachine(*machine_);
      if (!machine) return machine.takeError();
      machine = partitionOf(*machine, old.topology.shape());
      if (!machine) return machine.takeError();
      const PipelineCost cost(old.view(), *machine, static_cast<double>(*bytes_));
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
    program.schedule = cut(old, chunks, *sends_ == kInTurn);
    return PassResult::kWithChange;
  }

 private:
  static Schedule cut(const Schedule& old, std::uint32_t chunks, bool in_turn) {
    ScheduleBuilder builder(old);
    // All colors get the same factor: the chunks of part p are the parts from p * chunks on.
    for (Color& color : builder.schedule().colors)
      color.chunks *= chunks;
    builder.schedule().boxes = old.boxes;
    builder.schedule().shifts = old.shifts;
    const ScheduleView view = old.view();
    for (const Stream& stream : old.streams) {
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const bool any = stream.part == kNone;
        builder.addStream({any ? kNone : stream.part * chunks + chunk, stream.core});
      }
    }
    for (const Frame& frame : old.frames) {
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        builder.addFrame(chunkOf(view.piecesOf(frame), chunk, chunks), frame.slot * chunks + chunk);
      }
    }
    builder.schedule().slot_count = old.slot_count * chunks;

    // Clones of operation i: first[i] + chunk * stride[i], since the operations of a phase are
    // cloned together: chunk after chunk, in each all streams.
    std::vector<std::uint32_t> first(old.operations.size()), stride(old.operations.size());
    llvm::SmallVector<std::uint32_t, 16> dependences;
    for (std::uint32_t begin = 0, end; begin < old.operations.size(); begin = end) {
      const Operation& head = old.operations[begin];
      for (end = begin; end < old.operations.size(); ++end) {
        const Operation& operation = old.operations[end];
        if (operation.phase != head.phase) break;
        first[end] = begin * chunks + (end - begin);
      }
      for (std::uint32_t i = begin; i < end; ++i)
        stride[i] = end - begin;
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        for (std::uint32_t i = begin; i < end; ++i) {
          Operation operation = old.operations[i];
          operation.stream = operation.stream * chunks + chunk;
          for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
            if (!region->present()) continue;
            *region =
                builder.region(region->buffer, chunkOf(view.piecesOf(*region), chunk, chunks),
                               region->frame == kNone ? kNone : region->frame * chunks + chunk);
          }
          dependences.clear();
          for (const std::uint32_t d : view.dependencesOf(operation)) {
            dependences.push_back(first[d] + chunk * stride[d]);
          }
          if (in_turn && chunk > 0 && sends(operation.kind)) {
            dependences.push_back(first[i] + (chunk - 1) * stride[i]);
          }
          builder.addOperation(operation, dependences);
        }
      }
    }
    return builder.take();
  }

  bool isAutomatic() const { return *chunks_ == 0; }
  bool means(const PassOption& option) const override {
    if (&option == &sends_) return *sends_ == kInTurn;
    return isAutomatic() || &option == &chunks_;
  }

  IntegerOption chunks_{*this, "chunks", "pieces of each part", 1, 4096, 2, "auto"};
  BytesOption bytes_{*this, "bytes", "size of the whole vector; for chunks=auto",
                     std::uint64_t{64} << 20};
  NameOption machine_{*this, "machine", "preset or file; for chunks=auto", "generic"};
  ChoiceOption sends_{
      *this, "sends", "of the chunks: at the same time, or one by one", {"together", "in-turn"}};
  PassStatistic chosen_{*this, "chunks"};
  PassStatistic seconds_{*this, "predicted seconds (chunks=auto)"};
};

}  // namespace

std::unique_ptr<Pass> createPipelinePass() {
  return std::make_unique<Pipeline>();
}

}  // namespace torc
