// Pipelines of compilations, and running them.
#include "compiler/compile.h"

#include "compiler/version.h"
#include "ir/text.h"
#include "passes/pipeline_text.h"

namespace torc {

std::string planPipeline(const Algorithm& algorithm, const PipelineOptions& options) {
  std::string text;
  if (algorithm.multicolor) {
    text += "assign-colors{weights=" + options.weights + "},assign-permutations,";
  }
  return text + "split-directions{model=" + options.directions + "}";
}

std::string stepPipeline(const PipelineOptions& options) {
  std::string text = "expand-rings,coalesce,";
  if (options.chunks > 1) text += "pipeline{chunks=" + std::to_string(options.chunks) + "},";
  return text + "infer-dependences{by=" + options.dependences + "},allocate-scratch";
}

llvm::Expected<Program> compile(const CollectiveSpec& spec, const Algorithm& algorithm,
                                llvm::StringRef pipeline, const PassManagerOptions& options) {
  PassManager manager(options);
  if (llvm::Error error = parsePipeline(pipeline, manager)) return error;
  Program program = algorithm.plan(spec);
  program.schedule.producer =
      "torc " + std::string(kVersion) + " " + algorithm.name.str() + ": " + manager.text();
  if (llvm::Error error = manager.run(program)) return error;
  program.schedule = canonicalize(program.schedule.view());
  return program;
}

}  // namespace torc
