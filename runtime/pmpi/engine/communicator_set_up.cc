// Setting a communicator up: all its ranks confirm what each has found alone, and make the
// duplicate, or take one that another communicator has no use for (duplicate_exchange.cc).
//
// That waits for all of them. A duplicate by MPI_Comm_idup would not; but while one is under way,
// MPICH 4.0.2 lets no other communicator be made on the rank, and ranks that wait for each other in
// the one and the other wait for ever.
#include <array>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/report.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {
namespace {

/// A communicator of the same members, without attributes: MPI_Comm_dup would call the program's
/// functions that copy them. It is made beside the program's, whose error handler is not to hear
/// that MPI has none left: then MPI_COMM_NULL, on all ranks. `id`: of the program's.
MPI_Comm makeSibling(MPI_Comm comm, std::uint64_t id) {
  MPI_Comm sibling = MPI_COMM_NULL;
  if (!torc_is_on.load()) {
    // In MPI_Init MPI has some left. Ranks that outnumber the cores should not wait inside MPI.
    MPI_Request request = MPI_REQUEST_NULL;
    waitFor(PMPI_Comm_idup(comm, &sibling, &request), &request);
    return sibling;
  }
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  // Threads may make several at once, whose tags differ. The lower ones are for meetings.
  const std::uint64_t half = highestTag(engine->meetings) / 2;
  const int tag = static_cast<int>(half + (id ^ id >> 32 << 8) % half);
  if (PMPI_Comm_create_group(engine->meetings, group, tag, &sibling) != MPI_SUCCESS) {
    sibling = MPI_COMM_NULL;
  } else {
    copyGrid(comm, &sibling);
  }
  PMPI_Group_free(&group);
  return sibling;
}

}  // namespace

/// Puts the ranks' votes together, on the program's communicator.
Status CommunicatorState::combine(Votes& votes, const CollectiveCall* call) {
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
  return code == MPI_SUCCESS ? Status() : mpiStatus(code, "MPI_Iallreduce");
}

/// The ranks compare what they have found. Whether there is room for a duplicate may differ between
/// them, for ranks may be in many other communicators; it may be another one's, in `duplicate`.
Status CommunicatorState::agree(const CollectiveCall* call, MPI_Comm* duplicate) {
  const std::uint64_t fingerprint = recognition_->fingerprint();
  Votes votes = {fingerprint, ~fingerprint, 0, 0, 0};
  {
    EngineLock lock;
    votes[2] = static_cast<std::uint64_t>(duplicateSupply());
    // Rank 0 gives the number, and names who may give its duplicate.
    if (rank_ == 0) {
      votes[3] = id_ != 0 ? id_ : std::uint64_t(engine->world_rank + 1) << 32 | ++engine->ids_given;
      if (engine->settings.strict == 0) votes[4] = findGiver(false, {});
    }
  }
  if (Status status = combine(votes, call); !status.ok()) return status;
  {
    EngineLock lock;
    const Status known = attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
      engine->by_id.emplace(votes[3], this);
      id_ = votes[3];
      return {};
    });
    if (!known.ok()) return known;
  }
  if (votes[0] != ~votes[1]) {
    reason_ = Reason::kNoSubTorus;
    reason_text_ = "its ranks recognise it differently";
  } else if (const auto supply = static_cast<DuplicateSupply>(votes[2]);
             supply != DuplicateSupply::kEnough) {
    const StatusOr<MPI_Comm> taken = takeDuplicate(supply, votes[4], call);
    if (!taken.ok()) return taken.status();
    *duplicate = *taken;
    if (*duplicate == MPI_COMM_NULL) doWithoutDuplicate();
    int world_size = 0;
    PMPI_Group_size(engine->library->world, &world_size);
    if (supply == DuplicateSupply::kScarce && size_ == world_size &&
        engine->meetings != MPI_COMM_NULL) {
      return giveUpJobs(call);
    }
  }
  return {};
}

Status CommunicatorState::setUp(const CollectiveCall* call) {
  if (fault_.ok()) fault_ = setUpOnce(call);
  return fault_;
}

Status CommunicatorState::setUpOnce(const CollectiveCall* call) {
  const SetUpTime time;
  MPI_Comm duplicate = MPI_COMM_NULL;
  if (Status status = agree(call, &duplicate); !status.ok()) return status;
  if (reason_ == Reason::kServed && duplicate == MPI_COMM_NULL) {
    duplicate = makeSibling(comm_, id_);
    if (duplicate == MPI_COMM_NULL) doWithoutDuplicate();
  }
  EngineLock lock;
  if (reason_ == Reason::kServed) return makeGeometry(duplicate);
  describe();
  return {};
}

/// Puts the geometry over the duplicate.
Status CommunicatorState::makeGeometry(MPI_Comm duplicate) {
  return attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
    StatusOr<std::unique_ptr<torc_geometry>> made =
        torc_geometry::over(&engine->context, duplicate, recognition_->topology,
                            std::move(recognition_->map), engine->library->hosts);
    if (!made.ok()) return made.status();
    recognition_.reset();
    geometry_ = std::move(*made);
    has_grid_on_duplicate_ = hasGrid(duplicate);
    ++engine->duplicates;
    if (Status status = geometry_->startTrace(); !status.ok()) warnOnce("trace", status.message());
    schedules_ = std::make_unique<CommunicatorSchedules>(*engine->library, *geometry_, shape_,
                                                         engine->loading);
    calls_ = std::make_unique<CallCache>(geometry_.get(), &engine->call_memory);
    return {};
  });
}

}  // namespace torc::runtime::pmpi
