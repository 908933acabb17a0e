// Makes the passes and the text of a pipeline.
#include "passes/registry/pass_pipeline.h"

#include "passes/registry/pipeline_text.h"

namespace torc::passes {

std::vector<std::unique_ptr<Pass>> PassPipeline::passes() const {
  std::vector<std::unique_ptr<Pass>> passes;
  for (const PassSpec& spec : specs_)
    passes.push_back(makePass(spec));
  return passes;
}

PassPipeline PassPipeline::takeSegments() {
  PassPipeline taken;
  if (specs_.empty() || !std::holds_alternative<SegmentPass>(specs_.back())) return taken;
  taken.add(specs_.back());
  specs_.pop_back();
  return taken;
}

std::uint32_t PassPipeline::ledCores() const {
  for (const PassSpec& spec : specs_) {
    if (const auto* leads = std::get_if<LeadCoresPass>(&spec)) return leads->cores;
  }
  return 0;
}

std::string PassPipeline::text() const {
  return pipelineText(passes());
}

}  // namespace torc::passes
