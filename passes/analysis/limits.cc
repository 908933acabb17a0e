// Limits of schedules.
#include "passes/analysis/limits.h"

#include "ir/make_error.h"
#include "passes/manager/pass.h"

namespace torc::passes {

llvm::Error checkLimits(std::uint64_t operations, std::uint64_t dependences) {
  if (operations > kMaxOperations) {
    return makeError("the schedule would have up to " + llvm::Twine(operations) +
                     " operations, at most " + llvm::Twine(kMaxOperations) + " are served");
  }
  if (dependences > kMaxDependences) {
    return makeError("the schedule would have up to " + llvm::Twine(dependences) +
                     " dependences, at most " + llvm::Twine(kMaxDependences) + " are served");
  }
  return llvm::Error::success();
}

}  // namespace torc::passes
