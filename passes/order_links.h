// order-links{in-flight=2}: orders what shares a link, so that earlier phases and chunks go first.
#ifndef TORC_PASSES_ORDER_LINKS_H_
#define TORC_PASSES_ORDER_LINKS_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createOrderLinksPass();

}  // namespace torc

#endif  // TORC_PASSES_ORDER_LINKS_H_
