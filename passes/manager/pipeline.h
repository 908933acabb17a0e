// pipeline{chunks=K}: cuts every part into K chunks that follow each other.
#ifndef TORC_PASSES_MANAGER_PIPELINE_H_
#define TORC_PASSES_MANAGER_PIPELINE_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createPipelinePass();

}  // namespace torc

#endif  // TORC_PASSES_MANAGER_PIPELINE_H_
