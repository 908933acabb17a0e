// Pair layout: cells one after the other, with the first grain that has room for all messages.
#include "runtime/transport/put/pair_layout.h"

#include <algorithm>

namespace torc::runtime {
namespace {

constexpr std::size_t roundToLine(std::size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

/// Without reuse of cells the last one ends with its bytes.
std::size_t endOfCells(const MessageSlot& slot, std::size_t bytes) {
  const std::size_t before = std::size_t{slot.cells - 1} * slot.grain;
  if (bytes > before + slot.grain) return slot.cellOffset(slot.cells);
  return slot.cellOffset(slot.cells - 1) + roundToLine(slot.payload + bytes - before);
}

/// The slot of a message, at `offset`.
MessageSlot slotOf(std::size_t bytes, std::size_t grain, std::size_t offset) {
  MessageSlot slot;
  slot.offset = static_cast<std::uint32_t>(offset);
  slot.payload = bytes <= kShortBytes ? kHeaderBytes : kLine;
  if (bytes < kLeastCopied) {
    grain = std::min(grain, std::max(kLeastPiece, roundToLine((bytes + kCells - 1) / kCells)));
  }
  slot.grain = static_cast<std::uint32_t>(grain);
  const std::size_t pieces = std::max<std::size_t>(1, (bytes + slot.grain - 1) / slot.grain);
  slot.cells = static_cast<std::uint32_t>(std::min(pieces, kCells));
  if (pieces > kCells || bytes >= kLeastCopied) {
    slot.line = static_cast<std::uint32_t>(endOfCells(slot, bytes));
  }
  return slot;
}

}  // namespace

std::size_t endOf(const MessageSlot& slot, std::size_t bytes) {
  return slot.line != 0 ? slot.line + kLine : endOfCells(slot, bytes);
}

std::vector<MessageSlot> layOutPair(std::span<const std::size_t> bytes, std::size_t room) {
  for (const std::size_t grain : kGrains) {
    std::vector<MessageSlot> slots;
    std::size_t offset = 0;
    for (const std::size_t length : bytes) {
      slots.push_back(slotOf(length, grain, offset));
      offset = endOf(slots.back(), length);
      if (offset > room) break;
    }
    if (offset <= room) return slots;
  }
  return {};
}

}  // namespace torc::runtime
