// The pass manager: its proofs, and its stops. Its output: prints.tir. Pipelines as values: equal
// if the passes and their options are, and printed as text that is parsed to the same passes.
// Faults of that text: tests/compiler/commands/refused.test.
#include "passes/manager/pass_manager.h"

#include <gtest/gtest.h>

#include "ir/make_error.h"
#include "passes/registry/pass_pipeline.h"
#include "passes/registry/pipeline_text.h"
#include "tests/passes/pass_testing.h"

namespace torc::passes {
namespace {

/// Leaves out the last operation of a schedule.
class DropLast final : public Pass {
 public:
  DropLast() : Pass("drop-last", "breaks the schedule", PassLevel::kStep) {}
  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    schedule.dependences.resize(schedule.operations.back().first_dependence);
    schedule.operations.pop_back();
    return PassResult::kWithChange;
  }
};

/// Points the last operation to a stream that does not exist.
class LoseStream final : public Pass {
 public:
  LoseStream() : Pass("lose-stream", "breaks the structure", PassLevel::kStep) {}
  llvm::Expected<PassResult> run(ir::Program& program) override {
    program.schedule.operations.back().stream = 99;
    return PassResult::kWithChange;
  }
};

class Refuse final : public Pass {
 public:
  Refuse() : Pass("refuse", "fails", PassLevel::kStep) {}
  llvm::Expected<PassResult> run(ir::Program&) override { return makeError("no"); }
};

/// Runs `passes`, with `last` after them, on the allreduce of a ring of 3.
struct Outcome {
  std::string error, out;
};
Outcome runWith(llvm::StringRef passes, std::unique_ptr<Pass> last,
                PassManagerOptions options = {}) {
  ir::Program program = bucketPlan(Collective::kAllreduce, "3");
  std::vector<std::unique_ptr<Pass>> parsed = cantFail(parsePipeline(passes));
  if (last) parsed.push_back(std::move(last));
  Outcome result;
  llvm::raw_string_ostream out(result.out);
  options.out = &out;
  llvm::Error error = PassManager(std::move(parsed), options).run(program);
  result.error = error ? toString(std::move(error)) : "";
  return result;
}

TEST(PassManager, ProvesAfterEachPass) {
  EXPECT_EQ(runWith("expand-rings,coalesce", nullptr).error, "");
  const std::string fault = runWith("expand-rings", std::make_unique<DropLast>()).error;
  EXPECT_TRUE(llvm::StringRef(fault).starts_with(
      "after pass 'drop-last': the schedule is not proved\nerror: "))
      << fault;
  EXPECT_EQ(runWith("expand-rings", std::make_unique<LoseStream>()).error,
            "after pass 'lose-stream': operation 9: stream 99 does not exist (schedule has 1)");
}

TEST(PassManager, DoesNotProveIfToldSo) {
  PassManagerOptions options;
  options.verify_each = false;
  EXPECT_EQ(runWith("expand-rings", std::make_unique<DropLast>(), options).error, "");
}

TEST(PassManager, NamesThePassThatFails) {
  EXPECT_EQ(runWith("expand-rings", std::make_unique<Refuse>()).error, "pass 'refuse': no");
  EXPECT_EQ(runWith("coalesce", nullptr).error,
            "pass 'coalesce': needs step operations; run expand-rings before it");
  EXPECT_EQ(runWith("expand-rings,expand-rings", nullptr).error,
            "pass 'expand-rings': needs plan operations, and the program has steps");
}

TEST(PassManager, StopsAtTheFirstFailure) {
  PassManagerOptions options;
  options.print_after_all = true;
  const Outcome outcome = runWith("coalesce,expand-rings", nullptr, options);
  EXPECT_EQ(outcome.out, "");
}

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
      CoalescePass{},
      PipelinePass{.chunks = 0, .bytes = 1000, .machine = "bgp", .sends = ChunkSends::kInTurn},
      InferDependencesPass{DependenceKind::kPhase},
      OrderLinksPass{1},
      AllocateScratchPass{3},
      AssignCoresPass{8}};
  EXPECT_EQ(pipeline.text(),
            "assign-colors{weights=balanced},assign-permutations{orders=assigned},"
            "split-directions{model=half-latency},expand-rings,"
            "expand-exchanges{order=fixed,window=all},coalesce,"
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

TEST(PipelineText, PrintsAllOptionsThatMeanSomethingWithTheirValues) {
  for (const auto& [text, printed] :
       {std::pair("expand-rings", "expand-rings"),
        {"infer-dependences", "infer-dependences{by=region}"},
        {"coalesce{}", "coalesce"},
        {"", ""},
        {"  ", ""},
        {"pipeline{chunks=16,bytes=1000}", "pipeline{chunks=16}"},
        {"pipeline{machine=machines/my.json,chunks=auto}",
         "pipeline{chunks=auto,bytes=67108864,machine=machines/my.json}"},
        {" expand-rings ,\n pipeline { chunks = 3 } , coalesce ",
         "expand-rings,pipeline{chunks=3},coalesce"},
        {"pipeline{chunks=3,chunks=5}", "pipeline{chunks=5}"}})
    EXPECT_EQ(parsedAndPrinted(text), printed);
}

}  // namespace
}  // namespace torc::passes
