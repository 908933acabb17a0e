// MSCCL++ execution plans (microsoft/mscclpp src/core/executor/execution_plan.cc and
// python/mscclpp/language): what their JSON says, with indices that are resolved.
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
  kNothing,     // what is in a pipeline follows it
  kCopy,        // each source to its target
  kPut,         // the same to other gpus
  kRead,        // the same from other gpus
  kReduce,      // the first target gets the sum of sources, others get it from there
  kReadReduce,  // the same
  kSignal,
  kWait,
  kFlush,
  kBarrier,
  kAcquire,
  kRelease,
};

/// What the reader of plans calls an operation.
struct PlanOpRow {
  static constexpr std::size_t kAll = ~std::size_t{0};

  llvm::StringLiteral name;
  PlanOpKind kind;
  // How many of the sources, and of the targets, lie in buffers of the gpu; the others, which are
  // behind these, do not.
  std::size_t own_sources = kAll, own_targets = kAll;
  // Packets carry a flag by which their reader waits for them; they lie in scratch.
  bool packets_read = false, packets_written = false;
  bool signals = false, flushes = false;

  bool isReduction() const {
    return kind == PlanOpKind::kReduce || kind == PlanOpKind::kReadReduce;
  }
  /// Whether each source has a target.
  bool isPaired() const { return kind >= PlanOpKind::kCopy && kind <= PlanOpKind::kRead; }
};

/// Chunks in a row of a buffer: of those that the plan cuts into shares, the shares.
struct PlanChunks {
  std::int32_t rank = -1;  // of the gpu whose buffer it is; -1: this one
  ChunkBuffer buffer = ChunkBuffer::kInput;
  std::int32_t first = 0, count = 0;
};

struct PlanOp {
  const PlanOpRow* row = nullptr;
  bool by_port = false;                // of a proxy; else memory is written directly
  std::int32_t share = 0, shares = 1;  // of the chunks, that this thread block works on
  std::uint32_t line = 0, number = 0;  // of the thread block's; inside a pipeline, of the pipeline
  std::vector<PlanChunks> sources, targets;
  std::vector<std::int32_t> ids;  // channels, semaphores, or a barrier and its blocks
};

struct PlanGpu {
  /// The i-th channel of a type to a gpu is that one's i-th back.
  struct Channel {
    std::int32_t peer = 0, number = 0;
  };
  struct Block {
    std::uint32_t line = 0;
    std::vector<PlanOp> ops;
  };
  std::array<std::int32_t, 3> chunks{};            // of each buffer, before shares are made
  std::array<std::vector<Channel>, 2> channels{};  // of memory, and of ports
  std::vector<PlanChunks> remote_buffers;          // of which operations name chunks
  std::vector<std::int32_t> semaphores;            // what each begins with
  std::vector<Block> blocks;
};

struct MscclppPlan {
  Collective collective = Collective::kAllreduce;
  bool in_place = false;
  std::int32_t shares = 1;  // the least number that all operations' shares divide
  std::vector<PlanGpu> gpus;
};

/// Reads the text of a plan. Errors name the line: what the form does not have, and operations that
/// have no meaning on messages: those of switch channels.
llvm::Expected<MscclppPlan> readMscclppPlan(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_MSCCLPP_PLAN_H_
