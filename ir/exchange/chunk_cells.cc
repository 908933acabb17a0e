// Cells of a rank's memory.
#include "ir/exchange/chunk_cells.h"

#include <algorithm>

#include "ir/thrown.h"

namespace torc::ir {

// Chunks as in MSCCL's collectives, for k chunks in a block and n ranks:
//
//                  input     output     in place
//   allreduce      all       all        i[c] is o[c]
//   broadcast      all       all        i[c] is o[c]
//   allgather      k         n k        i[c] is o[rank k + c]
//   reduce_scatter n k       k          o[c] is i[rank k + c]
//   alltoall       n k       n k        i[c] is o[c]

ChunkCells::ChunkCells(const RankPrograms& programs) : programs_(&programs) {
  const auto ranks = static_cast<std::uint32_t>(programs.ranks.size());
  const auto chunks = static_cast<std::uint32_t>(programs.chunks);
  if (rowOf(programs.collective).layout == Layout::kBlockMajor && chunks % ranks != 0) {
    throwError(programs.at() + "the vector has " + llvm::Twine(chunks) +
               " chunks, which is no multiple of the " + llvm::Twine(ranks) + " gpus");
  }
  chunks_of_block_ = chunks / ranks;
  const bool is_allgather = programs.collective == Collective::kAllgather;
  const bool is_reduce_scatter = programs.collective == Collective::kReduceScatter;
  input_count_ = is_allgather ? chunks_of_block_ : chunks;
  output_count_ = is_reduce_scatter ? chunks_of_block_ : chunks;
  scratch_begin_ =
      programs.in_place ? std::max(input_count_, output_count_) : input_count_ + output_count_;
  std::uint64_t all = 0;
  for (std::size_t rank = 0; rank < programs.ranks.size(); ++rank)
    all += count(rank);
  if (all > kMaxForeignCells) {
    throwError(programs.at() + "its buffers have " + llvm::Twine(all) +
               " chunks on all gpus; the limit is " + llvm::Twine(kMaxForeignCells));
  }
}

std::uint32_t ChunkCells::count(std::size_t rank) const {
  return scratch_begin_ + static_cast<std::uint32_t>(programs_->ranks[rank].chunks[2]);
}

std::uint32_t ChunkCells::cellOf(const StepPosition& of, const ChunkRun& run,
                                 std::int32_t count) const {
  const auto buffer = static_cast<std::size_t>(run.buffer);
  const std::uint32_t sizes[] = {input_count_, output_count_,
                                 this->count(of.rank) - scratch_begin_};
  if (run.first < 0 ||
      static_cast<std::uint64_t>(run.first) + static_cast<std::uint64_t>(count) > sizes[buffer]) {
    const std::int32_t shares = programs_->shares;
    const std::int32_t last = (run.first + std::max(count, 1) - 1) / shares;
    throwError(programs_->at(of) + "names " + llvm::Twine(kBufferNames[buffer]) + "[" +
               llvm::Twine(run.first / shares) +
               (last > run.first / shares ? ".." + llvm::Twine(last) : llvm::Twine("")) + "] of " +
               llvm::Twine(sizes[buffer] / static_cast<std::uint32_t>(shares)) + " chunks");
  }
  const std::uint32_t begins[] = {inputBegin(of.rank), outputBegin(of.rank), scratch_begin_};
  return begins[buffer] + static_cast<std::uint32_t>(run.first);
}

ChunkNumber ChunkCells::inputOf(std::size_t rank, std::uint32_t cell) const {
  const std::uint32_t index = cell - inputBegin(rank);
  if (index >= input_count_) return kNoChunk;
  switch (programs_->collective) {
    case Collective::kBroadcast:
      return rank == 0 ? index : kNoChunk;
    case Collective::kAllgather:
      return ownBegin(rank) + index;
    case Collective::kAlltoall:
      return static_cast<ChunkNumber>(rank) * input_count_ + index;
    default:
      return index;
  }
}

ChunkNumber ChunkCells::resultOf(std::size_t rank, std::uint32_t cell) const {
  const std::uint32_t index = cell - outputBegin(rank);
  if (index >= output_count_) return kNoChunk;
  switch (programs_->collective) {
    case Collective::kReduceScatter:
      return ownBegin(rank) + index;
    case Collective::kAlltoall:
      // index / chunks_of_block_ is the rank whose input has the chunk for this rank.
      return ChunkNumber{index / chunks_of_block_} * input_count_ + ownBegin(rank) +
             index % chunks_of_block_;
    default:
      return index;
  }
}

std::string ChunkCells::nameOf(std::uint32_t cell) const {
  const auto text = [this](char buffer, std::uint32_t index) {
    index /= static_cast<std::uint32_t>(programs_->shares);
    return std::string(1, buffer) + "[" + std::to_string(index) + "]";
  };
  if (cell >= scratch_begin_) return text('s', cell - scratch_begin_);
  if (!programs_->in_place && cell >= input_count_) return text('o', cell - input_count_);
  if (!programs_->in_place || input_count_ > output_count_) return text('i', cell);
  return input_count_ < output_count_ ? text('o', cell) : text('i', cell) + "=" + text('o', cell);
}

std::string ChunkCells::textOf(ChunkNumber chunk) const {
  if (chunk == kNoChunk) return "nothing";
  const auto shares = static_cast<std::uint32_t>(programs_->shares);
  if (programs_->collective == Collective::kAlltoall) {
    const ChunkNumber from = chunk / input_count_, to = chunk % input_count_ / chunks_of_block_;
    return "chunk " + std::to_string(chunk % chunks_of_block_ / shares) + " from gpu " +
           std::to_string(from) + " to gpu " + std::to_string(to);
  }
  if (programs_->collective == Collective::kAllgather) {
    return "chunk " + std::to_string(chunk % chunks_of_block_ / shares) + " of gpu " +
           std::to_string(chunk / chunks_of_block_);
  }
  return "chunk " + std::to_string(chunk / shares);
}

}  // namespace torc::ir
