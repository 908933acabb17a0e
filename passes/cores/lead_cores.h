// lead-cores{cores=4}: gives every node cores, of which the first alone executes the steps for all.
#ifndef TORC_PASSES_CORES_LEAD_CORES_H_
#define TORC_PASSES_CORES_LEAD_CORES_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "passes/cores/assign_cores.h"
#include "passes/manager/pass.h"
#include "schedules/collective.h"

namespace torc::passes {

struct LeadCoresPass {
  std::uint32_t cores = 4;  // of a node, from 2 to kMostCores

  auto operator<=>(const LeadCoresPass&) const = default;
};

std::unique_ptr<Pass> makePass(const LeadCoresPass& options);

/// Whether the pass serves a collective: its blocks belong to ranks, and its results are not
/// prefixes.
bool mayBeLed(const CollectiveRow& row);

}  // namespace torc::passes

#endif  // TORC_PASSES_CORES_LEAD_CORES_H_
