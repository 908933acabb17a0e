// Leaders: every algorithm, executed by the first core of a node for all of them, is proved and
// run; messages of a node; the choice of leaders.
#include <gtest/gtest.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/choice/choice.h"
#include "compiler/compile.h"
#include "model/machines/machine.h"
#include "passes/cores/lead_cores.h"
#include "schedules/expansion/expand.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

/// The schedule of an algorithm whose steps the first cores execute.
Schedule compiledWithLeaders(const Algorithm& algorithm, const CollectiveSpec& spec) {
  return compiledBy(algorithm.name, spec.collective, spec.topology,
                    {.led_cores = coresOf(spec.topology)});
}

class Leaders : public testing::TestWithParam<const char*> {};

TEST_P(Leaders, ExecuteEveryAlgorithm) {
  int tried = 0;
  for (const CollectiveRow& row : collectiveRows()) {
    if (!passes::mayBeLed(row)) continue;
    const CollectiveSpec spec{*collectiveNamed(row.name), *parseTopology(GetParam())};
    for (const Algorithm& algorithm : algorithms()) {
      if (!isWorthTrying(algorithm, networkOf(spec))) continue;
      SCOPED_TRACE((algorithm.name + ", " + llvm::StringRef(row.name)).str());
      const Schedule schedule = compiledWithLeaders(algorithm, spec);
      expectProofAndRuns(schedule.view());
      ++tried;
    }
  }
  EXPECT_GT(tried, 20);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Leaders, testing::Values("1+3", "2+2", "3x2+4", "5+9"));

/// All that leaves a node leaves its first core, as often as one rank alone would send.
TEST(LeadersOfNodes, SendWhatOneRankWould) {
  const CollectiveSpec spec{Collective::kAllreduce, *parseTopology("4x4+4")};
  const Algorithm& algorithm = **findAlgorithm("recursive-doubling");
  const Schedule schedule = compiledWithLeaders(algorithm, spec);
  for (const std::int32_t rank : {0, 5, 16, 63}) {
    const FlatProgram program = *expand(schedule.view(), rank, {100, {}, {}});
    int to_nodes = 0, to_cores = 0;
    for (const FlatOperation& operation : program.operations) {
      if (operation.kind != OperationKind::kSend) continue;
      ++(operation.peer % 16 == rank % 16 ? to_cores : to_nodes);
    }
    EXPECT_EQ(to_nodes, rank < 16 ? 4 : 0);
    EXPECT_EQ(to_cores, rank < 16 ? 3 : 1);
  }
}

TEST(LeadersOfNodes, AreForTheCoresThatThereAre) {
  const CollectiveSpec spec{Collective::kAllreduce, *parseTopology("4x4+4")};
  const Algorithm& algorithm = **findAlgorithm("bucket");
  PipelineOptions options;
  options.led_cores = 3;
  llvm::Expected<ir::Program> program =
      compile(spec, algorithm, pipelineOf(algorithm, options), passes::PassManagerOptions());
  ASSERT_FALSE(program);
  EXPECT_EQ(toString(program.takeError()), "lead-cores is for 3 cores of a node, and 4x4+4 has 4");
}

/// Where a node's interface sends few messages a second, one core sends for all; where that is no
/// matter, every core for itself. Long vectors are every core's work.
TEST(LeadersOfNodes, AreTakenWhereMessagesAreDear) {
  model::Machine machine =
      cantFail(model::partitionOf(cantFail(model::findMachine("generic")), "4x4+8"));
  machine.overhead = 2e-7;
  bool is_tried = false;
  const auto isLed = [&](double bytes) {
    const CollectiveSpec spec{Collective::kAllreduce, *parseTopology("4x4+8")};
    const Choice choice = cantFail(choose(spec, machine, bytes, {}));
    is_tried = llvm::any_of(choice.candidates, [](const Candidate& candidate) {
      return candidate.refusal.empty() && candidate.options.led_cores == 8;
    });
    return choice.best().options.led_cores > 0;
  };
  machine.message_gap = 1e-6;
  EXPECT_TRUE(isLed(8));
  EXPECT_TRUE(isLed(16384));
  machine.message_gap = 1e-8;
  EXPECT_FALSE(isLed(8));
  EXPECT_TRUE(is_tried);
  // One core would do all work at no cost.
  EXPECT_FALSE(isLed(1 << 20));
  EXPECT_FALSE(is_tried);
  machine.gamma = 1e-9;
  EXPECT_FALSE(isLed(1 << 20));
  EXPECT_TRUE(is_tried);
}

}  // namespace
}  // namespace torc::compiler
