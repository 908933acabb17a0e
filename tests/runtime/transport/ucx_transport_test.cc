// Messages by UCX between two ranks, both in this process: each has a worker of its own.
#include "runtime/transport/ucx/ucx_transport.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace torc::runtime {
namespace {

/// A medium that nobody waits for.
class NoMedium final : public Transport {
 public:
  StatusOr<ChannelId> prepareSend(std::int32_t, std::uint32_t, const Segments&,
                                  std::span<const std::size_t>, SendMode) override {
    return ChannelId{0};
  }
  StatusOr<ChannelId> prepareRecv(std::int32_t, std::uint32_t, const Segments&,
                                  std::span<const std::size_t>) override {
    return ChannelId{0};
  }
  Status commit() override { return {}; }
  Status bind(const Bases&) override { return {}; }
  bool start(ChannelId) override { return false; }
  int poll(std::span<ChannelId>) override { return 0; }
  void abandon() override {}
  Status status() const override { return {}; }
};

/// A rank with messages to and from the other one; memory of its own for them.
struct Rank : private PieceTaker {
  explicit Rank(std::int32_t number) : peer(1 - number) {
    StatusOr<std::shared_ptr<UcxWorker>> opened = UcxWorker::open();
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    group = std::make_shared<UcxGroup>(*opened, number);
    renew();
  }

  /// Without messages again.
  void renew() {
    memory.clear();
    begins.clear();
    transport = std::make_unique<UcxTransport>(group, UcxTransport::kOneShot,
                                               std::make_unique<NoMedium>(), &sent);
  }
  void add(bool sending, std::size_t bytes, std::uint32_t tag = 0, std::size_t gap = 0) {
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
    const auto channel = sending ? transport->prepareSend(peer, tag, all, {}, SendMode::kStandard)
                                 : transport->prepareRecv(peer, tag, all, {});
    ASSERT_TRUE(channel.ok());
    begins.push_back(begin);
  }
  void ready() {
    ASSERT_TRUE(transport->commit().ok());
    ASSERT_TRUE(transport->bind({nullptr, memory.data(), nullptr, nullptr}).ok());
  }
  void takeOver(ChannelId channel) {
    ASSERT_TRUE(transport->handOver(channel, this, 4));
    taken.resize(memory.size());
  }
  void begin(std::uint64_t call) {
    transport->bindTags({0, 1, call});
    transport->beginRound();
  }
  int look() {
    std::vector<ChannelId> completed(begins.size());
    return transport->poll(completed);
  }
  void takePiece(ChannelId channel, std::size_t offset, const std::byte* data,
                 std::size_t bytes) override {
    std::copy_n(data, bytes, taken.begin() + static_cast<std::ptrdiff_t>(begins[channel] + offset));
  }

  std::int32_t peer;
  std::shared_ptr<UcxGroup> group;
  std::vector<std::byte> memory, taken;
  std::vector<std::size_t> begins;
  SentBytes sent;
  std::unique_ptr<UcxTransport> transport;
};

class UcxPair : public testing::TestWithParam<bool> {
 protected:
  UcxPair() {
    const std::int32_t process = GetParam() ? getpid() : 0;
    std::vector<UcxGroup::Member> members;
    for (Rank* rank : {&a, &b})
      members.push_back({rank->group->worker().address(), rank->group->number(), process});
    a.group->setMembers(members);
    b.group->setMembers(members);
  }

  /// Both look until so many messages are complete in all, or one fails.
  int look(int wanted) {
    int done = 0;
    for (int looks = 0; looks < 1000000 && done < wanted; ++looks) {
      const int some = a.look(), others = b.look();
      if (some < 0 || others < 0) return -1;
      done += some + others;
    }
    return done;
  }

  Rank a{0}, b{1};
};

void fill(std::vector<std::byte>& memory, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::byte& byte : memory)
    byte = static_cast<std::byte>(random());
}

TEST_P(UcxPair, LengthsOfAllKindsArriveBothWaysRoundAfterRound) {
  for (const std::size_t gap : {0u, 7u}) {
    a.renew();
    b.renew();
    std::uint32_t tag = 0;
    for (const std::size_t bytes :
         {0u, 1u, 3u, 8u, 33u, 3000u, 49152u, 49155u, 150000u, 524288u, 524289u, 1500000u}) {
      if (gap > 0 && bytes % 3 != 0) continue;
      for (const bool sending : {true, false}) {
        a.add(sending, bytes, tag, gap);
        b.add(!sending, bytes, tag, gap);
        ++tag;
      }
    }
    a.ready();
    b.ready();
    for (std::uint64_t call = 1; call < 5; ++call) {
      fill(a.memory, call);
      fill(b.memory, 100 + call);
      const std::vector<std::byte> sent_a = a.memory, sent_b = b.memory;
      // One is ahead of the other, now and then.
      a.begin(call);
      for (ChannelId channel = 0; channel < tag; ++channel)
        ASSERT_TRUE(a.transport->start(channel));
      int early = 0;
      for (int looks = 0; looks < (call % 2 == 0 ? 1000 : 0); ++looks)
        early += a.look() + b.look();
      b.begin(call);
      for (ChannelId channel = 0; channel < tag; ++channel)
        ASSERT_TRUE(b.transport->start(tag - 1 - channel));
      ASSERT_EQ(early + look(static_cast<int>(2 * tag) - early), static_cast<int>(2 * tag));
      a.transport->endRound();
      b.transport->endRound();
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

TEST_P(UcxPair, WhoIsFarAheadWaitsAndNothingIsLost) {
  constexpr std::size_t kBytes = 20000;
  constexpr int kRounds = 200;
  a.add(true, kBytes);
  b.add(false, kBytes);
  a.ready();
  b.ready();
  b.takeOver(0);
  // Until the receiver takes it, no more than its memory for it.
  int ahead = 0;
  for (; ahead < kRounds; ++ahead) {
    fill(a.memory, ahead);
    a.begin(1000 + ahead);
    ASSERT_TRUE(a.transport->start(0));
    int done = 0;
    for (int looks = 0; looks < 50000 && done == 0; ++looks)
      done = a.look() + b.look();
    if (done == 0) break;
    a.transport->endRound();
  }
  EXPECT_GT(ahead, 10);
  EXPECT_LE(ahead * kBytes, UcxGroup::kWindow);
  for (int round = 0; round <= ahead; ++round) {
    b.begin(1000 + round);
    ASSERT_TRUE(b.transport->start(0));
    int done = 0;
    for (int looks = 0; looks < 1000000 && done == 0; ++looks) {
      a.look();
      done = b.look();
    }
    ASSERT_EQ(done, 1) << round;
    b.transport->endRound();
    std::vector<std::byte> expected(kBytes);
    fill(expected, round);
    ASSERT_EQ(b.taken, expected);
  }
  EXPECT_EQ(a.sent.ucx, kBytes * static_cast<std::size_t>(ahead + 1));
}

TEST_P(UcxPair, OtherLengthsAndMessagesThatNobodyExpectsAreErrors) {
  a.add(true, 8);
  b.add(false, 12);
  a.ready();
  b.ready();
  a.begin(1);
  b.begin(1);
  ASSERT_TRUE(a.transport->start(0));
  ASSERT_TRUE(b.transport->start(0));
  EXPECT_EQ(look(2), -1);
  EXPECT_EQ(b.transport->status().message(),
            "a message from rank 0 has 8 bytes where 12 are expected: the ranks' calls differ");
  b.transport->abandon();
  EXPECT_TRUE(b.transport->drained());

  a.renew();
  b.renew();
  a.add(true, 8);
  b.add(true, 8);
  a.ready();
  b.ready();
  a.begin(2);
  b.begin(2);
  ASSERT_TRUE(a.transport->start(0));
  int failed = 0;
  for (int looks = 0; looks < 1000000 && failed == 0; ++looks) {
    a.look();
    failed = b.look();
  }
  EXPECT_EQ(failed, -1);
  EXPECT_EQ(b.transport->status().message(),
            "a message from rank 0 is not expected: the ranks' calls differ");
}

TEST_P(UcxPair, WhatIsGivenUpDoesNotTouchMemoryOnceItIsDrained) {
  constexpr std::size_t kBytes = 2000000;
  a.add(true, kBytes);
  b.add(false, kBytes);
  a.ready();
  b.ready();
  a.begin(5);
  ASSERT_TRUE(a.transport->start(0));
  for (int looks = 0; looks < 100; ++looks)
    a.look();
  a.transport->abandon();
  EXPECT_FALSE(a.transport->drained()) << "the receiver has not come";
  b.begin(5);
  ASSERT_TRUE(b.transport->start(0));
  int done = 0;
  for (int looks = 0; looks < 1000000 && (!a.transport->drained() || done == 0); ++looks)
    done += b.look();
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(a.transport->drained());
}

INSTANTIATE_TEST_SUITE_P(Of, UcxPair, testing::Bool(),
                         [](const auto& info) { return info.param ? "one_host" : "two_hosts"; });

}  // namespace
}  // namespace torc::runtime
