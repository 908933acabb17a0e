// infer-dependences against a search by brute force: on every node, all pairs of operations, block
// by block. allocate-scratch: the number of slots, and at most one frame in each at a time.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ir/segments/segments.h"
#include "schedules/root.h"
#include "tests/ir/random_schedule.h"
#include "tests/passes/pass_testing.h"

namespace torc::passes {
namespace {

using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // later, earlier

/// One block of memory, as a node sees it.
struct Cell {
  std::string storage;
  std::uint32_t part;
  std::int32_t block;  // number of the block; kSlot: the slot of a frame as a whole
  std::string user;    // what must be equal for two users to see different blocks as different
  bool writes;
  bool copies_in;
  Buffer buffer;

  auto place() const { return std::tie(storage, part, block); }
};
constexpr std::int32_t kSlot = -1;

/// In order of places.
std::vector<Cell> cellsOf(const ScheduleView& schedule, const Operation& operation,
                          const Coordinates& at) {
  std::vector<Cell> cells;
  const bool copies_in = operation.kind == OperationKind::kCopy &&
                         operation.a.buffer == Buffer::kIn && operation.dst.buffer == Buffer::kOut;
  auto addPiece = [&](const Region& region, const Piece& piece, std::uint32_t part, bool writes) {
    std::string storage = "p" + std::to_string(part), user;
    if (region.buffer == Buffer::kScratch) {
      storage = "slot " + std::to_string(schedule.frames[region.frame].slot);
      user = std::to_string(region.frame);
    } else {
      const bool aliases = rowOf(schedule.collective).inPlaceAliases();
      storage += aliases ? " buffer" : " " + std::string(name(region.buffer));
    }
    const BlockAxes axes = schedule.blockAxes();
    const BlockRanges ranges = schedule.blocksOf(piece.box, at);
    const std::uint64_t blocks = volume(axes.all(), axes);
    for (std::uint64_t number = 0; number < blocks; ++number) {
      std::uint64_t rest = number;
      bool inside = true;
      for (std::uint32_t i = 0; i < axes.count(); ++i) {
        inside &=
            contains(ranges[i], static_cast<std::uint32_t>(rest % axes.size(i)), axes.size(i));
        rest /= axes.size(i);
      }
      const auto block = static_cast<std::int32_t>(number);
      if (inside) cells.push_back({storage, part, block, user, writes, copies_in, region.buffer});
    }
  };
  auto add = [&](const Region& region, bool writes) {
    if (!region.present()) return;
    if (region.buffer == Buffer::kScratch) {
      cells.push_back({"slot " + std::to_string(schedule.frames[region.frame].slot), 0, kSlot,
                       std::to_string(region.frame), writes, copies_in, region.buffer});
    }
    for (const Piece& piece : schedule.piecesOf(region)) {
      for (std::uint32_t part = piece.part; part < piece.part + piece.parts; ++part)
        addPiece(region, piece, part, writes);
    }
  };
  add(operation.dst, true);
  add(operation.a, false);
  add(operation.b, operation.kind == OperationKind::kRecvReduce);
  std::ranges::sort(cells, {}, &Cell::place);
  return cells;
}

/// Whether two users of one place conflict.
bool conflict(const Cell& a, const Cell& b) {
  if (!a.writes && !b.writes) return false;
  if (a.user != b.user) return true;  // two frames in one slot
  if (a.buffer != b.buffer && (a.copies_in || b.copies_in)) return false;
  return a.block != kSlot;
}

bool conflict(const std::vector<Cell>& all, const std::vector<Cell>& others) {
  auto from = others.begin();
  for (const Cell& cell : all) {
    while (from != others.end() && from->place() < cell.place())
      ++from;
    for (auto other = from; other != others.end() && other->place() == cell.place(); ++other) {
      if (conflict(cell, *other)) return true;
    }
  }
  return false;
}

/// All pairs of operations that conflict on some node.
Pairs conflictsByBruteForce(const ScheduleView& schedule) {
  Pairs pairs;
  for (std::uint64_t rank = 0; rank < schedule.topology.ranks(); ++rank) {
    const Coordinates at = schedule.topology.coordinatesOf(static_cast<std::int32_t>(rank));
    std::vector<std::vector<Cell>> cells(schedule.operations.size());
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      if (operation.guard != kNone &&
          !admits(schedule.boxes[operation.guard], schedule.topology, at)) {
        continue;
      }
      cells[i] = cellsOf(schedule, operation, at);
      for (std::uint32_t j = 0; j < i; ++j) {
        if (conflict(cells[i], cells[j])) pairs.insert({i, j});
      }
    }
  }
  return pairs;
}

Pairs dependencesOf(const ScheduleView& schedule) {
  Pairs pairs;
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    for (const std::uint32_t d : schedule.dependencesOf(schedule.operations[i])) {
      pairs.insert({i, d});
    }
  }
  return pairs;
}

/// Everything that follows from `pairs` by transitivity.
Pairs closureOf(const Pairs& pairs, std::size_t operations) {
  std::vector<std::set<std::uint32_t>> ancestors(operations);
  for (const auto& [later, earlier] : pairs) {  // in ascending order of `later`
    ancestors[later].insert(earlier);
    ancestors[later].insert(ancestors[earlier].begin(), ancestors[earlier].end());
  }
  Pairs closure;
  for (std::uint32_t i = 0; i < operations; ++i) {
    for (const std::uint32_t ancestor : ancestors[i])
      closure.insert({i, ancestor});
  }
  return closure;
}

/// Checks what by=region made of `program`.
void expectExact(const ir::Program& program) {
  const ScheduleView schedule = program.schedule.view();
  const std::size_t count = schedule.operations.size();
  const Pairs conflicts = conflictsByBruteForce(schedule);
  const Pairs inferred = dependencesOf(schedule);
  for (const auto& pair : inferred) {
    EXPECT_TRUE(conflicts.count(pair))
        << pair.first << " does not conflict with " << pair.second << '\n'
        << textOf(program);
  }
  ASSERT_EQ(closureOf(inferred, count), closureOf(conflicts, count)) << textOf(program);
  for (const auto& pair : inferred) {
    Pairs others = inferred;
    others.erase(pair);
    EXPECT_FALSE(closureOf(others, count).count(pair))
        << pair.first << " after " << pair.second << " is implied by others";
  }
}

TEST(InferDependences, ByRegionIsExactForBuckets) {
  for (const char* shape : {"1", "2", "4", "4m", "3x2", "3mx2", "2m+2"}) {
    for (const Collective collective : bucketCollectives()) {
      for (const char* before : {"expand-rings", "expand-rings,coalesce",
                                 "expand-rings,coalesce,allocate-scratch{depth=1}"}) {
        ir::Program program = bucketPlan(collective, shape);
        SCOPED_TRACE(program.schedule.name + " on " + shape + " after " + before);
        ASSERT_EQ(runPasses(program, std::string(before) + ",infer-dependences"), "");
        expectExact(program);
      }
    }
  }
}

RC_GTEST_PROP(InferDependences, ByRegionIsExactForAnySchedule, ()) {
  ir::Program program;
  program.schedule = ir::randomSchedule([](std::int64_t lowest, std::int64_t highest) {
    return *rc::gen::inRange<std::int64_t>(lowest, highest + 1);
  });
  // Passes that come before segments see none.
  if (program.schedule.segments > 1) {
    program.schedule = ir::unrollSegments(program.schedule.view(), program.schedule.segments);
  }
  const BlockAxes axes = program.schedule.view().blockAxes();
  RC_PRE(volume(axes.all(), axes) <= 400);
  RC_PRE(program.schedule.peer_loops.empty());             // more blocks may be named than are read
  RC_PRE(!hasRootRelativeGuard(program.schedule.view()));  // taken to admit everyone
  RC_ASSERT(runPasses(program, "infer-dependences") == "");
  expectExact(program);
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(InferDependences, ByPhaseDrawsBarriersOverAllStreams) {
  ir::Program program = bucketPlan(Collective::kAllreduce, "3x4");
  ASSERT_EQ(runPasses(program,
                      "assign-colors,assign-permutations,expand-rings,coalesce,pipeline{chunks=2},"
                      "infer-dependences{by=phase}"),
            "");
  EXPECT_EQ(faultOf(program), "");
  const ScheduleView schedule = program.schedule.view();
  const Pairs closure = closureOf(dependencesOf(schedule), schedule.operations.size());
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      if (schedule.operations[j].phase < schedule.operations[i].phase) {
        EXPECT_TRUE(closure.count({i, j})) << i << " does not wait for " << j;
      }
    }
  }
}

TEST(InferDependences, ByRegionLetsStreamsGoTheirOwnWays) {
  ir::Program program = bucketPlan(Collective::kAllreduce, "3x4");
  ASSERT_EQ(runPasses(program,
                      "assign-colors,assign-permutations,split-directions,expand-rings,"
                      "coalesce,infer-dependences"),
            "");
  const ScheduleView schedule = program.schedule.view();
  for (const auto& [later, earlier] : dependencesOf(schedule)) {
    EXPECT_EQ(schedule.operations[later].stream, schedule.operations[earlier].stream);
  }
}

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
