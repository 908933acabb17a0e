// assign-colors{weights=equal}: splits the data of a plan into colors, one per network axis.
#ifndef TORC_PASSES_ASSIGN_COLORS_H_
#define TORC_PASSES_ASSIGN_COLORS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

/// Shares of the colors: balanced for a reduce-scatter or an allgather alone, or for both of an
/// allreduce at the same time.
enum class ColorWeights { kEqual, kBalanced, kOverlapped };
llvm::ArrayRef<llvm::StringRef> words(ColorWeights);

struct AssignColorsPass {
  ColorWeights weights = ColorWeights::kEqual;

  auto operator<=>(const AssignColorsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const AssignColorsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_ASSIGN_COLORS_H_
