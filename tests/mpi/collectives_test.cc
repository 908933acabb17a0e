// Results of the C API's collectives, against MPI's own.
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "tests/mpi/job.h"

namespace torc::runtime {
namespace {

using Collectives = JobTest;

const std::vector<std::int64_t> kCounts = {0, 1, 2, 3, 5, 97, 1000, 30011};

TEST_F(Collectives, AllreduceOfIntegers) {
  for (const std::int64_t count : kCounts) {
    for (const bool in_place : {false, true}) {
      const std::vector<std::int32_t> in = numbers(count);
      std::vector<std::int32_t> out = in_place ? in : std::vector<std::int32_t>(in.size(), -1);
      std::vector<std::int32_t> expected(in.size());
      MPI_Allreduce(in.data(), expected.data(), static_cast<int>(count), MPI_INT32_T, MPI_SUM,
                    MPI_COMM_WORLD);
      torc_collective* collective = nullptr;
      ASSERT_TORC_OK(torc_allreduce_init(schedule("allreduce"), in_place ? MPI_IN_PLACE : in.data(),
                                         out.data(), count, MPI_INT32_T, MPI_SUM, &collective));
      runAndFree(collective);
      EXPECT_EQ(out, expected) << "count " << count << ", in place " << in_place;
    }
  }
}

TEST_F(Collectives, AllreduceOfPairsFindsTheSmallestWithItsIndex) {
  struct Pair {
    double value;
    int index;
  };
  const int count = 57;
  std::vector<Pair> in(count), out(count), expected(count);
  for (int i = 0; i < count; ++i)
    in[i] = {static_cast<double>((worldRank() * 5 + i) % 3), worldRank()};
  MPI_Allreduce(in.data(), expected.data(), count, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  torc_collective* collective = nullptr;
  ASSERT_TORC_OK(torc_allreduce_init(schedule("allreduce"), in.data(), out.data(), count,
                                     MPI_DOUBLE_INT, MPI_MINLOC, &collective));
  runAndFree(collective);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(out[i].value, expected[i].value) << i;
    EXPECT_EQ(out[i].index, expected[i].index) << i;
  }
}

void addModulo(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < 2 * *count; ++i) {
    int& y = static_cast<int*>(inout)[i];
    y = (y + static_cast<int*>(in)[i]) % 1009;
  }
}

TEST_F(Collectives, AllreduceByAUsersOperationOnADerivedType) {
  MPI_Op op;
  MPI_Op_create(addModulo, 1, &op);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  const int count = 101;
  const std::vector<std::int32_t> in = numbers(2 * count);
  std::vector<std::int32_t> out(in.size()), expected(in.size());
  MPI_Allreduce(in.data(), expected.data(), count, two, op, MPI_COMM_WORLD);
  torc_collective* collective = nullptr;
  ASSERT_TORC_OK(torc_allreduce_init(schedule("allreduce"), in.data(), out.data(), count, two, op,
                                     &collective));
  MPI_Type_free(&two);
  runAndFree(collective);
  EXPECT_EQ(out, expected);
  MPI_Op_free(&op);
}

TEST_F(Collectives, ReduceScatterBlock) {
  for (const std::int64_t count : {0, 1, 3, 500, 20000}) {
    const std::vector<std::int32_t> in = numbers(count * worldSize());
    std::vector<std::int32_t> out(static_cast<std::size_t>(count)), expected(out.size());
    MPI_Reduce_scatter_block(in.data(), expected.data(), static_cast<int>(count), MPI_INT32_T,
                             MPI_SUM, MPI_COMM_WORLD);
    torc_collective* collective = nullptr;
    ASSERT_TORC_OK(torc_reduce_scatter_block_init(schedule("reduce_scatter"), in.data(), out.data(),
                                                  count, MPI_INT32_T, MPI_SUM, &collective));
    runAndFree(collective);
    EXPECT_EQ(out, expected) << "count " << count;

    std::vector<std::int32_t> both = in;
    ASSERT_TORC_OK(torc_reduce_scatter_block_init(schedule("reduce_scatter"), MPI_IN_PLACE,
                                                  both.data(), count, MPI_INT32_T, MPI_SUM,
                                                  &collective));
    runAndFree(collective);
    both.resize(out.size());
    EXPECT_EQ(both, expected) << "in place, count " << count;
  }
}

TEST_F(Collectives, BroadcastFromEveryRoot) {
  for (int root = 0; root < worldSize(); ++root) {
    for (const std::int64_t count : {0, 1, 57, 20000}) {
      std::vector<std::int32_t> data = numbers(count), expected = data;
      MPI_Bcast(expected.data(), static_cast<int>(count), MPI_INT32_T, root, MPI_COMM_WORLD);
      torc_collective* collective = nullptr;
      ASSERT_TORC_OK(torc_broadcast_init(schedule("broadcast"), data.data(), count, MPI_INT32_T,
                                         root, &collective));
      runAndFree(collective);
      EXPECT_EQ(data, expected) << "count " << count << ", root " << root;
    }
  }
  torc_collective* collective = nullptr;
  EXPECT_EQ(
      torc_broadcast_init(schedule("broadcast"), nullptr, 0, MPI_INT32_T, worldSize(), &collective),
      TORC_ERR_ARGUMENT);
}

/// Counts per rank, some of them zero. Small: messages are packed; large: sent block by block.
std::vector<std::int64_t> unevenCounts(std::int64_t least) {
  std::vector<std::int64_t> counts;
  for (int r = 0; r < worldSize(); ++r)
    counts.push_back(r % 3 == 1 ? 0 : least + 7 * r);
  return counts;
}

class UnevenCollectives : public JobTest, public testing::WithParamInterface<std::int64_t> {};

INSTANTIATE_TEST_SUITE_P(SmallAndLarge, UnevenCollectives, testing::Values(11, 25000));

TEST_P(UnevenCollectives, ReduceScatterWithCounts) {
  const std::vector<std::int64_t> counts = unevenCounts(GetParam());
  const std::vector<int> mpi_counts(counts.begin(), counts.end());
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::vector<std::int32_t> in = numbers(total);
  std::vector<std::int32_t> out(static_cast<std::size_t>(counts[worldRank()]), -1);
  std::vector<std::int32_t> expected(out.size());
  MPI_Reduce_scatter(in.data(), expected.data(), mpi_counts.data(), MPI_INT32_T, MPI_SUM,
                     MPI_COMM_WORLD);
  torc_collective* collective = nullptr;
  ASSERT_TORC_OK(torc_reduce_scatter_init(schedule("reduce_scatter"), in.data(), out.data(),
                                          counts.data(), MPI_INT32_T, MPI_SUM, &collective));
  runAndFree(collective);
  EXPECT_EQ(out, expected);

  std::vector<std::int32_t> both = in;
  ASSERT_TORC_OK(torc_reduce_scatter_init(schedule("reduce_scatter"), MPI_IN_PLACE, both.data(),
                                          counts.data(), MPI_INT32_T, MPI_SUM, &collective));
  runAndFree(collective);
  both.resize(out.size());
  EXPECT_EQ(both, expected) << "in place";
}

TEST_F(Collectives, Allgather) {
  for (const std::int64_t count : {0, 1, 3, 500, 20000}) {
    const std::vector<std::int32_t> in = numbers(count);
    std::vector<std::int32_t> out(in.size() * worldSize(), -1), expected(out.size());
    MPI_Allgather(in.data(), static_cast<int>(count), MPI_INT32_T, expected.data(),
                  static_cast<int>(count), MPI_INT32_T, MPI_COMM_WORLD);
    torc_collective* collective = nullptr;
    ASSERT_TORC_OK(torc_allgather_init(schedule("allgather"), in.data(), count, MPI_INT32_T,
                                       out.data(), count, MPI_INT32_T, &collective));
    runAndFree(collective);
    EXPECT_EQ(out, expected) << "count " << count;

    std::vector<std::int32_t> both(out.size(), -1);
    std::copy(in.begin(), in.end(), both.begin() + worldRank() * count);
    ASSERT_TORC_OK(torc_allgather_init(schedule("allgather"), MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                                       both.data(), count, MPI_INT32_T, &collective));
    runAndFree(collective);
    EXPECT_EQ(both, expected) << "in place, count " << count;
  }
}

TEST_F(Collectives, AllgatherBetweenDifferentDatatypesOfTheSameData) {
  MPI_Datatype four;
  MPI_Type_contiguous(4, MPI_INT32_T, &four);
  MPI_Type_commit(&four);
  const std::vector<std::int32_t> in = numbers(12);
  std::vector<std::int32_t> out(in.size() * worldSize()), expected(out.size());
  MPI_Allgather(in.data(), 12, MPI_INT32_T, expected.data(), 12, MPI_INT32_T, MPI_COMM_WORLD);
  torc_collective* collective = nullptr;
  ASSERT_TORC_OK(torc_allgather_init(schedule("allgather"), in.data(), 12, MPI_INT32_T, out.data(),
                                     3, four, &collective));
  runAndFree(collective);
  EXPECT_EQ(out, expected);
  MPI_Type_free(&four);
}

TEST_P(UnevenCollectives, AllgathervLeavesGapsAlone) {
  const std::vector<std::int64_t> counts = unevenCounts(GetParam());
  // From back to front with a gap after each block; the pointer handed over is in the middle.
  std::vector<std::int64_t> displacements(counts.size());
  std::int64_t end = 0;
  for (int r = worldSize() - 1; r >= 0; --r) {
    displacements[r] = end;
    end += counts[r] + 2;
  }
  const std::int64_t middle = end / 2;
  for (std::int64_t& displacement : displacements)
    displacement -= middle;

  // Not from MPI_Allgatherv: MPICH 4.0.2 ignores the displacement of a single rank.
  const std::vector<std::int32_t> in = numbers(counts[worldRank()]);
  std::vector<std::int32_t> out(static_cast<std::size_t>(end), -5), expected = out;
  for (int r = 0; r < worldSize(); ++r) {
    for (std::int64_t i = 0; i < counts[r]; ++i)
      expected[static_cast<std::size_t>(middle + displacements[r] + i)] = numberOf(r, i);
  }
  torc_collective* collective = nullptr;
  ASSERT_TORC_OK(torc_allgatherv_init(
      schedule("allgather"), in.data(), static_cast<std::int64_t>(in.size()), MPI_INT32_T,
      out.data() + middle, counts.data(), displacements.data(), MPI_INT32_T, &collective));
  runAndFree(collective);
  EXPECT_EQ(out, expected);

  std::vector<std::int32_t> both(out.size(), -5);
  std::copy(in.begin(), in.end(), both.begin() + middle + displacements[worldRank()]);
  ASSERT_TORC_OK(torc_allgatherv_init(schedule("allgather"), MPI_IN_PLACE, 0, MPI_INT32_T,
                                      both.data() + middle, counts.data(), displacements.data(),
                                      MPI_INT32_T, &collective));
  runAndFree(collective);
  EXPECT_EQ(both, expected) << "in place";
}

TEST_F(Collectives, FloatSumsAreTheSameBitsOnAllRanksAndInTenRounds) {
  const int count = 20011;
  std::vector<float> in(count), out(count);
  for (int i = 0; i < count; ++i)
    in[i] = static_cast<float>(numberOf(worldRank(), i)) / 3.0f;
  torc_collective* collective = nullptr;
  ASSERT_TORC_OK(torc_allreduce_init(schedule("allreduce"), in.data(), out.data(), count, MPI_FLOAT,
                                     MPI_SUM, &collective));
  std::vector<float> first;
  for (int round = 0; round < 10; ++round) {
    std::fill(out.begin(), out.end(), 0.0f);
    ASSERT_TORC_OK(torc_collective_start(collective));
    ASSERT_TORC_OK(torc_collective_wait(collective));
    if (round == 0) {
      first = out;
      MPI_Bcast(first.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    }
    EXPECT_EQ(std::memcmp(out.data(), first.data(), count * sizeof(float)), 0) << "round " << round;
  }
  torc_collective_info info;
  ASSERT_TORC_OK(torc_collective_query(collective, &info));
  EXPECT_EQ(info.rounds, 10u);
  EXPECT_TORC_OK(torc_collective_free(collective));
}

}  // namespace
}  // namespace torc::runtime
