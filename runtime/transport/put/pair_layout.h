// Pair layout: where the messages of a round lie in the region of a pair of ranks. Sender and
// receiver find the same places, each by itself, as both know the messages between them.
//
// A message has cells, each behind a header. One of at most `grain` bytes has a single cell. Longer
// ones go through kCells in turn; a line behind them says how many pieces have been read.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_PAIR_LAYOUT_H_
#define TORC_RUNTIME_TRANSPORT_PUT_PAIR_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace torc::runtime {

/// Before the bytes of a piece. Short messages are on the same line.
struct CellHeader {
  std::atomic<std::uint64_t> flag;  // names round and piece, once all the rest is there
  std::uint64_t message_bytes;
  std::uint64_t ended;  // a round that the sender has ended, in the lane that is next
  std::uint64_t reserved;
};
inline constexpr std::size_t kHeaderBytes = sizeof(CellHeader);
static_assert(kHeaderBytes == 32);

/// Before the bytes of a message that is not short, besides.
struct LongHeader : CellHeader {
  // Of the whole message in its sender's memory, from where it is copied; 0: its bytes follow.
  std::uint64_t address;
  std::uint64_t nanoseconds;  // that its sender took for the first piece
};

/// Behind the cells of a message of at least kLeastCopied bytes.
struct CopyLine {
  // By its receiver: of what goes through cells.
  std::atomic<std::uint64_t> round;  // which the count is of
  std::atomic<std::uint64_t> read;   // pieces
  // By both, of what is copied from memory to memory, once its sender has made them zero: stretches
  // that either has taken to copy, those that are copied, and where the receiver's memory is.
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> copied;
  std::atomic<std::uint64_t> address;  // 0: the receiver copies alone
  // By the first end that could not copy: the bytes from this one less 1 on come through cells.
  std::atomic<std::uint64_t> by_cells;
};

inline constexpr std::size_t kLine = 64;
/// Of a message whose bytes are on the line of its header.
inline constexpr std::size_t kShortBytes = kLine - kHeaderBytes;
inline constexpr std::size_t kCells = 4;
/// Most bytes of a piece, the first that has room. 16 KiB stay in a core's first cache. Shorter
/// messages are cut into as many pieces as there are cells, so that one is read while the next is
/// written, but not into shorter ones than that.
inline constexpr std::size_t kGrains[] = {16384, 4096, 1024};
inline constexpr std::size_t kLeastPiece = 1024;
/// Of a message that may be copied from memory to memory, if the system allows it.
inline constexpr std::size_t kLeastCopied = 8192;

/// Where a message lies in its region.
struct MessageSlot {
  std::uint32_t offset = 0;  // of the first cell
  std::uint32_t grain = 0;
  std::uint32_t cells = 1;
  std::uint32_t payload = 0;  // from a cell's header to its bytes
  std::uint32_t line = 0;     // where its CopyLine is; 0: it has none

  std::size_t cellOffset(std::size_t cell) const { return offset + cell * (payload + grain); }
};

/// Where the slot of a message of `bytes` ends.
std::size_t endOf(const MessageSlot& slot, std::size_t bytes);

/// The slots of messages of these lengths, in this order; empty: `room` bytes are too few. A
/// message that is the first of another length than at the other end begins at the same place
/// there: its header tells.
std::vector<MessageSlot> layOutPair(std::span<const std::size_t> bytes, std::size_t room);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PAIR_LAYOUT_H_
