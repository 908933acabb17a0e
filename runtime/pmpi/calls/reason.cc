// Why a call is handed back to MPI: the texts.
#include "runtime/pmpi/calls/reason.h"

namespace torc::runtime::pmpi {

const char* text(Reason reason) {
  switch (reason) {
    case Reason::kServed:
      return "served";
    case Reason::kCollective:
      return "torc does not serve this collective";
    case Reason::kSwitchedOff:
      return "TORC_COLLECTIVES leaves it out";
    case Reason::kOneRank:
      return "one rank";
    case Reason::kIntercommunicator:
      return "an intercommunicator";
    case Reason::kNoCommunicator:
      return "no communicator";
    case Reason::kNotSetUp:
      return "MPI_Comm_idup, and no blocking call so far";
    case Reason::kArgument:
      return "an argument that MPI refuses";
    case Reason::kNoData:
      return "no data";
    case Reason::kDatatypeGaps:
      return "a datatype with gaps";
    case Reason::kOperation:
      return "an operation without schedules";
    case Reason::kGrid:
      return "neighbours that are not those of the torus, or two of which are one";
    case Reason::kRankOrder:
      return "ranks in another order than the torus has them";
    case Reason::kOverflow:
      return "more bytes than an address space has";
    case Reason::kMpiIsFaster:
      return "MPI's own was measured to be faster";
    case Reason::kTried:
      return "MPI's own was tried in its turn";
    case Reason::kCountsAtRoot:
      return "only the root knows the counts";
    case Reason::kScratch:
      return "its schedule takes more memory than TORC_LIMITS=scratch";
    case Reason::kNoMemory:
      return "a rank has not the memory that its schedule takes";
    case Reason::kWhole:
      return "an operation of the program on whole vectors: TORC_USER_OPERATIONS=parts serves it";
    case Reason::kOwnBlock:
      return "the rank's own block is longer than its room";
    case Reason::kOutsideWorld:
      return "members outside MPI_COMM_WORLD";
    case Reason::kNoBox:
      return "the members form no box of the torus";
    case Reason::kNoSubTorus:
      return "the library has no such sub-torus";
    case Reason::kNoSchedule:
      return "the library has no schedule for it";
    case Reason::kScheduleFailed:
      return "its schedule cannot be used";
    case Reason::kNoDuplicate:
      return "no communicator left for torc";
    case Reason::kNoTags:
      return "no message tags left";
    case Reason::kUnexpected:
      return "the program had no such calls in MPI_Init: name their library in LD_PRELOAD";
  }
  return "unknown";
}

bool shouldBeServed(Reason reason) {
  return reason >= Reason::kNoSubTorus;
}

bool isRefused(Reason reason, int strict) {
  return (strict >= 1 && shouldBeServed(reason)) || (strict >= 2 && reason >= Reason::kCollective);
}

}  // namespace torc::runtime::pmpi
