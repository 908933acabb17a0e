// MSCCL XML: written like MSCCLang's (microsoft/msccl-tools msccl/language/ir.py), for
// msccl-executor-nccl, RCCL (src/misc/msccl/msccl_parser.cc) and microsoft/msccl. All attributes
// that any of them requires are written.
//
// - Chunks. Buffers are cut into equal chunks, small enough that each region of a rank is whole
//   chunks: the program is that of a count for which all parts, segments and blocks are whole, with
//   as many elements as chunks. Then it serves every size that they divide.
// - Thread blocks. The steps of a thread block are strictly ordered, the operations of a stream are
//   not. So the sends of a stream to a peer have one block, its receives from it another, and
//   copies and sums join a block whose steps they wait for anyway. Each stream with messages from
//   one rank to another has a channel of its own, so that rank, peer and channel name a connection.
// - Steps. A step moves a run of chunks that is contiguous at both ends of a message. Dependences
//   become dependences on the last steps of other blocks; a step has one, so `nop`s before it carry
//   the rest. A recv_reduce is an `rrc`, which does not need its scratch; if its operand is not in
//   its destination, a `cpy` moves it there before. A signal is a message of a chunk of scratch
//   that nothing else uses.
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

/// Most chunks of a vector.
inline constexpr std::uint64_t kMostChunks = 1 << 20;
/// Limits of readers: steps of a thread block (msccl-executor-nccl and RCCL; microsoft/msccl),
/// channels, chunks (int16_t in msccl_struct.h), thread blocks of a rank (int8_t) and its elements
/// of XML (MAX_NODES in msccl-executor-nccl's msccl_parser.h).
inline constexpr std::uint64_t kStepsOfRccl = 64, kStepsOfMsccl = 256, kChannelsOfReaders = 32,
                               kChunksOfReaders = 32767, kBlocksOfReaders = 128,
                               kElementsOfReaders = 4096;

/// Sizes in bytes that a program is for; highest 0: no limit.
struct MscclSizes {
  std::uint64_t lowest = 0, highest = 0;
};

/// Maximal requirements of a program: chunks of a vector, channels, thread blocks and elements of
/// XML of a rank, steps of a thread block. The last three cover the ranks written so far.
struct MscclNeeds {
  std::uint64_t chunks = 0, channels = 1, blocks = 0, elements = 0, steps = 0;
};

class MscclWriter {
 public:
  /// Visits the programs of all ranks to count chunks and channels. `schedule` has passed
  /// `validate`, and outlives the writer. Errors: a collective that the format lacks, too many
  /// chunks or operations.
  static llvm::Expected<MscclWriter> make(const ScheduleView& schedule, std::int32_t root);

  void writeHeader(const MscclSizes& sizes, llvm::raw_ostream& out) const;
  /// Ranks follow in ascending order. An error if a message has one end only.
  llvm::Error writeRank(const FlatProgram& program, llvm::raw_ostream& out);
  static void writeEnd(llvm::raw_ostream& out);

  const ExportedCall& call() const { return call_; }
  const MscclNeeds& needs() const { return needs_; }

 private:
  /// A program, and the operations of its messages by direction, peer and tag.
  struct Messages {
    FlatProgram program;
    std::map<std::tuple<bool, std::int32_t, std::uint32_t>, std::size_t> operations;
  };

  explicit MscclWriter(ExportedCall&& call) : call_(std::move(call)) {}
  llvm::Expected<OtherEnd> otherEnd(std::int32_t rank, const FlatOperation& message);

  ExportedCall call_;
  std::uint64_t chunk_ = 0;  // elements
  MscclNeeds needs_;
  std::map<std::int32_t, Messages> held_;  // of recently requested ranks
  std::size_t held_operations_ = 0;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_MSCCL_WRITER_H_
