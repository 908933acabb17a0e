// Segments: a schedule in segments is equivalent to its unrolled form.
#include "ir/segments/segments.h"

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/expand.h"
#include "schedules/validation/validate.h"

namespace torc::ir {
namespace {

Schedule compiled(Collective collective, const char* shape, const char* name,
                  std::uint32_t segments, std::uint32_t window) {
  const compiler::CollectiveSpec spec{collective, *parseTopology(shape)};
  const compiler::Algorithm& algorithm = *cantFail(compiler::findAlgorithm(name));
  passes::PassPipeline pipeline = compiler::uncutPipeline(algorithm, {});
  pipeline.add(passes::SegmentPass{.segments = segments, .window = window});
  return cantFail(compiler::compile(spec, algorithm, pipeline, passes::PassManagerOptions()))
      .schedule;
}

std::vector<Extent> extentsOf(const FlatProgram& program, const FlatRegion& region) {
  const ExtentRange extents = program.extentsOf(region);
  std::vector<Extent> list;
  for (const Extent& extent : extents)
    list.push_back(extent);
  return list;
}

void expectSameProgram(const FlatProgram& one, const FlatProgram& other) {
  EXPECT_EQ(one.in_elements, other.in_elements);
  EXPECT_EQ(one.out_elements, other.out_elements);
  EXPECT_EQ(one.tag_count, other.tag_count);
  ASSERT_EQ(one.operations.size(), other.operations.size());
  for (std::size_t i = 0; i < one.operations.size(); ++i) {
    const FlatOperation& a = one.operations[i];
    const FlatOperation& b = other.operations[i];
    EXPECT_EQ(a.kind, b.kind) << i;
    EXPECT_EQ(a.peer, b.peer) << i;
    EXPECT_EQ(a.tag, b.tag) << i;
    const auto one_after = one.dependencesOf(a);
    const auto other_after = other.dependencesOf(b);
    EXPECT_TRUE(std::ranges::equal(one_after, other_after)) << i;
    for (const auto& [mine, its] : {std::pair(&a.dst, &b.dst), std::pair(&a.a, &b.a)}) {
      EXPECT_EQ(mine->buffer, its->buffer) << i;
      EXPECT_EQ(mine->elements, its->elements) << i;
      // Copies of a slot are as large as in the largest segment, frames of their own as they are.
      if (mine->buffer == Buffer::kScratch) continue;
      EXPECT_EQ(extentsOf(one, *mine), extentsOf(other, *its)) << i;
    }
  }
}

TEST(Segments, ExpandToWhatTheyAreWrittenOut) {
  for (const auto& [collective, algorithm] :
       {std::pair(Collective::kBroadcast, "rectangular"),
        std::pair(Collective::kReduce, "rectangular"),
        std::pair(Collective::kBroadcast, "dimension-tree")}) {
    const Schedule schedule = compiled(collective, "4x3", algorithm, 5, 2);
    EXPECT_EQ(schedule.segments, 5u);
    const Schedule unrolled = unrollSegments(schedule.view(), 5);
    ASSERT_TRUE(validate(unrolled.view()).ok()) << validate(unrolled.view()).message();
    EXPECT_EQ(unrolled.operations.size(), 5 * schedule.operations.size());
    for (const std::uint64_t count : {0u, 1u, 7u, 97u, 1000u}) {
      for (std::int32_t rank = 0; rank < 12; ++rank) {
        const auto one = expand(schedule.view(), rank, Counts{count, {}, {}}, false, 5);
        const auto other = expand(unrolled.view(), rank, Counts{count, {}, {}}, false, 5);
        ASSERT_TRUE(one.ok() && other.ok());
        expectSameProgram(*one, *other);
      }
    }
  }
}

TEST(Segments, AllAreProvedByAsManyAsTheWindowHasAndOne) {
  for (const std::uint32_t window : {1u, 2u, 4u}) {
    const Schedule schedule = compiled(Collective::kReduce, "4x3x2", "rectangular", 9, window);
    EXPECT_EQ(segmentsToProve(schedule.view()), window + 1);
    const VerifyResult some = verify(schedule.view());
    ASSERT_TRUE(some.ok()) << some.faults.front().message;
    const Schedule unrolled = unrollSegments(schedule.view(), 9);
    const VerifyResult all = verify(unrolled.view());
    ASSERT_TRUE(all.ok()) << all.faults.front().message;
    // The links' loads are those of all segments; scratch is `window` copies of it.
    double load = 0;
    for (const LinkLoad& link : all.loads) {
      if (link.axis == 0 && link.sign == 1) load += link.share;
    }
    EXPECT_NEAR(some.loads.front().share, load, 1e-12);
    EXPECT_NEAR(some.scratch_share, all.scratch_share, 1e-12);
  }
}

/// `schedule` without the dependences on earlier segments that `wanted` admits.
template <typename Wanted>
Schedule without(const Schedule& schedule, Wanted wanted) {
  Schedule result = schedule;
  result.dependences.clear();
  for (Operation& operation : result.operations) {
    const auto before = schedule.view().dependencesOf(operation);
    operation.first_dependence = static_cast<std::uint32_t>(result.dependences.size());
    for (const std::uint32_t dependence : before) {
      if (!wanted(operation, dependence)) result.dependences.push_back(dependence);
    }
    operation.dependence_count =
        static_cast<std::uint32_t>(result.dependences.size()) - operation.first_dependence;
  }
  return result;
}

TEST(Segments, ScratchThatIsTakenTooEarlyIsARace) {
  const Schedule schedule = compiled(Collective::kReduce, "4x3", "rectangular", 9, 2);
  const Schedule racing =
      without(schedule, [](const Operation& operation, std::uint32_t dependence) {
        return !sends(operation.kind) && iterationsOf(dependence) > 0;
      });
  const VerifyResult proof = verify(racing.view());
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.faults.front().rule, Rule::kRaces);
  EXPECT_LT(proof.faults.front().operation, racing.operations.size());
}

TEST(Segments, NeedNoOrderWhereTheyShareNothing) {
  const Schedule schedule = compiled(Collective::kBroadcast, "4x3", "rectangular", 9, 2);
  const Schedule free = without(schedule, [](const Operation&, std::uint32_t dependence) {
    return iterationsOf(dependence) > 0;
  });
  EXPECT_TRUE(verify(free.view()).ok());
}

TEST(Segments, AreSimulatedInPartWhereTheyAreMany) {
  const Schedule schedule = compiled(Collective::kBroadcast, "8x8x8", "rectangular", 1000, 4);
  EXPECT_EQ(segmentsToSimulate(schedule.view(), 1e9), 1000u);
  EXPECT_EQ(segmentsToSimulate(schedule.view(), 100), 100u);
  EXPECT_EQ(segmentsToSimulate(schedule.view(), 1), 2u);
}

}  // namespace
}  // namespace torc::ir
