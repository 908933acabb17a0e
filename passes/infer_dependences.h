// infer-dependences{by=region}: recomputes all dependences, exactly or with phase barriers.
#ifndef TORC_PASSES_INFER_DEPENDENCES_H_
#define TORC_PASSES_INFER_DEPENDENCES_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

/// Exact dependences, or phases one after another.
enum class DependenceKind { kRegion, kPhase };
llvm::ArrayRef<llvm::StringRef> words(DependenceKind);

struct InferDependencesPass {
  DependenceKind by = DependenceKind::kRegion;

  auto operator<=>(const InferDependencesPass&) const = default;
};

std::unique_ptr<Pass> makePass(const InferDependencesPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_INFER_DEPENDENCES_H_
