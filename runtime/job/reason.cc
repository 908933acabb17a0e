// Why a call is handed back to MPI: the texts.
#include "runtime/job/reason.h"

#include <cstddef>
#include <iterator>

namespace torc::runtime {
namespace {

struct Row {
  Reason reason;
  const char* text;
};
constexpr Row kRows[] = {
    {Reason::kServed, "served"},
    {Reason::kSwitchedOff, "TORC_COLLECTIVES leaves it out"},
    {Reason::kOneRank, "one rank"},
    {Reason::kNoCommunicator, "no communicator"},
    {Reason::kArgument, "an argument that MPI refuses"},
    {Reason::kNoData, "no data"},
    {Reason::kMpiIsFaster, "MPI's own was measured to be faster"},
    {Reason::kTried, "MPI's own was tried in its turn"},
    {Reason::kCountsAtRoot, "only the root knows the counts"},
    {Reason::kScratch, "its schedule takes more memory than TORC_LIMITS=scratch"},
    {Reason::kNoMemory, "a rank has not the memory that its schedule takes"},
    {Reason::kWhole,
     "an operation of the program on whole vectors: TORC_USER_OPERATIONS=parts serves it"},
    {Reason::kOwnBlock, "the rank's own block is longer than its room"},
    {Reason::kCollective, "torc does not serve this collective"},
    {Reason::kIntercommunicator, "an intercommunicator"},
    {Reason::kNotSetUp, "MPI_Comm_idup, and no blocking call so far"},
    {Reason::kDatatypeGaps, "a datatype with gaps"},
    {Reason::kOperation, "an operation without schedules"},
    {Reason::kOverflow, "more bytes than an address space has"},
    {Reason::kGrid, "neighbours that are not those of the torus, or two of which are one"},
    {Reason::kRankOrder, "ranks in another order than the torus has them"},
    {Reason::kOutsideWorld, "members outside MPI_COMM_WORLD"},
    {Reason::kNoBox, "the members form no box of the torus"},
    {Reason::kNoSubTorus, "the library has no such sub-torus"},
    {Reason::kNoSchedule, "the library has no schedule for it"},
    {Reason::kScheduleFailed, "its schedule cannot be used"},
    {Reason::kNoDuplicate, "no communicator left for torc"},
    {Reason::kNoTags, "no message tags left"},
    {Reason::kUnexpected,
     "the program had no such calls in MPI_Init: name their library in LD_PRELOAD"},
};

constexpr bool areInOrder() {
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].reason != static_cast<Reason>(i)) return false;
  }
  return true;
}
static_assert(areInOrder() &&
              std::size(kRows) == static_cast<std::size_t>(Reason::kUnexpected) + 1);

}  // namespace

const char* text(Reason reason) {
  return kRows[static_cast<std::size_t>(reason)].text;
}

bool shouldBeServed(Reason reason) {
  return reason >= Reason::kNoSubTorus;
}

bool isRefused(Reason reason, int strict) {
  return (strict >= 1 && shouldBeServed(reason)) || (strict >= 2 && reason >= Reason::kCollective);
}

}  // namespace torc::runtime
