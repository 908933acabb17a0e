// Results of the C API's rooted collectives for every root, against MPI's own: by schedules of
// their own, and by those of their rootless forms.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "schedules/collective.h"
#include "tests/mpi/job.h"

namespace torc::runtime {
namespace {

using Vector = std::vector<std::int32_t>;

const std::map<std::string, std::string> kRootless = {{"broadcast", "allreduce"},
                                                      {"reduce", "allreduce"},
                                                      {"scatter", "reduce_scatter"},
                                                      {"gather", "allgather"}};

/// The parameter: by schedules of rootless forms.
class RootedCollectives : public JobTest, public testing::WithParamInterface<bool> {
 protected:
  void TearDown() override {
    EXPECT_TORC_OK(torc_schedule_free(loaded_));
    JobTest::TearDown();
  }
  torc_schedule* load(const std::string& collective) {
    if (loaded_ == nullptr) {
      const std::string scheduled = GetParam() ? kRootless.at(collective) : collective;
      EXPECT_TORC_OK(torc_schedule_load(geometry_, schedulePath(scheduled).c_str(), &loaded_));
    }
    return loaded_;
  }

  torc_schedule* loaded_ = nullptr;
  torc_collective* collective_ = nullptr;
};

TEST_P(RootedCollectives, BroadcastFromEveryRoot) {
  for (int root = 0; root < worldSize(); ++root) {
    for (const std::int64_t count : {0, 1, 57, 20000}) {
      Vector data = numbers(count), expected;
      for (std::int64_t i = 0; i < count; ++i)
        expected.push_back(numberOf(root, i));
      ASSERT_TORC_OK(torc_broadcast_init(load("broadcast"), data.data(), count, MPI_INT32_T, root,
                                         &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(data, expected) << count << " from " << root;
    }
  }
}

TEST_P(RootedCollectives, ReduceToEveryRoot) {
  for (int root = 0; root < worldSize(); ++root) {
    const bool is_root = worldRank() == root;
    for (const std::int64_t count : {0, 1, 57, 20000}) {
      const Vector in = numbers(count);
      Vector out(in.size(), -1), expected(in.size(), -1);
      MPI_Reduce(in.data(), expected.data(), static_cast<int>(count), MPI_INT32_T, MPI_SUM, root,
                 MPI_COMM_WORLD);
      ASSERT_TORC_OK(torc_reduce_init(load("reduce"), in.data(), is_root ? out.data() : nullptr,
                                      count, MPI_INT32_T, MPI_SUM, root, &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(out, is_root ? expected : Vector(in.size(), -1)) << count << " to " << root;

      Vector both = in;
      ASSERT_TORC_OK(torc_reduce_init(load("reduce"), is_root ? MPI_IN_PLACE : in.data(),
                                      both.data(), count, MPI_INT32_T, MPI_MAX, root,
                                      &collective_));
      runAndFree(collective_, 2);
      if (is_root) {
        MPI_Reduce(in.data(), expected.data(), static_cast<int>(count), MPI_INT32_T, MPI_MAX, root,
                   MPI_COMM_WORLD);
      } else {
        MPI_Reduce(in.data(), nullptr, static_cast<int>(count), MPI_INT32_T, MPI_MAX, root,
                   MPI_COMM_WORLD);
      }
      EXPECT_EQ(both, is_root ? expected : in) << "in place, " << count << " to " << root;
    }
  }
}

TEST_P(RootedCollectives, ScatterFromEveryRoot) {
  for (int root = 0; root < worldSize(); ++root) {
    const bool is_root = worldRank() == root;
    for (const std::int64_t count : {0, 1, 57, 20000}) {
      const Vector in = numbers(count * worldSize());
      Vector out(static_cast<std::size_t>(count), -1), expected(out.size());
      MPI_Scatter(in.data(), static_cast<int>(count), MPI_INT32_T, expected.data(),
                  static_cast<int>(count), MPI_INT32_T, root, MPI_COMM_WORLD);
      // What is ignored but at the root may be anything.
      ASSERT_TORC_OK(torc_scatter_init(load("scatter"), is_root ? in.data() : nullptr,
                                       is_root ? count : -1,
                                       is_root ? MPI_INT32_T : MPI_DATATYPE_NULL, out.data(), count,
                                       MPI_INT32_T, root, &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(out, expected) << count << " from " << root;

      Vector whole = in;
      std::fill(out.begin(), out.end(), -1);
      ASSERT_TORC_OK(torc_scatter_init(
          load("scatter"), whole.data(), count, MPI_INT32_T, is_root ? MPI_IN_PLACE : out.data(),
          is_root ? 0 : count, is_root ? MPI_DATATYPE_NULL : MPI_INT32_T, root, &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(whole, in) << "in place, " << count << " from " << root;
      EXPECT_EQ(out, is_root ? Vector(out.size(), -1) : expected) << "in place";
    }
  }
}

TEST_P(RootedCollectives, GatherToEveryRoot) {
  for (int root = 0; root < worldSize(); ++root) {
    const bool is_root = worldRank() == root;
    for (const std::int64_t count : {0, 1, 57, 20000}) {
      const Vector in = numbers(count);
      Vector out(is_root ? in.size() * static_cast<std::size_t>(worldSize()) : 0, -1);
      Vector expected(out.size());
      MPI_Gather(in.data(), static_cast<int>(count), MPI_INT32_T, expected.data(),
                 static_cast<int>(count), MPI_INT32_T, root, MPI_COMM_WORLD);
      ASSERT_TORC_OK(torc_gather_init(
          load("gather"), in.data(), count, MPI_INT32_T, out.data(), is_root ? count : -1,
          is_root ? MPI_INT32_T : MPI_DATATYPE_NULL, root, &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(out, expected) << count << " to " << root;

      Vector both(out.size(), -1);
      if (is_root) std::copy(in.begin(), in.end(), both.begin() + root * count);
      ASSERT_TORC_OK(torc_gather_init(load("gather"), is_root ? MPI_IN_PLACE : in.data(),
                                      is_root ? 0 : count, MPI_INT32_T, both.data(), count,
                                      MPI_INT32_T, root, &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(both, expected) << "in place, " << count << " to " << root;
    }
  }
}

/// Counts per rank, some of them zero, and blocks from back to front with a gap behind each.
struct Uneven {
  std::vector<std::int64_t> counts, displacements;
  std::int64_t end = 0;

  explicit Uneven(std::int64_t least) {
    for (int r = 0; r < worldSize(); ++r)
      counts.push_back(r % 3 == 1 ? 0 : least + 7 * r);
    displacements.resize(counts.size());
    for (std::size_t r = counts.size(); r-- > 0;) {
      displacements[r] = end;
      end += counts[r] + 2;
    }
  }
  std::int64_t own() const { return counts[static_cast<std::size_t>(worldRank())]; }
};

TEST_P(RootedCollectives, ScattervAndItsGaps) {
  for (const std::int64_t least : {11, 25000}) {
    const Uneven uneven(least);
    for (int root = 0; root < worldSize(); ++root) {
      const bool is_root = worldRank() == root;
      const Vector in = numbers(uneven.end);
      Vector out(static_cast<std::size_t>(uneven.own()), -1), expected;
      const std::int64_t first = uneven.displacements[static_cast<std::size_t>(worldRank())];
      for (std::int64_t i = 0; i < uneven.own(); ++i)
        expected.push_back(numberOf(root, first + i));
      ASSERT_TORC_OK(torc_scatterv_init(load("scatter"), is_root ? in.data() : nullptr,
                                        uneven.counts.data(), uneven.displacements.data(),
                                        MPI_INT32_T, out.data(), uneven.own(), MPI_INT32_T, root,
                                        &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(out, expected) << "from " << root;
      std::fill(out.begin(), out.end(), -1);
      ASSERT_TORC_OK(torc_scatterv_init(load("scatter"), in.data(), uneven.counts.data(),
                                        uneven.displacements.data(), MPI_INT32_T,
                                        is_root ? MPI_IN_PLACE : out.data(), uneven.own(),
                                        MPI_INT32_T, root, &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(out, is_root ? Vector(out.size(), -1) : expected) << "in place, from " << root;
    }
  }
}

TEST_P(RootedCollectives, GathervLeavesGapsAlone) {
  for (const std::int64_t least : {11, 25000}) {
    const Uneven uneven(least);
    for (int root = 0; root < worldSize(); ++root) {
      const bool is_root = worldRank() == root;
      const Vector in = numbers(uneven.own());
      Vector out(static_cast<std::size_t>(uneven.end), -5), expected = out;
      for (int r = 0; r < worldSize() && is_root; ++r) {
        const auto block = static_cast<std::size_t>(r);
        for (std::int64_t i = 0; i < uneven.counts[block]; ++i)
          expected[static_cast<std::size_t>(uneven.displacements[block] + i)] = numberOf(r, i);
      }
      ASSERT_TORC_OK(torc_gatherv_init(
          load("gather"), in.data(), uneven.own(), MPI_INT32_T, out.data(), uneven.counts.data(),
          uneven.displacements.data(), MPI_INT32_T, root, &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(out, expected) << "to " << root;
      Vector both(out.size(), -5);
      if (is_root) {
        std::copy(in.begin(), in.end(),
                  both.begin() + uneven.displacements[static_cast<std::size_t>(root)]);
      }
      ASSERT_TORC_OK(torc_gatherv_init(load("gather"), is_root ? MPI_IN_PLACE : in.data(),
                                       uneven.own(), MPI_INT32_T, both.data(), uneven.counts.data(),
                                       uneven.displacements.data(), MPI_INT32_T, root,
                                       &collective_));
      runAndFree(collective_, 2);
      EXPECT_EQ(both, expected) << "in place, to " << root;
    }
  }
}

TEST_P(RootedCollectives, RanksMustAgreeOnRootCountAndDatatype) {
  if (worldSize() == 1) return;
  Vector in = numbers(8 * worldSize()), out(in.size());
  const int me = worldRank();
  EXPECT_TORC_ERROR(torc_gather_init(load("gather"), in.data(), 4, MPI_INT32_T, out.data(), 4,
                                     MPI_INT32_T, me == 1 ? 1 : 0, &collective_),
                    TORC_ERR_MISMATCH, "root");
  EXPECT_TORC_ERROR(torc_gather_init(load("gather"), in.data(), me == 1 ? 5 : 4, MPI_INT32_T,
                                     out.data(), 4, MPI_INT32_T, 0, &collective_),
                    TORC_ERR_MISMATCH, "count");
  EXPECT_TORC_ERROR(
      torc_gather_init(load("gather"), in.data(), 4, me == 1 ? MPI_FLOAT : MPI_INT32_T, out.data(),
                       4, MPI_INT32_T, 0, &collective_),
      TORC_ERR_MISMATCH, "datatype");
  // The root's own block, and a rank that says it is in place without being the root.
  EXPECT_EQ(torc_gather_init(load("gather"), in.data(), me == 0 ? 3 : 4, MPI_INT32_T, out.data(), 4,
                             MPI_INT32_T, 0, &collective_),
            TORC_ERR_MISMATCH);
  EXPECT_EQ(torc_gather_init(load("gather"), me == 1 ? MPI_IN_PLACE : in.data(), 4, MPI_INT32_T,
                             out.data(), 4, MPI_INT32_T, 0, &collective_),
            TORC_ERR_ARGUMENT);
  EXPECT_EQ(torc_gather_init(load("gather"), in.data(), 4, MPI_INT32_T, out.data(), 4, MPI_INT32_T,
                             worldSize(), &collective_),
            TORC_ERR_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Forms, RootedCollectives, testing::Bool(),
                         [](const auto& info) { return info.param ? "Rootless" : "Own"; });

TEST(RootlessForms, HaveTheLayoutOfTheRootedOnes) {
  for (const CollectiveRow& row : collectiveRows()) {
    if (!row.rootless) continue;
    const CollectiveRow& rootless = rowOf(*row.rootless);
    EXPECT_TRUE(row.isRooted());
    EXPECT_FALSE(rootless.isRooted());
    EXPECT_EQ(kRootless.at(std::string(row.name)), rootless.name);
    EXPECT_EQ(row.layout, rootless.layout) << "blocks of messages must not depend on the root";
    EXPECT_EQ(row.counts, rootless.counts);
  }
}

}  // namespace
}  // namespace torc::runtime
