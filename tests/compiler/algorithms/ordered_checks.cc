#include "tests/compiler/algorithms/ordered_checks.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/execution/inprocess_job.h"

namespace torc::compiler {
namespace {

/// Consecutive ranks, or, where those that were combined do not follow one another, none.
struct RankRun {
  std::int32_t first, end;
};

void combine(void* dst, const void* a, const void* b, std::size_t count, const void*) {
  for (std::size_t i = 0; i < count; ++i) {
    const RankRun low = static_cast<const RankRun*>(a)[i], high = static_cast<const RankRun*>(b)[i];
    static_cast<RankRun*>(dst)[i] =
        low.end == high.first ? RankRun{low.first, high.end} : RankRun{-1, -2};
  }
}

}  // namespace

void expectRanksInOrder(const Schedule& schedule) {
  constexpr std::uint64_t kElements = 5;
  auto job = runtime::InProcessJob::create(
      schedule.view(), {kElements, {}, {}},
      {.element_bytes = sizeof(RankRun), .reducer = {combine, nullptr}});
  ASSERT_TRUE(job.ok()) << job.status().message();
  for (std::int32_t rank = 0; rank < (*job)->ranks(); ++rank) {
    const std::vector<RankRun> own(kElements, RankRun{rank, rank + 1});
    std::memcpy((*job)->in(rank).data(), own.data(), kElements * sizeof(RankRun));
  }
  const Status status = (*job)->run();
  ASSERT_TRUE(status.ok()) << status.message();
  for (std::int32_t rank = 0; rank < (*job)->ranks(); ++rank) {
    const std::int32_t end = schedule.collective == Collective::kAllreduce ? (*job)->ranks()
                             : schedule.collective == Collective::kScan    ? rank + 1
                                                                           : rank;
    if (end == 0) continue;
    std::vector<RankRun> sums(kElements);
    std::memcpy(sums.data(), (*job)->out(rank).data(), kElements * sizeof(RankRun));
    for (const RankRun& sum : sums) {
      EXPECT_EQ(sum.first, 0) << "rank " << rank << " of " << schedule.topology.shape();
      EXPECT_EQ(sum.end, end) << rank;
    }
  }
}

}  // namespace torc::compiler
