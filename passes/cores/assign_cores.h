// assign-cores{cores=4}: gives streams to the cores of a node, balanced by work.
#ifndef TORC_PASSES_CORES_ASSIGN_CORES_H_
#define TORC_PASSES_CORES_ASSIGN_CORES_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

inline constexpr std::uint32_t kMostCores = 1024;

struct AssignCoresPass {
  std::uint32_t cores = 4;  // cores for the collective, up to kMostCores

  auto operator<=>(const AssignCoresPass&) const = default;
};

std::unique_ptr<Pass> makePass(const AssignCoresPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_CORES_ASSIGN_CORES_H_
