// Detours: what the steps of rings need where something is dead. Messages over what is dead are
// dropped (kDropsBroken), and others bring the same data round it.
//
// Moved data. A node w that misses a message gets its blocks from the nearest nodes that have them:
// behind the first phase those beside it along an axis that is whole already receive the same
// blocks in the same step, on their own rings. Each of them passes a share on. In the first phase
// it is the node before the dead one that sends them, on a way round.
// Sums. The same, reversed in time: w hands the sums that it cannot send on to the nodes beside it,
// before these send theirs of the same blocks, or to the nearest ones that will have such sums.
//
// On a torus of N dimensions that brings 1/(4N(N-1)) of the data more over the links to a node
// beside a dead one: N = 3, a load of 1/6 + 1/24, 1.04 of the bound 1/5.
#ifndef TORC_PASSES_RINGS_DETOURS_H_
#define TORC_PASSES_RINGS_DETOURS_H_

#include <llvm/Support/Error.h>

#include "schedules/schedule.h"

namespace torc::passes {

/// `rings`, in which sums are received and added by one operation, with detours; its dependences
/// are left out. An error if some blocks have no way.
llvm::Expected<Schedule> addDetours(const Schedule& rings);

/// Whether an operation belongs to a detour: one node executes it, where messages are dropped.
bool isDetour(const ScheduleView& schedule, const Operation& operation);

}  // namespace torc::passes

#endif  // TORC_PASSES_RINGS_DETOURS_H_
