// Set-up of a communicator: all its ranks compare their own findings, and create the duplicate.
//
// The set-up waits for all ranks. MPI_Comm_idup would not; but MPICH 4.0.2 allows no other
// communicator creation on the rank meanwhile. Ranks that wait for each other in the two calls
// would then deadlock.
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/api/api.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/service/service_collective.h"
#include "runtime/transport/mpi_status.h"
#include "support/hash.h"

namespace torc::runtime::pmpi {
namespace {

/// A communicator of the same members, without attributes: MPI_Comm_dup would call the program's
/// copy functions. Its parent is not the program's communicator, so that the program's error
/// handler is not called if MPI has no communicator left: the result is then MPI_COMM_NULL, on all
/// ranks. `id`: of the program's communicator.
MPI_Comm makeSibling(MPI_Comm comm, std::uint64_t id) {
  MPI_Comm sibling = MPI_COMM_NULL;
  if (!torc_is_on.load()) {
    // In MPI_Init, MPI has communicators left. With more ranks than cores no rank should wait
    // inside MPI.
    MPI_Request request = MPI_REQUEST_NULL;
    waitFor(PMPI_Comm_idup(comm, &sibling, &request), &request);
    return sibling;
  }
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  // Threads may create several at once, under different tags. The lower half of the tags is for
  // meetings.
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

// Duplicates of torc on a rank.
constexpr std::uint32_t kMostDuplicates = 128;
// Limit of MPICH 4.0, besides MPI_COMM_WORLD and MPI_COMM_SELF. Open MPI has more.
constexpr int kMostCommunicators = 2046;
// Below so many communicators left for the program, torc gives its own up.
constexpr int kLeastSpare = 512;

}  // namespace

/// Waits by messages on another communicator than the program's, so that an unfinished wait
/// disturbs no call. False: the call fails before all ranks have come to it or a later one.
bool CommunicatorState::awaitMembers(const CollectiveCall& call) {
  if (id_ == 0 || engine->meetings == MPI_COMM_NULL) return true;
  if (!service_->isUnderWay()) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm_, &group);
    // The upper half is for the creation of duplicates.
    const int tag = static_cast<int>(id_ % (highestTag(engine->meetings) / 2));
    service_->disseminate(engine->meetings, tag, rank_, size_, {}, group, engine->library->world);
    PMPI_Group_free(&group);
  }
  bool has_failed = false;
  StallTimer asking(kSecondsBeforeAsking);
  const auto look = [&] {
    if (service_->advance()) return true;  // the votes report errors
    EngineLock lock;
    if (asking.isOver()) history_.standsStill(call);
    return has_failed = history_.hasFailed(call);
  };
  progressUntil(look, [&] {
    tellOfStall(call, *this, "it waits for the other ranks to make their first call there");
  });
  return !has_failed;
}

/// Combines the ranks' votes, on the program's communicator.
Status CommunicatorState::combine(Votes& votes, MPI_Op op, const CollectiveCall* call) {
  ServiceCollective vote;
  vote.allreduce(comm_, votes, op);
  const Status status = await(vote, [&] {
    const char* why = "it waits for the other ranks to set it up, too";
    call != nullptr ? tellOfStall(*call, *this, why) : tellOfStall(description_, why);
  });
  std::ranges::copy(vote.words(), votes.begin());
  return status;
}

/// The ranks compare their findings. Only some may have room for a duplicate, as each may be in
/// many other communicators.
Status CommunicatorState::agree(const CollectiveCall* call) {
  const std::uint64_t fingerprint = recognition_.fingerprint();
  Votes votes = {fingerprint, ~fingerprint, 0, 0};
  {
    EngineLock lock;
    votes[2] = static_cast<std::uint64_t>(duplicateSupply());
    // Rank 0 chooses the number.
    if (rank_ == 0) {
      votes[3] = id_ != 0 ? id_ : std::uint64_t(engine->world_rank + 1) << 32 | ++engine->ids_given;
    }
  }
  if (Status status = combine(votes, MPI_MAX, call); !status.ok()) return status;
  {
    EngineLock lock;
    const Status known = attempt([&]() TORC_REQUIRES(engine_lock) {
      setId(votes[3]);
      is_agreed_ = true;
    });
    if (!known.ok()) return known;
  }
  if (votes[0] != ~votes[1]) {
    recognition_.why = Reason::kNoSubTorus;
    recognition_.reason = "its ranks recognise it differently";
  } else if (const auto supply = static_cast<DuplicateSupply>(votes[2]);
             supply != DuplicateSupply::kEnough) {
    recognition_.why = Reason::kNoDuplicate;
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
  if (recognition_.ok()) {
    duplicate = makeSibling(comm_, id_);
    if (duplicate == MPI_COMM_NULL) recognition_.why = Reason::kNoDuplicate;
  }
  EngineLock lock;
  if (recognition_.ok()) return makeGeometry(duplicate);
  describe();
  return {};
}

/// Builds the geometry on the duplicate.
Status CommunicatorState::makeGeometry(MPI_Comm duplicate) {
  return attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
    StatusOr<std::unique_ptr<torc_geometry>> made =
        torc_geometry::over(&engine->context, duplicate, recognition_.topology,
                            std::move(recognition_.map), engine->library->hosts);
    if (!made.ok()) return made.status();
    geometry_ = std::move(*made);
    has_grid_on_duplicate_ = hasGrid(duplicate);
    ++engine->duplicates;
    if (Status status = geometry_->startTrace(); !status.ok()) warnOnce("trace", status.message());
    schedules_ = std::make_unique<CommunicatorSchedules>(*engine->library, *geometry_, shape(),
                                                         engine->loading);
    calls_ = std::make_unique<CallCache>(geometry_.get(), &engine->call_memory);
    return {};
  });
}

// ---- Supply of duplicates
//
// MPI has about two thousand communicators, and torc takes few of them, first come, first served.
// If the program has nearly all the others, torc gives up its own for good, so that no program
// lacks one.
//
// Duplicates are given up in the set-up of a communicator of all ranks of the job. A duplicate is
// freed if it is idle on every rank, and all its ranks have made as many calls there. Other threads
// could make another call meanwhile: programs with MPI_THREAD_MULTIPLE keep their duplicates.

DuplicateSupply duplicateSupply() {
  if (engine->meetings == MPI_COMM_NULL) return DuplicateSupply::kUsedUp;
  const int used =
      program_communicators.load(std::memory_order_relaxed) + static_cast<int>(engine->duplicates);
  if (used > kMostCommunicators - kLeastSpare) return DuplicateSupply::kScarce;
  return engine->duplicates < kMostDuplicates ? DuplicateSupply::kEnough : DuplicateSupply::kUsedUp;
}

/// For an idle duplicate: the sum over its ranks is 0 if all of them have made as many calls.
std::uint64_t CommunicatorState::callsVote() const {
  const auto weight = static_cast<std::uint64_t>(rank_ == 0 ? size_ - 1 : -1);
  return weight * hashNumbers(id_, history_.callsMade());
}

/// Collective over the job. If no duplicate is left, the job's own communicators are freed, too:
/// torc then serves no call any more.
Status CommunicatorState::giveUpDuplicates(const CollectiveCall* call) {
  std::vector<CommunicatorState*> given;
  Votes votes{};
  // If one rank has threads, all duplicates stay.
  if (program_has_threads.load()) {
    votes[0] = 1;
  } else {
    EngineLock lock;
    engine->destroyAbandoned();
    for (CommunicatorState* state : engine->states) {
      if (!state->isSetUp() || state->inUse() || !state->isIdle() || state->history_.hasFailures())
        continue;
      given.push_back(state);
      votes[0] += state->callsVote();
    }
    std::ranges::sort(given, {}, &CommunicatorState::id);  // MPI may wait for the other ranks
    const bool keeps_none = engine->duplicates == given.size();
    votes[1] = keeps_none && engine->isIdle() && engine->persistent.empty() ? 0 : 1;
  }
  if (Status status = combine(votes, MPI_SUM, call); !status.ok() || votes[0] != 0) return status;
  {
    EngineLock lock;
    for (CommunicatorState* state : given) {
      state->dropGeometry();
      state->recognition_.why = Reason::kNoDuplicate;
    }
    if (votes[1] != 0) return {};
    engine->notices.stop();
  }
  // As all ranks have stopped, all sent messages have arrived.
  if (Status status = combine(votes, MPI_SUM, call); !status.ok()) return status;
  EngineLock lock;
  engine->notices.close();
  engine->handles.close();
  PMPI_Comm_free(&engine->meetings);
  return {};
}

}  // namespace torc::runtime::pmpi
