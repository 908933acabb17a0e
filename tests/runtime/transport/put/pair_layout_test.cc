// Where the messages of a pair lie in their lane.
#include "runtime/transport/put/pair_layout.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace torc::runtime {
namespace {

TEST(PairLayout, SlotsLieBehindOneAnotherWithinTheRoom) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::size_t> bytes(1 + random() % 40);
    for (std::size_t& length : bytes)
      length = random() % (std::size_t{1} << random() % 22);
    const std::size_t room = std::size_t{1} << (14 + random() % 8);
    const std::vector<MessageSlot> slots = layOutPair(bytes, room);
    if (slots.empty()) continue;
    ASSERT_EQ(slots.size(), bytes.size());
    std::size_t end = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const MessageSlot& slot = slots[i];
      EXPECT_GE(slot.offset, end);
      EXPECT_EQ(slot.offset % kLine, 0u);
      EXPECT_TRUE(slot.cells > 1 || bytes[i] <= slot.grain);
      EXPECT_EQ(slot.line != 0, bytes[i] > kCells * slot.grain || bytes[i] >= kLeastCopied);
      EXPECT_GE(slot.cells * slot.grain, std::min<std::size_t>(bytes[i], kCells * slot.grain));
      const std::size_t before = (slot.cells - 1) * slot.grain;  // the last cell
      end = slot.cellOffset(slot.cells - 1) + slot.payload +
            std::min<std::size_t>(bytes[i] - before, slot.grain);
      EXPECT_LE(end, room);
      if (slot.line == 0) continue;
      EXPECT_GE(slot.line, end);
      end = slot.line + sizeof(CopyLine);
      EXPECT_LE(end, room);
    }
  }
}

TEST(PairLayout, ManyLongMessagesHaveNoRoom) {
  const std::vector<std::size_t> bytes(100, 1 << 20);
  EXPECT_TRUE(layOutPair(bytes, 1 << 16).empty());
  EXPECT_FALSE(layOutPair(bytes, 1 << 20).empty()) << "in small pieces";
}

TEST(PairLayout, WhatDiffersFirstBeginsAtTheSamePlace) {
  const std::size_t ours[] = {8, 100, 70000, 12}, theirs[] = {8, 100, 12, 70000};
  EXPECT_EQ(layOutPair(ours, 1 << 20)[2].offset, layOutPair(theirs, 1 << 20)[2].offset);
}

}  // namespace
}  // namespace torc::runtime
