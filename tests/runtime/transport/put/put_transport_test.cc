// Puts between two ranks, both in this process: each has its own view of the segment. Places of a
// pair's messages in their lane.
#include "runtime/transport/put/put_transport.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/transport/put/pair_layout.h"
#include "tests/runtime/allocation_counter.h"
#include "tests/runtime/transport/put/put_pair.h"

namespace torc::runtime {
namespace {

TEST(PutTransport, ASenderIsAheadByTheLanesOfItsTrackAndNoFurther) {
  OneWay pair;
  for (std::uint64_t call = 0; call < 8; ++call)
    EXPECT_EQ(pair.send(800 + call), 1) << call;
  EXPECT_EQ(pair.send(808), 0) << "nobody has read the first";
  EXPECT_EQ(pair.receive(800), 1);
  EXPECT_EQ(pair.a.look(40), 1);
  pair.a.transport.endRound();
  for (std::uint64_t call = 1; call < 9; ++call)
    EXPECT_EQ(pair.receive(800 + call), 1) << call;
  EXPECT_EQ(pair.a.sent.put, 72u);
}

TEST(PutTransport, WhoReceivesFromTheReaderNeedsNoCredit) {
  const auto members = makePair();
  Rank a(members[0]), b(members[1]);
  b.peer = 0;
  for (Rank* rank : {&a, &b}) {
    rank->add(rank == &a, 8, 0);
    rank->add(rank == &b, 8, 1);
    rank->ready();
  }
  std::array<std::uint64_t, 8> stated{};
  for (std::uint64_t call = 800; call < 840; ++call) {
    // While a sends, what b states of its lanes cannot be seen.
    for (std::size_t lane = 0; lane < stated.size(); ++lane)
      stated[lane] = members[0]->ended(1, static_cast<int>(lane)).exchange(1);
    a.begin(call);
    ASSERT_TRUE(a.transport.start(0));
    ASSERT_TRUE(a.transport.start(1));
    EXPECT_EQ(a.look(), 1) << call;
    for (std::size_t lane = 0; lane < stated.size(); ++lane)
      members[0]->ended(1, static_cast<int>(lane)).store(stated[lane]);
    b.begin(call);
    ASSERT_TRUE(b.transport.start(0));
    ASSERT_TRUE(b.transport.start(1));
    EXPECT_EQ(b.look(), 2) << call;
    b.transport.endRound();
    EXPECT_EQ(a.look(), 1) << call;
    a.transport.endRound();
  }
}

TEST(PutTransport, RoundsOfALaneComeOneAfterAnother) {
  OneWay pair;
  Rank later(pair.members[0]), later_there(pair.members[1]);
  later_there.peer = 0;
  later.add(true, 8);
  later_there.add(false, 8);
  later.ready();
  later_there.ready();
  fill(pair.a.memory, 1);
  fill(later.memory, 2);
  pair.a.begin(8);
  later.begin(16);  // the same lane
  ASSERT_TRUE(later.transport.start(0));
  EXPECT_EQ(later.look(100), 0) << "the lane is another round's";
  ASSERT_TRUE(pair.a.transport.start(0));
  EXPECT_EQ(pair.a.look(), 1);
  pair.a.transport.endRound();
  EXPECT_EQ(later.look(100), 0) << "the first is not read";
  EXPECT_EQ(pair.receive(8), 1);
  later_there.begin(16);
  ASSERT_TRUE(later_there.transport.start(0));
  EXPECT_EQ(later.look(100), 1);
  EXPECT_EQ(later_there.look(), 1);
  EXPECT_EQ(pair.b.memory, pair.a.memory);
  EXPECT_EQ(later_there.memory, later.memory);
}

TEST(PutTransport, ARoundWithoutMessagesGivesItsTurnAway) {
  OneWay pair;
  Rank none(pair.members[0]), later(pair.members[0]);
  none.ready();
  later.add(true, 8);
  later.ready();
  pair.a.begin(8);
  none.begin(16);
  none.transport.endRound();  // before the one before it
  later.begin(24);
  ASSERT_TRUE(later.transport.start(0));
  ASSERT_TRUE(pair.a.transport.start(0));
  EXPECT_EQ(pair.a.look(), 1);
  pair.a.transport.endRound();
  EXPECT_EQ(pair.receive(8), 1);
  pair.b.begin(16);
  pair.b.transport.endRound();
  EXPECT_EQ(later.look(200), 1);
}

TEST(PutTransport, AfterACallThatOneRankHasNotMadeTheNextGoesOn) {
  OneWay pair;
  EXPECT_EQ(pair.send(800), 1);  // which b is refused
  for (std::uint64_t call = 801; call < 808; ++call) {
    EXPECT_EQ(pair.send(call), 1);
    EXPECT_EQ(pair.receive(call), 1);
  }
  fill(pair.a.memory, 3);
  EXPECT_EQ(pair.send(808), 0);
  EXPECT_EQ(pair.receive(808), 0);
  EXPECT_EQ(pair.a.look(200), 1) << "b is in the call: it has left those before it";
  EXPECT_EQ(pair.b.look(), 1);
  EXPECT_EQ(pair.b.memory, pair.a.memory);
}

TEST(PutTransport, RoundsOfAPersistentTrackNeedNoNames) {
  for (int track = 0; track < HostSegment::kPersistentTracks; ++track) {
    OneWay pair(20000, HostSegment::persistentTrack(track));
    for (int round = 0; round < 10; ++round) {
      fill(pair.a.memory, static_cast<std::uint64_t>(round));
      pair.send(0);
      EXPECT_EQ(pair.receive(0), 1) << round;
      if (pair.a.look(2) > 0) pair.a.transport.endRound();
      EXPECT_EQ(pair.b.memory, pair.a.memory);
    }
  }
}

/// Looks for up to ten seconds, and has the other rank look, if there is one; whether the round
/// fails.
bool failsInTime(Rank& rank, Rank* other = nullptr) {
  std::vector<ChannelId> completed(rank.begins.size() + 1);
  for (const time_t end = time(nullptr) + 10; time(nullptr) < end;) {
    if (rank.transport.poll(completed) < 0) return true;
    if (other != nullptr) other->look();
  }
  return false;
}

TEST(PutTransport, WhereEndsHaveDifferentRoomTheReceiverHearsOfIt) {
  constexpr std::uint32_t kNoRoom = 300;  // of long messages: more than a lane holds
  const struct {
    std::uint32_t messages, messages_there;
    std::size_t bytes, bytes_there;
    const char* what;
  } cases[] = {
      {kNoRoom, 1, 5000, 5000,
       "a message from rank 0 has 5000 bytes where another length is expected"},
      {1, kNoRoom, 5000, 5000, "messages from rank 0 have other lengths there"},
      {1, 1, 50000, 8, "a message from rank 0 has 8 bytes where another length is expected"},
      {1, 1, 8, 50000, "a message from rank 0 has 50000 bytes where another length is expected"},
      {1, 1, 8, 700, "a message from rank 0 has 700 bytes where 8 are expected"},
  };
  for (const auto& ends : cases) {
    const auto members = makePair();
    Rank a(members[0]), b(members[1]);
    b.peer = 0;
    for (std::uint32_t tag = 0; tag < ends.messages_there; ++tag)
      a.add(true, ends.bytes_there, tag);
    for (std::uint32_t tag = 0; tag < ends.messages; ++tag)
      b.add(false, ends.bytes, tag);
    a.ready();
    b.ready();
    a.begin(8);
    b.begin(8);
    ASSERT_TRUE(a.transport.start(0));
    ASSERT_TRUE(b.transport.start(0));
    ASSERT_TRUE(failsInTime(b, &a)) << ends.messages << ", " << ends.bytes;
    EXPECT_EQ(b.transport.status().code(), StatusCode::kTruncated);
    EXPECT_EQ(b.transport.status().message(), std::string(ends.what) + ": the ranks' calls differ");
    b.transport.abandon();
    EXPECT_TRUE(b.transport.drained());
  }
}

TEST(PutTransport, WaitsForNobodyWhoHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  for (const std::uint32_t messages : {1, 300}) {  // put, and left beyond
    const auto members = makePair();
    members[1]->setMembers({0, 1}, {child, getpid()});
    Rank b(members[1]);
    b.peer = 0;
    for (std::uint32_t tag = 0; tag < messages; ++tag)
      b.add(false, 5000, tag);
    b.ready();
    b.begin(8);
    ASSERT_TRUE(b.transport.start(0));
    ASSERT_TRUE(failsInTime(b));
    EXPECT_EQ(b.transport.status().message(),
              "rank 0 (process " + std::to_string(child) +
                  " of this host) has ended before it has sent a message");
  }
}

TEST(PutTransport, NothingIsAllocatedBetweenCommitAndTheEnd) {
  if (!allocationsAreCounted()) GTEST_SKIP() << "sanitizers have an allocator of their own";
  for (const bool copies : {false, true}) {
    const auto members = makePair(copies);
    InProcessNetwork network(2, Delivery::kEager);
    Rank a(members[0], HostSegment::kOneShotTrack, network.transport(0));
    Rank b(members[1], HostSegment::kOneShotTrack, network.transport(1));
    Rank none(members[0]), none_there(members[1]);
    b.peer = 0;
    std::uint32_t tag = 0;
    for (const std::size_t bytes : {8u, 3000u, 60000u, 300000u}) {
      for (const std::size_t gap : {0u, 7u}) {
        a.add(true, bytes, tag, gap);
        b.add(false, bytes, tag++, gap);
      }
    }
    for (Rank* rank : {&a, &b, &none, &none_there})
      rank->ready();
    std::vector<ChannelId> completed(tag);
    const std::uint64_t before = allocationCount();
    for (std::uint64_t call = 8; call < 800; call += 8) {  // all in one lane
      int done_a = 0, done_b = 0;
      a.begin(call);
      b.begin(call);
      for (std::uint64_t i = 0; i < 30; ++i) {  // before those before them
        for (Rank* rank : {&none, &none_there}) {
          rank->begin(8000 * call + 8 * i);
          rank->transport.endRound();
        }
      }
      for (ChannelId channel = 0; channel < tag; ++channel) {
        ASSERT_TRUE(a.transport.start(channel));
        ASSERT_TRUE(b.transport.start(channel));
      }
      for (int looks = 0; looks < 2000 && done_a + done_b < 2 * static_cast<int>(tag); ++looks) {
        done_a += a.transport.poll(completed);
        done_b += b.transport.poll(completed);
      }
      ASSERT_EQ(done_a + done_b, 2 * static_cast<int>(tag)) << call;
      a.transport.endRound();
      b.transport.endRound();
    }
    b.begin(8000);
    ASSERT_TRUE(b.transport.start(0));
    for (const time_t end = time(nullptr) + 2; time(nullptr) < end;)  // it looks for processes
      ASSERT_EQ(b.transport.poll(completed), 0);
    b.transport.abandon();
    EXPECT_EQ(allocationCount(), before);
  }
}

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
