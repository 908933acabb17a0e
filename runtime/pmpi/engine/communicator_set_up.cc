// Setting a communicator up: all its ranks confirm what each has found alone, and make the
// duplicate.
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
#include "runtime/pmpi/statistics/stderr_lines.h"
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

/// A step of a dissemination barrier: after step k each rank has heard of the 2^(k+1) - 1 before
/// it. By messages beside the program's communicator, so that one that does not end is in nobody's
/// way.
int CommunicatorState::arrive() {
  MPI_Group group = MPI_GROUP_NULL;
  const int distance = 1 << arrival_step_;
  const int ranks[] = {(rank_ - distance + size_) % size_, (rank_ + distance) % size_};
  int there[2];
  PMPI_Comm_group(comm_, &group);
  PMPI_Group_translate_ranks(group, 2, ranks, engine->library->world, there);
  PMPI_Group_free(&group);
  // The upper half is for duplicates that are made.
  const int tag = static_cast<int>(id_ % (highestTag(engine->meetings) / 2));
  const int code = PMPI_Irecv(nullptr, 0, MPI_BYTE, there[0], tag, engine->meetings, &arrivals_[0]);
  if (code != MPI_SUCCESS) return code;
  return PMPI_Isend(nullptr, 0, MPI_BYTE, there[1], tag, engine->meetings, &arrivals_[1]);
}

/// False: the call is over before all ranks have come to it, or to a later one.
bool CommunicatorState::awaitMembers(const CollectiveCall& call) {
  if (id_ == 0 || engine->meetings == MPI_COMM_NULL) return true;
  bool is_over = false;
  StallTimer asking(kSecondsBeforeAsking), stall;
  progressUntil([&] {
    while (1 << arrival_step_ < size_) {
      int done = 0, code = MPI_SUCCESS;
      if (arrivals_[0] == MPI_REQUEST_NULL && arrivals_[1] == MPI_REQUEST_NULL) code = arrive();
      if (code == MPI_SUCCESS) code = PMPI_Testall(2, arrivals_, &done, MPI_STATUSES_IGNORE);
      if (code != MPI_SUCCESS) return true;  // the votes find out
      if (!done) break;
      ++arrival_step_;
    }
    if (1 << arrival_step_ >= size_) return true;
    if (asking.isOver()) {
      EngineLock lock;
      history_.standsStill(call);
    }
    if (stall.isOver()) {
      tellOfStall(call, *this, "it waits for the other ranks to make their first call there");
    }
    EngineLock lock;
    return is_over = history_.hasFailed(call);
  });
  if (!is_over) arrival_step_ = 0;
  return !is_over;
}

/// Puts the ranks' votes together, on the program's communicator.
Status CommunicatorState::combine(Votes& votes, MPI_Op op, const CollectiveCall* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Iallreduce(MPI_IN_PLACE, votes.data(), static_cast<int>(votes.size()),
                             MPI_UINT64_T, op, comm_, &request);
  int done = code != MPI_SUCCESS;
  StallTimer stall;
  progressUntil([&] {
    if (!done) code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (stall.isOver()) {
      const char* why = "it waits for the other ranks to set it up, too";
      call != nullptr ? tellOfStall(*call, *this, why) : tellOfStall(description_, why);
    }
    return done || code != MPI_SUCCESS;
  });
  return code == MPI_SUCCESS ? Status() : mpiStatus(code, "MPI_Iallreduce");
}

/// The ranks compare what they have found. Whether there is room for a duplicate may differ between
/// them, for ranks may be in many other communicators.
Status CommunicatorState::agree(const CollectiveCall* call) {
  const std::uint64_t fingerprint = recognition_->fingerprint();
  Votes votes = {fingerprint, ~fingerprint, 0, 0};
  {
    EngineLock lock;
    votes[2] = static_cast<std::uint64_t>(duplicateSupply());
    // Rank 0 gives the number.
    if (rank_ == 0) {
      votes[3] = id_ != 0 ? id_ : std::uint64_t(engine->world_rank + 1) << 32 | ++engine->ids_given;
    }
  }
  if (Status status = combine(votes, MPI_MAX, call); !status.ok()) return status;
  {
    EngineLock lock;
    const Status known = attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
      setId(votes[3]);
      is_agreed_ = true;
      return {};
    });
    if (!known.ok()) return known;
  }
  if (votes[0] != ~votes[1]) {
    reason_ = Reason::kNoSubTorus;
    reason_text_ = "its ranks recognise it differently";
  } else if (const auto supply = static_cast<DuplicateSupply>(votes[2]);
             supply != DuplicateSupply::kEnough) {
    reason_ = Reason::kNoDuplicate;
    int world_size = 0;
    PMPI_Group_size(engine->library->world, &world_size);
    if (supply == DuplicateSupply::kScarce && size_ == world_size) return giveUpDuplicates(call);
  }
  return {};
}

Status CommunicatorState::setUp(const CollectiveCall* call) {
  if (fault_.ok()) fault_ = setUpOnce(call);
  return fault_;
}

Status CommunicatorState::setUpOnce(const CollectiveCall* call) {
  const SetUpTime time;
  if (call != nullptr && !awaitMembers(*call)) return {};
  if (Status status = agree(call); !status.ok()) return status;
  MPI_Comm duplicate = MPI_COMM_NULL;
  if (reason_ == Reason::kServed) {
    duplicate = makeSibling(comm_, id_);
    if (duplicate == MPI_COMM_NULL) reason_ = Reason::kNoDuplicate;
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
