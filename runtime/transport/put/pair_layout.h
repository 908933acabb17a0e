// Pair layout: the positions of a round's messages in the region of a pair of ranks. Sender and
// receiver compute the same positions independently, as both know the messages between them.
//
// A message has cells, each with a header. A message of at most `grain` bytes has a single cell.
// Longer ones use kCells cells in turn; a line behind them counts the pieces read.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_PAIR_LAYOUT_H_
#define TORC_RUNTIME_TRANSPORT_PUT_PAIR_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace torc::runtime {

/// Precedes the bytes of a piece. Short messages are on the same line.
struct CellHeader {
  std::atomic<std::uint64_t> flag;  // identifies round and piece, written after all the rest
  std::uint64_t message_bytes;
  std::uint64_t ended;  // a round that the sender has ended, in the next lane
  std::uint64_t reserved;
};
inline constexpr std::size_t kHeaderBytes = sizeof(CellHeader);
static_assert(kHeaderBytes == 32);

/// Also precedes the bytes of a message that is not short.
struct LongHeader : CellHeader {
  // Address of the whole message in its sender's memory, for a copy; 0: its bytes follow.
  std::uint64_t address;
  std::uint64_t nanoseconds;  // the sender's time for the first piece
};

/// Behind the cells of a message of at least kLeastCopied bytes.
struct CopyLine {
  // Written by the receiver, for messages through cells.
  std::atomic<std::uint64_t> round;  // round of the count `read`
  std::atomic<std::uint64_t> read;   // pieces
  // Written by both ends, for a copy from memory to memory, once the sender has set them to zero:
  // the number of stretches that either end has taken, the number of copied ones, and the address
  // of the receiver's memory.
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> copied;
  std::atomic<std::uint64_t> address;  // 0: the receiver copies alone
  // Written by the first end that could not copy: the bytes from this number less 1 on go through
  // cells.
  std::atomic<std::uint64_t> by_cells;
};

inline constexpr std::size_t kLine = 64;
/// Bytes of a message on the line of its header.
inline constexpr std::size_t kShortBytes = kLine - kHeaderBytes;
inline constexpr std::size_t kCells = 4;
/// Maximal bytes of a piece: the first of these that has room. 16 KiB fit a core's first-level
/// cache. Shorter messages are cut into as many pieces as there are cells, so that one is read
/// while the next is written, but not into pieces below kLeastPiece.
inline constexpr std::size_t kGrains[] = {16384, 4096, 1024};
inline constexpr std::size_t kLeastPiece = 1024;
/// Minimal bytes of a message that may be copied from memory to memory, if the system allows it.
inline constexpr std::size_t kLeastCopied = 8192;

/// Position of a message in its region.
struct MessageSlot {
  std::uint32_t offset = 0;  // of the first cell
  std::uint32_t grain = 0;
  std::uint32_t cells = 1;
  std::uint32_t payload = 0;  // offset of the bytes from a cell's header
  std::uint32_t line = 0;     // offset of its CopyLine; 0: none

  std::size_t cellOffset(std::size_t cell) const { return offset + cell * (payload + grain); }
};

/// End of the slot of a message of `bytes`.
std::size_t endOf(const MessageSlot& slot, std::size_t bytes);

/// The slots of messages of these lengths, in this order; empty: `room` bytes are too few. If
/// lengths differ between the two ends, the first such message still begins at the same position at
/// both: its header reveals the difference.
std::vector<MessageSlot> layOutPair(std::span<const std::size_t> bytes, std::size_t room);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PAIR_LAYOUT_H_
