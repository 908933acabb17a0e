// What tuning tries.
#include "runtime/job/contenders.h"

#include <gtest/gtest.h>

namespace torc::runtime {
namespace {

using Files = std::vector<std::uint32_t>;

LibraryIndex index() {
  LibraryIndex index;
  const auto add = [&](std::uint32_t shape, std::uint64_t lowest, std::uint64_t highest,
                       std::uint32_t file) {
    LibraryEntry entry;
    entry.shape = shape;
    entry.collective = Collective::kAllreduce;
    entry.lowest = lowest;
    entry.highest = highest;
    entry.file = file;
    index.entries.push_back(entry);
  };
  add(0, 1, kOpenEnd, 8);
  add(1, kNoSize, kNoSize, 7);
  add(1, 1, 1023, 5);
  add(1, 1024, 65535, 3);
  add(1, 65536, 1 << 20, 5);  // again
  add(1, (1 << 20) + 1, kOpenEnd, 1);
  index.candidates = {{0, Collective::kAllreduce, 0},
                      {1, Collective::kAllgather, 2},
                      {1, Collective::kAllreduce, 1},
                      {1, Collective::kAllreduce, 4},
                      {1, Collective::kAllreduce, 6}};
  return index;
}

TEST(Contenders, TheNearestSizesComeFirstThenCandidatesEachOnce) {
  EXPECT_EQ(contenders(index(), 1, Collective::kAllreduce, 100), (Files{5, 3, 7, 1, 4, 6}));
  EXPECT_EQ(contenders(index(), 1, Collective::kAllreduce, 2000), (Files{3, 5, 1, 7, 4, 6}));
  EXPECT_EQ(contenders(index(), 1, Collective::kAllreduce, 1 << 30), (Files{1, 5, 3, 7, 4, 6}));
}

TEST(Contenders, OnlyThoseOfTheCollectiveAndShape) {
  EXPECT_EQ(contenders(index(), 0, Collective::kAllreduce, 8), (Files{8, 0}));
  EXPECT_EQ(contenders(index(), 1, Collective::kAllgather, 8), (Files{2}));
  EXPECT_EQ(contenders(index(), 0, Collective::kAllgather, 8), Files{});
}

TEST(Contenders, AreLoadedByEntriesOfASize) {
  const LibraryEntry entry = entryOfContender(1, Collective::kAllgather, 2);
  EXPECT_EQ(entry.shape, 1u);
  EXPECT_EQ(entry.collective, Collective::kAllgather);
  EXPECT_EQ(entry.file, 2u);
  EXPECT_GT(entry.lowest, kNoSize);
}

}  // namespace
}  // namespace torc::runtime
