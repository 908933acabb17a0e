// allocate-scratch: how many slots there are, and that no two frames are ever in one at a time.
#include <gtest/gtest.h>

#include "tests/passes/pass_testing.h"

namespace torc::passes {
namespace {

std::uint32_t slotsOf(Collective collective, llvm::StringRef shape, llvm::StringRef pipeline) {
  ir::Program program = bucketPlan(collective, shape);
  EXPECT_EQ(runPasses(program, pipeline), "");
  EXPECT_EQ(faultOf(program), "");
  return program.schedule.slot_count;
}

TEST(AllocateScratch, ARingNeedsAsManySlotsAsReceivesPostedAhead) {
  for (const char* by : {"region", "phase"}) {
    const std::string before = "expand-rings,coalesce,infer-dependences{by=" + std::string(by) +
                               "},allocate-scratch{depth=";
    for (std::uint32_t depth = 1; depth <= 6; ++depth) {
      EXPECT_EQ(slotsOf(Collective::kAllreduce, "16", before + std::to_string(depth) + "}"), depth);
    }
  }
}

TEST(AllocateScratch, SlotsDoNotGrowWithTheRing) {
  const char* pipeline = "expand-rings,coalesce,infer-dependences,allocate-scratch";
  for (const Collective collective : {Collective::kAllreduce, Collective::kReduceScatter}) {
    for (const char* kind : {"", "m"}) {
      const std::uint32_t small = slotsOf(collective, "9" + std::string(kind), pipeline);
      EXPECT_EQ(slotsOf(collective, "30" + std::string(kind), pipeline), small);
    }
  }
}

TEST(AllocateScratch, AnAllgatherNeedsNone) {
  EXPECT_EQ(slotsOf(Collective::kAllgather, "4x3",
                    "assign-colors,assign-permutations,split-directions,expand-rings,coalesce,"
                    "infer-dependences,allocate-scratch"),
            0u);
}

TEST(AllocateScratch, NoReceiveWaitsForASendOfItsStep) {
  // With one slot per ring and rendezvous a receive that waited for the send of the same step would
  // close the ring; the proof of progress would fail.
  for (const char* shape : {"2", "3", "8", "8m", "4x3", "4mx3m", "4x3m+2"}) {
    for (const Collective collective : bucketCollectives()) {
      for (const char* before : {"", "infer-dependences,", "infer-dependences{by=phase},",
                                 "coalesce,", "coalesce,infer-dependences,"}) {
        slotsOf(collective, shape,
                "assign-colors,assign-permutations,split-directions,expand-rings," +
                    std::string(before) + "allocate-scratch{depth=1}");
      }
    }
  }
}

}  // namespace
}  // namespace torc::passes
