// Reasons why a call has no schedule: it falls back to MPI, or torc.h's functions refuse it.
#ifndef TORC_RUNTIME_JOB_REASON_H_
#define TORC_RUNTIME_JOB_REASON_H_

#include <cstdint>

namespace torc::runtime {

enum class Reason : std::uint8_t {
  kServed,  // no fallback
  // Never an error of torc:
  kSwitchedOff,     // TORC_COLLECTIVES excludes it
  kOneRank,         // nothing to communicate
  kNoCommunicator,  // MPI_COMM_NULL: MPI reports the error
  kArgument,        // an invalid count, type or operation: MPI reports the error
  kNoData,          // zero bytes
  kMpiIsFaster,     // as measured by tuning
  kTried,           // MPI's own function has its turn in a trial (TORC_TUNE)
  kCountsAtRoot,    // only the root of a scatterv or gatherv knows the counts
  kScratch,         // its schedule needs more than TORC_LIMITS=scratch
  kNoMemory,        // a rank lacks memory for its schedule
  kWhole,           // a user-defined operation on whole vectors, which schedules cut
  kOwnBlock,        // the caller's block is longer than its room: an error on all ranks
  // Calls that no library can serve: an error under TORC_STRICT=2.
  kCollective,  // no row of the table serves it
  kIntercommunicator,
  kNotSetUp,      // a communicator of MPI_Comm_idup, without a blocking call so far that
                  // synchronizes all ranks
  kDatatypeGaps,  // a reduction on a derived type with gaps
  kOperation,     // undefined on the type; or, for a long reduce_scatter, non-commutative
  kOverflow,      // more bytes than an address space
  kGrid,  // Cartesian grid differs from the torus, or a periodic dimension has fewer than 3 ranks
  kRankOrder,     // not the order of the schedules' nodes, as the call requires
  kOutsideWorld,  // some members are not in MPI_COMM_WORLD
  kNoBox,         // the members form no line, plane or box of the partition
  // Faults of the library or the job that users can correct: an error under TORC_STRICT=1 too.
  kNoSubTorus,      // the library has nothing for the box
  kNoSchedule,      // the library has none for the collective and size
  kScheduleFailed,  // its file is missing, corrupt, or not the one of the index
  kNoDuplicate,     // torc's or MPI's own limit is reached
  kNoTags,          // persistent calls hold all message tags
  kUnexpected,      // nonblocking or persistent, in a program that seemed to have no such calls
};

/// One line for users: "the operation does not commute".
const char* text(Reason reason);

/// Whether users can correct it: an error under TORC_STRICT=1.
bool shouldBeServed(Reason reason);
/// Whether it is an error under TORC_STRICT=`strict`.
bool isRefused(Reason reason, int strict);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_REASON_H_
