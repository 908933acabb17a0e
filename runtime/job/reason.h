// Why a call has no schedule: MPI makes it, or torc.h's functions refuse it.
#ifndef TORC_RUNTIME_JOB_REASON_H_
#define TORC_RUNTIME_JOB_REASON_H_

#include <cstdint>

namespace torc::runtime {

enum class Reason : std::uint8_t {
  kServed,  // not handed back
  // Never an error of torc's.
  kSwitchedOff,     // TORC_COLLECTIVES excludes it
  kOneRank,         // nothing to communicate
  kNoCommunicator,  // MPI_COMM_NULL: MPI says what is wrong
  kArgument,        // a count, type or operation is not valid: MPI says what is wrong
  kNoData,          // zero bytes
  kMpiIsFaster,     // as tuning has measured
  kTried,           // MPI's own is tried in its turn (TORC_TUNE)
  kCountsAtRoot,    // of a scatterv or gatherv the root alone knows the counts
  kScratch,         // its schedule takes more than TORC_LIMITS=scratch
  kNoMemory,        // a rank lacks memory for its schedule
  kWhole,           // an operation of the program's on whole vectors, which schedules cut
  kOwnBlock,        // the caller's block is longer than its room: an error on all ranks
  // What no library can hold: an error under TORC_STRICT=2.
  kCollective,  // no row of the table serves it
  kIntercommunicator,
  kNotSetUp,      // of MPI_Comm_idup, without a blocking call so far in which each waits for all
  kDatatypeGaps,  // a reduction on a derived type with gaps
  kOperation,     // one that has no meaning on the type; of a long reduce_scatter, does not commute
  kOverflow,      // more bytes than an address space
  kGrid,  // Cartesian grid differs from the torus, or a periodic dimension has fewer than 3 ranks
  kRankOrder,     // which matters, and is another one than that of the schedules' nodes
  kOutsideWorld,  // members that are not in MPI_COMM_WORLD
  kNoBox,         // the members form no line, plane or box of the partition
  // What whoever makes the library or the job can mend: an error under TORC_STRICT=1 too.
  kNoSubTorus,      // the library has nothing for the box
  kNoSchedule,      // the library has none for the collective and size
  kScheduleFailed,  // its file is missing, torn, or not the one of the index
  kNoDuplicate,     // torc's or MPI's own limit is reached
  kNoTags,          // persistent calls hold all message tags
  kUnexpected,      // nonblocking or persistent, in a program that seemed to have no such calls
};

/// One line for a person: "the operation does not commute".
const char* text(Reason reason);

/// Whether somebody can mend it: an error under TORC_STRICT=1.
bool shouldBeServed(Reason reason);
/// Whether it is an error under TORC_STRICT=`strict`.
bool isRefused(Reason reason, int strict);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_REASON_H_
