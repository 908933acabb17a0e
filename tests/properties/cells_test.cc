// The proof by boxes of nodes and the proof by single nodes have the same result, and report the
// same loads of links: on compiled schedules, also with guards that count from a root, and on
// mutants of them. A proof for all counts implies one for a single count, by the expanded programs
// (ir/counted), independently of cells; and that proof refuses those refused schedules that do not
// compute the collective.
#include <gtest/gtest.h>
#include <llvm/ADT/STLExtras.h>
#include <rapidcheck/gtest.h>

#include "ir/counted/counted_proof.h"
#include "ir/verifier/roots/roots.h"
#include "ir/verifier/verifier.h"
#include "tests/properties/mutants.h"
#include "tests/properties/random_case.h"

namespace torc {
namespace {

std::string faultsOf(const ScheduleView& schedule, const ir::VerifyResult& result) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::printFaults(schedule, result, out);
  return text;
}

std::string loadsOf(const ir::VerifyResult& result) {
  std::string text;
  for (const ir::LinkLoad& load : result.loads) {
    text += std::to_string(load.phase) + " " + std::to_string(load.axis) + " " +
            std::to_string(load.sign) + " " + std::to_string(load.share) + "\n";
  }
  return text;
}

/// Empty if the proofs say the same about `schedule`.
std::string difference(const ScheduleView& schedule, bool must_hold) {
  const ir::VerifyResult ranks = ir::verify(schedule, {.per_rank = true});
  const ir::VerifyResult cells = ir::verify(schedule);
  if (must_hold && !ranks.ok()) return "refused:\n" + faultsOf(schedule, ranks);
  if (ranks.ok() && !cells.ok()) return "refused by cells:\n" + faultsOf(schedule, cells);
  if (!ranks.ok() && cells.ok()) return "accepted by cells:\n" + faultsOf(schedule, ranks);
  const CollectiveRow& row = rowOf(schedule.collective);
  // With relays, loads are those of one root.
  const bool has_relays =
      schedule.topology.isBroken() && row.isRooted() && row.layout == Layout::kBlockMajor;
  if (ranks.ok() && !has_relays && loadsOf(ranks) != loadsOf(cells))
    return "loads differ:\n" + loadsOf(ranks) + "by cells:\n" + loadsOf(cells);
  if (!cells.ok() && cells.faults.front().rule == ir::Rule::kBounds) return {};  // malformed
  // Enough elements for no region to be empty.
  const bool vector = row.counts == CountOf::kVector;
  const std::uint64_t count = (vector ? schedule.topology.ranks() : 1) * schedule.partCount() * 2;
  const StatusOr<ir::CountedResult> counted = ir::proveCounted(schedule, count + 1);
  if (!counted.ok()) return std::string(counted.status().message());
  if (cells.ok() && !counted->fault.empty()) return "refused for one count: " + counted->fault;
  // Ends that differ in blocks of one size, races, and sums that nobody uses may do no harm for a
  // count; a deadlock and a wrong result do. One root is tried of those that are proved.
  const bool harms = llvm::any_of(cells.faults, [](const ir::Fault& fault) {
    return fault.rule == ir::Rule::kProgress ||
           (fault.rule == ir::Rule::kMeaning && fault.operation == kNone);
  });
  if (harms && !row.isRooted() && counted->fault.empty())
    return "accepted for one count:\n" + faultsOf(schedule, cells);
  return {};
}

void checkWithMutants(const Schedule& schedule) {
  if (std::string text = difference(schedule.view(), true); !text.empty()) RC_FAIL(text);
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  for (int kind = 0; kind < kMutationCount; ++kind) {
    for (int i = 0; i < 3; ++i) {
      const Mutant mutant = mutate(schedule, static_cast<Mutation>(kind), random);
      if (mutant.what.empty()) continue;
      const std::string text = difference(mutant.schedule.view(), false);
      if (!text.empty()) RC_FAIL(mutant.what + ": " + text);
    }
  }
}

RC_GTEST_PROP(Cells, DecideAsEveryRankByItself, ()) {
  const CompileCase test_case = drawCase(64);
  RC_LOG() << test_case.text() << "\n";
  checkWithMutants(compileCase(test_case));
}

// A few places of the root stand for all: on lines that are long enough to leave some out.
RC_GTEST_PROP(Cells, DecideAsEveryRankByItselfForEveryRoot, ()) {
  CompileCase test_case;
  test_case.collective = "broadcast";
  test_case.shape = std::to_string(*rc::gen::inRange(10, 17)) + "m";
  if (*rc::gen::arbitrary<bool>()) test_case.shape += *rc::gen::element<std::string>("x2", "x3m");
  test_case.order = test_case.shape.find('x') == std::string::npos ? "X" : "XY";
  test_case.algorithm = "dimension-tree";
  test_case.chunks = *rc::gen::inRange(1u, 4u);
  const Schedule schedule = compileCase(test_case);
  RC_LOG() << test_case.text() << "\n";
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  RC_ASSERT(ir::rootsToProve(schedule.view(), false, count).size() <
            ir::rootsToProve(schedule.view(), true, count).size());
  checkWithMutants(schedule);
}

// Round a dead node, a coordinate of the root that makes no difference is proved once. Trees of
// hubs are proved for one root, the ways from roots to hubs for all.
RC_GTEST_PROP(Cells, DecideAsEveryRankByItselfRoundADeadNode, ()) {
  CompileCase test_case;
  test_case.collective = *rc::gen::element<std::string>("broadcast", "reduce", "scatter", "gather");
  const bool has_hubs = test_case.collective.ends_with("er");
  using Sizes = std::vector<int>;
  const Sizes sizes = *rc::gen::element(Sizes{5, 2}, Sizes{3, 4}, Sizes{5, 3}, Sizes{2, 3, 2});
  for (const int size : sizes) {
    test_case.shape += (test_case.shape.empty() ? "" : "x") + std::to_string(size);
    test_case.order += kAxisNames[test_case.order.size()];
  }
  std::string node;
  for (const int size : sizes)
    node += (node.empty() ? "" : ",") + std::to_string(*rc::gen::inRange(0, size));
  test_case.dead_nodes = {node};
  test_case.algorithm = has_hubs ? "hub-trees" : "plane-trees";
  test_case.chunks = *rc::gen::inRange(1u, 3u);
  const Schedule schedule = compileCase(test_case);
  RC_LOG() << test_case.text() << "\n";
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  RC_PRE(has_hubs || ir::rootsToProve(schedule.view(), false, count).size() <
                         ir::rootsToProve(schedule.view(), true, count).size());
  checkWithMutants(schedule);
}

TEST(Cells, ProveFewRootsRoundADeadNode) {
  for (const char* collective : {"broadcast", "reduce"}) {
    for (const auto& [shape, dead] : {std::pair{"6x3", "2,1"}, {"3x6", "1,2"}}) {
      CompileCase test_case;
      test_case.collective = collective;
      test_case.shape = shape;
      test_case.order = "XY";
      test_case.dead_nodes = {dead};
      test_case.algorithm = "plane-trees";
      const Schedule schedule = compileCase(test_case);
      const auto count = static_cast<std::uint32_t>(schedule.operations.size());
      EXPECT_EQ(ir::rootsToProve(schedule.view(), false, count).size(), 7u)
          << collective << " on " << shape << ": of 17";
    }
  }
}

}  // namespace
}  // namespace torc
