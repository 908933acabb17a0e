// Cells: the chunks of one rank's memory. Where a program runs in place, a chunk of the input and
// one of the output are one cell.
#ifndef TORC_IR_EXCHANGE_CHUNK_CELLS_H_
#define TORC_IR_EXCHANGE_CHUNK_CELLS_H_

#include <array>
#include <cstdint>
#include <string>

#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Which data a chunk has: of the vector of all blocks, in an all-to-all of the sender's. Chunks
/// that are added have the same number.
using ChunkNumber = std::uint64_t;
inline constexpr ChunkNumber kNoChunk = ~ChunkNumber{0};

class ChunkCells {
 public:
  /// Errors: chunks that the ranks do not share evenly.
  static llvm::Expected<ChunkCells> of(const RankPrograms& programs);

  /// Cells of every rank's input and output; those of its scratch follow.
  std::uint32_t count(std::size_t rank) const;
  /// The cells of `run` are as many in a row from here on. Error: it leaves its buffer.
  llvm::Expected<std::uint32_t> cellOf(std::size_t rank, const ChunkRun& run,
                                       std::int32_t count) const;
  /// What a cell holds at first; kNoChunk: nothing.
  ChunkNumber inputOf(std::size_t rank, std::uint32_t cell) const;
  /// What it must hold at the end; kNoChunk: no matter.
  ChunkNumber resultOf(std::size_t rank, std::uint32_t cell) const;
  /// `i[3]`, as a program names it.
  std::string nameOf(std::uint32_t cell) const;

  /// `chunk 1 of gpu 3`.
  std::string textOf(ChunkNumber chunk) const;

 private:
  explicit ChunkCells(const RankPrograms& programs) : programs_(&programs) {}
  std::uint32_t ownBegin(std::size_t rank) const {
    return static_cast<std::uint32_t>(rank) * chunks_of_block_;
  }
  /// Where the input and the output of a rank begin, among its cells.
  std::uint32_t inputBegin(std::size_t rank) const {
    return programs_->in_place && input_count_ < output_count_ ? ownBegin(rank) : 0;
  }
  std::uint32_t outputBegin(std::size_t rank) const {
    if (!programs_->in_place) return input_count_;
    return output_count_ < input_count_ ? ownBegin(rank) : 0;
  }

  const RankPrograms* programs_;
  std::uint32_t chunks_of_block_ = 1;                 // of a rank's block, where there are blocks
  std::uint32_t input_count_ = 0, output_count_ = 0;  // chunks of a rank's buffers
  std::uint32_t scratch_begin_ = 0;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_CHUNK_CELLS_H_
