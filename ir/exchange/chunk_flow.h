// Chunk flow: where each chunk goes, and so what the steps of a program are as operations of a
// schedule: on which buffer, in which frame, of which blocks.
#ifndef TORC_IR_EXCHANGE_CHUNK_FLOW_H_
#define TORC_IR_EXCHANGE_CHUNK_FLOW_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/chunk_cells.h"
#include "ir/exchange/program_order.h"
#include "ir/exchange/step_hazards.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// A buffer of a rank, or one of its frames.
struct FlowPlace {
  Buffer buffer = Buffer::kNone;
  std::uint32_t frame = 0;  // of the rank's, counted from 0

  auto operator<=>(const FlowPlace&) const = default;
};

/// Where the regions of an operation lie.
struct FlowSites {
  FlowPlace dst, a, b;

  auto operator<=>(const FlowSites&) const = default;
};

/// An operation of one rank, on chunks that lie in one place each.
struct FlowOperation {
  OperationKind kind = OperationKind::kCopy;
  std::int32_t peer = -1;
  std::int32_t channel = 0;
  ActionId action = kNoStep;             // whose it is; kNoStep: none's, a copy at the end
  llvm::SmallVector<ActionId, 2> after;  // of such a copy
  std::uint32_t part = 0;                // of the action's operations the how manieth
  FlowSites sites;
  std::size_t first_chunk = 0;  // into the flow's list
  std::uint32_t chunks = 0;
};

struct ChunkFlow {
  /// Errors: a step that sends or reads what holds nothing, that adds chunks which are not alike,
  /// an output that ends with another chunk, or none; what a schedule cannot say.
  static llvm::Expected<ChunkFlow> of(const RankPrograms& programs, const ProgramOrder& order,
                                      const ChunkCells& cells);

  llvm::ArrayRef<ChunkNumber> chunksOf(const FlowOperation& operation) const {
    return llvm::ArrayRef(chunks).slice(operation.first_chunk, operation.chunks);
  }

  std::vector<std::vector<FlowOperation>> operations;  // of each rank, in no order
  /// What an action must wait for because `in` and `out` may be one memory, though they are not in
  /// the program.
  std::unordered_map<ActionId, llvm::SmallVector<ActionId, 2>> also_before;
  std::vector<ChunkNumber> chunks;  // of operations, one list behind the other
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_CHUNK_FLOW_H_
