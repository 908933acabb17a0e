// Cells: the chunks of one rank's memory. If a program runs in place, a chunk of the input and one
// of the output share a cell.
#ifndef TORC_IR_EXCHANGE_CHUNK_CELLS_H_
#define TORC_IR_EXCHANGE_CHUNK_CELLS_H_

#include <cstdint>
#include <string>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// The data of a chunk: its number in the vector of all blocks, or in the sender's vector of an
/// all-to-all. Chunks that are added have the same number.
using ChunkNumber = std::uint64_t;
inline constexpr ChunkNumber kNoChunk = ~ChunkNumber{0};

class ChunkCells {
 public:
  /// Throws an error for chunks that do not divide evenly among the ranks.
  explicit ChunkCells(const RankPrograms& programs);

  /// Cells of every rank's input and output; those of its scratch follow.
  std::uint32_t count(std::size_t rank) const;
  /// The first cell of `run`, whose cells are contiguous, for a step of `rank`. Throws an error if
  /// it leaves its buffer.
  std::uint32_t cellOf(const StepPosition& of, const ChunkRun& run, std::int32_t count) const;
  /// Initial content of a cell; kNoChunk: nothing.
  ChunkNumber inputOf(std::size_t rank, std::uint32_t cell) const;
  /// Required final content; kNoChunk: any.
  ChunkNumber resultOf(std::size_t rank, std::uint32_t cell) const;
  /// `i[3]`, as a program names it.
  std::string nameOf(std::uint32_t cell) const;

  /// `chunk 1 of gpu 3`.
  std::string textOf(ChunkNumber chunk) const;

 private:
  std::uint32_t ownBegin(std::size_t rank) const {
    return static_cast<std::uint32_t>(rank) * chunks_of_block_;
  }
  /// First cells of a rank's input and output.
  std::uint32_t inputBegin(std::size_t rank) const {
    return programs_->in_place && input_count_ < output_count_ ? ownBegin(rank) : 0;
  }
  std::uint32_t outputBegin(std::size_t rank) const {
    if (!programs_->in_place) return input_count_;
    return output_count_ < input_count_ ? ownBegin(rank) : 0;
  }

  const RankPrograms* programs_;
  std::uint32_t chunks_of_block_ = 1;                 // of a rank's block, if there are blocks
  std::uint32_t input_count_ = 0, output_count_ = 0;  // chunks of a rank's buffers
  std::uint32_t scratch_begin_ = 0;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_CHUNK_CELLS_H_
