// All-to-alls whose pairs have counts and places of their own: each rank expands the schedule for
// its own row and its own column alone, and all blocks arrive.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "ir/step_builder.h"
#include "runtime/transport/inprocess_job.h"
#include "schedules/expansion/expand.h"
#include "tests/passes/pass_testing.h"

namespace torc {
namespace {

using List = std::vector<std::uint64_t>;

Schedule directSchedule(const std::string& shape) {
  const StatusOr<Topology> topology = parseTopology(shape);
  llvm::Expected<const Algorithm*> algorithm = findAlgorithm("direct");
  EXPECT_TRUE(topology.ok());
  EXPECT_TRUE(static_cast<bool>(algorithm));
  llvm::Expected<Program> program = compile({Collective::kAlltoall, *topology}, **algorithm,
                                            pipelineOf(**algorithm, {}), PassManagerOptions());
  EXPECT_TRUE(static_cast<bool>(program));
  return std::move(program->schedule);
}

/// Blocks go along X, then along the other axes, through nodes between.
Schedule forwardingSchedule(const std::string& shape) {
  Program program;
  program.schedule = scheduleHeader(Collective::kAlltoall, *parseTopology(shape));
  Color color;
  color.axis_count = program.schedule.topology.axis_count;
  for (std::uint32_t axis = 0; axis < color.axis_count; ++axis)
    color.order[axis] = static_cast<std::uint8_t>(axis);
  program.schedule.colors = {color};
  const std::uint32_t others = (1u << color.axis_count) - 2;
  program.plan = {{PlanKind::kExchange, 0, 0, false, 1},
                  {PlanKind::kPhaseBarrier},
                  {PlanKind::kExchange, 0, 0, false, others}};
  EXPECT_EQ(
      runPasses(program, "split-directions,expand-exchanges,infer-dependences,allocate-scratch"),
      "");
  return std::move(program.schedule);
}

/// A call of all ranks: bytes of every pair, and where each rank has its blocks.
class PairCall {
 public:
  /// `gaps`: blocks lie in any order, with room between them. `count`: of all blocks; 0: they
  /// differ.
  PairCall(std::size_t ranks, bool gaps, std::uint64_t seed, std::uint64_t count = 0)
      : random_(seed), count_(count) {
    for (std::size_t r = 0; r < ranks; ++r) {
      List& row = rows_.emplace_back();
      for (std::size_t other = 0; other < ranks; ++other)
        row.push_back(count > 0 ? count : random_() % 3 == 0 ? 0 : random_() % 40);
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      List& column = columns_.emplace_back();
      for (std::size_t other = 0; other < ranks; ++other)
        column.push_back(rows_[other][r]);
      in_places_.push_back(places(rows_[r], gaps));
      out_places_.push_back(places(column, gaps));
    }
    gaps_ = gaps;
  }

  Counts countsOf(std::size_t rank) const {
    Counts counts{.count = count_, .per_rank = {}, .displacements = {}};
    if (count_ == 0) {
      counts.per_rank = columns_[rank];
      counts.in_per_rank = rows_[rank];
    }
    if (!gaps_) return counts;
    counts.displacements = out_places_[rank];
    counts.in_displacements = in_places_[rank];
    return counts;
  }

  void fill(InProcessJob& job, std::size_t rank) const {
    forEach(rows_[rank], in_places_[rank], [&](std::size_t to, std::uint64_t i, std::size_t at) {
      job.in(static_cast<std::int32_t>(rank))[at] = valueOf(rank, to, i);
    });
    std::ranges::fill(job.out(static_cast<std::int32_t>(rank)), kUntouched);
  }

  void expectResult(InProcessJob& job, std::size_t rank, const std::string& what) const {
    const std::span<std::byte> out = job.out(static_cast<std::int32_t>(rank));
    std::vector<std::byte> expected(out.size(), kUntouched);
    forEach(columns_[rank], out_places_[rank],
            [&](std::size_t from, std::uint64_t i, std::size_t at) {
              expected[at] = valueOf(from, rank, i);
            });
    EXPECT_TRUE(std::ranges::equal(out, expected)) << what << ", rank " << rank;
  }

 private:
  static constexpr std::byte kUntouched{0xee};

  List places(const List& counts, bool gaps) {
    List order(counts.size()), places(counts.size());
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    if (gaps) std::ranges::shuffle(order, random_);
    std::uint64_t next = 0;
    for (const std::uint64_t block : order) {
      places[block] = next;
      next += counts[block] + (gaps ? random_() % 4 : 0);
    }
    return places;
  }

  static std::byte valueOf(std::size_t from, std::size_t to, std::uint64_t i) {
    return static_cast<std::byte>((from * 31 + to * 7 + i * 3 + 1) % 200);
  }

  template <typename Visit>
  static void forEach(const List& counts, const List& places, Visit visit) {
    for (std::size_t block = 0; block < counts.size(); ++block) {
      for (std::uint64_t i = 0; i < counts[block]; ++i)
        visit(block, i, places[block] + i);
    }
  }

  std::mt19937_64 random_;
  std::uint64_t count_;
  bool gaps_ = false;
  std::vector<List> rows_, columns_, in_places_, out_places_;
};

void expectAllBlocks(const Schedule& schedule, const PairCall& call, Delivery delivery,
                     std::uint64_t seed, const std::string& what) {
  const std::size_t ranks = schedule.topology.ranks();
  JobOptions options;
  options.delivery = delivery;
  options.seed = seed;
  std::vector<FlatProgram> programs;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto program = expand(schedule.view(), static_cast<std::int32_t>(rank), call.countsOf(rank));
    ASSERT_TRUE(program.ok()) << what << ": " << program.status().message();
    programs.push_back(std::move(*program));
  }
  auto job = InProcessJob::create(programs, options);
  ASSERT_TRUE(job.ok()) << job.status().message();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    call.fill(**job, rank);
  const Status status = (*job)->run();
  ASSERT_TRUE(status.ok()) << what << ": " << status.message();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    call.expectResult(**job, rank, what);
}

TEST(PairLists, AllBlocksArriveWhereverTheyLie) {
  std::uint64_t seed = 0;
  for (const char* shape :
       {"1", "2", "3", "4", "5m", "3x2", "4x4", "2x3m", "2x2x2", "3x2+2", "4m+3", "2x2x2x2"}) {
    const Schedule schedule = directSchedule(shape);
    for (int round = 0; round < 6; ++round) {
      const PairCall call(schedule.topology.ranks(), round % 2 == 1, ++seed);
      expectAllBlocks(schedule, call, round < 2 ? Delivery::kRendezvous : Delivery::kAdversarial,
                      seed, shape);
    }
  }
}

// Ranks of a communicator in any order have blocks of one size that do not lie as the torus counts.
TEST(PairLists, BlocksOfOneSizeMayLieAnywhereAlsoWhereOthersForwardThem) {
  std::uint64_t seed = 100;
  for (const char* shape : {"3x2", "4x4", "2x3mx2", "3x2+2"}) {
    const Schedule schedule = forwardingSchedule(shape);
    EXPECT_FALSE(schedule.view().isDirect());
    for (const std::uint64_t count : {1, 6, 31}) {
      for (const bool gaps : {false, true}) {
        const PairCall call(schedule.topology.ranks(), gaps, ++seed, count);
        expectAllBlocks(schedule, call, Delivery::kAdversarial, seed, shape);
      }
    }
  }
}

}  // namespace
}  // namespace torc
