// Long messages: through cells, and from memory to memory.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/transport/put/copy_choice.h"
#include "runtime/transport/put/process_memory.h"
#include "tests/runtime/transport/put/put_pair.h"

namespace {

/// Of the system's copies below, number k fails if k % every is 0, and the one before it copies a
/// half of its bytes alone.
struct {
  std::atomic<unsigned> calls{0}, every{0};
  std::atomic<int> error{EFAULT};
} copying;

ssize_t copySome(long call, pid_t process, const iovec* here, const iovec* there) {
  const unsigned every = copying.every, number = ++copying.calls;
  if (every != 0 && number % every == 0) {
    errno = copying.error;
    return -1;
  }
  iovec mine = *here, theirs = *there;
  if (every != 0 && (number + 1) % every == 0) mine.iov_len = theirs.iov_len = here->iov_len / 2;
  return syscall(call, process, &mine, 1ul, &theirs, 1ul, 0ul);
}

}  // namespace

extern "C" ssize_t process_vm_readv(pid_t process, const iovec* here, unsigned long,
                                    const iovec* there, unsigned long, unsigned long) noexcept {
  return copySome(SYS_process_vm_readv, process, here, there);
}

extern "C" ssize_t process_vm_writev(pid_t process, const iovec* here, unsigned long,
                                     const iovec* there, unsigned long, unsigned long) noexcept {
  return copySome(SYS_process_vm_writev, process, here, there);
}

namespace torc::runtime {
namespace {

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

enum class Copies { kNone, kAll, kSome };

/// Until the end of a scope each `every`-th copy of the system's fails.
struct Failing {
  explicit Failing(unsigned every, int error = EFAULT) {
    copying.calls = 0;
    copying.every = every;
    copying.error = error;
  }
  ~Failing() { copying.every = 0; }
};

class Lengths : public testing::TestWithParam<Copies> {};

TEST_P(Lengths, OfAllKindsArriveBothWaysRoundAfterRound) {
  const Failing failing(GetParam() == Copies::kSome ? 3 : 0);
  for (const std::size_t gap : {0u, 7u}) {
    const auto members = makePair(GetParam() != Copies::kNone);
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
      std::vector<std::byte> expected_a = sent_a, expected_b = sent_b;
      for (ChannelId channel = 0; channel < tag; ++channel) {
        const std::size_t begin = a.begins[channel];
        const std::size_t end = channel + 1 < tag ? a.begins[channel + 1] : a.memory.size();
        for (std::size_t i = begin; i < end; ++i) {
          if (gap > 0 && (i - begin) % gap >= 3) continue;
          (channel % 2 == 0 ? expected_b : expected_a)[i] = (channel % 2 == 0 ? sent_a : sent_b)[i];
        }
      }
      ASSERT_TRUE(a.memory == expected_a && b.memory == expected_b);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Copies, Lengths,
                         testing::Values(Copies::kNone, Copies::kAll, Copies::kSome));

// Each rank in a thread of its own, as fast as it can: what is written and what is read overlap.
void runAtOnce(std::uint64_t rounds) {
  const auto members = makePair(true);
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
    for (std::uint64_t call = 1; call <= rounds; ++call) {
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

TEST(PutTransport, RanksRunAtOnce) {
  runAtOnce(400);
}

TEST(PutTransport, RanksRunAtOnceWhereCopiesFail) {
  const Failing failing(3);
  runAtOnce(60);
  EXPECT_GE(copying.calls, 60u) << "each message tries";
}

// As by a filter of system calls: whoever has been forbidden it once tries no more.
TEST(PutTransport, RanksRunAtOnceWhereCopiesAreForbidden) {
  for (const int error : {EPERM, ENOSYS}) {
    const Failing failing(1, error);
    runAtOnce(60);
    EXPECT_LE(copying.calls, 10u);
  }
}

TEST(PutTransport, ACopyFromAProcessThatHasEndedIsAnError) {
  OneWay pair(20000, HostSegment::kOneShotTrack, makePair(true));
  const Failing failing(1, ESRCH);
  pair.round(8);  // one of two is copied
  pair.round(16);
  EXPECT_EQ(pair.b.transport.status().code(), StatusCode::kTransport);
  EXPECT_EQ(
      pair.b.transport.status().message(),
      "a message from rank 0: process " + std::to_string(getpid()) + " of this host has ended");
}

TEST(ProcessMemory, SaysWhatItCannotCopy) {
  std::uint64_t here = 0, there = 7;
  auto* const to = reinterpret_cast<std::byte*>(&here);
  EXPECT_EQ(pull(getpid(), 8, to, sizeof(here)), Copied::kNotThese);
  EXPECT_EQ(pull(getpid(), reinterpret_cast<std::uint64_t>(&there), to, sizeof(here)),
            Copied::kAll);
  EXPECT_EQ(here, 7u);
  EXPECT_EQ(push(getpid(), reinterpret_cast<std::uint64_t>("constant"), to, sizeof(here)),
            Copied::kNotThese);
}

TEST(PutTransport, PiecesAreHandedOverInOrder) {
  for (const std::size_t bytes : {8u, 160u, 16384u, 200000u, 600000u}) {
    for (const Copies copies : {Copies::kNone, Copies::kAll, Copies::kSome}) {
      const Failing failing(copies == Copies::kSome ? 3 : 0);
      OneWay pair(bytes, HostSegment::kOneShotTrack, makePair(copies != Copies::kNone));
      for (std::uint64_t call = 8; call < 80; call += 8) {
        Taker taker;
        taker.unit = 8;
        ASSERT_TRUE(pair.b.transport.handOver(0, &taker, 8));
        fill(pair.a.memory, call);
        EXPECT_EQ(pair.round(call), 2);
        EXPECT_EQ(taker.taken, pair.a.memory);
      }
    }
  }
  OneWay pair(20000);
  EXPECT_FALSE(pair.b.transport.handOver(0, nullptr, 24)) << "pieces would cut elements";
}

}  // namespace
}  // namespace torc::runtime
