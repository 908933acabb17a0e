// Shared memory of ranks: files, limits, regions.
#include "runtime/transport/put/host_segment.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/transport/put/process_memory.h"
#include "tests/runtime/transport/put/put_pair.h"

namespace {

/// posix_fallocate below fails the k-th time that it is called from here on; 0: never.
struct {
  int failing = 0;
} reserving;

}  // namespace

extern "C" int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  if (reserving.failing > 0 && --reserving.failing == 0) return ENOSPC;
  return fallocate(descriptor, 0, offset, bytes) == 0 ? 0 : errno;
}

namespace torc::runtime {
namespace {

TEST(HostSegment, IsOneMemoryWithoutAName) {
  const auto members = makePair();
  members[0]->ended(0, 3) = 7;
  EXPECT_EQ(members[1]->ended(0, 3), 7u);
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

// ---- Regions

TEST(PairRegions, TakeWhatIsUsedAndGiveItBack) {
  const auto share = std::make_shared<MemoryShare>();
  {
    const auto members = makePair(false, {}, share);
    EXPECT_LE(share->used, 2 * kPage) << "a page for each";
    OneWay pair(8, HostSegment::kOneShotTrack, members);
    EXPECT_EQ(pair.round(800), 2);
    EXPECT_EQ(pair.a.sent.put, 8u);
    EXPECT_LE(share->used, 8 * kPage);
    EXPECT_EQ(members[0]->bytesReserved() + members[1]->bytesReserved(), 4 * kPage);
    OneWay longer(300000, HostSegment::kOneShotTrack, members);
    EXPECT_EQ(longer.round(801), 2);
    EXPECT_EQ(longer.a.sent.put, 300000u);
    OneWay same(300000, HostSegment::kOneShotTrack, members);
    const std::size_t before = share->used;
    EXPECT_EQ(same.round(802), 2);
    EXPECT_EQ(share->used, before) << "it has its region";
  }
  EXPECT_EQ(share->used, 0u);
}

int openFiles() {
  int count = 0;
  for (int descriptor = 0; descriptor < 256; ++descriptor)
    count += fcntl(descriptor, F_GETFD) >= 0;
  return count;
}

/// Whether a pair's messages of all lengths arrive, and how many bytes of them were put.
std::uint64_t bytesPut(const std::vector<std::shared_ptr<HostSegment>>& members,
                       std::size_t gap = 0) {
  std::uint64_t bytes = 0, call = 800;
  for (const std::size_t length : {9u, 3000u, 30000u, 300000u}) {
    OneWay pair(length, HostSegment::kOneShotTrack, members, gap);
    for (int round = 0; round < 3; ++round) {
      fill(pair.a.memory, ++call);
      EXPECT_EQ(pair.round(call), 2) << length;
      std::vector<std::byte> taken;
      for (std::size_t i = 0; i < length; ++i)
        taken.push_back(pair.b.memory[gap == 0 ? i : i / 3 * gap + i % 3]);
      EXPECT_TRUE(taken == pair.a.memory) << length;
    }
    bytes += pair.a.sent.put;
  }
  return bytes;
}

constexpr std::uint64_t kAllBytes = 3 * (9 + 3000 + 30000 + 300000);

// Either end may have too little for some regions: all messages arrive, and files are closed.
TEST(PairRegions, WhatEitherEndCannotHaveGoesAnotherWay) {
  const int files = openFiles();
  std::uint64_t last = 0;
  for (const int end : {0, 1}) {
    for (std::size_t limit = kPage; limit < std::size_t{512} << 10; limit *= 2) {
      std::array<MemoryShare, 2> shares;
      shares[static_cast<std::size_t>(end)].limit = limit;
      const std::uint64_t put = bytesPut(makePair(false, shares), limit % 3 == 1 ? 7 : 0);
      EXPECT_LT(put, kAllBytes);
      EXPECT_GE(put, limit == kPage ? 0 : last);
      last = put;
      EXPECT_EQ(openFiles(), files);
    }
    EXPECT_GE(last, 9000u);
  }
  EXPECT_EQ(bytesPut(makePair()), kAllBytes);
}

TEST(PairRegions, MemoryIsReservedBeforeItIsWritten) {
  for (int failing = 1; failing < 6; ++failing) {
    const auto members = makePair();
    reserving.failing = failing;  // the k-th one from here on
    // A pair's four lengths need three regions.
    EXPECT_EQ(bytesPut(members) < kAllBytes, failing <= 3) << failing;
    reserving.failing = 0;
  }
  StatusOr<SegmentFile> file = SegmentFile::make();
  reserving.failing = 1;
  EXPECT_EQ(HostSegment::over(*file, 2, 0, std::make_shared<MemoryShare>()).status().message(),
            "posix_fallocate: No space left on device");
}

// The receiver of a recv_reduce gets its bytes from where another transport has put them, if it was
// not known at first that they go there.
TEST(PairRegions, WhatGoesAnotherWayIsHandedOver) {
  std::array<MemoryShare, 2> shares;
  shares[0].limit = kPage;
  for (const std::size_t gap : {0u, 7u}) {
    const auto members = makePair(false, shares);
    InProcessNetwork network(2, Delivery::kRendezvous);
    Rank a(members[0], HostSegment::kOneShotTrack, network.transport(0));
    Rank b(members[1], HostSegment::kOneShotTrack, network.transport(1));
    b.peer = 0;
    a.add(true, 30000);
    b.add(false, 30000, 0, gap);
    b.ready();
    Taker taker;
    ASSERT_TRUE(b.transport.handOver(0, &taker, 1));
    a.ready();
    fill(a.memory, gap);
    for (Rank* rank : {&a, &b}) {
      rank->begin(8);
      ASSERT_TRUE(rank->transport.start(0));
    }
    EXPECT_EQ(b.look() + a.look(), 2);
    EXPECT_EQ(a.sent.put, 0u);
    EXPECT_EQ(taker.taken, a.memory);
  }
}

// ---- Limits

TEST(MemoryShare, IsOfWhatTheTightestLimitLeaves) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "limits";
  const auto write = [&](const char* name, const char* text) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  };
  const auto share = [&](int processes) { return shareOfLimits(processes, root.string()); };
  write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 4096 kB\nSwapFree: 1 kB\n");
  EXPECT_EQ(share(1).bytes, (4096u << 10) / 16);
  EXPECT_EQ(share(2).bytes, (4096u << 10) / 32);
  EXPECT_EQ(share(2).limit, MemoryLeft::Limit::kMemory);

  // Version 2: the cgroup above it has the limit; cached files do not count.
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/step/memory.max", "max\n");
  write("sys/fs/cgroup/job/memory.max", "1600000\n");
  write("sys/fs/cgroup/job/memory.current", "1500000\n");
  write("sys/fs/cgroup/job/memory.stat", "anon 9\ninactive_file 500000\nactive_file 1000\n");
  EXPECT_EQ(share(1).bytes, 601000u / 16);
  EXPECT_EQ(share(1).limit, MemoryLeft::Limit::kCgroup);

  // Version 1, in a container that sees none of the path.
  write("proc/self/cgroup", "5:devices:/x\n4:cpu,memory:/not/here\n1:name=systemd:/y\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "320000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
  write("sys/fs/cgroup/memory/memory.stat", "cache 7\ntotal_inactive_file 100000\n");
  EXPECT_EQ(share(2).bytes, 320000u / 32);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace torc::runtime
