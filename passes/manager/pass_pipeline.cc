// Passes and text of a pipeline.
#include "passes/manager/pass_pipeline.h"

#include "passes/manager/pipeline_text.h"

namespace torc {

std::vector<std::unique_ptr<Pass>> PassPipeline::passes() const {
  std::vector<std::unique_ptr<Pass>> passes;
  for (const PassSpec& spec : specs_)
    passes.push_back(makePass(spec));
  return passes;
}

std::string PassPipeline::text() const {
  return pipelineText(passes());
}

}  // namespace torc
