// Names, traits and equality of schedules.
#include "schedules/schedule.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

TEST(Schedule, NamesAreDistinct) {
  std::set<std::string_view> collectives, kinds;
  for (int i = 0; i < kCollectiveCount; ++i)
    collectives.insert(rowOf(static_cast<Collective>(i)).name);
  for (int i = 0; i < kOperationKindCount; ++i)
    kinds.insert(name(static_cast<OperationKind>(i)));
  EXPECT_EQ(collectives,
            (std::set<std::string_view>{"allreduce", "reduce_scatter", "allgather", "broadcast",
                                        "alltoall", "reduce", "scatter", "gather", "scan", "exscan",
                                        "neighbor_allgather", "neighbor_alltoall"}));
  EXPECT_EQ(kinds, (std::set<std::string_view>{"send", "recv", "recv_reduce", "reduce", "copy",
                                               "notify", "await"}));
  EXPECT_EQ(name(Buffer::kScratch), "scratch");
}

TEST(Schedule, OwnBlockBuffers) {
  EXPECT_TRUE(rowOf(Collective::kAllreduce).inWhole());
  EXPECT_TRUE(rowOf(Collective::kAllreduce).outWhole());
  EXPECT_FALSE(rowOf(Collective::kReduceScatter).outWhole());
  EXPECT_FALSE(rowOf(Collective::kAllgather).inWhole());
  EXPECT_FALSE(rowOf(Collective::kAllgather).reduces());
  EXPECT_FALSE(rowOf(Collective::kAllgather).isRooted());
  EXPECT_TRUE(rowOf(Collective::kBroadcast).isRooted());
  EXPECT_EQ(rowOf(Collective::kBroadcast).inAt(true), Holds::kWhole);
  EXPECT_EQ(rowOf(Collective::kBroadcast).inAt(false), Holds::kNothing);
  EXPECT_TRUE(rowOf(Collective::kReduce).reduces());
  for (const Collective collective : {Collective::kReduce, Collective::kGather}) {
    const CollectiveRow& row = rowOf(collective);
    EXPECT_TRUE(row.isRooted());
    EXPECT_EQ(row.outAt(true), Holds::kWhole);
    EXPECT_EQ(row.outAt(false), Holds::kNothing);
    EXPECT_TRUE(row.mayBeInPlace(true));
    EXPECT_FALSE(row.mayBeInPlace(false));
  }
  const CollectiveRow& scatter = rowOf(Collective::kScatter);
  EXPECT_TRUE(scatter.isRooted());
  EXPECT_TRUE(scatter.describesOwnOut());
  EXPECT_FALSE(rowOf(Collective::kGather).describesOwnOut());
  EXPECT_TRUE(scatter.mayBeInPlace(true));
  EXPECT_FALSE(scatter.mayBeInPlace(false));
}

TEST(Schedule, CopiesAreEqual) {
  for (const Schedule& schedule : samples::all()) {
    const Schedule copy = schedule;
    EXPECT_TRUE(copy.view() == schedule.view());
  }
}

TEST(Schedule, EveryFieldCounts) {
  const std::function<void(Schedule&)> edits[] = {
      [](Schedule& s) { s.collective = Collective::kReduceScatter; },
      [](Schedule& s) { s.flags = kConflictFreePhases; },
      [](Schedule& s) { s.topology.axes[0].bandwidth = 2; },
      [](Schedule& s) { s.name = "other"; },
      [](Schedule& s) { s.producer += "!"; },
      [](Schedule& s) { s.colors[1].weight = 2; },
      [](Schedule& s) { s.streams[0].core = 1; },
      [](Schedule& s) { s.boxes.back()[0].length = 2; },
      [](Schedule& s) { s.shifts.pop_back(); },
      [](Schedule& s) { s.frames[0].slot = 1; },
      [](Schedule& s) { ++s.slot_count; },
      [](Schedule& s) { s.operations[5].b.frame = 1; },
      [](Schedule& s) { s.dependences.back() = 0; },
  };
  const Schedule schedule = samples::multicolorAllreduce("3x2", 2);
  for (std::size_t i = 0; i < std::size(edits); ++i) {
    Schedule edited = schedule;
    edits[i](edited);
    EXPECT_FALSE(edited.view() == schedule.view()) << "edit " << i;
  }
}

TEST(Schedule, SumsWhole) {
  EXPECT_TRUE(samples::ringReduceScatter(3).view().sumsWhole()) << "of blocks";
  EXPECT_TRUE(samples::meshBroadcast(3).view().sumsWhole());
  EXPECT_FALSE(samples::ringAllreduce(3).view().sumsWhole());
  EXPECT_FALSE(samples::bothWaysReduceScatter().view().sumsWhole()) << "in parts";
  Schedule segments = samples::ringReduceScatter(3);
  segments.segments = 2;
  EXPECT_FALSE(segments.view().sumsWhole());
}

TEST(Schedule, DependencesOfAnOperation) {
  const Schedule schedule = samples::ringAllreduce(4);
  const ScheduleView view = schedule.view();
  EXPECT_EQ(view.dependencesOf(view.operations[0]).size(), 0u);
  ASSERT_EQ(view.dependencesOf(view.operations[2]).size(), 1u);
  EXPECT_EQ(view.dependencesOf(view.operations[2])[0], 1u);
}

}  // namespace
}  // namespace torc
