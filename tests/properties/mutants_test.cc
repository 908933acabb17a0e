// Detection of single injected faults (mutants.h lists the kinds). Each mutant is refused by
// validation, or by the proof; or it is harmless by criteria independent of the proof by cells: its
// loops unrolled are valid, the proof of every rank by itself accepts it, so does the proof for one
// count on the expanded programs, and it computes the collective on numbers for any order of
// messages by the adversary. Prints the number of mutants of each kind.
#include "tests/properties/mutants.h"

#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "schedules/loops/unroll.h"
#include "schedules/validation/validate.h"
#include "tests/fuzz/sample_programs.h"
#include "tests/properties/looped_cases.h"
#include "tests/properties/random_case.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc {
namespace {

/// Empty if a mutant that the verifier accepted does what the original does.
std::string differsFromOriginal(const Schedule& mutant) {
  if (!ir::verify(mutant.view(), {.per_rank = true}).ok()) return "the per-rank proof refuses it";
  const CollectiveRow& row = rowOf(mutant.collective);
  // Enough elements for no region to be empty.
  const std::uint64_t blocks = row.counts == CountOf::kVector ? mutant.topology.ranks() : 1;
  const std::uint64_t count = blocks * mutant.view().partCount() * mutant.segments * 3 + 1;
  const StatusOr<ir::CountedResult> counted = ir::proveCounted(mutant.view(), count);
  if (!counted.ok()) return counted.status().message();
  if (!counted->fault.empty()) return "for one count: " + counted->fault;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CheckedCall call;
    call.count = count;
    call.in_place = row.inPlaceAliases() && seed % 2 == 0;
    call.delivery = runtime::Delivery::kAdversarial;
    call.seed = seed;
    if (row.isRooted()) call.root = static_cast<std::int32_t>(seed % mutant.topology.ranks());
    if (std::string wrong = runChecked(mutant.view(), call); !wrong.empty()) return wrong;
  }
  return {};
}

struct Tally {
  int made = 0, invalid = 0, refused = 0, harmless = 0;
};

class Mutants : public testing::Test {
 protected:
  /// Makes `each` mutants of every kind, and says what is wrong with one that is not caught; empty:
  /// there is none.
  static std::string check(const Schedule& schedule, int each, std::mt19937_64& random) {
    for (int kind = 0; kind < kMutationCount; ++kind) {
      for (int i = 0; i < each; ++i) {
        const Mutant mutant = mutate(schedule, static_cast<Mutation>(kind), random);
        if (mutant.what.empty()) continue;
        const std::string fault = faultOf(mutant.schedule, tally_[kind]);
        if (!fault.empty()) return mutant.what + " was accepted, but " + fault;
      }
    }
    return {};
  }

  static void TearDownTestSuite() {
    const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
    const bool all_run = tests.test_to_run_count() == tests.total_test_count();
    std::printf("| %-17s | made | invalid | refused by the proof | harmless |\n", "mutation");
    for (int kind = 0; kind < kMutationCount; ++kind) {
      const Tally& row = tally_[kind];
      const std::string mutation(name(static_cast<Mutation>(kind)));
      std::printf("| %-17s | %4d | %7d | %20d | %8d |\n", mutation.c_str(), row.made, row.invalid,
                  row.refused, row.harmless);
      EXPECT_TRUE(row.refused > 0 || !all_run) << mutation << ": the proof has caught none";
    }
  }

 private:
  static std::string faultOf(const Schedule& mutant, Tally& tally) {
    ++tally.made;
    if (!validate(mutant.view()).ok()) {
      ++tally.invalid;
      return {};
    }
    if (!mutant.loops.empty()) {
      const Status written_out = validate(unrollLoops(mutant.view()).schedule.view());
      if (!written_out.ok()) return "written out: " + written_out.message();
    }
    if (!ir::verify(mutant.view()).ok()) {
      ++tally.refused;
      return {};
    }
    ++tally.harmless;
    return differsFromOriginal(mutant);
  }

  static std::array<Tally, kMutationCount> tally_;
};

std::array<Tally, kMutationCount> Mutants::tally_;

TEST_F(Mutants, OfRandomSchedules) {
  EXPECT_TRUE(rc::check("every mutant is refused, or harmless", [] {
    const CompileCase test_case = drawCase(32);
    const Schedule schedule = drawLoops(compileCase(test_case));
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    const std::string fault = check(schedule, 3, random);
    if (!fault.empty()) RC_FAIL(test_case.text() + ", " + fault);
  }));
}

TEST_F(Mutants, OfEveryAlgorithmWithLoops) {
  std::mt19937_64 random(1);
  for (const LoopedCase& looped : loopedCases()) {
    const std::string fault = check(looped.schedule, 3, random);
    EXPECT_EQ(fault, "") << looped.text;
  }
}

TEST_F(Mutants, OfLoopsInLoops) {
  std::mt19937_64 random(1);
  for (const Schedule& schedule : fuzz::loopedSchedules()) {
    if (!ir::verify(schedule.view()).ok()) continue;  // it has signals alone
    const std::string fault = check(schedule, 40, random);
    EXPECT_EQ(fault, "") << schedule.name;
  }
}

}  // namespace
}  // namespace torc
