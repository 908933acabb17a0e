// assign-cores{cores=4}: gives streams to the cores of a node, balanced by work.
#ifndef TORC_PASSES_ASSIGN_CORES_H_
#define TORC_PASSES_ASSIGN_CORES_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createAssignCoresPass();

}  // namespace torc

#endif  // TORC_PASSES_ASSIGN_CORES_H_
