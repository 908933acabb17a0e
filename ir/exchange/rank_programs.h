// Rank programs: a collective as written by other systems, a program for each rank in steps of
// thread blocks, on chunks of buffers. Readers of foreign formats make them, and `importPrograms`
// turns them into a schedule.
//
// Meaning. The steps of a thread block run in their order, each complete before the next; a step
// may also wait for one of another block of its rank. The k-th message that a block sends on a
// connection (its rank, the peer, the channel) is the k-th that the peer's block receives on it. A
// send is complete when its data are on their way or, if so marked, when they have arrived. A
// message of no chunks is a signal: it orders steps.
#ifndef TORC_IR_EXCHANGE_RANK_PROGRAMS_H_
#define TORC_IR_EXCHANGE_RANK_PROGRAMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/collective.h"
#include "schedules/topology/graph.h"

namespace torc::ir {

enum class ChunkBuffer : std::uint8_t { kInput, kOutput, kScratch };
inline constexpr std::string_view kBufferNames = "ios";  // by ChunkBuffer

enum class StepKind : std::uint8_t {
  kSend,
  kReceive,
  kCopy,
  kReduce,
  kReceiveSend,
  kReceiveReduce,
  kReceiveReduceSend,
  kReduceStoreSend,
  kNothing,
};
struct StepKindRow {
  const char* name;  // type in MSCCL
  bool receives, sends, reduces, reads_src, writes_dst;
};
/// By StepKind. "in" is the received message.
inline constexpr StepKindRow kStepKinds[] = {
    {"s", false, true, false, true, false},      // sends src
    {"r", true, false, false, false, true},      // dst = in
    {"cpy", false, false, false, true, true},    // dst = src
    {"re", false, false, true, true, true},      // dst = dst + src
    {"rcs", true, true, false, false, true},     // dst = in, and forwards it
    {"rrc", true, false, true, true, true},      // dst = src + in
    {"rrs", true, true, true, true, false},      // sends src + in, without storing it
    {"rrcs", true, true, true, true, true},      // dst = src + in, and sends it
    {"nop", false, false, false, false, false},  // carries a dependence
};

/// Consecutive chunks; the step has their number.
struct ChunkRun {
  ChunkBuffer buffer = ChunkBuffer::kInput;
  std::int32_t first = 0;

  bool operator==(const ChunkRun&) const = default;
};

/// A step of a rank, by its thread block and its index there; block -1: none.
struct StepOfRank {
  std::int32_t block = -1, index = -1;
};

struct RankStep {
  StepKind kind = StepKind::kNothing;
  bool arrives = false;     // a send that is complete when received
  bool waited_for = false;  // by a step of another thread block; from the file
  ChunkRun src{}, dst{};
  std::int32_t count = 0;    // chunks
  StepOfRank after{};        // explicit dependence, on a step of this rank
  std::uint32_t line = 0;    // of the file, from 1
  std::uint32_t number = 0;  // in messages, after the block's name

  const StepKindRow& row() const { return kStepKinds[static_cast<std::size_t>(kind)]; }
};

struct ThreadBlock {
  std::int32_t send_peer = -1, receive_peer = -1;  // ranks; -1: none
  std::int32_t channel = 0;
  std::uint32_t line = 0;
  std::string name;  // for messages; empty: named by its index
  std::vector<RankStep> steps;
};

struct StepPosition {
  std::size_t rank, block, index;
};

struct RankProgram {
  std::array<std::int32_t, 3> chunks{};  // of each buffer, as stated; by ChunkBuffer
  std::vector<ThreadBlock> blocks;
};

struct RankPrograms {
  std::string origin;  // the file, for messages
  Collective collective = Collective::kAllreduce;
  bool in_place = false;
  std::int32_t chunks = 1;  // chunks of the vector of all blocks
  std::int32_t shares = 1;  // number of such chunks in one of the file's, for messages
  std::uint32_t line = 1;   // line of the algorithm in the file; 0: not known
  std::vector<RankProgram> ranks;
  std::vector<GraphLink> links;       // sorted; links between the ranks, if the file has any
  std::vector<std::string> warnings;  // `x.xml:3: warning: ...`, for ignored content

  std::int32_t rankCount() const { return static_cast<std::int32_t>(ranks.size()); }
  /// `x.xml:1: error: `, for the whole program.
  std::string at() const { return at(line); }
  /// `x.xml:57: error: `, for a thread block or a step.
  std::string at(std::uint32_t of_line) const {
    return origin + (of_line > 0 ? ":" + std::to_string(of_line) : "") + ": error: ";
  }
  /// `gpu 3 tb 1`.
  std::string blockName(std::size_t rank, std::size_t block) const {
    const std::string& name = ranks[rank].blocks[block].name;
    return !name.empty() ? name : "gpu " + std::to_string(rank) + " tb " + std::to_string(block);
  }
  /// `gpu 3 tb 1 step 4`.
  std::string stepName(const StepPosition& of) const {
    return blockName(of.rank, of.block) + " step " +
           std::to_string(ranks[of.rank].blocks[of.block].steps[of.index].number);
  }
  /// `x.xml:57: error: gpu 3 tb 1 step 4: `.
  std::string at(const StepPosition& of) const {
    return at(ranks[of.rank].blocks[of.block].steps[of.index].line) + stepName(of) + ": ";
  }
};

/// Most steps of all ranks.
inline constexpr std::uint64_t kMaxForeignSteps = 4'000'000;
inline constexpr std::int32_t kMaxForeignRanks = 65'536;
/// Most chunks of a buffer, and of all ranks' memory.
inline constexpr std::int32_t kMaxForeignChunks = 1 << 20;
inline constexpr std::uint64_t kMaxForeignCells = 1 << 25;
/// Most chunks that all steps together touch, as each is visited.
inline constexpr std::uint64_t kMaxForeignTouched = 1 << 28;
/// Most dependences of all operations together: a step of n chunks is n operations, which may wait
/// for n others each.
inline constexpr std::uint64_t kMaxForeignWaits = 1 << 24;

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_RANK_PROGRAMS_H_
