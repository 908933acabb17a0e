// split-directions{model=bidirectional}: halves every color over the two directions of its rings.
#ifndef TORC_PASSES_SPLIT_DIRECTIONS_H_
#define TORC_PASSES_SPLIT_DIRECTIONS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

/// Messages of a link at a time: one each way; one each way of whole blocks in half the steps; one.
enum class DirectionModel { kBidirectional, kHalfLatency, kUnidirectional };
llvm::ArrayRef<llvm::StringRef> words(DirectionModel);

struct SplitDirectionsPass {
  DirectionModel model = DirectionModel::kBidirectional;

  auto operator<=>(const SplitDirectionsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const SplitDirectionsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_SPLIT_DIRECTIONS_H_
