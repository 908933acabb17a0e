// expand-exchanges{order=shuffled,window=all}: turns exchanges into step operations.
#ifndef TORC_PASSES_EXPAND_EXCHANGES_H_
#define TORC_PASSES_EXPAND_EXCHANGES_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc {

llvm::ArrayRef<llvm::StringRef> words(PeerOrder);  // beside the enumeration: see passes::word

namespace passes {

struct ExpandExchangesPass {
  PeerOrder order = PeerOrder::kShuffled;  // in which a node visits its peers
  std::uint32_t window = 0;                // messages in flight from a node; 0: all

  auto operator<=>(const ExpandExchangesPass&) const = default;
};

std::unique_ptr<Pass> makePass(const ExpandExchangesPass& options);

}  // namespace passes
}  // namespace torc

#endif  // TORC_PASSES_EXPAND_EXCHANGES_H_
