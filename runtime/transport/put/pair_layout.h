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
  std::uint64_t ended;    // a round that the sender has ended, in the lane that is next
  std::uint64_t address;  // of the whole message in its sender's memory; 0: its bytes follow
};
inline constexpr std::size_t kHeaderBytes = sizeof(CellHeader);
static_assert(kHeaderBytes == 32);

/// Behind the cells of a message in pieces, written by its receiver.
struct PiecesRead {
  std::atomic<std::uint64_t> round;  // which the count is of
  std::atomic<std::uint64_t> count;
};

inline constexpr std::size_t kLine = 64;
/// Of a message whose bytes are on the line of its header.
inline constexpr std::size_t kShortBytes = kLine - kHeaderBytes;
inline constexpr std::size_t kCells = 4;
/// Bytes of a piece, the first that has room. 16 KiB stay in a core's first cache.
inline constexpr std::size_t kGrains[] = {16384, 4096, 1024};

/// Where a message lies in its region.
struct MessageSlot {
  std::uint32_t offset = 0;  // of the first cell
  std::uint32_t grain = 0;
  std::uint32_t cells = 1;
  std::uint32_t payload = 0;  // from a cell's header to its bytes

  std::size_t cellOffset(std::size_t cell) const { return offset + cell * (payload + grain); }
};

/// The slots of messages of these lengths, in this order; empty: `room` bytes are too few. A
/// message that is the first of another length than at the other end begins at the same place
/// there: its header tells.
std::vector<MessageSlot> layOutPair(std::span<const std::size_t> bytes, std::size_t room);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PAIR_LAYOUT_H_
