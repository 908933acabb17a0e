// Rank programs: a collective as other systems write it, a program for each rank in steps of thread
// blocks, on chunks that buffers are cut into. Readers of foreign formats make these,
// `importPrograms` makes a schedule of them.
//
// Meaning. The steps of a thread block run in their order, each complete before the next; a step
// may also wait for one of another block of its rank. The k-th message that a block sends on a
// connection (its rank, the peer, the channel) is the k-th that the peer's block receives there. A
// send is complete when its data are on their way, or, if it says so, when they have arrived. A
// message of no chunks is a signal: it puts steps in order.
#ifndef TORC_IR_EXCHANGE_RANK_PROGRAMS_H_
#define TORC_IR_EXCHANGE_RANK_PROGRAMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schedules/collective.h"
#include "schedules/topology/graph.h"

namespace torc::ir {

enum class ChunkBuffer : std::uint8_t { kInput, kOutput, kScratch };

/// MSCCL's types of steps, in quotes. "in" is what arrives.
enum class StepKind : std::uint8_t {
  kNothing,            // "nop": carries a dependence
  kSend,               // "s": sends src
  kReceive,            // "r": dst = in
  kCopy,               // "cpy": dst = src
  kReduce,             // "re": dst = dst + src
  kReceiveSend,        // "rcs": dst = in, and sends it on
  kReceiveReduce,      // "rrc": dst = src + in
  kReceiveReduceSend,  // "rrs": sends src + in, which is stored nowhere
  kReduceStoreSend,    // "rrcs": dst = src + in, and sends it on
};
inline bool hasReceive(StepKind kind) {
  return kind == StepKind::kReceive || kind >= StepKind::kReceiveSend;
}
inline bool hasSend(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kReceiveSend ||
         kind >= StepKind::kReceiveReduceSend;
}
inline bool hasReduction(StepKind kind) {
  return kind == StepKind::kReduce || kind >= StepKind::kReceiveReduce;
}

/// Chunks in a row; a step says how many.
struct ChunkRun {
  ChunkBuffer buffer = ChunkBuffer::kInput;
  std::int32_t first = 0;
};

struct RankStep {
  StepKind kind = StepKind::kNothing;
  ChunkRun src, dst;
  std::int32_t count = 0;                    // chunks
  std::int32_t after_block = -1, after = 0;  // a step of this rank, by its block; -1: none
  std::uint32_t line = 0;                    // of the file, from 1
  std::uint32_t number = 0;                  // in messages, its block's name before it
  bool arrives = false;                      // a send that is complete when it has been received
};

struct ThreadBlock {
  std::int32_t send_peer = -1, receive_peer = -1;  // ranks; -1: none
  std::int32_t channel = 0;
  std::uint32_t line = 0;
  std::string name;  // for messages; empty: that of its place
  std::vector<RankStep> steps;
};

struct RankProgram {
  std::array<std::int32_t, 3> chunks{};  // of each buffer, as stated; by ChunkBuffer
  std::vector<ThreadBlock> blocks;
};

struct RankPrograms {
  std::string origin;  // the file, for messages
  Collective collective = Collective::kAllreduce;
  bool in_place = false;
  std::int32_t chunks = 1;  // that the vector of all blocks is cut into
  std::int32_t shares = 1;  // such chunks are one of the file's, for messages
  std::uint32_t line = 1;   // where the file says this
  std::vector<RankProgram> ranks;
  std::vector<GraphLink> links;       // sorted; what the ranks are on, where that is said
  std::vector<std::string> warnings;  // `x.xml:3: warning: ...`, of what the file has besides

  std::int32_t rankCount() const { return static_cast<std::int32_t>(ranks.size()); }
  /// `x.xml:1: error: `, of what is true of the whole.
  std::string at() const { return origin + ":" + std::to_string(line) + ": error: "; }
  /// `x.xml:57: error: gpu 3 tb 1 step 4: `.
  std::string at(std::size_t rank, std::size_t block, std::size_t step) const {
    return origin + ":" + std::to_string(ranks[rank].blocks[block].steps[step].line) +
           ": error: " + place(rank, block, step) + ": ";
  }
  /// `gpu 3 tb 1 step 4`.
  std::string place(std::size_t rank, std::size_t block, std::size_t step) const {
    const ThreadBlock& of = ranks[rank].blocks[block];
    return (of.name.empty() ? "gpu " + std::to_string(rank) + " tb " + std::to_string(block)
                            : of.name) +
           " step " + std::to_string(of.steps[step].number);
  }
};

/// Steps of all ranks, at most.
inline constexpr std::uint64_t kMaxForeignSteps = 4'000'000;
inline constexpr std::int32_t kMaxForeignRanks = 65'536;
/// Chunks of a buffer, and of all ranks' memory, at most.
inline constexpr std::int32_t kMaxForeignChunks = 1 << 20;
inline constexpr std::uint64_t kMaxForeignCells = 1 << 25;
/// Chunks that all steps together touch, at most: each is gone through.
inline constexpr std::uint64_t kMaxForeignTouched = 1 << 28;
/// Operations that all operations together wait for, at most: a step of n chunks is n operations,
/// which may wait for n others each.
inline constexpr std::uint64_t kMaxForeignWaits = 1 << 24;

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_RANK_PROGRAMS_H_
