// Estimates of programs, against the programs; and shapes without estimates.
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/compile_cache.h"

namespace torc::compiler {
namespace {

CollectiveSpec specOf(const CollectiveRow& row, const char* shape) {
  return {*collectiveNamed(row.name), *parseTopology(shape)};
}

TEST(Estimates, AreThoseOfThePrograms) {
  for (const char* shape : {"16", "9x4", "8x8", "4x4x4", "32x2x2", "12mx8m", "16mx4", "6x5x4m"}) {
    for (const CollectiveRow& row : collectiveRows()) {
      const CollectiveSpec spec = specOf(row, shape);
      CompileCache programs(spec);
      for (const Algorithm& algorithm : algorithms()) {
        // Exchanges are a few operations on any shape: there is nothing to tell apart.
        if (!isWorthTrying(algorithm, spec) || algorithm.form == PlanForm::kExchanges) continue;
        auto program = programs.get(algorithm, uncutPipeline(algorithm, {}));
        if (!program) {
          llvm::consumeError(program.takeError());
          continue;
        }
        const auto operations = static_cast<double>((*program)->schedule.operations.size());
        const double estimate = algorithm.estimate(spec).operations;
        const auto what = algorithm.name.str() + " on " + shape + ", " + std::string(row.name);
        EXPECT_LT(estimate, 4 * operations + 60) << what;
        EXPECT_GT(estimate, operations / 4 - 60) << what;
        EXPECT_EQ(beyondLimits(algorithm.estimate(spec)), "") << what;
      }
    }
  }
}

TEST(Estimates, RefuseWhatCanNotBeDone) {
  for (const char* shape : {"2147483647", "65536x32767", "100000x20000", "46340mx46340m"}) {
    for (const CollectiveRow& row : collectiveRows()) {
      const CollectiveSpec spec = specOf(row, shape);
      for (const Algorithm& algorithm : algorithms()) {
        const ProgramSize size = algorithm.estimate(spec);
        const bool grows = algorithm.form == PlanForm::kRings && row.reduces();
        if (!grows || !isWorthTrying(algorithm, spec)) continue;
        EXPECT_NE(beyondLimits(size), "") << algorithm.name.str() << " on " << shape;
        EXPECT_FALSE(compile(spec, algorithm, {}, {}));
      }
    }
  }
}

/// The default goes on to the next that can be proved.
TEST(Estimates, TheDefaultIsOneThatCanBeProved) {
  const auto on = [](const char* shape) {
    return defaultAlgorithm({Collective::kScatter, *parseTopology(shape)}).name.str();
  };
  EXPECT_EQ(on("64x2"), "scatter-trees");
  EXPECT_EQ(on("1000x2"), "scatter-trees");
  EXPECT_EQ(on("1000000"), "scatter-trees");  // which says that it can not
}

}  // namespace
}  // namespace torc::compiler
