// Pipelines as values: equal where the passes and their options are, and printed as text that is
// parsed to the same passes.
#include "passes/registry/pass_pipeline.h"

#include <gtest/gtest.h>

#include "passes/registry/pipeline_text.h"

namespace torc::passes {
namespace {

/// The text of what `text` parses to.
std::string parsedAndPrinted(llvm::StringRef text) {
  return pipelineText(cantFail(parsePipeline(text)));
}

TEST(PassPipeline, PrintsWhatIsParsedToTheSame) {
  const PassPipeline pipeline = {
      AssignColorsPass{ColorWeights::kBalanced},
      AssignPermutationsPass{ColorOrders::kAssigned},
      SplitDirectionsPass{DirectionModel::kHalfLatency},
      ExpandRingsPass{},
      ExpandExchangesPass{PeerOrder::kFixed},
      ExpandTreesPass{},
      CoalescePass{},
      PipelinePass{.chunks = 0, .bytes = 1000, .machine = "bgp", .sends = ChunkSends::kInTurn},
      InferDependencesPass{DependenceKind::kPhase},
      OrderLinksPass{1},
      AllocateScratchPass{3},
      AssignCoresPass{8}};
  EXPECT_EQ(pipeline.text(),
            "assign-colors{weights=balanced},assign-permutations{orders=assigned},"
            "split-directions{model=half-latency},expand-rings,"
            "expand-exchanges{order=fixed,window=all},expand-trees,coalesce,"
            "pipeline{chunks=auto,bytes=1000,machine=bgp,sends=in-turn},"
            "infer-dependences{by=phase},order-links{in-flight=1},allocate-scratch{depth=3},"
            "assign-cores{cores=8}");
  EXPECT_EQ(parsedAndPrinted(pipeline.text()), pipeline.text());
}

TEST(PassPipeline, DefaultsAreThoseOfTheText) {
  for (const std::unique_ptr<Pass>& pass : createAllPasses()) {
    EXPECT_EQ(pass->text(), parsedAndPrinted(pass->name()));
    EXPECT_EQ(createPass(pass->name())->name(), pass->name());
  }
}

TEST(PassPipeline, ComparesOptions) {
  const PassPipeline two = {ExpandRingsPass{}, PipelinePass{.chunks = 2}};
  const PassPipeline four = {ExpandRingsPass{}, PipelinePass{.chunks = 4}};
  EXPECT_EQ(two, (PassPipeline{ExpandRingsPass{}, PipelinePass{}}));
  EXPECT_NE(two, four);
  EXPECT_TRUE((two < four) != (four < two));
  PassPipeline both = two;
  both.add(four);
  EXPECT_EQ(both.text(), two.text() + "," + four.text());
  EXPECT_NE(both, two);
}

// Each run has passes of its own: statistics of one are not those of another.
TEST(PassPipeline, MakesNewPassesEachTime) {
  const PassPipeline pipeline = {CoalescePass{}};
  EXPECT_NE(pipeline.passes().front().get(), nullptr);
  const auto first = pipeline.passes(), second = pipeline.passes();
  EXPECT_NE(first.front().get(), second.front().get());
}

}  // namespace
}  // namespace torc::passes
