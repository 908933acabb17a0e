// Both ends of every message cut it alike, however it lies in their memory.
#include "runtime/execution/message_fragments.h"

#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "schedules/expansion/expand.h"

namespace torc::runtime {
namespace {

Schedule compileSchedule(Collective collective, const std::string& shape) {
  const StatusOr<Topology> topology = parseTopology(shape);
  llvm::Expected<const compiler::Algorithm*> algorithm = compiler::findAlgorithm("bucket");
  EXPECT_TRUE(topology.ok());
  EXPECT_TRUE(static_cast<bool>(algorithm));
  llvm::Expected<ir::Program> program =
      compiler::compile({collective, *topology}, **algorithm, compiler::pipelineOf(**algorithm, {}),
                        passes::PassManagerOptions());
  EXPECT_TRUE(static_cast<bool>(program));
  return std::move(program->schedule);
}

using Key = std::tuple<std::int32_t, std::int32_t, std::uint32_t>;  // from, to, tag

/// Compares the fragments of all messages at both ends; returns how many messages are cut.
std::size_t checkEnds(const Schedule& schedule, const Counts& counts, bool in_place,
                      std::size_t least_bytes) {
  std::map<Key, std::vector<std::uint64_t>> sent, received;
  std::size_t cut = 0;
  const auto ranks = static_cast<std::int32_t>(schedule.topology.ranks());
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const StatusOr<FlatProgram> program = expand(schedule.view(), rank, counts, in_place);
    EXPECT_TRUE(program.ok());
    const StatusOr<MessageFragments> fragments =
        cutMessages(schedule.view(), *program, counts, in_place, 4, least_bytes);
    EXPECT_TRUE(fragments.ok());
    if (fragments->empty()) continue;
    for (std::size_t i = 0; i < program->operations.size(); ++i) {
      const FlatOperation& operation = program->operations[i];
      const std::vector<std::uint64_t>& mine = (*fragments)[i];
      if (sends(operation.kind)) {
        sent[{rank, operation.peer, operation.tag}] = mine;
        cut += !mine.empty();
      } else if (receives(operation.kind)) {
        received[{operation.peer, rank, operation.tag}] = mine;
      } else {
        EXPECT_TRUE(mine.empty());
      }
      if (mine.empty()) continue;
      const std::uint64_t elements = (sends(operation.kind) ? operation.a : operation.dst).elements;
      EXPECT_EQ(std::accumulate(mine.begin(), mine.end(), std::uint64_t{0}), elements);
    }
  }
  EXPECT_EQ(sent, received);
  return cut;
}

std::vector<std::uint64_t> unevenCounts(std::uint64_t ranks) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t r = 0; r < ranks; ++r)
    counts.push_back(r % 4 == 2 ? 0 : 100 + 37 * r);
  return counts;
}

TEST(MessageFragments, BothEndsAgree) {
  for (const char* shape : {"4x3x2", "3mx4", "2x2", "5"}) {
    for (const Collective collective : {Collective::kReduceScatter, Collective::kAllgather}) {
      const Schedule schedule = compileSchedule(collective, shape);
      const std::vector<std::uint64_t> uneven = unevenCounts(schedule.topology.ranks());
      for (const std::size_t least : {1u, 64u}) {
        const std::size_t equal_cut =
            checkEnds(schedule, {.count = 200, .per_rank = {}, .displacements = {}}, false, least);
        EXPECT_GT(equal_cut, 0u) << shape;
        const Counts counts{.count = 0, .per_rank = uneven, .displacements = {}};
        EXPECT_GT(checkEnds(schedule, counts, true, least), 0u) << shape;
      }
    }
  }
}

TEST(MessageFragments, SmallBlocksStayTogether) {
  const Schedule schedule = compileSchedule(Collective::kAllgather, "4x3x2");
  EXPECT_EQ(
      checkEnds(schedule, {.count = 200, .per_rank = {}, .displacements = {}}, false, 1 << 20), 0u);
}

TEST(MessageFragments, PartMajorMessagesAreWhole) {
  const Schedule schedule = compileSchedule(Collective::kAllreduce, "4x3x2");
  EXPECT_EQ(checkEnds(schedule, {.count = 9999, .per_rank = {}, .displacements = {}}, false, 1),
            0u);
}

}  // namespace
}  // namespace torc::runtime
