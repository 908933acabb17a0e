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

const std::vector<std::size_t> kLengths = {8, 5000, 9000, 16384, 70000, 300000};

/// Until the end of a scope each `every`-th copy of the system's fails.
struct Failing {
  explicit Failing(unsigned every, int error = EFAULT) {
    copying.calls = 0;
    copying.every = every;
    copying.error = error;
  }
  ~Failing() { copying.every = 0; }
};

/// Each rank in a thread of its own, as fast as it can, and messages of these lengths both ways:
/// writes and reads overlap. `gap`: their runs of 3 bytes lie so far apart.
void runAtOnce(std::uint64_t rounds, const std::vector<std::size_t>& lengths = kLengths,
               std::size_t gap = 0, bool copies = true) {
  const auto members = makePair(copies);
  const auto run = [&](int me) {
    Rank rank(members[static_cast<std::size_t>(me)]);
    rank.peer = 1 - me;
    std::uint32_t tag = 0;
    for (const std::size_t bytes : lengths) {
      for (const bool sending : {me == 0, me == 1})
        rank.add(sending, bytes, tag++, gap);
    }
    rank.ready();
    rank.begins.push_back(rank.memory.size());
    const auto valueAt = [&](std::uint64_t call, ChannelId channel, std::size_t i) {
      const bool is_hole = gap > 0 && i % gap >= 3;
      return static_cast<std::byte>(is_hole ? 0 : call * 31 + channel + 7 * i);
    };
    std::vector<ChannelId> completed(tag);
    for (std::uint64_t call = 1; call <= rounds; ++call) {
      const auto visit = [&](auto function) {
        for (ChannelId channel = 0; channel < tag; ++channel) {
          for (std::size_t i = 0; rank.begins[channel] + i < rank.begins[channel + 1]; ++i)
            function(channel, i, rank.memory[rank.begins[channel] + i]);
        }
      };
      visit([&](ChannelId channel, std::size_t i, std::byte& byte) {
        byte = (channel % 2 == 0) == (me == 0) ? valueAt(call, channel, i) : std::byte{};
      });
      rank.begin(call);
      for (ChannelId channel = 0; channel < tag; ++channel)
        ASSERT_TRUE(rank.transport.start(me == 0 ? channel : tag - 1 - channel));
      for (std::uint32_t done = 0; done < tag;) {
        const int some = rank.transport.poll(completed);
        ASSERT_GE(some, 0) << rank.transport.status().message();
        if (some == 0) std::this_thread::yield();
        done += static_cast<std::uint32_t>(some);
      }
      rank.transport.endRound();
      std::size_t wrong = 0;
      visit([&](ChannelId channel, std::size_t i, std::byte& byte) {
        wrong += byte != valueAt(call, channel, i);
      });
      ASSERT_EQ(wrong, 0u) << "round " << call;
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

TEST(PutTransport, MessagesOfAllLengthsArriveBothWays) {
  for (const Copies copies : {Copies::kNone, Copies::kAll, Copies::kSome}) {
    const Failing failing(copies == Copies::kSome ? 3 : 0);
    const bool pulls = copies != Copies::kNone;
    runAtOnce(20, {0, 1, 3, 4, 7, 8, 15, 16, 17, 32, 33, 300, 16383, 16384, 16385, 70002, 400002},
              0, pulls);
    runAtOnce(20, {0, 3, 15, 33, 300, 16383, 70002, 400002}, 7, pulls);
  }
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
