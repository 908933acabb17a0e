// Writes MSCCL XML rank by rank, with the programs of the ranks at the other ends of its messages.
#include "ir/exchange/writers/msccl_writer.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>

#include "ir/make_error.h"

namespace torc::ir {
namespace {

constexpr std::uint64_t kMostScratch = (1u << 31) - 2;  // chunks: a number of one has 31 bits
/// Operations kept besides the last requested program.
constexpr std::size_t kMostHeld = 1 << 16;

/// The least count, as in Counts, for which colors, directions, chunks, segments and blocks of the
/// vector are whole elements. An error if it is more than 2^40.
llvm::Expected<std::uint64_t> wholeCount(const ScheduleView& schedule) {
  using Wide = unsigned __int128;
  constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;
  std::uint64_t weights = 0, count = 1;
  for (const Color& color : schedule.colors)
    weights += color.weight;
  // Part-major, the blocks of a part are shares of it; else the count is that of a block.
  const bool cuts_blocks = rowOf(schedule.collective).layout == Layout::kPartMajor;
  for (const Color& color : schedule.colors) {
    const Wide pieces = Wide{color.directions} * color.chunks * schedule.segments *
                        (cuts_blocks ? schedule.topology.sites() : 1);
    // The least multiple of `weights` x `pieces` over their common divisors with the weight.
    const std::uint64_t in_weights = std::gcd(color.weight, weights);
    const Wide in_pieces = std::gcd(color.weight / in_weights, static_cast<std::uint64_t>(pieces));
    const Wide least = weights / in_weights * (pieces / in_pieces);
    const Wide both = least > kMostElements
                          ? least
                          : least / std::gcd(static_cast<std::uint64_t>(least), count) * count;
    if (both > kMostElements) {
      return makeError(
          "the colors' shares are not whole in 2^40 chunks of the vector (torc compile "
          "--weights equal makes simple ones)");
    }
    count = static_cast<std::uint64_t>(both);
  }
  return count;
}

/// The greatest common divisor of `divisor` and all element numbers in `program`.
std::uint64_t commonDivisor(const FlatProgram& program, std::uint64_t divisor) {
  const auto add = [&](std::uint64_t number) { divisor = std::gcd(divisor, number); };
  add(program.in_elements);
  add(program.out_elements);
  for (const StridedExtent& extent : program.extents) {
    add(extent.offset);
    add(extent.length);
  }
  for (const RunLoop& loop : program.loops) {
    add(loop.stride);
    add(loop.back);
  }
  return divisor;
}

/// The readers' name of a collective.
std::string nameOf(Collective collective) {
  std::string name(rowOf(collective).name);
  std::erase(name, '_');
  return name;
}

void writeStep(std::size_t index, const RankStep& step, llvm::raw_ostream& out) {
  const auto buffer = [](const ChunkRun& run) {
    return kBufferNames[static_cast<std::size_t>(run.buffer)];
  };
  out << "      <step s=\"" << index << "\" type=\"" << step.row().name << "\" srcbuf=\""
      << buffer(step.src) << "\" srcoff=\"" << step.src.first << "\" dstbuf=\"" << buffer(step.dst)
      << "\" dstoff=\"" << step.dst.first << "\" cnt=\"" << step.count << "\" depid=\""
      << step.after.block << "\" deps=\"" << step.after.index << "\" hasdep=\""
      << (step.waited_for ? 1 : 0) << "\"/>\n";
}

/// Number of chunks of scratch that steps name.
std::int32_t scratchOf(const std::vector<ThreadBlock>& blocks) {
  std::int32_t chunks = 0;
  for (const ThreadBlock& block : blocks) {
    for (const RankStep& step : block.steps) {
      for (const ChunkRun& run : {step.src, step.dst}) {
        if (run.buffer == ChunkBuffer::kScratch) chunks = std::max(chunks, run.first + step.count);
      }
    }
  }
  return chunks;
}

}  // namespace

/// The end at `message.peer` of a message of `rank`.
llvm::Expected<OtherEnd> MscclWriter::otherEnd(std::int32_t rank, const FlatOperation& message) {
  auto found = held_.find(message.peer);
  if (found == held_.end()) {
    llvm::Expected<FlatProgram> program = call_.program(message.peer);
    if (!program) return program.takeError();
    held_operations_ += program->operations.size();
    if (held_operations_ > kMostHeld) {
      held_.clear();
      held_operations_ = program->operations.size();
    }
    found = held_.try_emplace(message.peer).first;
    for (std::size_t i = 0; i < program->operations.size(); ++i) {
      const FlatOperation& operation = program->operations[i];
      found->second.operations.try_emplace({sends(operation.kind), operation.peer, operation.tag},
                                           i);
    }
    found->second.program = std::move(*program);
  }
  const auto& [program, operations] = found->second;
  const auto end = operations.find({!sends(message.kind), rank, message.tag});
  if (end != operations.end()) return OtherEnd{&program, &program.operations[end->second]};
  return makeError("rank " + llvm::Twine(rank) + ", " + name(message.kind).data() + " of %" +
                   llvm::Twine(message.source) + ": rank " + llvm::Twine(message.peer) +
                   " does not have the other end of the message");
}

llvm::Expected<MscclWriter> MscclWriter::make(const ScheduleView& schedule, std::int32_t root) {
  const CollectiveRow& row = rowOf(schedule.collective);
  if (row.isPrefix() || row.isOfNeighbours())
    return makeError(llvm::Twine("MSCCL has no ") + row.name.data());
  llvm::Expected<std::uint64_t> count = wholeCount(schedule);
  if (!count) return count.takeError();
  llvm::Expected<ExportedCall> call = ExportedCall::make(schedule, {.count = *count, .root = root});
  if (!call) return call.takeError();
  MscclWriter writer(std::move(*call));
  std::uint64_t elements = 0, scratch = 0;
  for (std::int32_t rank = 0; rank < writer.call_.ranks(); ++rank) {
    llvm::Expected<FlatProgram> program = writer.call_.program(rank);
    if (!program) return program.takeError();
    writer.chunk_ = commonDivisor(*program, writer.chunk_);
    writer.needs_.channels = std::max(writer.needs_.channels, channelsOf(*program));
    elements = std::max({elements, program->in_elements, program->out_elements});
    scratch = std::max(scratch, program->scratch_elements);
  }
  writer.chunk_ = std::max<std::uint64_t>(1, writer.chunk_);
  writer.needs_.chunks = elements / writer.chunk_;
  if (scratch / writer.chunk_ > kMostScratch) return makeError("its scratch takes 2^31 chunks");
  if (writer.needs_.chunks <= kMostChunks) return writer;
  return makeError("its shares take " + llvm::Twine(writer.needs_.chunks) +
                   " equal chunks, more than " + llvm::Twine(kMostChunks) +
                   " (--weights equal takes fewer)");
}

void MscclWriter::writeHeader(const MscclSizes& sizes, llvm::raw_ostream& out) const {
  const ScheduleView& schedule = call_.schedule();
  // Readers count the whole vector, except for these two: the block of a rank.
  const bool by_block =
      schedule.collective == Collective::kScatter || schedule.collective == Collective::kGather;
  const std::uint64_t blocks = by_block ? static_cast<std::uint64_t>(call_.ranks()) : 1;
  out << "<algo name=\"";
  llvm::printHTMLEscaped(llvm::StringRef(schedule.name.data(), schedule.name.size()), out);
  out << "\" proto=\"Simple\" nchannels=\"" << needs_.channels << "\" nchunksperloop=\""
      << needs_.chunks / blocks << "\" ngpus=\"" << call_.ranks() << "\" coll=\""
      << nameOf(schedule.collective) << "\" inplace=\"0\" outofplace=\"1\" minBytes=\""
      << sizes.lowest / blocks << "\" maxBytes=\"" << sizes.highest / blocks << "\">\n";
}

llvm::Error MscclWriter::writeRank(const FlatProgram& program, llvm::raw_ostream& out) {
  llvm::Expected<std::vector<ThreadBlock>> blocks =
      blocksOf(program, chunk_,
               [&](const FlatOperation& message) { return otherEnd(program.rank, message); });
  if (!blocks) return blocks.takeError();
  out << "  <gpu id=\"" << program.rank << "\" i_chunks=\"" << program.in_elements / chunk_
      << "\" o_chunks=\"" << program.out_elements / chunk_ << "\" s_chunks=\"" << scratchOf(*blocks)
      << "\">\n";
  std::uint64_t elements = 2 + blocks->size();  // with the elements of the algorithm and the rank
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    const ThreadBlock& block = (*blocks)[i];
    elements += block.steps.size();
    out << "    <tb id=\"" << i << "\" send=\"" << block.send_peer << "\" recv=\""
        << block.receive_peer << "\" chan=\"" << block.channel << "\">\n";
    for (std::size_t s = 0; s < block.steps.size(); ++s)
      writeStep(s, block.steps[s], out);
    out << "    </tb>\n";
    needs_.steps = std::max<std::uint64_t>(needs_.steps, block.steps.size());
  }
  needs_.blocks = std::max<std::uint64_t>(needs_.blocks, blocks->size());
  needs_.elements = std::max(needs_.elements, elements);
  out << "  </gpu>\n";
  return llvm::Error::success();
}

void MscclWriter::writeEnd(llvm::raw_ostream& out) {
  out << "</algo>\n";
}

}  // namespace torc::ir
