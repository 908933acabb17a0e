// Chunk flow: where each chunk goes, and so what the steps of a program are as operations of a
// schedule: on which buffer, in which frame, of which blocks.
#ifndef TORC_IR_EXCHANGE_CHUNK_FLOW_H_
#define TORC_IR_EXCHANGE_CHUNK_FLOW_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
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

  bool operator==(const FlowPlace&) const = default;
};

/// An operation of one rank, on chunks that lie in one place each.
struct FlowOperation {
  OperationKind kind = OperationKind::kCopy;
  std::int32_t peer = -1;
  std::int32_t channel = 0;
  ActionId action = kNoStep;             // whose it is; kNoStep: none's, a copy at the end
  llvm::SmallVector<ActionId, 2> after;  // of such a copy
  std::uint32_t part = 0;                // of the action's operations the how manieth
  FlowPlace dst, a, b;
  std::size_t first_chunk = 0;  // into the flow's list
  std::uint32_t chunks = 0;
};

class ChunkFlow {
 public:
  /// Errors: a step that sends or reads what holds nothing, that adds chunks which are not alike,
  /// an output that ends with another chunk, or none; what a schedule cannot say.
  static llvm::Expected<ChunkFlow> of(const RankPrograms& programs, const ProgramOrder& order,
                                      const ChunkCells& cells);

  /// In no order.
  std::vector<FlowOperation>& operationsOf(std::size_t rank) { return operations_[rank]; }
  std::uint32_t framesOf(std::size_t rank) const { return frames_[rank]; }
  /// What an action must wait for because `in` and `out` may be one memory, though they are not in
  /// the program: (action, what is before it).
  llvm::ArrayRef<std::pair<ActionId, ActionId>> alsoBefore(std::size_t rank) const {
    return also_before_[rank];
  }
  llvm::ArrayRef<ChunkNumber> chunksOf(const FlowOperation& operation) const {
    return llvm::ArrayRef(chunks_).slice(operation.first_chunk, operation.chunks);
  }

 private:
  /// What a cell holds.
  struct Value {
    ChunkNumber chunk = kNoChunk;
    FlowPlace place;
    StepId writer = kNoStep;
  };
  /// Where one chunk of an operation lies; operations are of chunks that lie alike.
  struct Sites {
    FlowPlace dst, a, b, sent;
    bool operator==(const Sites&) const = default;
  };

  ChunkFlow(const RankPrograms& programs, const ProgramOrder& order, const ChunkCells& cells)
      : programs_(programs), order_(order), cells_(cells) {}
  void fillInputs();
  llvm::Error countReads();
  void countDown(StepId step, const Accesses (&actions)[2]);
  llvm::Error run(StepId step);
  llvm::Error receive(StepId step, const Accesses& accesses);
  llvm::Error work(StepId step, const Accesses& accesses);
  llvm::Error send(StepId step, std::uint32_t cell);
  llvm::Error checkResults(std::size_t rank);
  llvm::Error checkReads(StepId step, std::uint32_t first) const;
  void noteRead(ActionId action, const Value& value);
  void noteWrite(ActionId action, ChunkNumber chunk);
  FlowPlace placeFor(std::size_t rank, std::uint32_t cell, ChunkNumber chunk) const;
  void add(std::size_t rank, FlowOperation operation, llvm::ArrayRef<ChunkNumber> chunks);

  const RankPrograms& programs_;
  const ProgramOrder& order_;
  const ChunkCells& cells_;
  std::vector<std::vector<Value>> values_;               // of a rank's cells
  std::unordered_map<StepId, std::vector<Value>> sent_;  // messages under way
  std::vector<std::vector<FlowOperation>> operations_;
  std::vector<std::uint32_t> frames_;
  bool may_alias_ = false;  // `in` and `out` in the schedule, though not in the program
  std::vector<std::unordered_map<ChunkNumber, llvm::SmallVector<ActionId, 2>>> readers_of_in_;
  // Of a chunk of the input that will still be read, how often: until then the same one of the
  // output waits in scratch.
  std::vector<std::unordered_map<ChunkNumber, std::uint64_t>> reads_left_;
  std::vector<std::vector<std::pair<ActionId, ActionId>>> also_before_;
  std::vector<ChunkNumber> chunks_;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_CHUNK_FLOW_H_
