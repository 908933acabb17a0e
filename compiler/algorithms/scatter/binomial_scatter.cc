// The colors of a scatter or a gather along binomial trees (binomial_blocks.cc), round by round. A
// round is a phase.
#include "compiler/algorithms/scatter/binomial_scatter.h"

#include <vector>

#include "compiler/algorithms/scatter/binomial_blocks.h"
#include "compiler/algorithms/scatter/root_colors.h"
#include "ir/step_builder.h"

namespace torc::compiler {

Schedule binomialScatter(const CollectiveSpec& spec, RootLinks links) {
  Schedule header = ir::scheduleHeader(spec.collective, spec.topology);
  const bool is_one_color = links == RootLinks::kFirstAxis || spec.topology.sites() == 1;
  // In one color half of the blocks, or a third, leave the root in the first message, and those of
  // the root's line, which are the more the shorter the axis is, leave at the same time.
  const std::vector<WayOut> ways =
      is_one_color ? std::vector{addRootColor(header)} : addRootColors(header);
  ir::StepBuilder builder(header);
  std::vector<BinomialBlocks> colors;
  colors.reserve(ways.size());
  for (std::uint32_t part = 0; part < ways.size(); ++part)
    colors.emplace_back(builder, part, ways[part]);
  const bool is_scatter = rowOf(spec.collective).describesOwnOut();
  const std::uint32_t rounds = colors.front().rounds();
  const auto copy = [&] {
    for (BinomialBlocks& color : colors)
      color.copyOwn();
  };
  if (!is_scatter) copy();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    builder.setPhase(round);
    for (BinomialBlocks& color : colors) {
      if (is_scatter) {
        color.scatter(round);
      } else {
        color.gather(rounds - 1 - round);
      }
    }
  }
  if (is_scatter) copy();
  return builder.take();
}

}  // namespace torc::compiler
