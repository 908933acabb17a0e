// Builds and runs the pipelines of compilations.
#include "compiler/compile.h"

#include <algorithm>

#include "ir/make_error.h"
#include "ir/text/text.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

passes::PipelinePass chunksOf(const PipelineOptions& options, passes::ChunkSends sends) {
  return {.chunks = options.chunks,
          .bytes = options.auto_bytes,
          .machine = options.auto_machine,
          .sends = sends};
}

/// The passes on uncut steps.
passes::PassPipeline stepPipeline(const PipelineOptions& options) {
  passes::PassPipeline pipeline;
  if (options.chunks != 1) pipeline.add(chunksOf(options, passes::ChunkSends::kTogether));
  pipeline.add(passes::InferDependencesPass{options.dependences});
  const bool in_segments = options.segments > 1;
  // In a segment phases alternate on a link, or leading phases would leave other links idle.
  if (in_segments || options.in_flight > 0)
    pipeline.add(passes::OrderLinksPass{in_segments ? 1 : options.in_flight});
  pipeline.add(passes::AllocateScratchPass{options.scratch_depth});
  if (options.cores > 1)
    pipeline.add(passes::AssignCoresPass{std::min(options.cores, passes::kMostCores)});
  if (in_segments) {
    pipeline.add(
        passes::SegmentPass{.segments = options.segments,
                            .window = options.in_flight > 0 ? options.in_flight : kRingWindow,
                            .order = options.segment_order});
  }
  return pipeline;
}

}  // namespace

passes::PassPipeline planPipeline(const Algorithm& algorithm, const PipelineOptions& options) {
  passes::PassPipeline pipeline;
  if (options.cuts == CutRings::kDetours) pipeline.add(passes::DetourCutsPass{});
  if (algorithm.multicolor) {
    const bool equal = options.weights == passes::ColorWeights::kEqual;
    pipeline.add(passes::AssignColorsPass{options.weights});
    pipeline.add(passes::AssignPermutationsPass{equal ? passes::ColorOrders::kRotated
                                                      : passes::ColorOrders::kAssigned});
  }
  if (algorithm.form == PlanForm::kRings || algorithm.form == PlanForm::kExchanges ||
      algorithm.form == PlanForm::kRounds) {
    pipeline.add(passes::SplitDirectionsPass{options.directions});
  }
  return pipeline;
}

passes::PassPipeline uncutPipeline(const Algorithm& algorithm, const PipelineOptions& options) {
  passes::PassPipeline pipeline = planPipeline(algorithm, options);
  switch (algorithm.form) {
    case PlanForm::kRings:
      pipeline.add(passes::ExpandRingsPass{});
      pipeline.add(passes::CoalescePass{});
      break;
    case PlanForm::kExchanges:
      pipeline.add(passes::ExpandExchangesPass{options.peers, options.window});
      break;
    case PlanForm::kRounds:
      pipeline.add(passes::ExpandRoundsPass{});
      break;
    case PlanForm::kSteps:
      break;
  }
  if (options.led_cores > 0) pipeline.add(passes::LeadCoresPass{options.led_cores});
  return pipeline;
}

passes::PassPipeline pipelineOf(const Algorithm& algorithm, const PipelineOptions& options) {
  passes::PassPipeline pipeline = uncutPipeline(algorithm, options);
  if (options.synchronous_sends) pipeline.add(passes::SynchronizeSendsPass{});
  if (algorithm.form == PlanForm::kExchanges) {
    pipeline.add(passes::AllocateScratchPass{options.scratch_depth});
    if (options.chunks > 1) {
      pipeline.add(passes::SegmentPass{.segments = options.chunks, .window = kExchangeWindow});
    }
  } else if (algorithm.inSegments()) {
    if (options.in_flight > 1) {
      pipeline.add(passes::PipelinePass{.chunks = options.in_flight});
      pipeline.add(passes::StaggerChunksPass{});
    }
    if (options.chunks > 1) {
      pipeline.add(
          passes::SegmentPass{.segments = options.chunks,
                              .window = options.window > 0 ? options.window : algorithm.window});
    }
  } else if (!algorithm.isSettled()) {
    pipeline.add(stepPipeline(options));
  } else if (options.chunks != 1) {
    pipeline.add(chunksOf(options, passes::ChunkSends::kInTurn));
  }
  return pipeline;
}

llvm::Expected<ir::Program> compile(const CollectiveSpec& spec, const Algorithm& algorithm,
                                    const passes::PassPipeline& pipeline,
                                    const passes::PassManagerOptions& options) {
  if (const CollectiveRow& row = rowOf(spec.collective); !algorithm.serves(row)) {
    return makeError("algorithm " + algorithm.name + " does not serve " +
                     llvm::StringRef(row.name) + "; torc compile --list-algorithms");
  }
  const std::uint32_t led_cores = pipeline.ledCores();
  if (led_cores > 0 && !algorithm.may_lead)
    return makeError(algorithm.name + " has no form with leaders");
  if (led_cores > 0 && coresOf(spec.topology) != led_cores) {
    return makeError("lead-cores is for " + llvm::Twine(led_cores) + " cores of a node, and " +
                     spec.topology.shape() + " has " + llvm::Twine(coresOf(spec.topology)));
  }
  const CollectiveSpec lowered_for = led_cores > 0 ? networkOf(spec) : spec;
  if (const std::string beyond = beyondLimits(algorithm.estimate(lowered_for)); !beyond.empty()) {
    return makeError(algorithm.name + ": too large for " + spec.topology.shape() + ": " + beyond);
  }
  llvm::Expected<ir::Program> lowered = algorithm.lower(lowered_for);
  if (!lowered) return lowered.takeError();
  ir::Program program = std::move(*lowered);
  program.schedule.producer = "torc " + std::string(kVersion) + " " + algorithm.name.str();
  if (!pipeline.empty()) program.schedule.producer += ": " + pipeline.text();
  passes::PassManager manager(pipeline.passes(), options);
  if (llvm::Error error = manager.run(program)) return error;
  // The same axes, with the speed of the cores' axis, in the spec's order of ranks.
  if (led_cores > 0) program.schedule.topology = spec.topology;
  program.schedule = ir::canonicalize(program.schedule.view());
  return program;
}

llvm::Expected<ir::Program> compileOn(ir::Program program, const passes::PassPipeline& pipeline,
                                      const passes::PassManagerOptions& options) {
  passes::PassManager manager(pipeline.passes(), options);
  if (llvm::Error error = manager.run(program)) return error;
  std::string& producer = program.schedule.producer;
  producer += (llvm::StringRef(producer).contains(": ") ? "," : ": ") + pipeline.text();
  program.schedule = ir::canonicalize(program.schedule.view());
  return program;
}

llvm::Expected<ir::Program> rollLoops(const ir::Program& program,
                                      const passes::PassManagerOptions& options) {
  if (program.isPlan()) return program;
  llvm::Expected<ir::Program> rolled =
      compileOn(program, passes::PassPipeline{passes::RollLoopsPass{}}, options);
  if (rolled && rolled->schedule.loops.empty()) return program;
  return rolled;
}

}  // namespace torc::compiler
