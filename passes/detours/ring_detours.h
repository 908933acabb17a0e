// Detours: adds messages around damage to the steps of rings. Messages over dead links and nodes
// are dropped (kDropsBroken), and others bring the same data around; detour_routes.h finds their
// sources and destinations. The missing data of a node in a phase are divided among its routes so
// that the busiest link carries as little as possible.
//
// On a torus of N dimensions the remaining links of a node beside a dead one carry the missing data
// of the last phase in equal shares: 2N/(2N-1) of their load on a whole torus, which is the bound.
// Missing data of the earlier phases add to it.
#ifndef TORC_PASSES_DETOURS_RING_DETOURS_H_
#define TORC_PASSES_DETOURS_RING_DETOURS_H_

#include <llvm/Support/Error.h>

#include "schedules/schedule.h"

namespace torc::passes {

/// `rings`, in which sums are received and added by one operation, with detours, and without
/// dependences. An error if some blocks have no route.
llvm::Expected<Schedule> addDetours(Schedule rings);

}  // namespace torc::passes

#endif  // TORC_PASSES_DETOURS_RING_DETOURS_H_
