// Call note: what is remembered of a collective call, so that ranks that wait can be told whether
// theirs is the same one.
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

/// Who makes a call.
enum class Maker : std::uint8_t {
  kTorc,
  kMpi,  // it is handed back
};

/// A hash of what MPI demands to be the same on all ranks: collective, bytes, operation, root.
std::uint64_t signatureOf(const CollectiveCall& call);

/// A call, and who makes it. Plain data, which travels.
struct CallNote {
  std::uint64_t number = 0;   // of the call on its communicator; 0: none
  std::uint64_t ordinal = 0;  // the same among those of its function
  std::uint64_t signature = 0;
  std::uint64_t refused = 0;  // by MPI, of the same function, since the call before
  std::uint64_t bytes = 0;    // of the whole vector, where torc has looked at it
  MPI_Fint op = 0;            // predefined, by Fortran's number; of others that of MPI_OP_NULL
  bool has_op = false;        // perhaps of the user
  std::int32_t root = -1;     // of a rooted collective, where torc has looked at it
  CallId id = CallId::kBarrier;
  Maker maker = Maker::kMpi;
  Reason reason = Reason::kServed;  // why torc does not make it
  bool stands_still = false;        // others have been asked

  bool isLike(const CallNote& other) const {
    return signature == other.signature && maker == other.maker;
  }
};

CallNote noteOn(const CollectiveCall& call, Maker maker);

/// "MPI_Allreduce of 80 bytes, MPI_SUM", "MPI_Reduce", "MPI_Bcast of 80 bytes, root 3",
/// "MPI_Allreduce of 80 bytes, a user-defined operation, handed to MPI there (an operation that
/// does not commute)".
std::string describe(const CallNote& note);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_CALL_NOTE_H_
