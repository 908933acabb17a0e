// infer-dependences{by=region}: recomputes all dependences, exactly or with phase barriers.
#ifndef TORC_PASSES_INFER_DEPENDENCES_H_
#define TORC_PASSES_INFER_DEPENDENCES_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createInferDependencesPass();

}  // namespace torc

#endif  // TORC_PASSES_INFER_DEPENDENCES_H_
