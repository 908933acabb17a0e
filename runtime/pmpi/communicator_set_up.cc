// Setting a communicator up: all its ranks confirm what each has found alone, and make the shadow.
//
// Where the first call waits, all do so one step after the other. A nonblocking first call starts
// both steps at once; the shadow is then a duplicate by MPI_Comm_idup, which calls the functions by
// which the program's attributes are copied, if it has any there.
#include <array>
#include <utility>

#include "runtime/api.h"
#include "runtime/mpi_transport.h"
#include "runtime/pmpi/communicator_state.h"
#include "runtime/pmpi/engine.h"
#include "runtime/pmpi/progress.h"
#include "runtime/pmpi/report.h"
#include "runtime/pmpi/stall.h"

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
    complete(PMPI_Comm_idup(comm, &sibling, &request), &request);
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

/// Starts the reduction by which the ranks compare what they have found. Whether there is room may
/// differ between them, for ranks may be in many other communicators.
int CommunicatorState::startVote() {
  bool room = false;
  std::uint64_t identity = 0;
  {
    EngineLock lock;
    room = engine->shadows < engine->settings.communicators;
    if (room) ++engine->shadows;  // given back where it comes to nothing
    // Rank 0 gives the number.
    if (rank_ == 0) identity = std::uint64_t(engine->world_rank + 1) << 32 | ++engine->ids_given;
  }
  const std::uint64_t fingerprint = recognition_->fingerprint();
  votes_ = {fingerprint, ~fingerprint, room ? 0u : 1u, identity};
  has_room_ = room;
  return PMPI_Iallreduce(MPI_IN_PLACE, votes_.data(), static_cast<int>(votes_.size()), MPI_UINT64_T,
                         MPI_MAX, comm_, &vote_);
}

/// With the lock.
void CommunicatorState::countVotes() {
  if (votes_[0] != ~votes_[1]) {
    reason_ = Reason::kNoPart;
    reason_text_ = "its ranks recognise it differently";
  } else if (votes_[2] != 0) {
    reason_ = Reason::kNoShadow;
  }
  id_ = votes_[3];
  engine->by_id.emplace(id_, this);
}

Status CommunicatorState::setUp(const CollectiveCall* call) {
  const SetUpTime time;
  const int started = startVote();
  if (started != MPI_SUCCESS) return mpiStatus(started, "MPI_Iallreduce");
  int code = MPI_SUCCESS, done = 0;
  StallTimer stall;
  progressUntil([&] {
    code = PMPI_Test(&vote_, &done, MPI_STATUS_IGNORE);
    if (call != nullptr && stall.isOver()) {
      tellOfStall(*call, *this, "it waits for the other ranks to make their first call there");
    }
    return done || code != MPI_SUCCESS;
  });
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Iallreduce");
  {
    EngineLock lock;
    countVotes();
  }
  MPI_Comm shadow = MPI_COMM_NULL;
  if (reason_ == Reason::kServed) {
    shadow = makeSibling(comm_);
    if (shadow == MPI_COMM_NULL) reason_ = Reason::kNoShadow;
  }
  EngineLock lock;
  if (reason_ == Reason::kServed) return lay(shadow);
  if (has_room_) --engine->shadows;
  describe();
  return {};
}

/// Puts the geometry over the shadow, with the lock.
Status CommunicatorState::lay(MPI_Comm shadow) {
  shadow_ = shadow;
  PMPI_Comm_set_errhandler(shadow, MPI_ERRORS_RETURN);
  stage_ = Stage::kServed;
  return attempt([&]() -> Status {
    StatusOr<std::unique_ptr<torc_geometry>> made =
        torc_geometry::over(&engine->context, shadow, recognition_->topology,
                            std::move(recognition_->map), engine->library->hosts);
    if (!made.ok()) return made.status();
    recognition_.reset();
    geometry_ = std::move(*made);
    shadow_ = MPI_COMM_NULL;
    if (Status status = geometry_->joinTrace(); !status.ok()) warnOnce("trace", status.message());
    calls_ = std::make_unique<CallCache>(geometry_.get(), &engine->call_memory);
    return {};
  });
}

void CommunicatorState::beginSetUp() {
  stage_ = Stage::kSettingUp;
  // Both at once: what is started later would come in another order on every rank.
  int code = startVote();
  if (code == MPI_SUCCESS) code = PMPI_Comm_idup(comm_, &shadow_, &duplication_);
  EngineLock lock;
  engine->settingUp.begin();
  if (code != MPI_SUCCESS) {
    fail({1, MPI_ERR_OTHER, mpiStatus(code, "MPI_Comm_idup").message()});
  }
}

bool CommunicatorState::advanceSetUp() {
  if (stage_ != Stage::kSettingUp) return true;
  for (MPI_Request* request : {&vote_, &duplication_}) {
    int done = 0;
    const int code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      fail({1, MPI_ERR_OTHER, mpiStatus(code, "MPI_Comm_idup").message()});
      return false;
    }
    if (!done) return false;
  }
  engine->settingUp.end();
  countVotes();
  if (!has_room_) ++engine->shadows;  // there is one more all the same
  if (reason_ == Reason::kServed) {
    if (Status status = lay(shadow_); !status.ok()) {
      fail({1, MPI_ERR_NO_MEM, status.message()});
      return false;
    }
    return true;
  }
  // Some calls wait for torc already. All that torc would serve takes the same way from now on.
  PMPI_Comm_set_errhandler(shadow_, MPI_ERRORS_RETURN);
  stage_ = Stage::kByMpi;
  describe();
  return true;
}

}  // namespace torc::pmpi
