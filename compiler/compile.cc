// Pipelines of compilations, and running them.
#include "compiler/compile.h"

#include "ir/text/text.h"
#include "passes/manager/pipeline_text.h"
#include "support/version.h"

namespace torc {
namespace {

std::string chunksText(const PipelineOptions& options) {
  if (options.chunks > 0) return "chunks=" + std::to_string(options.chunks);
  return "chunks=auto,bytes=" + std::to_string(options.auto_bytes) +
         ",machine=" + options.auto_machine;
}

}  // namespace

std::string planPipeline(const Algorithm& algorithm, const PipelineOptions& options) {
  std::string text;
  if (algorithm.multicolor) {
    text += "assign-colors{weights=" + options.weights + "},assign-permutations{orders=";
    text += options.weights == "balanced" ? "assigned}," : "rotated},";
  }
  return text + "split-directions{model=" + options.directions + "}";
}

std::string stepPipeline(const PipelineOptions& options) {
  std::string text = "expand-rings,coalesce,";
  if (options.chunks != 1) text += "pipeline{" + chunksText(options) + "},";
  text += "infer-dependences{by=" + options.dependences + "},";
  if (options.in_flight > 0) {
    text += "order-links{in-flight=" + std::to_string(options.in_flight) + "},";
  }
  text += "allocate-scratch{depth=" + std::to_string(options.scratch_depth) + "}";
  if (options.cores > 1) text += ",assign-cores{cores=" + std::to_string(options.cores) + "}";
  return text;
}

std::string pipelineOf(const Algorithm& algorithm, const PipelineOptions& options) {
  if (!algorithm.makes_steps) return planPipeline(algorithm, options) + "," + stepPipeline(options);
  if (options.chunks == 1) return "";
  return "pipeline{" + chunksText(options) + ",sends=in-turn}";
}

llvm::Expected<Program> compile(const CollectiveSpec& spec, const Algorithm& algorithm,
                                llvm::StringRef pipeline, const PassManagerOptions& options) {
  llvm::Expected<std::vector<std::unique_ptr<Pass>>> passes =
      pipeline.empty() ? std::vector<std::unique_ptr<Pass>>() : parsePipeline(pipeline);
  if (!passes) return passes.takeError();
  llvm::Expected<Program> planned = algorithm.plan(spec);
  if (!planned) return planned.takeError();
  Program program = std::move(*planned);
  program.schedule.producer = "torc " + std::string(kVersion) + " " + algorithm.name.str();
  if (!passes->empty()) program.schedule.producer += ": " + pipelineText(*passes);
  PassManager manager(std::move(*passes), options);
  if (llvm::Error error = manager.run(program)) return error;
  program.schedule = canonicalize(program.schedule.view());
  return program;
}

}  // namespace torc
