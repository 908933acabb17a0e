// MSCCL XML: what MSCCLang writes (microsoft/msccl-tools msccl/language/ir.py), and what
// msccl-executor-nccl, RCCL (src/misc/msccl/msccl_parser.cc) and microsoft/msccl read. All
// attributes that any of them demands are written.
//
// - Chunks. Buffers are cut into equal chunks, so small that all that a rank touches is whole
//   chunks: the program is that of a count for which all parts, segments and blocks are whole, with
//   as many elements as chunks. Then it serves every size that they divide.
// - Thread blocks. The steps of a thread block are strictly ordered, the operations of a stream
//   are not: so the sends of a stream to a peer have one, its receives from it another, and copies
//   and sums are where they wait for what comes before in any case. Of the streams with messages
//   from one rank to another each has a channel of its own, so that rank, peer and channel name a
//   connection.
// - Steps. A step moves a run of chunks that is one at both ends of a message. What an operation
//   waits for are dependences on the last steps of others; a step has one, so that `nop`s before it
//   have the rest. A recv_reduce is an `rrc`, for which its scratch is not needed; where it does
//   not add to what its result is in, a `cpy` brings that there before. A signal is a message of a
//   chunk of scratch that nothing else uses.
#ifndef TORC_IR_EXCHANGE_WRITERS_MSCCL_WRITER_H_
#define TORC_IR_EXCHANGE_WRITERS_MSCCL_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/exchange/writers/exported_call.h"
#include "ir/exchange/writers/msccl_steps.h"

namespace torc::ir {

/// Chunks of a vector, at most.
inline constexpr std::uint64_t kMostChunks = 1 << 20;
/// What readers take: steps of a thread block (msccl-executor-nccl and RCCL; microsoft/msccl),
/// channels, chunks (int16_t in msccl_struct.h), thread blocks of a rank (int8_t) and its elements
/// of XML (MAX_NODES in msccl-executor-nccl's msccl_parser.h).
inline constexpr std::uint64_t kStepsOfRccl = 64, kStepsOfMsccl = 256, kChannelsOfReaders = 32,
                               kChunksOfReaders = 32767, kBlocksOfReaders = 128,
                               kElementsOfReaders = 4096;

/// Sizes in bytes that a program is for; 0 for the highest: all.
struct MscclSizes {
  std::uint64_t lowest = 0, highest = 0;
};

/// Demands of a program on its readers, at most: chunks of a vector, channels, thread blocks and
/// elements of XML of a rank, steps of a thread block. The last three are of what has been written.
struct MscclNeeds {
  std::uint64_t chunks = 0, channels = 1, blocks = 0, elements = 0, steps = 0;
};

class MscclWriter {
 public:
  /// Goes through the programs of all ranks, to learn how many chunks and channels there are.
  /// `schedule` has passed `validate`, and outlives the writer. Errors: a collective that the
  /// format does not have, chunks or operations that are too many.
  static llvm::Expected<MscclWriter> make(const ScheduleView& schedule, std::int32_t root);

  void writeHeader(const MscclSizes& sizes, llvm::raw_ostream& out) const;
  /// Ranks follow in ascending order. An error where a message has one end only.
  llvm::Error writeRank(const FlatProgram& program, llvm::raw_ostream& out);
  static void writeEnd(llvm::raw_ostream& out);

  const ExportedCall& call() const { return call_; }
  const MscclNeeds& needs() const { return needs_; }

 private:
  /// A program, and the operations of its messages: whether it sends, the peer, the tag.
  struct Messages {
    FlatProgram program;
    std::map<std::tuple<bool, std::int32_t, std::uint32_t>, std::size_t> operations;
  };

  explicit MscclWriter(ExportedCall&& call) : call_(std::move(call)) {}
  llvm::Expected<OtherEnd> otherEnd(std::int32_t rank, const FlatOperation& message);

  ExportedCall call_;
  std::uint64_t chunk_ = 0;  // elements
  MscclNeeds needs_;
  std::map<std::int32_t, Messages> held_;  // of ranks that were asked for
  std::size_t held_operations_ = 0;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_MSCCL_WRITER_H_
