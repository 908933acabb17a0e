// Puts between two ranks, both in this process: each has its own view of the segment.
#include "runtime/transport/put/put_transport.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <random>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/transport/put/host_segment.h"
#include "runtime/transport/put/pair_layout.h"
#include "runtime/transport/put/process_memory.h"

namespace torc::runtime {
namespace {

/// What is left beyond never comes.
class Nowhere final : public Transport {
 public:
  StatusOr<ChannelId> prepareSend(std::int32_t peer, std::uint32_t, const Segments&,
                                  std::span<const std::size_t>, SendMode) override {
    peers_.push_back({peer, true});
    return static_cast<ChannelId>(peers_.size() - 1);
  }
  StatusOr<ChannelId> prepareRecv(std::int32_t peer, std::uint32_t, const Segments&,
                                  std::span<const std::size_t>) override {
    peers_.push_back({peer, false});
    return static_cast<ChannelId>(peers_.size() - 1);
  }
  Status commit() override { return {}; }
  Status bind(const Bases&) override { return {}; }
  bool start(ChannelId) override { return true; }
  int poll(std::span<ChannelId>) override { return 0; }
  void abandon() override {}
  std::vector<Awaited> awaited(std::size_t) const override { return peers_; }
  Status status() const override { return {}; }

 private:
  std::vector<Awaited> peers_;
};

// ---- Slots

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

// ---- The segment

/// Two members of one segment.
std::vector<std::shared_ptr<HostSegment>> makePair(bool pulls = false) {
  StatusOr<SegmentFile> file = SegmentFile::make();
  EXPECT_TRUE(file.ok()) << file.status().message();
  std::vector<std::shared_ptr<HostSegment>> members;
  for (int me = 0; me < 2; ++me) {
    StatusOr<SegmentFile> opened = SegmentFile::open(file->name());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    StatusOr<std::unique_ptr<HostSegment>> segment = HostSegment::over(*opened, 2, me);
    EXPECT_TRUE(segment.ok()) << segment.status().message();
    members.push_back(std::move(*segment));
    members.back()->setMembers({0, 1}, {getpid(), getpid()});
    members.back()->setCopies(pulls);
  }
  return members;
}

TEST(HostSegment, IsOneMemoryWithoutAName) {
  const auto members = makePair();
  std::memcpy(members[0]->region(0, 1), "put", 4);
  EXPECT_STREQ(reinterpret_cast<const char*>(members[1]->region(0, 1)), "put");
  const StatusOr<SegmentFile> file = SegmentFile::make();
  struct stat found {};
  ASSERT_EQ(fstat(file->name().descriptor, &found), 0);
  EXPECT_EQ(found.st_nlink, 0u) << "no folder has it";
  EXPECT_EQ(found.st_mode & 0777, 0600u) << "its owner's alone";
  EXPECT_EQ(fcntl(file->name().descriptor, F_GETFD), FD_CLOEXEC);
}

TEST(HostSegment, AnotherFileIsNotTaken) {
  const StatusOr<SegmentFile> one = SegmentFile::make(), other = SegmentFile::make();
  SegmentFile::Name mixed = one->name();
  mixed.descriptor = other->name().descriptor;
  const StatusOr<SegmentFile> opened = SegmentFile::open(mixed);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.status().message().find("is another file"), std::string::npos);
  mixed.descriptor = 100000;
  EXPECT_NE(SegmentFile::open(mixed).status().message().find("No such file"), std::string::npos);
}

TEST(HostSegment, AProcessThatNobodyHasWaitedForHasEnded) {
  EXPECT_FALSE(hasEnded(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(hasEnded(child));
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(hasEnded(child));
}

TEST(HostSegment, MemoryThatIsNotThereIsAnError) {
  std::byte here{};
  const Status status = pull(getpid(), 8, &here, 1);
  EXPECT_NE(status.message().find("process_vm_readv of process"), std::string::npos);
  EXPECT_EQ(pull(getpid(), reinterpret_cast<std::uint64_t>(&status), &here, 1).code(),
            StatusCode::kOk);
}

// ---- Messages

/// A rank with messages to and from the other one; memory of its own for them.
struct Rank {
  Rank(std::shared_ptr<HostSegment> segment, LaneTrack track = HostSegment::kOneShotTrack)
      : transport(std::move(segment), track, std::make_unique<Nowhere>(), &sent) {}

  ChannelId add(bool sending, std::size_t bytes, std::uint32_t tag = 0, std::size_t gap = 0) {
    const std::size_t begin = memory.size();
    std::vector<Segment> segments;
    std::vector<RunLoop> loops;
    if (gap == 0) {
      segments.push_back({Place(Base::kOut, begin), bytes});
      memory.resize(begin + bytes);
    } else {
      // Runs of 3 bytes, `gap` apart.
      const auto runs = static_cast<std::uint32_t>(bytes / 3);
      loops.push_back({gap, 0, runs, runs});
      segments.push_back({Place(Base::kOut, begin), 3, 0, 1});
      memory.resize(begin + gap * runs);
    }
    if (bytes == 0) segments.clear();
    const Segments all{segments, loops};
    const auto channel = sending ? transport.prepareSend(peer, tag, all, {}, SendMode::kStandard)
                                 : transport.prepareRecv(peer, tag, all, {});
    begins.push_back(begin);
    return *channel;
  }
  void ready() {
    ASSERT_TRUE(transport.commit().ok());
    ASSERT_TRUE(transport.bind({nullptr, memory.data(), nullptr, nullptr}).ok());
  }
  void begin(std::uint64_t call) {
    transport.bindTags({0, 1, call});
    transport.beginRound();
  }
  /// How many messages were complete in so many looks.
  int look(int looks = 1) {
    std::vector<ChannelId> completed(begins.size() + 1);
    int count = 0;
    while (looks-- > 0)
      count += std::max(0, transport.poll(completed));
    return count;
  }

  std::int32_t peer = 1;
  std::vector<std::byte> memory;
  std::vector<std::size_t> begins;
  SentBytes sent;
  PutTransport transport;
};

void fill(std::vector<std::byte>& memory, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::byte& byte : memory)
    byte = static_cast<std::byte>(random());
}

class Lengths : public testing::TestWithParam<bool> {};

TEST_P(Lengths, OfAllKindsArriveBothWaysRoundAfterRound) {
  for (const std::size_t gap : {0u, 7u}) {
    const auto members = makePair(GetParam());
    Rank a(members[0]), b(members[1]);
    b.peer = 0;
    std::uint32_t tag = 0;
    for (const std::size_t bytes : {0u, 1u, 3u, 4u, 7u, 8u, 15u, 16u, 17u, 32u, 33u, 300u, 16383u,
                                    16384u, 16385u, 70002u, 400002u}) {
      if (gap > 0 && bytes % 3 != 0) continue;
      for (const bool sending : {true, false}) {
        a.add(sending, bytes, tag, gap);
        b.add(!sending, bytes, tag, gap);
        ++tag;
      }
    }
    a.ready();
    b.ready();
    for (std::uint64_t call = 1; call < 20; ++call) {
      fill(a.memory, call);
      fill(b.memory, 100 + call);
      const std::vector<std::byte> sent_a = a.memory, sent_b = b.memory;
      a.begin(8000 + call);
      b.begin(8000 + call);
      for (ChannelId channel = 0; channel < tag; ++channel) {
        ASSERT_TRUE(a.transport.start(channel));
        ASSERT_TRUE(b.transport.start(tag - 1 - channel));
      }
      int done_a = 0, done_b = 0;
      for (int looks = 0; looks < 1000 && (done_a < static_cast<int>(tag) || done_b < done_a);
           ++looks) {
        done_a += a.look();
        done_b += b.look();
      }
      ASSERT_EQ(done_a, static_cast<int>(tag));
      ASSERT_EQ(done_b, static_cast<int>(tag));
      a.transport.endRound();
      b.transport.endRound();
      for (ChannelId channel = 0; channel < tag; ++channel) {
        const std::size_t begin = a.begins[channel];
        const std::size_t end = channel + 1 < tag ? a.begins[channel + 1] : a.memory.size();
        for (std::size_t i = begin; i < end; ++i) {
          const bool is_moved = gap == 0 || (i - begin) % gap < 3;
          const bool from_a = channel % 2 == 0;
          ASSERT_EQ(a.memory[i], is_moved && !from_a ? sent_b[i] : sent_a[i]) << channel;
          ASSERT_EQ(b.memory[i], is_moved && from_a ? sent_a[i] : sent_b[i]) << channel;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Copies, Lengths, testing::Bool(),
                         [](const auto& info) { return info.param ? "pulled" : "through_cells"; });

/// A pair with one message of `bytes` from a to b.
struct OneWay {
  explicit OneWay(std::size_t bytes = 8, LaneTrack track = HostSegment::kOneShotTrack)
      : members(makePair()), a(members[0], track), b(members[1], track) {
    b.peer = 0;
    a.add(true, bytes);
    b.add(false, bytes);
    a.ready();
    b.ready();
  }
  int send(std::uint64_t call) {
    a.begin(call);
    EXPECT_TRUE(a.transport.start(0));
    const int done = a.look(40);
    if (done > 0) a.transport.endRound();
    return done;
  }
  int receive(std::uint64_t call) {
    b.begin(call);
    EXPECT_TRUE(b.transport.start(0));
    const int done = b.look(40);
    if (done > 0) b.transport.endRound();
    return done;
  }

  std::vector<std::shared_ptr<HostSegment>> members;
  Rank a, b;
};

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

TEST(PutTransport, AMessageOfAnotherLengthIsAnError) {
  const auto members = makePair();
  Rank a(members[0]), b(members[1]);
  b.peer = 0;
  a.add(true, 50000);
  b.add(false, 8);
  a.ready();
  b.ready();
  a.begin(8);
  b.begin(8);
  ASSERT_TRUE(a.transport.start(0));
  ASSERT_TRUE(b.transport.start(0));
  std::vector<ChannelId> completed(1);
  EXPECT_EQ(b.transport.poll(completed), -1);
  EXPECT_EQ(b.transport.status().code(), StatusCode::kTruncated);
  EXPECT_EQ(b.transport.status().message(),
            "a message from rank 0 has 50000 bytes where 8 are expected: the ranks' calls differ");
  b.transport.abandon();
  EXPECT_TRUE(b.transport.drained());
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

/// Looks for up to ten seconds; whether the round fails.
bool failsInTime(Rank& rank) {
  std::vector<ChannelId> completed(rank.begins.size() + 1);
  for (const time_t end = time(nullptr) + 10; time(nullptr) < end;)
    if (rank.transport.poll(completed) < 0) return true;
  return false;
}

TEST(PutTransport, WhereOneEndAloneHasRoomTheReceiverHearsOfIt) {
  constexpr std::uint32_t kNoRoom = 300;  // of long messages: more than a lane holds
  for (const bool sender_has_room : {true, false}) {
    const auto members = makePair();
    Rank a(members[0]), b(members[1]);
    b.peer = 0;
    for (std::uint32_t tag = 0; tag < (sender_has_room ? 1 : kNoRoom); ++tag)
      a.add(true, 5000, tag);
    for (std::uint32_t tag = 0; tag < (sender_has_room ? kNoRoom : 1); ++tag)
      b.add(false, 5000, tag);
    a.ready();
    b.ready();
    a.begin(8);
    b.begin(8);
    ASSERT_TRUE(a.transport.start(0));
    ASSERT_TRUE(b.transport.start(0));
    ASSERT_TRUE(failsInTime(b));
    EXPECT_EQ(b.transport.status().code(), StatusCode::kTruncated);
    EXPECT_EQ(b.transport.status().message(),
              std::string("messages from rank 0 have ") +
                  (sender_has_room ? "room there, and no room here"
                                   : "no room there, and have room here") +
                  ": the ranks' calls differ");
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

// Each rank in a thread of its own, as fast as it can: what is written and what is read overlap.
TEST(PutTransport, RanksRunAtOnce) {
  const auto members = makePair(true);
  constexpr std::uint64_t kRounds = 400;
  const auto run = [&](int me) {
    Rank rank(members[static_cast<std::size_t>(me)]);
    rank.peer = 1 - me;
    std::uint32_t tag = 0;
    for (const std::size_t bytes : {8u, 5000u, 9000u, 16384u, 70000u, 300000u}) {
      for (const bool sending : {me == 0, me == 1})
        rank.add(sending, bytes, tag++);
    }
    rank.ready();
    const auto valueOf = [](std::uint64_t call, ChannelId channel) {
      return static_cast<std::byte>(call * 31 + channel);
    };
    std::vector<ChannelId> completed(tag);
    for (std::uint64_t call = 1; call <= kRounds; ++call) {
      const auto isSent = [&](ChannelId channel) { return (channel % 2 == 0) == (me == 0); };
      const auto bytesOf = [&](ChannelId channel) {
        const std::size_t end = channel + 1 < tag ? rank.begins[channel + 1] : rank.memory.size();
        return std::span(rank.memory).subspan(rank.begins[channel], end - rank.begins[channel]);
      };
      for (ChannelId channel = 0; channel < tag; ++channel) {
        std::ranges::fill(bytesOf(channel), isSent(channel) ? valueOf(call, channel) : std::byte{});
      }
      rank.begin(call);
      for (ChannelId channel = 0; channel < tag; ++channel)
        ASSERT_TRUE(rank.transport.start(channel));
      for (std::uint32_t done = 0; done < tag;) {
        const int some = rank.transport.poll(completed);
        ASSERT_GE(some, 0) << rank.transport.status().message();
        if (some == 0) std::this_thread::yield();
        done += static_cast<std::uint32_t>(some);
      }
      rank.transport.endRound();
      for (ChannelId channel = 0; channel < tag; ++channel) {
        const auto bytes = bytesOf(channel);
        ASSERT_TRUE(std::ranges::all_of(
            bytes, [&](std::byte byte) { return byte == valueOf(call, channel); }))
            << "round " << call << ", message " << channel;
      }
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

TEST(CopyChoice, TheFasterServesAndTheOtherIsTriedNowAndThen) {
  CopyTimes times;
  CopyTries tries;
  CopyAdvice advice = CopyAdvice::kNone;
  const auto copiesOf = [&](int messages, std::int64_t cells, std::int64_t copied) {
    int copies = 0;
    for (int i = 0; i < messages; ++i) {
      const bool copy = tries.copies(3, advice);
      copies += copy;
      advice = times.add(3, copy, copy ? copied : cells);
    }
    return copies;
  };
  EXPECT_EQ(copiesOf(8, 1000, 5000), 4) << "both, to begin with";
  EXPECT_LE(copiesOf(1000, 1000, 5000), 10);
  EXPECT_GE(copiesOf(20000, 5000, 1000), 10000) << "a process has moved to another core";
  EXPECT_GE(copiesOf(1000, 1200, 1000), 960);
}

TEST(CopyChoice, LengthsAreOfAClassWithinAFactorOfTwo) {
  EXPECT_EQ(copyClassOf(kLeastCopied, 0), 0u);
  EXPECT_EQ(copyClassOf(2 * kLeastCopied - 1, 3), 3u);
  EXPECT_EQ(copyClassOf(2 * kLeastCopied, 0), 4u);
  EXPECT_EQ(copyClassOf(~std::size_t{0}, 3), kCopyClasses - 1);
}

/// Keeps what it gets.
struct Taker final : PieceTaker {
  void takePiece(ChannelId, std::size_t offset, const std::byte* data, std::size_t bytes) override {
    EXPECT_EQ(offset, taken.size());
    EXPECT_EQ(bytes % 8, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 16, 0u);
    taken.insert(taken.end(), data, data + bytes);
  }
  std::vector<std::byte> taken;
};

TEST(PutTransport, PiecesAreHandedOverInOrder) {
  for (const std::size_t bytes : {8u, 160u, 16384u, 200000u}) {
    for (const bool pulls : {false, true}) {
      OneWay pair(bytes);
      for (const auto& member : pair.members)
        member->setCopies(pulls);
      Taker taker;
      ASSERT_TRUE(pair.b.transport.handOver(0, &taker, 8));
      fill(pair.a.memory, bytes);
      pair.a.begin(8);
      pair.b.begin(8);
      ASSERT_TRUE(pair.a.transport.start(0));
      ASSERT_TRUE(pair.b.transport.start(0));
      int done = 0;
      for (int i = 0; i < 100; ++i)
        done += pair.a.look() + pair.b.look();
      EXPECT_EQ(done, 2);
      EXPECT_EQ(taker.taken, pair.a.memory);
    }
  }
  OneWay pair(20000);
  EXPECT_FALSE(pair.b.transport.handOver(0, nullptr, 24)) << "pieces would cut elements";
}

}  // namespace
}  // namespace torc::runtime
