// Wrappers of the functions that create and free communicators.
//
// These functions wait inside MPI (runtime/pmpi/engine/inside_mpi.h). Where collectives of the
// program may be pending, what is created is set up at once, so that its first call may be a
// nonblocking one. Where none can be, the first call sets it up.
//
// MPI_Comm_idup and MPI_Comm_idup_with_info do not wait and are only counted: such a communicator
// is set up by its first blocking call. Communicators with other jobs' processes (MPI_Comm_spawn,
// accept, connect, join) are intercommunicators, which are MPI's.
#include <functional>
#include <string_view>

#include "runtime/api/api.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/communicator_name.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/inside_mpi.h"
#include "runtime/pmpi/engine/meeting.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/pmpi/wrappers/next_layer.h"
#if MPI_VERSION >= 4
#include "runtime/pmpi/wrappers/sessions.h"
#endif
#include "support/message.h"

using torc::runtime::pmpi::CommunicatorState;
using torc::runtime::pmpi::engine;
using torc::runtime::pmpi::EngineLock;
using torc::runtime::pmpi::InsideMpi;
using torc::runtime::pmpi::intercepts;
using torc::runtime::pmpi::mayOffload;
using torc::runtime::pmpi::meets_before_calls;
using torc::runtime::pmpi::nameChild;
using torc::runtime::pmpi::noteCommunicator;
using torc::runtime::pmpi::program_communicators;

namespace {

/// Whether the members of a communicator to be meet, where no communicator has just them.
bool mustMeet() {
  return intercepts() && meets_before_calls.load(std::memory_order_relaxed);
}

/// Of a program's creation that has returned `code`.
int counted(int code, const MPI_Comm* comm) {
  if (code == MPI_SUCCESS && *comm != MPI_COMM_NULL) {
    program_communicators.fetch_add(1, std::memory_order_relaxed);
  }
  return code;
}

/// After a creation that has returned `code`. `parent`: whose ranks all make it; MPI_COMM_NULL: of
/// no communicator. A child without a name is set up at once: its ranks could tell each other
/// nothing of a call that waits for that.
int created(int code, MPI_Comm parent, const MPI_Comm* comm) {
  counted(code, comm);
  if (mayOffload() && code == MPI_SUCCESS && *comm != MPI_COMM_NULL) noteCommunicator(*comm);
  if (!intercepts() || code != MPI_SUCCESS) return code;
  const bool has_name = nameChild(parent, *comm);
  if (*comm == MPI_COMM_NULL || (has_name && !engine->has_nonblocking)) return code;
  const torc::Status ready = torc::runtime::attempt([&]() -> torc::Status {
    CommunicatorState* state = CommunicatorState::attach(*comm);
    return state->reason() == torc::runtime::Reason::kServed ? state->setUp(nullptr)
                                                             : torc::Status();
  });
  // The other ranks may be ready, and nothing tells them of this one.
  if (!ready.ok()) {
    torc::runtime::pmpi::complainAndAbort(
        torc::message("a communicator is made: ", ready.message()));
  }
  return code;
}

/// Makes a call that waits inside MPI for the ranks of `ranks`.
template <typename Call>
int makeInside(MPI_Comm ranks, Call call) {
  const InsideMpi inside(ranks);
  return call();
}

/// After a communicator is freed: states whose communicators have gone are destroyed now, unless
/// operations hold them.
void cleanUp(int code) {
  if (code == MPI_SUCCESS) program_communicators.fetch_sub(1, std::memory_order_relaxed);
  if (!engine->hasAbandoned()) return;
  EngineLock lock;
  engine->destroyAbandoned();
}

}  // namespace

// A creation that all ranks of `parent` call.
#define TORC_CREATION(Name, parent, PARAMETERS, ARGUMENTS)                                     \
  int MPI_##Name PARAMETERS {                                                                  \
    return created(makeInside(parent, [&] { return PMPI_##Name ARGUMENTS; }), parent, result); \
  }

extern "C" {

TORC_CREATION(Comm_dup, comm, (MPI_Comm comm, MPI_Comm* result), (comm, result))
TORC_CREATION(Comm_dup_with_info, comm, (MPI_Comm comm, MPI_Info info, MPI_Comm* result),
              (comm, info, result))
TORC_CREATION(Comm_create, comm, (MPI_Comm comm, MPI_Group group, MPI_Comm* result),
              (comm, group, result))
TORC_CREATION(Comm_split, comm, (MPI_Comm comm, int color, int key, MPI_Comm* result),
              (comm, color, key, result))
TORC_CREATION(Comm_split_type, comm,
              (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* result),
              (comm, type, key, info, result))
TORC_CREATION(Cart_create, comm,
              (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder,
               MPI_Comm* result),
              (comm, dimensions, sizes, periods, reorder, result))
TORC_CREATION(Cart_sub, comm, (MPI_Comm comm, const int remain[], MPI_Comm* result),
              (comm, remain, result))
TORC_CREATION(Graph_create, comm,
              (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
               MPI_Comm* result),
              (comm, nodes, index, edges, reorder, result))
TORC_CREATION(Dist_graph_create, comm,
              (MPI_Comm comm, int count, const int sources[], const int degrees[],
               const int destinations[], const int weights[], MPI_Info info, int reorder,
               MPI_Comm* result),
              (comm, count, sources, degrees, destinations, weights, info, reorder, result))
TORC_CREATION(Dist_graph_create_adjacent, comm,
              (MPI_Comm comm, int in_degree, const int sources[], const int source_weights[],
               int out_degree, const int destinations[], const int destination_weights[],
               MPI_Info info, int reorder, MPI_Comm* result),
              (comm, in_degree, sources, source_weights, out_degree, destinations,
               destination_weights, info, reorder, result))
TORC_CREATION(Intercomm_merge, comm, (MPI_Comm comm, int high, MPI_Comm* result),
              (comm, high, result))

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* result, MPI_Request* request) {
  return counted(PMPI_Comm_idup(comm, result, request), result);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* result) {
  if (mustMeet()) torc::runtime::pmpi::meetGroup(group, tag);
  return created(
      makeInside(MPI_COMM_NULL, [&] { return PMPI_Comm_create_group(comm, group, tag, result); }),
      MPI_COMM_NULL, result);
}

#if MPI_VERSION >= 4
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* result, MPI_Request* request) {
  return counted(PMPI_Comm_idup_with_info(comm, info, result, request), result);
}

int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info,
                               MPI_Errhandler handler, MPI_Comm* result) {
  if (const int code = torc::runtime::pmpi::noteGroupBeforeInit(group, handler);
      code != MPI_SUCCESS) {
    *result = MPI_COMM_NULL;
    return code;
  }
  // Every MPI has tags up to 32767.
  if (mustMeet()) {
    torc::runtime::pmpi::meetGroup(group,
                                   static_cast<int>(std::hash<std::string_view>()(tag) % 32768));
  }
  return created(
      makeInside(MPI_COMM_NULL,
                 [&] { return PMPI_Comm_create_from_group(group, tag, info, handler, result); }),
      MPI_COMM_NULL, result);
}

int MPI_Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote,
                                     int remote_leader, const char* tag, MPI_Info info,
                                     MPI_Errhandler handler, MPI_Comm* result) {
  return created(makeInside(MPI_COMM_NULL,
                            [&] {
                              return PMPI_Intercomm_create_from_groups(local, local_leader, remote,
                                                                       remote_leader, tag, info,
                                                                       handler, result);
                            }),
                 MPI_COMM_NULL, result);
}
#endif

int MPI_Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peers, int remote_leader,
                         int tag, MPI_Comm* result) {
  if (mustMeet()) torc::runtime::pmpi::meetLeaders(local, local_leader, peers, remote_leader, tag);
  return created(makeInside(MPI_COMM_NULL,
                            [&] {
                              return PMPI_Intercomm_create(local, local_leader, peers,
                                                           remote_leader, tag, result);
                            }),
                 MPI_COMM_NULL, result);
}

int MPI_Comm_free(MPI_Comm* comm) {
  if (!intercepts()) return PMPI_Comm_free(comm);
  const int code = makeInside(MPI_COMM_NULL, [&] { return PMPI_Comm_free(comm); });
  cleanUp(code);
  return code;
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (!intercepts() || comm == nullptr || *comm == MPI_COMM_NULL) return PMPI_Comm_disconnect(comm);
  // It waits until communication on the communicator is over; torc's is elsewhere.
  if (CommunicatorState* state = CommunicatorState::of(*comm); state != nullptr) {
    torc::runtime::pmpi::progressUntil([&] {
      EngineLock lock;
      return !state->isBusy();
    });
  }
  const int code = makeInside(*comm, [&] { return PMPI_Comm_disconnect(comm); });
  cleanUp(code);
  return code;
}

}  // extern "C"
