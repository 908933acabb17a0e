// Wrappers of MPI's collectives, expanded from the table.
//
// A call that is handed back is made as the program made it, so that its errors are MPI's own.
#include "runtime/pmpi/calls/brief_call.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/describe_call.h"
#include "runtime/pmpi/calls/intercepted_calls.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/inside_mpi.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/serving/serve.h"
#include "runtime/pmpi/serving/serve_again.h"
#include "runtime/pmpi/wrappers/next_layer.h"
#include "runtime/transport/which_mpi.h"

using torc::runtime::pmpi::CallId;
using torc::runtime::pmpi::CollectiveCall;
using torc::runtime::pmpi::Form;
using torc::runtime::pmpi::InsideMpi;
using torc::runtime::pmpi::intercepts;
using torc::runtime::pmpi::isMadeByAll;
using torc::runtime::pmpi::KeptLists;
using torc::runtime::pmpi::mayOffload;
using torc::runtime::pmpi::MpiCall;
using torc::runtime::pmpi::Outcome;

// The lambda's `comm` hides the function's.
#define TORC_DESCRIBE(Name, name, parameters, FORM, Suffix)                                    \
  CollectiveCall call(CallId::k##Name, Form::FORM, comm);                                      \
  torc::runtime::pmpi::describe##parameters(call, TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN)); \
  call.mpi = MpiCall([=](const KeptLists& kept, MPI_Comm comm, MPI_Request* request) {         \
    static_cast<void>(kept);                                                                   \
    return PMPI_I##name##Suffix(TORC_ARGUMENTS_##parameters(kept.find), request);              \
  });

#define TORC_WRAPPERS(Name, name, parameters, Suffix, Count, Offset)                               \
  int MPI_##Name##Suffix(TORC_PARAMETERS_##parameters(Count, Offset)) {                            \
    if (!intercepts() && !mayOffload())                                                            \
      return PMPI_##Name##Suffix(TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN));                      \
    const int at_once = torc::runtime::pmpi::serveAtOnce(                                          \
        torc::runtime::pmpi::brief##parameters(CallId::k##Name,                                    \
                                               TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN)),        \
        comm);                                                                                     \
    if (at_once >= MPI_SUCCESS) return at_once;                                                    \
    if (at_once == torc::runtime::pmpi::kLeftToMpi) {                                              \
      const InsideMpi inside(comm);                                                                \
      return PMPI_##Name##Suffix(TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN));                      \
    }                                                                                              \
    TORC_DESCRIBE(Name, name, parameters, kBlocking, Suffix)                                       \
    const Outcome outcome = torc::runtime::pmpi::serveBlocking(call);                              \
    if (outcome.settled) return outcome.code;                                                      \
    const InsideMpi inside(isMadeByAll(call) ? comm : MPI_COMM_NULL);                              \
    return torc::runtime::pmpi::handedBack(                                                        \
        call, PMPI_##Name##Suffix(TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN)));                    \
  }                                                                                                \
  int MPI_I##name##Suffix(TORC_PARAMETERS_##parameters(Count, Offset), MPI_Request* request) {     \
    if (!intercepts() && !mayOffload()) {                                                          \
      return PMPI_I##name##Suffix(TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN), request);            \
    }                                                                                              \
    TORC_DESCRIBE(Name, name, parameters, kNonblocking, Suffix)                                    \
    const Outcome outcome = torc::runtime::pmpi::serveNonblocking(call, request);                  \
    if (outcome.settled) return outcome.code;                                                      \
    return torc::runtime::pmpi::handedBack(                                                        \
        call, PMPI_I##name##Suffix(TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN), request));          \
  }                                                                                                \
  int TORC_PERSISTENT(Name, Suffix)(TORC_PARAMETERS_##parameters(Count, Offset), MPI_Info info,    \
                                    MPI_Request * request) {                                       \
    if (!intercepts() && !mayOffload()) {                                                          \
      return TORC_MPIS_PERSISTENT(Name, Suffix)(TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN), info,  \
                                                request);                                          \
    }                                                                                              \
    TORC_DESCRIBE(Name, name, parameters, kPersistent, Suffix)                                     \
    const Outcome outcome = torc::runtime::pmpi::servePersistent(call, request);                   \
    if (outcome.settled) return outcome.code;                                                      \
    const InsideMpi inside(isMadeByAll(call) ? comm : MPI_COMM_NULL);                              \
    return torc::runtime::pmpi::handedBack(                                                        \
        call, TORC_MPIS_PERSISTENT(Name, Suffix)(TORC_ARGUMENTS_##parameters(TORC_AS_GIVEN), info, \
                                                 request));                                        \
  }

#define TORC_WRAPPERS_INT(Name, name, parameters) TORC_WRAPPERS(Name, name, parameters, , int, int)
#define TORC_WRAPPERS_COUNT(Name, name, parameters) \
  TORC_WRAPPERS(Name, name, parameters, _c, MPI_Count, MPI_Aint)

extern "C" {
TORC_ALL_COLLECTIVES(TORC_WRAPPERS_INT)
TORC_MPI_4(TORC_COLLECTIVES(TORC_WRAPPERS_COUNT))
}
