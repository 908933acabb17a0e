// Call note: a summary of a collective call, by which waiting ranks compare their calls.
#ifndef TORC_RUNTIME_PMPI_CALLS_CALL_NOTE_H_
#define TORC_RUNTIME_PMPI_CALLS_CALL_NOTE_H_

#include <cstdint>
#include <string>

#include "runtime/job/call_table.h"
#include "runtime/job/reason.h"
#include "runtime/pmpi/calls/collective_call.h"

namespace torc::runtime::pmpi {

/// "MPI_Iallreduce": a row's function of this form.
const char* functionName(CallId id, Form form);
inline const char* functionName(const CollectiveCall& call) {
  return functionName(call.id(), call.form);
}

/// A hash of the values that MPI requires to be the same on all ranks: collective, bytes,
/// operation, root.
std::uint64_t signatureOf(const CollectiveCall& call);

/// A call and its server. Plain data, sent to other ranks.
struct CallNote {
  std::uint64_t number = 0;   // of the call on its communicator; 0: none
  std::uint64_t ordinal = 0;  // the same among those of its function
  std::uint64_t signature = 0;
  std::uint64_t refused = 0;  // refused by MPI, of the same function, since the call before
  std::uint64_t bytes = 0;    // of the whole vector, if torc has checked the call
  MPI_Fint op = 0;            // a predefined operation as Fortran integer; otherwise MPI_OP_NULL
  bool has_op = false;        // possibly user-defined
  std::int32_t root = -1;     // of a rooted collective, if torc has checked the call
  CallId id = CallId::kBarrier;
  Reason reason = Reason::kServed;  // of a fallback
  bool stands_still = false;        // other ranks have been asked

  bool isMpis() const { return reason != Reason::kServed; }
  bool isLike(const CallNote& other) const {
    return signature == other.signature && isMpis() == other.isMpis();
  }
};

CallNote noteOn(const CollectiveCall& call);

/// "MPI_Allreduce of 80 bytes, MPI_SUM", "MPI_Reduce", "MPI_Bcast of 80 bytes, root 3",
/// "MPI_Allreduce of 80 bytes, a user-defined operation, handed to MPI there (an operation that
/// does not commute)".
std::string describe(const CallNote& note);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_CALL_NOTE_H_
