// Fingerprints by which ranks compare what they were called with, and where a communicator lies.
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/collectives/call.h"
#include "runtime/job/library.h"

namespace torc::runtime {
namespace {

std::uint64_t ofCounts(std::vector<std::uint64_t> counts) {
  Call call;
  call.per_rank = std::move(counts);
  return call.countsFingerprint();
}

TEST(FingerprintTest, OneCountIsItsOwn) {
  Call call;
  call.count = 1234;
  EXPECT_EQ(call.countsFingerprint(), 1234u);
}

TEST(FingerprintTest, ListsOfCountsAreToldApart) {
  EXPECT_EQ(ofCounts({1, 2, 3}), ofCounts({1, 2, 3}));
  EXPECT_NE(ofCounts({1, 2, 3}), ofCounts({1, 3, 2}));
  EXPECT_NE(ofCounts({1, 2, 3}), ofCounts({1, 2, 3, 0}));
  // A product taken word by word has no way back from its high bits to its low ones: FNV-1a over
  // whole numbers gives these the same, as what the first count changes the second takes back.
  EXPECT_NE(ofCounts({0, 7}), ofCounts({1, 7 ^ 0x100000001f3}));
}

TEST(FingerprintTest, RecognitionsAreToldApart) {
  Recognition first;
  first.why = Unrecognised::kNone;
  first.topology = *parseTopology("3x2");
  std::vector<Recognition> all(5, first);
  all[1].why = Unrecognised::kNoSubTorus;
  all[2].sub_torus = 1;
  all[3].topology = *parseTopology("3x2", "YX");
  all[4].map = *RankMap::fromTable({0, 1, 2, 3, 5, 4});
  std::set<std::uint64_t> fingerprints;
  for (const Recognition& one : all)
    fingerprints.insert(one.fingerprint());
  EXPECT_EQ(fingerprints.size(), all.size());
  EXPECT_EQ(Recognition(first).fingerprint(), first.fingerprint());
}

}  // namespace
}  // namespace torc::runtime
