// split-directions{model=bidirectional}: halves every color over the two directions of its rings.
#ifndef TORC_PASSES_SPLIT_DIRECTIONS_H_
#define TORC_PASSES_SPLIT_DIRECTIONS_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createSplitDirectionsPass();

}  // namespace torc

#endif  // TORC_PASSES_SPLIT_DIRECTIONS_H_
