// Active rounds: several at once, callbacks, progress inside collective calls, allocations.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "tests/mpi/job.h"

namespace torc::runtime {
namespace {

class ProgressTest : public JobTest {
 protected:
  struct Sum {
    std::vector<int> in, out;
    torc_collective* collective = nullptr;
  };

  /// An allreduce over `count` elements that are all `seed`.
  void makeSum(Sum& sum, std::size_t count, int seed) {
    sum.in.assign(count, seed);
    sum.out.assign(count, -1);
    ASSERT_TORC_OK(torc_allreduce_init(schedule("allreduce"), sum.in.data(), sum.out.data(),
                                       static_cast<std::int64_t>(count), MPI_INT, MPI_SUM,
                                       &sum.collective));
  }
  void expectSum(const Sum& sum, int seed) {
    EXPECT_EQ(sum.out, std::vector<int>(sum.out.size(), seed * worldSize()));
  }
};

TEST_F(ProgressTest, SeveralAtOnceStartedInDifferentOrders) {
  constexpr int kSums = 5;
  std::vector<Sum> sums(kSums);
  for (int i = 0; i < kSums; ++i)
    makeSum(sums[i], 100 + 5000 * i, i + 1);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kSums; ++i) {
      const int which = (i * (worldRank() % 2 == 0 ? 1 : kSums - 1) + worldRank()) % kSums;
      ASSERT_TORC_OK(torc_collective_start(sums[which].collective));
    }
    for (int i = 0; i < kSums; ++i)
      ASSERT_TORC_OK(torc_collective_wait(sums[(i + 2 * worldRank()) % kSums].collective));
    for (int i = 0; i < kSums; ++i)
      expectSum(sums[i], i + 1);
  }
  for (Sum& sum : sums) {
    torc_collective_info info;
    ASSERT_TORC_OK(torc_collective_query(sum.collective, &info));
    EXPECT_EQ(info.rounds, 3u);
    EXPECT_TORC_OK(torc_collective_free(sum.collective));
  }
}

TEST_F(ProgressTest, ACollectiveGoesOnWhileItsRankMakesAnother) {
  // The first rank turns to the next collective while the others wait for the one that is under
  // way: they would hang if making one did not move the other on.
  Sum first, second;
  makeSum(first, 40000, 3);
  ASSERT_TORC_OK(torc_collective_start(first.collective));
  if (worldRank() == 0) {
    makeSum(second, 10, 4);
    ASSERT_TORC_OK(torc_collective_wait(first.collective));
  } else {
    ASSERT_TORC_OK(torc_collective_wait(first.collective));
    makeSum(second, 10, 4);
  }
  expectSum(first, 3);
  ASSERT_TORC_OK(torc_collective_start(second.collective));
  ASSERT_TORC_OK(torc_collective_wait(second.collective));
  expectSum(second, 4);
  EXPECT_TORC_OK(torc_collective_free(first.collective));
  EXPECT_TORC_OK(torc_collective_free(second.collective));
}

struct Chain {
  int calls = 0;
  int last_result = -1;
  int rounds_wanted = 1;
  int nested_result = TORC_OK;
};

void onComplete(torc_collective* collective, int result, void* cookie) {
  Chain& chain = *static_cast<Chain*>(cookie);
  chain.last_result = result;
  chain.nested_result = torc_collective_wait(collective);
  if (++chain.calls < chain.rounds_wanted) torc_collective_start(collective);
}

TEST_F(ProgressTest, ACallbackIsCalledOncePerRoundAndMayStartTheNext) {
  Sum sum;
  makeSum(sum, 3000, 2);
  Chain chain;
  ASSERT_TORC_OK(torc_collective_set_callback(sum.collective, onComplete, &chain));
  ASSERT_TORC_OK(torc_collective_start(sum.collective));
  ASSERT_TORC_OK(torc_collective_wait(sum.collective));
  EXPECT_EQ(chain.calls, 1);
  EXPECT_EQ(chain.last_result, TORC_OK);
  EXPECT_EQ(chain.nested_result, TORC_ERR_BUSY);

  chain = {};
  chain.rounds_wanted = 7;
  ASSERT_TORC_OK(torc_collective_start(sum.collective));
  int completed = 0;
  while (chain.calls < 7) {
    int now = 0;
    ASSERT_TORC_OK(torc_context_advance(context_, &now));
    completed += now;
  }
  EXPECT_EQ(completed, 7);
  int done = 0;
  ASSERT_TORC_OK(torc_collective_test(sum.collective, &done));
  EXPECT_EQ(done, 1);
  expectSum(sum, 2);
  EXPECT_TORC_OK(torc_collective_free(sum.collective));
}

TEST_F(ProgressTest, TestSaysWhetherARoundIsUnderWay) {
  Sum sum;
  makeSum(sum, 10, 6);
  int done = 0;
  ASSERT_TORC_OK(torc_collective_test(sum.collective, &done));
  EXPECT_EQ(done, 1) << "not started yet";
  ASSERT_TORC_OK(torc_collective_wait(sum.collective));
  ASSERT_TORC_OK(torc_collective_start(sum.collective));
  done = 0;
  while (!done)
    ASSERT_TORC_OK(torc_collective_test(sum.collective, &done));
  expectSum(sum, 6);
  EXPECT_TORC_OK(torc_collective_free(sum.collective));
}

TEST_F(ProgressTest, NothingIsAllocatedBetweenStartAndCompletion) {
  Sum sum;
  makeSum(sum, 50000, 1);
  const std::uint64_t before = allocations();
  int failures = 0;
  for (int round = 0; round < 5; ++round) {
    failures += torc_collective_start(sum.collective) != TORC_OK;
    failures += torc_collective_wait(sum.collective) != TORC_OK;
  }
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(failures, 0);
  EXPECT_TORC_OK(torc_collective_free(sum.collective));
}

TEST_F(ProgressTest, TagsRunOutWithAnErrorOnAllRanksAndComeBack) {
  if (worldSize() > 2) GTEST_SKIP() << "slow with more ranks than cores";
  std::vector<torc_collective*> alive;
  std::vector<int> in(1), out(2000);
  int result = TORC_OK;
  while (alive.size() < 2000) {
    torc_collective* next = nullptr;
    result = torc_allreduce_init(schedule("allreduce"), in.data(), &out[alive.size()], 1, MPI_INT,
                                 MPI_SUM, &next);
    if (result != TORC_OK) break;
    alive.push_back(next);
  }
  expectError(result, TORC_ERR_BUSY, "no message tags are left");
  EXPECT_EQ(alive.size(), 1024u);
  // Freed in different orders; the space of one serves the next.
  for (std::size_t i = 0; i < alive.size(); ++i)
    EXPECT_TORC_OK(torc_collective_free(alive[worldRank() == 0 ? i : alive.size() - 1 - i]));
  Sum sum;
  makeSum(sum, 100, 9);
  ASSERT_TORC_OK(torc_collective_start(sum.collective));
  ASSERT_TORC_OK(torc_collective_wait(sum.collective));
  expectSum(sum, 9);
  EXPECT_TORC_OK(torc_collective_free(sum.collective));
}

}  // namespace
}  // namespace torc::runtime
