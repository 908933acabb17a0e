// Stand-ins: live nodes that take over a dead node's steps in an all-to-all around rings. Messages
// over dead links and nodes are dropped (kDropsBroken). For each part a live neighbour of a dead
// node does its work: it receives, holds and forwards the passing blocks of others, besides its
// own. Parts take different neighbours, so that all links beside a dead node share its messages.
// Messages to and from it, and those over dead links, take detours that share the links near the
// damage.
#ifndef TORC_PASSES_DETOURS_STAND_INS_H_
#define TORC_PASSES_DETOURS_STAND_INS_H_

#include <llvm/Support/Error.h>

#include "schedules/schedule.h"

namespace torc::passes {

/// `rings` with stand-ins and without dependences; all its messages go to neighbours, in streams
/// that alternate one send and one receive. An error if there is no route.
llvm::Expected<Schedule> addStandIns(Schedule rings);

}  // namespace torc::passes

#endif  // TORC_PASSES_DETOURS_STAND_INS_H_
