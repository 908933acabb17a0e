// Pair layout: cells one behind the other, by the first grain for which all messages have room.
#include "runtime/transport/put/pair_layout.h"

namespace torc::runtime {
namespace {

constexpr std::size_t roundToLine(std::size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

/// The slot of a message, at `offset`.
MessageSlot slotOf(std::size_t bytes, std::size_t grain, std::size_t offset) {
  MessageSlot slot;
  slot.offset = static_cast<std::uint32_t>(offset);
  slot.payload = bytes <= kShortBytes ? kHeaderBytes : kLine;
  slot.grain = static_cast<std::uint32_t>(grain);
  if (bytes > grain) slot.cells = kCells;
  const std::size_t end =
      slot.cells == 1 ? offset + roundToLine(slot.payload + bytes) : slot.cellOffset(slot.cells);
  if (slot.cells > 1 || bytes >= kLeastCopied) slot.line = static_cast<std::uint32_t>(end);
  return slot;
}

/// Where the slot of a message of `bytes` ends.
std::size_t endOf(const MessageSlot& slot, std::size_t bytes) {
  if (slot.line != 0) return slot.line + kLine;
  return slot.offset + roundToLine(slot.payload + bytes);
}

}  // namespace

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
