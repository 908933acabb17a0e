// A broadcast by scatter and allgather, and a reduce by reduce-scatter and gather: what the busiest
// link carries.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

// Each of the two halves loads the busiest link with (p-1)/p of the vector over 2N links.
TEST(RingsFromRootLoads, AreTwiceTheBound) {
  for (const auto& [algorithm, collective] :
       {std::pair("scatter-allgather", Collective::kBroadcast),
        std::pair("reduce-scatter-gather", Collective::kReduce)}) {
    for (const passes::DirectionModel directions :
         {passes::DirectionModel::kBidirectional, passes::DirectionModel::kHalfLatency}) {
      double busiest = 0;
      std::map<std::pair<std::uint32_t, int>, double> sums;
      for (const ir::LinkLoad& load :
           ir::verify(compiledBy(algorithm, collective, *parseTopology("8x8x8"),
                                 {.directions = directions})
                          .view())
               .loads)
        busiest = std::max(busiest, sums[{load.axis, load.sign}] += load.share);
      EXPECT_NEAR(busiest, 2.0 * 511 / 512 / 6, 1e-12);
    }
  }
}

}  // namespace
}  // namespace torc::compiler
