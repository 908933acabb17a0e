// Detours: what the steps of rings need where something is dead. Messages over what is dead are
// dropped (kDropsBroken), and others bring the same data round it: detour_routes.h says from whom,
// and to whom. All that a node misses in a phase is divided among its routes so that the busiest
// link carries as little as it can.
//
// On a torus of N dimensions the links that a node beside a dead one has left carry, in the last
// phase, what is missing in equal shares: 2N/(2N-1) of what they carry on a whole torus, which is
// the bound. What the phases before miss comes on top of it.
#ifndef TORC_PASSES_DETOURS_RING_DETOURS_H_
#define TORC_PASSES_DETOURS_RING_DETOURS_H_

#include <llvm/Support/Error.h>

#include "schedules/schedule.h"

namespace torc::passes {

/// `rings`, in which sums are received and added by one operation, with detours; its
/// dependences are left out. An error if some blocks have no way.
llvm::Expected<Schedule> addDetours(Schedule rings);

}  // namespace torc::passes

#endif  // TORC_PASSES_DETOURS_RING_DETOURS_H_
