// Ranges of sizes, their schedules and their spares.
#include "compiler/library/ranges.h"

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/make_error.h"
#include "ir/verifier/verifier.h"
#include "model/simulator/simulator.h"
#include "schedules/format/file.h"
#include "tests/compiler/library/found_ranges.h"

namespace torc::compiler {
namespace {

TEST(RangeFinder, RangesCoverAllSizesInOrder) {
  const PlannedShape shape = shapeFor("4x4");
  for (int i = 0; i < kCollectiveCount; ++i) {
    const Found found = rangesOf(shape, static_cast<Collective>(i), {0, 16 << 20});
    ASSERT_FALSE(found.ranges.empty());
    EXPECT_EQ(found.ranges.back().highest, kOpenEnd);
    EXPECT_EQ(found.ranges.back().predicted_to, 16u << 20);
    for (std::size_t j = 0; j < found.ranges.size(); ++j) {
      const ScheduleRange& range = found.ranges[j];
      EXPECT_EQ(range.lowest, j == 0 ? 0 : found.ranges[j - 1].highest + 1);
      EXPECT_TRUE(found.files.contains(range.file_name));
      EXPECT_GT(range.lowest_s, 0);
      EXPECT_GE(range.highest_s, range.lowest_s);
      EXPECT_GE(range.lowest_s, range.lowest_bound_s * 0.999);
      EXPECT_FALSE(range.choices.empty());
      for (const SizedChoice& sized : range.choices) {
        EXPECT_GE(sized.bytes, range.lowest);
        EXPECT_LE(sized.bytes, range.highest);
      }
    }
  }
}

/// The schedule that is kept for no size, before the ranges of sizes.
LoadedSchedule withoutSize(Collective collective) {
  const Found found = rangesOf(shapeFor("4x3"), collective, {64, 1 << 20});
  EXPECT_GE(found.ranges.size(), 2u);
  const ScheduleRange& first = found.ranges.front();
  EXPECT_EQ(first.lowest, kNoSize);
  EXPECT_EQ(first.highest, kNoSize);
  EXPECT_EQ(found.ranges.at(1).lowest, 64u);
  auto schedule = readSchedule(found.files.at(first.file_name), first.file_name);
  EXPECT_TRUE(schedule.ok()) << schedule.status().message();
  return std::move(*schedule);
}

TEST(RangeFinder, AnAllreduceInTheOrderOfRanksIsKeptForOperationsThatDoNotCommute) {
  EXPECT_NE(withoutSize(Collective::kAllreduce).view().flags & kOrderedSums, 0u);
}

TEST(RangeFinder, ADirectAlltoallIsKeptForCountsThatDiffer) {
  EXPECT_TRUE(withoutSize(Collective::kAlltoall).view().isDirect());
}

/// For sizes of all kinds, also between those that were looked at, the schedule that the ranges
/// name is nearly as good as what would be chosen for the size.
TEST(RangeFinder, NearlyAsGoodAsTheChoiceOfEverySize) {
  const PlannedShape shape = shapeFor("4x4");
  const Found found = rangesOf(shape, Collective::kAllreduce, {1, 16 << 20});
  EXPECT_GT(found.ranges.size(), 1u);  // small and large vectors are not alike
  CompileCache programs({Collective::kAllreduce, shape.topology});
  for (double size = 7; size < 16 << 20; size *= 3.7) {
    const auto bytes = static_cast<std::uint64_t>(size);
    const auto range = std::find_if(found.ranges.begin(), found.ranges.end(),
                                    [&](const ScheduleRange& of) { return bytes <= of.highest; });
    ASSERT_NE(range, found.ranges.end());
    const Choice choice =
        cantFail(choose(programs, shape.machine, static_cast<double>(bytes), ChoiceLimits{}));
    StatusOr<LoadedSchedule> loaded =
        readSchedule(found.files.at(range->file_name), range->file_name);
    ASSERT_TRUE(loaded.ok());
    model::SimulateOptions options;
    options.bytes = static_cast<double>(bytes);
    options.per_rank = choice.best().per_rank;
    const double time =
        cantFail(model::simulate(loaded->view(), shape.machine, options)).makespan_s;
    EXPECT_LT(time, 1.06 * choice.best().predicted_s) << bytes << ", " << range->reason;
  }
}

/// A schedule that is good for more sizes does not take the place of one between neighbours, which
/// nothing else on the network slows down.
TEST(RangeFinder, KeepsToNeighboursWhereTheChoiceDoes) {
  const Found found = rangesOf(shapeFor("8x4"), Collective::kAlltoall, {64, 16 << 20});
  std::size_t neighbours = 0;
  for (const ScheduleRange& range : found.ranges) {
    for (const SizedChoice& sized : range.choices) {
      if (sized.choice.best().leaves_neighbours) continue;
      ++neighbours;
      EXPECT_FALSE(range.chosen.leaves_neighbours) << sized.bytes << ", " << range.reason;
    }
  }
  EXPECT_GT(neighbours, 0u);
}

/// At a border neither schedule is much better than the other, and both take what is said.
TEST(RangeFinder, BordersAreWhereTimesCross) {
  const PlannedShape shape = shapeFor("4x4");
  const Found found = rangesOf(shape, Collective::kReduce, {1, 16 << 20});
  const auto simulated = [&](const ScheduleRange& range, std::uint64_t bytes) {
    StatusOr<LoadedSchedule> loaded =
        readSchedule(found.files.at(range.file_name), range.file_name);
    model::SimulateOptions options;
    options.bytes = static_cast<double>(bytes);
    return cantFail(model::simulate(loaded->view(), shape.machine, options)).makespan_s;
  };
  ASSERT_GT(found.ranges.size(), 1u);
  for (std::size_t i = 1; i < found.ranges.size(); ++i) {
    const ScheduleRange &below = found.ranges[i - 1], &above = found.ranges[i];
    const double below_s = simulated(below, above.lowest);
    const double above_s = simulated(above, above.lowest);
    EXPECT_LT(std::abs(std::log(above_s / below_s)), std::log(1.1)) << above.lowest;
    EXPECT_LT(std::abs(std::log(below.highest_s / below_s)), std::log(1.1)) << above.lowest;
    EXPECT_LT(std::abs(std::log(above.lowest_s / above_s)), std::log(1.1)) << above.lowest;
  }
}

/// Vectors below one element a block are predicted as that: borders above do not depend on where
/// the sizes that are looked at begin.
TEST(RangeFinder, BordersDoNotDependOnSmallerSizes) {
  const PlannedShape shape = shapeFor("8x8");
  const auto borders = [&](std::uint64_t lowest) {
    std::vector<std::uint64_t> found;
    for (const ScheduleRange& range :
         rangesOf(shape, Collective::kAllgather, {lowest, 1 << 20}).ranges)
      found.push_back(range.lowest);
    found.erase(found.begin());
    return found;
  };
  const std::vector<std::uint64_t> from_one_element = borders(4 * 64);
  EXPECT_FALSE(from_one_element.empty());
  EXPECT_EQ(borders(1), from_one_element);
}

TEST(RangeFinder, FileThatCannotBeWrittenIsAnError) {
  const FileSink sink = [](const std::string& name, std::span<const std::byte>) {
    return makeError("no room for " + name);
  };
  EXPECT_THAT(errorOf(shapeFor("4"), Collective::kAllgather, {1, 64}, 1, 1, sink),
              testing::StartsWith("allgather on 4: no room for allgather-4-"));
}

std::vector<std::pair<std::string, std::string>> sparesOfAll(const Found& found) {
  std::vector<std::pair<std::string, std::string>> spares;
  for (const ScheduleRange& range : found.ranges) {
    for (const SpareSchedule& spare : range.spares)
      spares.emplace_back(spare.file, spare.description);
  }
  return spares;
}

TEST(RangeFinder, SparesAreOtherProvedSchedules) {
  const PlannedShape shape = shapeFor("4x4");
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    const Found alone = rangesOf(shape, collective, {1, 1 << 20});
    const Found found = rangesOf(shape, collective, {1, 1 << 20}, 4, 7);
    EXPECT_TRUE(sparesOfAll(alone).empty());
    ASSERT_EQ(found.ranges.size(), alone.ranges.size());
    for (std::size_t j = 0; j < found.ranges.size(); ++j) {
      const ScheduleRange& range = found.ranges[j];
      EXPECT_EQ(range.file_name, alone.ranges[j].file_name);
      EXPECT_EQ(range.reason, alone.ranges[j].reason);
      EXPECT_EQ(range.lowest_s, alone.ranges[j].lowest_s);
      EXPECT_LE(range.spares.size(), 3u);
      const bool has_others = !rowOf(collective).isOfNeighbours();
      EXPECT_EQ(range.spares.empty(), range.highest == kNoSize || !has_others) << range.reason;
      std::set<std::string> files = {range.file_name};
      for (const SpareSchedule& spare : range.spares) {
        EXPECT_TRUE(files.insert(spare.file).second) << spare.description;
        const auto schedule = readSchedule(found.files.at(spare.file), spare.file);
        ASSERT_TRUE(schedule.ok()) << schedule.status().message();
        EXPECT_EQ(schedule->view().collective, collective);
        EXPECT_TRUE(ir::verify(schedule->view()).ok()) << spare.description;
      }
    }
    // Whatever the number of threads.
    if (collective != Collective::kAllreduce && collective != Collective::kScatter) continue;
    const Found again = rangesOf(shape, collective, {1, 1 << 20}, 4, 1);
    EXPECT_EQ(again.files, found.files);
    EXPECT_EQ(sparesOfAll(again), sparesOfAll(found));
  }
}

/// A candidate that is predicted to take so many seconds.
Candidate candidateOf(const char* algorithm, std::uint32_t chunks, double seconds) {
  Candidate candidate;
  candidate.algorithm = cantFail(findAlgorithm(algorithm));
  candidate.options.chunks = chunks;
  candidate.predicted_s = seconds;
  return candidate;
}

TEST(Spares, TheBestOfEachAlgorithmThenTheFastest) {
  ScheduleRange range;
  range.chosen = candidateOf("bfb", 1, 1);
  Candidate refused = candidateOf("recursive-doubling", 1, 1);
  refused.refusal = "is not for this shape";
  range.choices.push_back({.bytes = 1,
                           .bound_s = 0,
                           .choice = {.candidates = {range.chosen, candidateOf("bfb", 2, 1.25),
                                                     candidateOf("bucket-1d", 1, 2.5), refused},
                                      .built = 0}});
  range.choices.push_back(
      {.bytes = 4,
       .bound_s = 0,
       .choice = {.candidates = {candidateOf("bfb", 1, 2), candidateOf("bfb", 4, 3),
                                 candidateOf("bucket-1d", 2, 4), candidateOf("bucket-1d", 1, 4.5),
                                 candidateOf("bfb", 8, 6.5)},
                  .built = 0}});
  const auto spares = [&](std::size_t count) {
    std::string text;
    for (const Candidate& candidate : sparesOf(range, count)) {
      text += std::string(candidate.algorithm->name) + " " +
              std::to_string(candidate.options.chunks) + ", ";
    }
    return text;
  };
  EXPECT_EQ(spares(0), "");
  EXPECT_EQ(spares(1), "bucket-1d 2, ");
  EXPECT_EQ(spares(2), "bucket-1d 2, bfb 2, ");
  EXPECT_EQ(spares(3), "bucket-1d 2, bfb 2, bfb 4, ");
  EXPECT_EQ(spares(9), "bucket-1d 2, bfb 2, bfb 4, bucket-1d 1, ");  // 2.25 times the best of 4
}

/// A spare that is not proved is left out; one that cannot be written is an error as any file is.
TEST(RangeFinder, SpareThatCannotBeWrittenIsAnError) {
  const PlannedShape shape = shapeFor("4");
  const Found alone = rangesOf(shape, Collective::kAllgather, {1, 64});
  const FileSink sink = [&](const std::string& name, std::span<const std::byte>) -> llvm::Error {
    if (alone.files.contains(name)) return llvm::Error::success();
    return makeError("no room for " + name);
  };
  EXPECT_THAT(errorOf(shape, Collective::kAllgather, {1, 64}, 3, 2, sink),
              testing::StartsWith("allgather on 4: no room for allgather-4-"));
}

}  // namespace
}  // namespace torc::compiler
