// Wrappers of MPI's collectives, generated from the table.
//
// A fallback call is made as the program made it, so that its errors come from MPI itself.
#include "runtime/job/call_table.h"
#include "runtime/job/describe_call.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/inside_mpi.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/serving/serve.h"
#include "runtime/pmpi/wrappers/next_layer.h"
#include "runtime/transport/which_mpi.h"

using namespace torc::runtime;        // NOLINT: the table's names
using namespace torc::runtime::pmpi;  // NOLINT

// The lambda's `comm` hides the function's.
#define TORC_WRAPPERS(Name, name, parameters, Suffix, Count, Offset)                             \
  int MPI_##Name##Suffix(TORC_PARAMETERS(parameters, Count, Offset) MPI_Comm comm) {             \
    if (!intercepts() && !mayOffload()) return PMPI_##Name##Suffix(TORC_GIVEN(parameters) comm); \
    const auto described = TORC_DESCRIBED(Name, parameters, comm);                               \
    const Verdict at_once = serveAtOnce(described, comm);                                        \
    if (!at_once.isOpen() && !at_once.isMpis()) return at_once.code();                           \
    if (at_once.isMpis()) {                                                                      \
      const InsideMpi inside(comm);                                                              \
      return PMPI_##Name##Suffix(TORC_GIVEN(parameters) comm);                                   \
    }                                                                                            \
    CollectiveCall call(Form::kBlocking, described, comm);                                       \
    const Verdict verdict = serve(call, nullptr);                                                \
    if (!verdict.isMpis()) return verdict.code();                                                \
    const InsideMpi inside(isMadeByAll(verdict) ? comm : MPI_COMM_NULL);                         \
    return handedBack(call, PMPI_##Name##Suffix(TORC_GIVEN(parameters) comm));                   \
  }                                                                                              \
  int MPI_I##name##Suffix(TORC_PARAMETERS(parameters, Count, Offset) MPI_Comm comm,              \
                          MPI_Request* request) {                                                \
    if (!intercepts() && !mayOffload()) {                                                        \
      return PMPI_I##name##Suffix(TORC_GIVEN(parameters) comm, request);                         \
    }                                                                                            \
    CollectiveCall call(Form::kNonblocking, TORC_DESCRIBED(Name, parameters, comm), comm);       \
    call.mpi = MpiCall([=](const KeptLists& kept, MPI_Comm comm, MPI_Request* request) {         \
      static_cast<void>(kept);                                                                   \
      return PMPI_I##name##Suffix(TORC_KEPT(parameters) comm, request);                          \
    });                                                                                          \
    const Verdict verdict = serve(call, request);                                                \
    if (!verdict.isMpis()) return verdict.code();                                                \
    return handedBack(call, PMPI_I##name##Suffix(TORC_GIVEN(parameters) comm, request));         \
  }                                                                                              \
  int TORC_PERSISTENT(Name, Suffix)(TORC_PARAMETERS(parameters, Count, Offset) MPI_Comm comm,    \
                                    MPI_Info info, MPI_Request * request) {                      \
    if (!intercepts() && !mayOffload()) {                                                        \
      return TORC_MPIS_PERSISTENT(Name, Suffix)(TORC_GIVEN(parameters) comm, info, request);     \
    }                                                                                            \
    CollectiveCall call(Form::kPersistent, TORC_DESCRIBED(Name, parameters, comm), comm);        \
    const Verdict verdict = serve(call, request);                                                \
    if (!verdict.isMpis()) return verdict.code();                                                \
    const InsideMpi inside(isMadeByAll(verdict) ? comm : MPI_COMM_NULL);                         \
    return handedBack(                                                                           \
        call, TORC_MPIS_PERSISTENT(Name, Suffix)(TORC_GIVEN(parameters) comm, info, request));   \
  }

#define TORC_WRAPPERS_INT(Name, name, parameters, collective) \
  TORC_WRAPPERS(Name, name, parameters, , int, int)
#define TORC_WRAPPERS_COUNT(Name, name, parameters, collective) \
  TORC_WRAPPERS(Name, name, parameters, _c, MPI_Count, MPI_Aint)

extern "C" {
TORC_ALL_COLLECTIVES(TORC_WRAPPERS_INT)
TORC_MPI_4(TORC_COLLECTIVES(TORC_WRAPPERS_COUNT))
}
