// Wrappers of the functions that create and free communicators.
//
// These functions wait inside MPI (runtime/pmpi/engine/inside_mpi.h). If collectives of the program
// may be pending, a new communicator is set up at once, so that its first call may be nonblocking.
// Otherwise its first call sets it up.
//
// MPI_Comm_idup and MPI_Comm_idup_with_info do not wait and are only counted: such a communicator
// is set up by its first blocking call. Communicators with other jobs' processes (MPI_Comm_spawn,
// accept, connect, join) are intercommunicators, whose calls fall back to MPI.
#include <functional>
#include <string_view>

#include "runtime/api/api.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/pmpi/wrappers/next_layer.h"
#if MPI_VERSION >= 4
#include "runtime/pmpi/wrappers/sessions.h"
#endif
#include "runtime/pmpi/wrappers/waiting.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// Counts a communicator of the program whose creation has returned `code`.
int counted(int code, const MPI_Comm* comm) {
  if (code == MPI_SUCCESS && *comm != MPI_COMM_NULL) {
    program_communicators.fetch_add(1, std::memory_order_relaxed);
  }
  return code;
}

/// After a communicator is freed: destroys states of freed communicators, unless operations hold
/// them.
void cleanUp(int code) {
  if (code == MPI_SUCCESS) program_communicators.fetch_sub(1, std::memory_order_relaxed);
  if (!engine->hasAbandoned()) return;
  EngineLock lock;
  engine->destroyAbandoned();
}

}  // namespace

/// A child without a name is set up at once: without a name its ranks could not send notices about
/// a waiting call.
int created(int code, MPI_Comm parent, const MPI_Comm* comm) {
  counted(code, comm);
  if (mayOffload() && code == MPI_SUCCESS && *comm != MPI_COMM_NULL) noteCommunicator(*comm);
  if (!intercepts() || code != MPI_SUCCESS) return code;
  const bool has_name = nameChild(parent, *comm);
  if (*comm == MPI_COMM_NULL || (has_name && !engine->has_nonblocking)) return code;
  const Status ready = attempt([&]() -> Status {
    CommunicatorState* state = CommunicatorState::attach(*comm);
    return state->reason() == Reason::kServed ? state->setUp(nullptr) : Status();
  });
  // The other ranks may be ready, and cannot learn of this failure.
  if (!ready.ok()) {
    complainAndAbort(message("a communicator is made: ", ready.message()));
  }
  return code;
}

extern "C" {

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* result, MPI_Request* request) {
  return counted(PMPI_Comm_idup(comm, result, request), result);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* result) {
  // No communicator has exactly these members, here and below.
  if (mustMeet()) meetGroup(group, tag);
  return create([&] { return PMPI_Comm_create_group(comm, group, tag, result); }, MPI_COMM_NULL,
                result);
}

#if MPI_VERSION >= 4
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* result, MPI_Request* request) {
  return counted(PMPI_Comm_idup_with_info(comm, info, result, request), result);
}

int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info,
                               MPI_Errhandler handler, MPI_Comm* result) {
  if (const int code = noteGroupBeforeInit(group, handler); code != MPI_SUCCESS) {
    *result = MPI_COMM_NULL;
    return code;
  }
  // MPI guarantees tags up to 32767.
  if (mustMeet()) {
    meetGroup(group, static_cast<int>(std::hash<std::string_view>()(tag) % 32768));
  }
  return create([&] { return PMPI_Comm_create_from_group(group, tag, info, handler, result); },
                MPI_COMM_NULL, result);
}

int MPI_Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote,
                                     int remote_leader, const char* tag, MPI_Info info,
                                     MPI_Errhandler handler, MPI_Comm* result) {
  const auto call = [&] {
    return PMPI_Intercomm_create_from_groups(local, local_leader, remote, remote_leader, tag, info,
                                             handler, result);
  };
  return create(call, MPI_COMM_NULL, result);
}
#endif

int MPI_Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peers, int remote_leader,
                         int tag, MPI_Comm* result) {
  if (mustMeet()) meetLeaders(local, local_leader, peers, remote_leader, tag);
  const auto call = [&] {
    return PMPI_Intercomm_create(local, local_leader, peers, remote_leader, tag, result);
  };
  return create(call, MPI_COMM_NULL, result);
}

int MPI_Comm_free(MPI_Comm* comm) {
  if (!intercepts()) return PMPI_Comm_free(comm);
  const int code = makeInside([&] { return PMPI_Comm_free(comm); });
  cleanUp(code);
  return code;
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (!intercepts() || comm == nullptr || *comm == MPI_COMM_NULL) return PMPI_Comm_disconnect(comm);
  // MPI waits for communication on the communicator itself; torc's uses the duplicate.
  if (CommunicatorState* state = CommunicatorState::of(*comm); state != nullptr) {
    progressUntil([&] {
      EngineLock lock;
      return !state->isBusy();
    });
  }
  const int code = makeInside([&] { return PMPI_Comm_disconnect(comm); }, *comm);
  cleanUp(code);
  return code;
}

}  // extern "C"

}  // namespace torc::runtime::pmpi
