#include "tests/compiler/algorithms/checks.h"

#include <cstring>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "runtime/execution/inprocess_job.h"
#include "schedules/expansion/expand.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc::compiler {
namespace {

/// Consecutive ranks, or, where those that were combined do not follow one another, none.
struct RankRun {
  std::int32_t first, end;
};

void combine(void* dst, const void* a, const void* b, std::size_t count, const void*) {
  for (std::size_t i = 0; i < count; ++i) {
    const RankRun low = static_cast<const RankRun*>(a)[i], high = static_cast<const RankRun*>(b)[i];
    static_cast<RankRun*>(dst)[i] =
        low.end == high.first ? RankRun{low.first, high.end} : RankRun{-1, -2};
  }
}

}  // namespace

Schedule compiledBy(llvm::StringRef name, Collective collective, const Topology& topology,
                    const PipelineOptions& options) {
  const llvm::ExitOnError checked("compiledBy: ");  // cantFail goes on if assertions are off
  const Algorithm& algorithm = *checked(findAlgorithm(name));
  return checked(compile({collective, topology}, algorithm, pipelineOf(algorithm, options),
                         passes::PassManagerOptions()))
      .schedule;
}

Schedule compiledInSegments(llvm::StringRef name, Collective collective, const Topology& topology,
                            std::uint32_t segments) {
  return compiledBy(name, collective, topology, {.chunks = segments});
}

void expectProofAndRuns(const ScheduleView& schedule) {
  for (const bool per_rank : {false, true}) {
    const ir::VerifyResult proof = ir::verify(schedule, {.per_rank = per_rank});
    ASSERT_TRUE(proof.ok()) << proof.faults.front().message;
  }
  const StatusOr<ir::CountedResult> counted = ir::proveCounted(schedule, 13);
  ASSERT_TRUE(counted.ok()) << counted.status().message();
  EXPECT_EQ(counted->fault, "");
  const CollectiveRow& row = rowOf(schedule.collective);
  const bool is_of_blocks = row.isRooted() && row.layout == Layout::kBlockMajor;
  const std::uint64_t ranks = schedule.topology.ranks();
  for (std::uint64_t root = 0; root < (row.isRooted() ? ranks : 1); ++root) {
    for (const bool in_place : {false, true}) {
      CheckedCall call;
      call.count = is_of_blocks ? 29 : 197;
      // For other collectives the runtime takes a copy.
      call.in_place = in_place && row.inPlaceAliases();
      call.root = static_cast<std::int32_t>(root);
      call.delivery = in_place ? runtime::Delivery::kRendezvous : runtime::Delivery::kAdversarial;
      EXPECT_EQ(runChecked(schedule, call), "") << "root " << root;
      if (!is_of_blocks) continue;
      for (std::uint64_t r = 0; r < ranks; ++r)
        call.per_rank.push_back((r * 7 + root) % 5 * 6);
      EXPECT_EQ(runChecked(schedule, call), "") << "counts that differ, root " << root;
    }
  }
}

void expectArcDisjointTrees(const ScheduleView& schedule, std::int32_t root, std::uint64_t trees) {
  const std::uint64_t ranks = schedule.topology.ranks();
  // Who sends to whom for which color: as the two cables of a ring of two join the same nodes, the
  // direction is part of it.
  std::set<std::tuple<std::int32_t, std::int32_t, std::uint32_t>> arcs;
  std::set<std::pair<std::int32_t, std::uint32_t>> reached;  // a node in a tree
  const bool reduces = rowOf(schedule.collective).reduces();
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const auto program =
        expand(schedule, static_cast<std::int32_t>(rank), Counts{1000, {}, {}}, false, root);
    ASSERT_TRUE(program.ok());
    for (const FlatOperation& operation : program->operations) {
      if (operation.kind != OperationKind::kSend) continue;
      const std::uint32_t shift = schedule.operations[operation.source].peer;
      EXPECT_TRUE(arcs.emplace(program->rank, operation.peer, shift).second)
          << program->rank << " to " << operation.peer;
      const std::int32_t child = reduces ? program->rank : operation.peer;
      EXPECT_TRUE(reached.emplace(child, operation.stream).second) << child;
      EXPECT_NE(child, root);
    }
  }
  EXPECT_EQ(reached.size(), (ranks - 1) * trees);
}

void expectRanksInOrder(const Schedule& schedule) {
  constexpr std::uint64_t kElements = 5;
  auto job = runtime::InProcessJob::create(
      schedule.view(), {kElements, {}, {}},
      {.element_bytes = sizeof(RankRun), .reducer = {combine, nullptr}});
  ASSERT_TRUE(job.ok()) << job.status().message();
  for (std::int32_t rank = 0; rank < (*job)->ranks(); ++rank) {
    const std::vector<RankRun> own(kElements, RankRun{rank, rank + 1});
    std::memcpy((*job)->in(rank).data(), own.data(), kElements * sizeof(RankRun));
  }
  const Status status = (*job)->run();
  ASSERT_TRUE(status.ok()) << status.message();
  for (std::int32_t rank = 0; rank < (*job)->ranks(); ++rank) {
    const std::int32_t end = schedule.collective == Collective::kAllreduce ? (*job)->ranks()
                             : schedule.collective == Collective::kScan    ? rank + 1
                                                                           : rank;
    if (end == 0) continue;
    std::vector<RankRun> sums(kElements);
    std::memcpy(sums.data(), (*job)->out(rank).data(), kElements * sizeof(RankRun));
    for (const RankRun& sum : sums) {
      EXPECT_EQ(sum.first, 0) << "rank " << rank << " of " << schedule.topology.shape();
      EXPECT_EQ(sum.end, end) << rank;
    }
  }
}

bool isSpanningTree(const LiveGraph& graph, const TreeCables& cables) {
  std::vector<std::uint32_t> root(graph.nodes());
  for (std::uint32_t node = 0; node < root.size(); ++node)
    root[node] = node;
  auto find = [&](std::uint32_t node) {
    while (root[node] != node)
      node = root[node];
    return node;
  };
  for (const std::uint32_t cable : cables) {
    const std::uint32_t a = find(graph.arc(2 * cable).from), b = find(graph.arc(2 * cable).to);
    if (a == b) return false;
    root[a] = b;
  }
  return cables.size() + 1 == graph.nodes();
}

}  // namespace torc::compiler
