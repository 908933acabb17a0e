// assign-colors{weights=equal}: splits the data of a plan into colors, one per network axis.
#ifndef TORC_PASSES_ASSIGN_COLORS_H_
#define TORC_PASSES_ASSIGN_COLORS_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createAssignColorsPass();

}  // namespace torc

#endif  // TORC_PASSES_ASSIGN_COLORS_H_
