// All passes by name.
#ifndef TORC_PASSES_MANAGER_REGISTRY_H_
#define TORC_PASSES_MANAGER_REGISTRY_H_

#include <memory>
#include <vector>

#include <llvm/ADT/StringRef.h>

#include "passes/manager/pass.h"

namespace torc {

/// A new pass of that name with default options; null if there is none.
std::unique_ptr<Pass> createPass(llvm::StringRef name);

/// One of each, in the order in which a compilation runs them.
std::vector<std::unique_ptr<Pass>> createAllPasses();

}  // namespace torc

#endif  // TORC_PASSES_MANAGER_REGISTRY_H_
