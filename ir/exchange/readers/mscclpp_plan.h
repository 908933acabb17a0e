// MSCCL++ execution plans (microsoft/mscclpp src/core/executor/execution_plan.cc and
// python/mscclpp/language): the content of their JSON, with indices resolved.
#ifndef TORC_IR_EXCHANGE_READERS_MSCCLPP_PLAN_H_
#define TORC_IR_EXCHANGE_READERS_MSCCLPP_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

enum class PlanOpKind : std::uint8_t {
  kNothing,     // followed by the operations of a pipeline
  kCopy,        // each source to its target
  kPut,         // the same to other gpus
  kRead,        // the same from other gpus
  kReduce,      // the first target gets the sum of the sources, other targets a copy
  kReadReduce,  // the same
  kSignal,
  kWait,
  kFlush,
  kBarrier,
  kAcquire,
  kRelease,
};

/// An operation's name in plans, and its properties.
struct PlanOpRow {
  static constexpr std::size_t kAll = ~std::size_t{0};

  llvm::StringLiteral name;
  PlanOpKind kind;
  // The number of sources, and of targets, in buffers of the gpu itself; the remaining ones, which
  // follow them, are remote.
  std::size_t own_sources = kAll, own_targets = kAll;
  // Packets carry a flag that their reader waits for; they are in scratch.
  bool packets_read = false, packets_written = false;
  bool signals = false, flushes = false;

  bool isReduction() const {
    return kind == PlanOpKind::kReduce || kind == PlanOpKind::kReadReduce;
  }
  /// Whether each source has a target.
  bool isPaired() const { return kind >= PlanOpKind::kCopy && kind <= PlanOpKind::kRead; }
};

/// Consecutive chunks of a buffer; shares of chunks if the plan divides them.
struct PlanChunks {
  std::int32_t rank = -1;  // gpu of the buffer; -1: this one
  ChunkBuffer buffer = ChunkBuffer::kInput;
  std::int32_t first = 0, count = 0;
};

struct PlanOp {
  const PlanOpRow* row = nullptr;
  bool by_port = false;                // written by a proxy; else directly
  std::int32_t share = 0, shares = 1;  // of the chunks, for this thread block
  std::uint32_t line = 0, number = 0;  // of the thread block, or of the pipeline
  std::vector<PlanChunks> sources, targets;
  std::vector<std::int32_t> ids;  // channels, semaphores, or a barrier and its blocks
};

struct PlanGpu {
  /// The i-th channel of a type to a gpu is paired with that gpu's i-th back.
  struct Channel {
    std::int32_t peer = 0, number = 0;
  };
  struct Block {
    std::uint32_t line = 0;
    std::vector<PlanOp> ops;
  };
  std::array<std::int32_t, 3> chunks{};            // of each buffer, not yet in shares
  std::array<std::vector<Channel>, 2> channels{};  // of memory, and of ports
  std::vector<PlanChunks> remote_buffers;          // for chunks in remote operands
  std::vector<std::int32_t> semaphores;            // initial values
  std::vector<Block> blocks;
};

struct MscclppPlan {
  Collective collective = Collective::kAllreduce;
  bool in_place = false;
  std::int32_t shares = 1;  // least common multiple of all operations' shares
  std::vector<PlanGpu> gpus;
};

/// Reads the text of a plan. Errors name the line: faults of the form, and operations that have no
/// meaning as messages: those of switch channels.
llvm::Expected<MscclppPlan> readMscclppPlan(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_MSCCLPP_PLAN_H_
