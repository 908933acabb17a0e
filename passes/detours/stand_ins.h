// Stand-ins: what an all-to-all round rings needs where something is dead. Messages over what is
// dead are dropped (kDropsBroken). Of each part a live neighbour of a dead node does what that
// would have done: it receives, holds and sends on the blocks of others that come by it, next to
// its own. Parts take different neighbours, so that all links beside a dead node share its
// messages. Messages to and from it, and those over dead links, go round, on ways that share the
// links near the damage.
#ifndef TORC_PASSES_DETOURS_STAND_INS_H_
#define TORC_PASSES_DETOURS_STAND_INS_H_

#include <llvm/Support/Error.h>

#include "schedules/schedule.h"

namespace torc::passes {

/// `rings`, all of whose messages go to neighbours in streams of one send and one receive in turn,
/// with stand-ins; its dependences are left out. An error if there is no way.
llvm::Expected<Schedule> addStandIns(Schedule rings);

}  // namespace torc::passes

#endif  // TORC_PASSES_DETOURS_STAND_INS_H_
