// MSCCL++ execution plans (microsoft/mscclpp src/core/executor/execution_plan.cc and
// python/mscclpp/language): what their JSON says, with indices that are resolved.
#ifndef TORC_IR_EXCHANGE_READERS_MSCCLPP_PLAN_H_
#define TORC_IR_EXCHANGE_READERS_MSCCLPP_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

enum class PlanOpKind : std::uint8_t {
  kNothing,     // nop, pipeline: what is in it follows
  kCopy,        // copy, cpkt, upkt
  kReduce,      // re, res, repkt, respkt, recpkt, recspkt: the first target gets the sum of sources
  kPut,         // put, pws, pwsf, ppkt, rppkt
  kRead,        // get
  kReadReduce,  // rre, rres: as kReduce, all sources but the first are remote
  kSignal,
  kWait,
  kFlush,
  kBarrier,
  kAcquire,
  kRelease,
};

/// What the reader of plans calls an operation.
struct PlanOpRow {
  llvm::StringLiteral name;
  PlanOpKind kind;
  // Packets carry a flag by which their reader waits for them; they lie in scratch.
  bool packets_read = false, packets_written = false;
  bool copies_packets = false;  // the second target is the own scratch
  bool signals = false, flushes = false;
};

/// Channels of memory that is written directly, and of a proxy's ports.
enum class PlanChannel : std::uint8_t { kMemory, kPort };

/// Chunks in a row of a buffer of this gpu, or of one of its remote buffers.
struct PlanChunks {
  std::int32_t remote = -1;  // of the gpu's remote buffers; -1: its own
  ChunkBuffer buffer = ChunkBuffer::kInput;
  std::int32_t first = 0, count = 0;
};

struct PlanOp {
  const PlanOpRow* row = nullptr;
  PlanChannel channel = PlanChannel::kMemory;
  std::uint16_t share = 0, shares = 1;  // of the chunks, that this thread block works on
  std::uint32_t line = 0, number = 0;   // of the thread block's; inside a pipeline, of the pipeline
  // Into the gpu's lists: sources, targets; and channels, semaphores, or a barrier and its blocks.
  std::uint32_t first_chunks = 0, first_id = 0;
  std::uint16_t sources = 0, targets = 0, ids = 0;
};

struct PlanGpu {
  struct RemoteBuffer {
    std::int32_t rank = 0;
    ChunkBuffer buffer = ChunkBuffer::kInput;
  };
  struct Block {
    std::uint32_t line = 0;
    std::vector<PlanOp> ops;
  };
  std::array<std::int32_t, 3> chunks{};              // of each buffer
  std::array<std::vector<std::int32_t>, 2> peers{};  // of its channels, by PlanChannel
  std::vector<RemoteBuffer> remote_buffers;
  std::vector<std::int32_t> semaphores;  // what each begins with
  std::vector<Block> blocks;
  std::vector<PlanChunks> chunk_list;
  std::vector<std::int32_t> ids;

  llvm::ArrayRef<PlanChunks> sourcesOf(const PlanOp& op) const {
    return llvm::ArrayRef(chunk_list).slice(op.first_chunks, op.sources);
  }
  llvm::ArrayRef<PlanChunks> targetsOf(const PlanOp& op) const {
    return llvm::ArrayRef(chunk_list).slice(op.first_chunks + op.sources, op.targets);
  }
  llvm::ArrayRef<std::int32_t> idsOf(const PlanOp& op) const {
    return llvm::ArrayRef(ids).slice(op.first_id, op.ids);
  }
};

struct MscclppPlan {
  Collective collective = Collective::kAllreduce;
  bool in_place = false;
  std::uint32_t line = 0;
  std::uint32_t shares = 1;  // the least number that all operations' shares divide
  std::vector<PlanGpu> gpus;
};

/// Reads the text of a plan. Errors name the line: what the form does not have, and operations that
/// have no meaning on messages: those of switch channels.
llvm::Expected<MscclppPlan> readMscclppPlan(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_MSCCLPP_PLAN_H_
