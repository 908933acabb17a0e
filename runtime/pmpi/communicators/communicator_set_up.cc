// Setting a communicator up: all its ranks confirm what each has found alone, and make the shadow.
//
// That waits for all of them. A shadow by MPI_Comm_idup would not; but while one is under way,
// MPICH 4.0.2 lets no other communicator be made on the rank, and ranks that wait for each other in
// the one and the other wait for ever.
#include <array>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/pmpi/calls/stall.h"
#include "runtime/pmpi/communicators/communicator_state.h"
#include "runtime/pmpi/job/engine.h"
#include "runtime/pmpi/job/progress.h"
#include "runtime/pmpi/statistics/report.h"
#include "runtime/transport/mpi_status.h"

namespace torc::pmpi {
namespace {

/// A communicator of the same members, without attributes: MPI_Comm_dup would call the program's
/// functions that copy them. MPI_COMM_NULL where MPI has none left, which it finds out on all
/// ranks.
MPI_Comm makeSibling(MPI_Comm comm) {
  MPI_Comm sibling = MPI_COMM_NULL;
  if (comm == MPI_COMM_WORLD) {
    // The program has had no time to give it attributes, and MPI has communicators left. Ranks that
    // outnumber the cores should not wait inside MPI.
    MPI_Request request = MPI_REQUEST_NULL;
    waitFor(PMPI_Comm_idup(comm, &sibling, &request), &request);
    return sibling;
  }
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  if (PMPI_Comm_create(comm, group, &sibling) != MPI_SUCCESS) sibling = MPI_COMM_NULL;
  PMPI_Group_free(&group);
  PMPI_Comm_set_errhandler(comm, handler);
  PMPI_Errhandler_free(&handler);
  return sibling;
}

}  // namespace

/// The ranks compare what they have found. Whether there is room may differ between them, for ranks
/// may be in many other communicators.
Status CommunicatorState::agree(const CollectiveCall* call) {
  const std::uint64_t fingerprint = recognition_->fingerprint();
  std::array<std::uint64_t, 4> votes = {fingerprint, ~fingerprint, 0, 0};
  {
    EngineLock lock;
    votes[2] = engine->shadows < engine->settings.communicators ? 0 : 1;
    // Rank 0 gives the number.
    if (rank_ == 0) votes[3] = std::uint64_t(engine->world_rank + 1) << 32 | ++engine->ids_given;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Iallreduce(MPI_IN_PLACE, votes.data(), static_cast<int>(votes.size()),
                             MPI_UINT64_T, MPI_MAX, comm_, &request);
  int done = code != MPI_SUCCESS;
  StallTimer stall;
  progressUntil([&] {
    if (!done) code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (call != nullptr && stall.isOver()) {
      tellOfStall(*call, *this, "it waits for the other ranks to make their first call there");
    }
    return done || code != MPI_SUCCESS;
  });
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Iallreduce");
  if (votes[0] != ~votes[1]) {
    reason_ = Reason::kNoSubTorus;
    reason_text_ = "its ranks recognise it differently";
  } else if (votes[2] != 0) {
    reason_ = Reason::kNoShadow;
  }
  EngineLock lock;
  return attempt([&]() -> Status {
    id_ = votes[3];
    engine->by_id.emplace(id_, this);
    return {};
  });
}

Status CommunicatorState::setUp(const CollectiveCall* call) {
  if (fault_.ok()) fault_ = setUpOnce(call);
  return fault_;
}

Status CommunicatorState::setUpOnce(const CollectiveCall* call) {
  const SetUpTime time;
  if (Status status = agree(call); !status.ok()) return status;
  MPI_Comm shadow = MPI_COMM_NULL;
  if (reason_ == Reason::kServed) {
    shadow = makeSibling(comm_);
    if (shadow == MPI_COMM_NULL) reason_ = Reason::kNoShadow;
  }
  EngineLock lock;
  if (reason_ == Reason::kServed) return makeGeometry(shadow);
  describe();
  return {};
}

/// Puts the geometry over the shadow, with the lock.
Status CommunicatorState::makeGeometry(MPI_Comm shadow) {
  return attempt([&]() -> Status {
    StatusOr<std::unique_ptr<torc_geometry>> made =
        torc_geometry::over(&engine->context, shadow, recognition_->topology,
                            std::move(recognition_->map), engine->library->hosts);
    if (!made.ok()) return made.status();
    recognition_.reset();
    geometry_ = std::move(*made);
    ++engine->shadows;
    if (Status status = geometry_->startTrace(); !status.ok()) warnOnce("trace", status.message());
    calls_ = std::make_unique<CallCache>(geometry_.get(), &engine->call_memory);
    return {};
  });
}

}  // namespace torc::pmpi
