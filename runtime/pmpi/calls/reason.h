// Why a call is handed back to MPI.
#ifndef TORC_RUNTIME_PMPI_CALLS_REASON_H_
#define TORC_RUNTIME_PMPI_CALLS_REASON_H_

#include <cstdint>

namespace torc::pmpi {

enum class Reason : std::uint8_t {
  kServed,  // not handed back
  // Not torc's to serve: no error under TORC_STRICT.
  kCollective,   // no row of the table serves it
  kSwitchedOff,  // TORC_COLLECTIVES leaves it out
  kOneRank,      // nothing to communicate
  kIntercommunicator,
  kNoCommunicator,  // MPI_COMM_NULL: MPI says what is wrong
  kNotSetUp,      // nonblocking, on a communicator of MPI_Comm_idup without a blocking call so far
  kArgument,      // a count, type or operation is not valid: MPI says what is wrong
  kNoData,        // zero bytes
  kDatatypeGaps,  // a reduction on a derived type with gaps
  kOperation,     // an operation that does not commute, or has no meaning on the type
  kOverflow,      // more bytes than an address space
  kMpiIsFaster,   // as tuning has measured
  kOwnBlock,      // the caller's block is not as long as the others expect: an error on all ranks
  kFailedBefore,  // an earlier call on the communicator has failed: an error
  // Should be served: an error under TORC_STRICT.
  kOutsideWorld,    // members that are not in MPI_COMM_WORLD
  kNoSubTorus,      // the members form no line, plane or box of the partition
  kNoSchedule,      // the library has none for the collective and size
  kScheduleFailed,  // its file is missing, torn, or not the one of the index
  kNoShadow,        // TORC_COMMUNICATORS, or MPI's own limit, is reached
  kNoTags,          // persistent calls hold all message tags
  kUnexpected,      // nonblocking or persistent, in a program that seemed to have no such calls
};

/// One line for a person: "the operation does not commute".
const char* text(Reason reason);

/// Whether TORC_STRICT turns it into an error.
bool shouldBeServed(Reason reason);

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_REASON_H_
