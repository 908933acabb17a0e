// order-links{in-flight=2}: orders messages that share a link, so that earlier phases and chunks go
// first.
#ifndef TORC_PASSES_ORDER_LINKS_H_
#define TORC_PASSES_ORDER_LINKS_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

inline constexpr std::uint32_t kMostInFlight = 64;

struct OrderLinksPass {
  std::uint32_t in_flight = 2;  // chains of messages that share a link at a time

  auto operator<=>(const OrderLinksPass&) const = default;
};

std::unique_ptr<Pass> makePass(const OrderLinksPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_ORDER_LINKS_H_
