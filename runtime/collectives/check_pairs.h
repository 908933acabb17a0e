// The check of calls whose pairs have counts that differ: MPI_Alltoallv, MPI_Alltoallw.
#ifndef TORC_RUNTIME_COLLECTIVES_CHECK_PAIRS_H_
#define TORC_RUNTIME_COLLECTIVES_CHECK_PAIRS_H_

#include "runtime/collectives/call.h"
#include "runtime/collectives/call_rules.h"
#include "runtime/job/call_arguments.h"

namespace torc::runtime {

/// What `check` does, of arguments that have lists of pairs; `call` has what follows from none of
/// them. Elements become bytes.
BrokenRule checkPairs(const CallFacts& facts, Call& call);

/// What `takeLists` does, of such arguments. Throws std::bad_alloc.
void takePairLists(const CallArguments& arguments, int ranks, Call& call);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CHECK_PAIRS_H_
