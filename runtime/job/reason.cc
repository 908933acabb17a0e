// The texts of fallback reasons.
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
    {Reason::kSwitchedOff, "TORC_COLLECTIVES excludes it"},
    {Reason::kOneRank, "one rank"},
    {Reason::kNoCommunicator, "no communicator"},
    {Reason::kArgument, "an argument that MPI rejects"},
    {Reason::kNoData, "no data"},
    {Reason::kMpiIsFaster, "MPI was measured to be faster"},
    {Reason::kTried, "trial of MPI"},
    {Reason::kCountsAtRoot, "only the root knows the counts"},
    {Reason::kScratch, "its schedule needs more memory than TORC_LIMITS=scratch"},
    {Reason::kNoMemory, "a rank lacks memory for its schedule"},
    {Reason::kWhole,
     "an operation of the program on whole vectors: TORC_USER_OPERATIONS=parts serves it"},
    {Reason::kOwnBlock, "the rank's own block is longer than its receive buffer"},
    {Reason::kCollective, "torc does not serve this collective"},
    {Reason::kIntercommunicator, "an intercommunicator"},
    {Reason::kNotSetUp, "MPI_Comm_idup without a blocking call so far"},
    {Reason::kDatatypeGaps, "a datatype with gaps"},
    {Reason::kOperation, "an operation without schedules"},
    {Reason::kOverflow, "more bytes than an address space has"},
    {Reason::kGrid,
     "Cartesian grid differs from the torus, or a periodic dimension has fewer than 3 ranks"},
    {Reason::kRankOrder, "ranks not in the order of the torus"},
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
