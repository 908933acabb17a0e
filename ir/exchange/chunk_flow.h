// Chunk flow: follows each chunk through a program, and so turns its steps into operations of a
// schedule with buffers, frames and blocks.
#ifndef TORC_IR_EXCHANGE_CHUNK_FLOW_H_
#define TORC_IR_EXCHANGE_CHUNK_FLOW_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/exchange/chunk_cells.h"
#include "ir/exchange/program_order.h"
#include "ir/exchange/step_hazards.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// A buffer of a rank, or one of its frames.
struct FlowPlace {
  Buffer buffer = Buffer::kNone;
  std::uint32_t frame = 0;  // number of the rank's frame

  auto operator<=>(const FlowPlace&) const = default;
};

/// The places of an operation's regions.
struct FlowSites {
  FlowPlace dst, a, b;

  auto operator<=>(const FlowSites&) const = default;
};

/// An operation of one rank; each operand has its chunks in one place.
struct FlowOperation {
  OperationKind kind = OperationKind::kCopy;
  std::int32_t peer = -1;
  std::int32_t channel = 0;
  ActionId action = kNoStep;             // its action; kNoStep: none, a copy at the end
  llvm::SmallVector<ActionId, 2> after;  // dependences of such a copy
  std::uint32_t part = 0;                // number of the operation within its action
  FlowSites sites;
  std::size_t first_chunk = 0;  // into the flow's list
  std::uint32_t chunks = 0;
};

struct ChunkFlow {
  /// Throws errors: a step that sends or reads an empty cell or adds different chunks; an output
  /// with a wrong chunk or none, or with a sum that lacks a contribution; programs that a schedule
  /// cannot express.
  static ChunkFlow of(const RankPrograms& programs, const ProgramOrder& order,
                      const ChunkCells& cells);

  llvm::ArrayRef<ChunkNumber> chunksOf(const FlowOperation& operation) const {
    return llvm::ArrayRef(chunks).slice(operation.first_chunk, operation.chunks);
  }

  std::vector<std::vector<FlowOperation>> operations;  // of each rank, in no order
  /// Additional dependences of an action for schedules in which `in` and `out` may be one memory,
  /// though they are not in the program.
  std::unordered_map<ActionId, llvm::SmallVector<ActionId, 2>> also_before;
  std::vector<ChunkNumber> chunks;  // of operations, concatenated
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_CHUNK_FLOW_H_
