// All-to-alls with different counts and displacements for each pair: each rank expands the schedule
// for its own row and column only, and all blocks arrive.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "runtime/execution/inprocess_job.h"
#include "schedules/expansion/count_exchange.h"
#include "schedules/expansion/expand.h"
#include "support/message.h"
#include "tests/passes/pass_testing.h"

namespace torc::runtime {
namespace {

using List = std::vector<std::uint64_t>;

Schedule compiled(const char* name, const Topology& topology,
                  const compiler::PipelineOptions& options = {}) {
  llvm::Expected<const compiler::Algorithm*> algorithm = compiler::findAlgorithm(name);
  EXPECT_TRUE(static_cast<bool>(algorithm)) << name;
  llvm::Expected<ir::Program> program =
      compiler::compile({Collective::kAlltoall, topology}, **algorithm,
                        compiler::pipelineOf(**algorithm, options), passes::PassManagerOptions());
  EXPECT_TRUE(static_cast<bool>(program)) << name;
  return std::move(program->schedule);
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

  bool hasOneCount() const { return count_ > 0; }
  const List& row(std::size_t rank) const { return rows_[rank]; }
  const List& column(std::size_t rank) const { return columns_[rank]; }

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

/// What every rank of `schedule` learns of the blocks that pass through it, when all counts of
/// `call` travel by the schedule.
std::vector<PairCounts> exchangeCounts(const Schedule& schedule, const PairCall& call,
                                       JobOptions options, const std::string& what) {
  const ScheduleView view = schedule.view();
  const CountExchange exchange(view);
  const std::size_t ranks = schedule.topology.ranks();
  std::vector<PairCounts> passing(ranks);
  std::vector<FlatProgram> programs;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto program = exchange.expand(static_cast<std::int32_t>(rank));
    EXPECT_TRUE(program.ok()) << what << ": " << program.status().message();
    programs.push_back(std::move(*program));
  }
  options.element_bytes = sizeof(std::uint64_t);
  auto job = InProcessJob::create(programs, options);
  EXPECT_TRUE(job.ok()) << what << ": " << job.status().message();
  const auto numbersOf = [](auto bytes) {
    using Number = std::conditional_t<std::is_const_v<typename decltype(bytes)::element_type>,
                                      const std::uint64_t, std::uint64_t>;
    return std::span(reinterpret_cast<Number*>(bytes.data()), bytes.size() / sizeof(Number));
  };
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::span<std::uint64_t> in = numbersOf((*job)->in(static_cast<std::int32_t>(rank)));
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = CountExchange::numberOf(call.row(rank)[i / exchange.copies()]);
  }
  const Status status = (*job)->run();
  EXPECT_TRUE(status.ok()) << what << ": " << status.message();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto number = static_cast<std::int32_t>(rank);
    const std::span<std::uint64_t> out = numbersOf((*job)->out(number));
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(CountExchange::countOf(out[i]), call.column(rank)[i / exchange.copies()]) << what;
    }
    const Status read = exchange.read(number, numbersOf((*job)->scratch(number)), passing[rank]);
    EXPECT_TRUE(read.ok()) << what << ": " << read.message();
  }
  return passing;
}

void expectAllBlocks(const Schedule& schedule, const PairCall& call, Delivery delivery,
                     std::uint64_t seed, const std::string& what) {
  const std::size_t ranks = schedule.topology.ranks();
  JobOptions options;
  options.delivery = delivery;
  options.seed = seed;
  std::vector<PairCounts> passing;
  if (!call.hasOneCount() && !schedule.view().isDirect())
    passing = exchangeCounts(schedule, call, options, what);
  std::vector<FlatProgram> programs;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Counts counts = call.countsOf(rank);
    if (!passing.empty()) counts.passing = &passing[rank];
    auto program = expand(schedule.view(), static_cast<std::int32_t>(rank), counts);
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
    const Schedule schedule = compiled("direct", *parseTopology(shape));
    for (int round = 0; round < 6; ++round) {
      const PairCall call(schedule.topology.ranks(), round % 2 == 1, ++seed);
      expectAllBlocks(schedule, call, round < 2 ? Delivery::kRendezvous : Delivery::kAdversarial,
                      seed, shape);
    }
  }
}

// A rank that forwards blocks of others is told of none of them.
TEST(PairLists, OthersForwardBlocksOnceTheCountsHaveTravelled) {
  std::uint64_t seed = 200;
  for (const char* name : {"direct", "rotated-rings", "rings", "two-phase", "rotated-two-phase",
                           "virtual-mesh", "bruck"}) {
    for (const char* shape : {"5", "3x2", "4x4", "2x3m", "3x2x2"}) {
      for (const std::uint32_t chunks : {1u, 3u}) {
        compiler::PipelineOptions options;
        options.chunks = chunks;
        const Schedule schedule = compiled(name, *parseTopology(shape), options);
        const std::string what = message(name, " on ", shape, " in ", chunks, " chunks");
        const PairCall untold(schedule.topology.ranks(), false, seed);
        EXPECT_EQ(expand(schedule.view(), 0, untold.countsOf(0)).ok(), schedule.view().isDirect())
            << what;
        for (const bool gaps : {false, true}) {
          // Ranks of a communicator in any order have blocks of one size that do not lie as the
          // torus counts.
          for (const std::uint64_t count : {0, 1, 6, 31}) {
            const PairCall call(schedule.topology.ranks(), gaps, ++seed, count);
            expectAllBlocks(schedule, call, gaps ? Delivery::kAdversarial : Delivery::kRendezvous,
                            seed, what);
          }
        }
      }
    }
  }
  for (const char* name : {"aggregated", "distributed", "leader"}) {
    const Schedule schedule = compiled(name, *parseTopology("3x2+2"));
    expectAllBlocks(schedule, PairCall(12, true, seed), Delivery::kAdversarial, seed, name);
  }
}

TEST(PairLists, AlsoRoundDeadNodes) {
  Topology topology = *parseTopology("4x4");
  ASSERT_TRUE(topology.addDeadNode({1, 2}).ok());
  const Schedule schedule = compiled("balanced-routes", topology);
  for (std::uint64_t seed = 300; seed < 304; ++seed) {
    expectAllBlocks(schedule, PairCall(15, seed % 2 == 0, seed), Delivery::kAdversarial, seed,
                    "dead node");
  }
}

}  // namespace
}  // namespace torc::runtime
