// What the verifier catches: schedules with one fault put in (an operation dropped, doubled,
// swapped, redirected, given other blocks, or a dependence removed). A mutant that it accepts must
// be equivalent to the original: the per-rank proof accepts it too, and it computes the collective
// on numbers, whatever the adversary does with the messages. Prints the share caught per kind.
#include "tests/properties/mutants.h"

#include <array>
#include <cstdio>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/verifier/verifier.h"
#include "tests/properties/checked_job.h"
#include "tests/properties/random_case.h"

namespace torc {
namespace {

struct Tally {
  int made = 0;
  int caught = 0;
};

/// Empty if a mutant that the verifier accepted does what the original does.
std::string differsFromOriginal(const Schedule& mutant) {
  ir::VerifyOptions per_rank;
  per_rank.per_rank = true;
  if (!ir::verify(mutant.view(), per_rank).ok()) return "the per-rank proof refuses it";
  const bool has_in_place = rowOf(mutant.collective).inPlaceAliases();
  // Enough elements for no region to be empty.
  const std::uint64_t blocks =
      rowOf(mutant.collective).counts == CountOf::kVector ? mutant.topology.ranks() : 1;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CheckedCall call;
    call.count = blocks * mutant.view().partCount() * 3 + 1;
    call.in_place = has_in_place && seed % 2 == 0;
    call.delivery = runtime::Delivery::kAdversarial;
    call.seed = seed;
    if (rowOf(mutant.collective).isRooted()) {
      call.root = static_cast<std::int32_t>(seed % mutant.topology.ranks());
    }
    if (std::string wrong = runChecked(mutant.view(), call); !wrong.empty()) return wrong;
  }
  return {};
}

TEST(Mutants, AreCaughtOrEquivalent) {
  std::array<Tally, kMutationCount> tally;
  const bool ok = rc::check("every mutant is refused, or equivalent", [&] {
    const CompileCase test_case = drawCase(32);
    const Schedule schedule = compileCase(test_case);
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    for (int kind = 0; kind < kMutationCount; ++kind) {
      for (int i = 0; i < 5; ++i) {
        const Mutant mutant = mutate(schedule, static_cast<Mutation>(kind), random);
        if (mutant.what.empty()) continue;
        ++tally[kind].made;
        const bool accepted = ir::verify(mutant.schedule.view()).ok();
        if (!accepted) {
          ++tally[kind].caught;
          continue;
        }
        const std::string difference = differsFromOriginal(mutant.schedule);
        if (!difference.empty()) {
          RC_FAIL(test_case.text() + ", " + mutant.what + " was accepted, but " + difference);
        }
      }
    }
  });
  std::printf("%-20s %8s %8s %10s %s\n", "mutation", "made", "caught", "share", "equivalent");
  for (int kind = 0; kind < kMutationCount; ++kind) {
    const Tally& row = tally[kind];
    std::printf("%-20s %8d %8d %9.1f%% %d\n",
                std::string(name(static_cast<Mutation>(kind))).c_str(), row.made, row.caught,
                row.made > 0 ? 100.0 * row.caught / row.made : 0.0, row.made - row.caught);
    EXPECT_GT(row.made, 0);
  }
  EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace torc
