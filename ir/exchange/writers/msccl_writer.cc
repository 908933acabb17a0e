// MSCCL XML, rank by rank, with the programs of the ranks at the other ends of its messages.
#include "ir/exchange/writers/msccl_writer.h"

#include <algorithm>
#include <list>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include <llvm/ADT/StringExtras.h>

#include "ir/exchange/writers/msccl_chunks.h"
#include "ir/exchange/writers/msccl_steps.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

/// The readers' name of a collective; none where they have none.
std::optional<llvm::StringRef> nameOf(Collective collective) {
  switch (collective) {
    case Collective::kAllreduce:
      return "allreduce";
    case Collective::kReduceScatter:
      return "reducescatter";
    case Collective::kAllgather:
      return "allgather";
    case Collective::kBroadcast:
      return "broadcast";
    case Collective::kAlltoall:
      return "alltoall";
    case Collective::kReduce:
      return "reduce";
    case Collective::kScatter:
      return "scatter";
    case Collective::kGather:
      return "gather";
    default:
      return std::nullopt;
  }
}

/// The programs of a few ranks, those that were asked for last.
class Programs {
 public:
  explicit Programs(const ExportedCall& call) : call_(call) {}

  /// The end at `message.peer` of a message of `rank`.
  llvm::Expected<OtherEnd> otherEnd(std::int32_t rank, const FlatOperation& message) {
    auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.program.rank == message.peer;
    });
    if (found == entries_.end()) {
      llvm::Expected<FlatProgram> program = call_.program(message.peer);
      if (!program) return program.takeError();
      makeRoom(program->operations.size());
      entries_.emplace_front(std::move(*program));
      held_ += entries_.front().program.operations.size();
    } else {
      entries_.splice(entries_.begin(), entries_, found);
    }
    const Entry& entry = entries_.front();
    const MessageKey key{!sends(message.kind), rank, message.tag, 0};
    const auto at = std::lower_bound(entry.messages.begin(), entry.messages.end(), key);
    if (at == entry.messages.end() || std::get<1>(*at) != rank || std::get<2>(*at) != message.tag ||
        std::get<0>(*at) != std::get<0>(key)) {
      return makeError("rank " + llvm::Twine(rank) + ", " + name(message.kind).data() + " of %" +
                       llvm::Twine(message.source) + ": rank " + llvm::Twine(message.peer) +
                       " does not have the other end of the message");
    }
    return OtherEnd{&entry.program, &entry.program.operations[std::get<3>(*at)]};
  }

 private:
  /// Operations that are held besides the program that was asked for last.
  static constexpr std::size_t kMostHeld = 1 << 16;
  /// Whether it sends, peer, tag, index of the operation.
  using MessageKey = std::tuple<bool, std::int32_t, std::uint32_t, std::size_t>;
  struct Entry {
    explicit Entry(FlatProgram&& of) : program(std::move(of)) {
      for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const FlatOperation& operation = program.operations[i];
        if (operation.peer >= 0) {
          messages.emplace_back(sends(operation.kind), operation.peer, operation.tag, i);
        }
      }
      std::sort(messages.begin(), messages.end());
    }
    FlatProgram program;
    std::vector<MessageKey> messages;  // sorted
  };

  void makeRoom(std::size_t operations) {
    while (!entries_.empty() && held_ + operations > kMostHeld) {
      held_ -= entries_.back().program.operations.size();
      entries_.pop_back();
    }
  }

  const ExportedCall& call_;
  std::list<Entry> entries_;  // the last one that was asked for first
  std::size_t held_ = 0;      // operations
};

void writeStep(std::size_t index, const MscclStep& step, llvm::raw_ostream& out) {
  out << "      <step s=\"" << index << "\" type=\"" << step.type << "\" srcbuf=\""
      << step.src.buffer << "\" srcoff=\"" << step.src.chunk << "\" dstbuf=\"" << step.dst.buffer
      << "\" dstoff=\"" << step.dst.chunk << "\" cnt=\"" << step.chunks << "\" depid=\""
      << step.after_block << "\" deps=\"" << step.after_step << "\" hasdep=\""
      << (step.waited_for ? 1 : 0) << "\"/>\n";
}

/// Chunks of scratch that steps name.
std::uint64_t scratchOf(const std::vector<MscclBlock>& blocks) {
  std::uint64_t chunks = 0;
  for (const MscclBlock& block : blocks) {
    for (const MscclStep& step : block.steps) {
      for (const MscclPlace& place : {step.src, step.dst}) {
        if (place.buffer != 's') continue;
        chunks = std::max(chunks, static_cast<std::uint64_t>(place.chunk) + step.chunks);
      }
    }
  }
  return chunks;
}

}  // namespace

class MscclWriter::Ranks {
 public:
  explicit Ranks(ExportedCall&& of) : call(std::move(of)), programs(call) {}

  const ExportedCall call;
  Programs programs;
  std::uint64_t chunk = 0;   // elements
  std::uint64_t chunks = 0;  // of a vector
  std::uint32_t channels = 1;
  std::uint64_t most_steps = 0, most_blocks = 0, most_elements = 0;
};

MscclWriter::MscclWriter(std::unique_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}
MscclWriter::MscclWriter(MscclWriter&&) noexcept = default;
MscclWriter::~MscclWriter() = default;

const ExportedCall& MscclWriter::call() const {
  return ranks_->call;
}
std::uint64_t MscclWriter::chunks() const {
  return ranks_->chunks;
}
std::uint32_t MscclWriter::channels() const {
  return ranks_->channels;
}
std::uint64_t MscclWriter::mostSteps() const {
  return ranks_->most_steps;
}
std::uint64_t MscclWriter::mostBlocks() const {
  return ranks_->most_blocks;
}
std::uint64_t MscclWriter::mostElements() const {
  return ranks_->most_elements;
}

llvm::Expected<MscclWriter> MscclWriter::make(const ScheduleView& schedule, std::int32_t root) {
  const CollectiveRow& row = rowOf(schedule.collective);
  if (!nameOf(schedule.collective)) {
    return makeError(llvm::Twine("MSCCL has no ") + row.name.data());
  }
  llvm::Expected<std::uint64_t> count = wholeCount(schedule);
  if (!count) return count.takeError();
  llvm::Expected<ExportedCall> call = ExportedCall::make(schedule, {.count = *count, .root = root});
  if (!call) return call.takeError();
  auto ranks = std::make_unique<Ranks>(std::move(*call));
  for (std::int32_t rank = 0; rank < ranks->call.ranks(); ++rank) {
    llvm::Expected<FlatProgram> program = ranks->call.program(rank);
    if (!program) return program.takeError();
    ranks->chunk = commonDivisor(*program, ranks->chunk);
    ranks->channels = std::max(ranks->channels, channelsOf(*program));
    ranks->chunks = std::max({ranks->chunks, program->in_elements, program->out_elements});
  }
  if (ranks->chunk > 0) ranks->chunks /= ranks->chunk;
  if (ranks->chunks > kMostChunks) {
    return makeError("its shares take " + llvm::Twine(ranks->chunks) + " equal chunks, more than " +
                     llvm::Twine(kMostChunks) + " (--weights equal takes fewer)");
  }
  return MscclWriter(std::move(ranks));
}

void MscclWriter::writeHeader(const MscclSizes& sizes, llvm::raw_ostream& out) const {
  const ScheduleView& schedule = call().schedule();
  // Readers count by the whole vector, but these two by the block of a rank.
  const bool by_block =
      schedule.collective == Collective::kScatter || schedule.collective == Collective::kGather;
  const std::uint64_t blocks = by_block ? static_cast<std::uint64_t>(call().ranks()) : 1;
  out << "<algo name=\"";
  llvm::printHTMLEscaped(llvm::StringRef(schedule.name.data(), schedule.name.size()), out);
  out << "\" proto=\"Simple\" nchannels=\"" << channels() << "\" nchunksperloop=\""
      << chunks() / blocks << "\" ngpus=\"" << call().ranks() << "\" coll=\""
      << *nameOf(schedule.collective) << "\" inplace=\"0\" outofplace=\"1\" minBytes=\""
      << sizes.lowest / blocks << "\" maxBytes=\"" << sizes.highest / blocks << "\">\n";
}

llvm::Error MscclWriter::writeRank(const FlatProgram& program, llvm::raw_ostream& out) {
  const std::uint64_t chunk = std::max<std::uint64_t>(1, ranks_->chunk);
  llvm::Expected<std::vector<MscclBlock>> blocks =
      blocksOf(program, chunk, [&](const FlatOperation& message) {
        return ranks_->programs.otherEnd(program.rank, message);
      });
  if (!blocks) return blocks.takeError();
  out << "  <gpu id=\"" << program.rank << "\" i_chunks=\"" << program.in_elements / chunk
      << "\" o_chunks=\"" << program.out_elements / chunk << "\" s_chunks=\"" << scratchOf(*blocks)
      << "\">\n";
  std::uint64_t elements = 2 + blocks->size();  // with those of the algorithm and the rank
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    const MscclBlock& block = (*blocks)[i];
    elements += block.steps.size();
    out << "    <tb id=\"" << i << "\" send=\"" << block.send << "\" recv=\"" << block.recv
        << "\" chan=\"" << block.channel << "\">\n";
    for (std::size_t s = 0; s < block.steps.size(); ++s)
      writeStep(s, block.steps[s], out);
    out << "    </tb>\n";
    ranks_->most_steps = std::max<std::uint64_t>(ranks_->most_steps, block.steps.size());
  }
  ranks_->most_blocks = std::max<std::uint64_t>(ranks_->most_blocks, blocks->size());
  ranks_->most_elements = std::max(ranks_->most_elements, elements);
  out << "  </gpu>\n";
  return llvm::Error::success();
}

void MscclWriter::writeEnd(llvm::raw_ostream& out) {
  out << "</algo>\n";
}

}  // namespace torc::ir
