// Duplicates change hands: MPI has about two thousand communicators, and torc takes few of them.
// Where a communicator is set up and torc has its share, a duplicate of the same members in the
// same order that is long unused becomes the new one's; and where the program has nearly all that
// MPI has, its unused duplicates are freed.
//
// All members of the one are members of the other, and are here: in the set-up of the new
// communicator. Rank 0 names a giver; it gives where on every rank nothing is under way on it, and
// the same number of calls has been made. Threads of the program could make another call meanwhile,
// so that programs with MPI_THREAD_MULTIPLE keep what they have.
//
// A communicator without a duplicate is MPI's, and tries again after some calls: those that are
// used much have one in the end.
#include <algorithm>

#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {
namespace {

// MPICH 4.0's, besides MPI_COMM_WORLD and MPI_COMM_SELF. Open MPI has more.
constexpr int kMostCommunicators = 2046;
// So many are left to the program when torc begins to do without.
constexpr int kLeastSpare = 512;
// And so many when it gives up those of the job, too.
constexpr int kLastSpare = 64;

// Collective calls of a communicator until it tries to get a duplicate (again).
constexpr std::uint64_t kCallsWithoutDuplicate = 100;

}  // namespace

DuplicateSupply duplicateSupply() {
  const auto own = static_cast<int>(engine->duplicates);
  const int used = program_communicators.load(std::memory_order_relaxed) + own;
  const bool has_jobs = engine->meetings != MPI_COMM_NULL;
  if (!has_jobs || used > kMostCommunicators - kLeastSpare) return DuplicateSupply::kScarce;
  return engine->duplicates < engine->settings.communicators ? DuplicateSupply::kEnough
                                                             : DuplicateSupply::kUsedUp;
}

bool CommunicatorState::canGiveDuplicate(MPI_Comm to) const {
  if (!isSetUp() || inUse() || !isIdle() || history_.hasFailures() || program_has_threads.load())
    return false;
  int result = MPI_UNEQUAL;
  return PMPI_Comm_compare(duplicate(), to, &result) == MPI_SUCCESS && result == MPI_CONGRUENT;
}

/// The id of the state that gives its duplicate to this one's communicator: the one that has not
/// been used for the longest time, measured in such searches. 0: there is none.
std::uint64_t CommunicatorState::findGiver(bool may_be_in_use,
                                           const std::vector<std::uint64_t>& tried) {
  const CommunicatorState* giver = nullptr;
  for (CommunicatorState* state : engine->states) {
    if (!state->isSetUp()) continue;
    const std::uint64_t made = state->history_.callsMade();
    const bool is_used = std::exchange(state->calls_seen_, made) != made;
    state->searches_unused_ = is_used ? 0 : state->searches_unused_ + 1;
    if ((is_used && !may_be_in_use) || state->size_ != size_) continue;
    if (giver != nullptr && giver->searches_unused_ >= state->searches_unused_) continue;
    if (std::ranges::find(tried, state->id_) != tried.end() || !state->canGiveDuplicate(comm_))
      continue;
    giver = state;
  }
  return giver == nullptr ? 0 : giver->id_;
}

/// Not in use: its communicator is MPI's from now on.
MPI_Comm CommunicatorState::giveDuplicate() {
  const MPI_Comm duplicate = std::exchange(geometry_->comm, MPI_COMM_NULL);
  dropGeometry();
  doWithoutDuplicate();
  return duplicate;
}

void CommunicatorState::doWithoutDuplicate() {
  reason_ = Reason::kNoDuplicate;
  tries_again_at_ = callsMade() + kCallsWithoutDuplicate;
}

void CommunicatorState::tryAgain() {
  if (callsMade() < tries_again_at_) return;
  recognise();
  EngineLock lock;
  describe();
}

/// By all members alike, where `supply` is the worst of any. MPI_COMM_NULL: there is none to take.
StatusOr<MPI_Comm> CommunicatorState::takeDuplicate(DuplicateSupply supply, std::uint64_t giver,
                                                    const CollectiveCall* call) {
  const bool is_scarce = supply == DuplicateSupply::kScarce;
  std::vector<std::uint64_t> tried;
  while (giver != 0) {
    CommunicatorState* state = nullptr;
    Votes votes{};
    {
      EngineLock lock;
      engine->destroyAbandoned();
      const auto found = engine->by_id.find(giver);
      if (found != engine->by_id.end() && found->second->canGiveDuplicate(comm_)) {
        state = found->second;
        const std::uint64_t made = state->history_.callsMade();
        votes = {0, made, ~made};
      } else {
        votes[0] = 1;
      }
      tried.push_back(giver);
      if (rank_ == 0 && is_scarce) votes[3] = findGiver(true, tried);
    }
    if (Status status = combine(votes, call); !status.ok()) return status;
    if (votes[0] == 0 && votes[1] == ~votes[2]) {
      EngineLock lock;
      MPI_Comm duplicate = state->giveDuplicate();
      if (!is_scarce) return duplicate;
      PMPI_Comm_free(&duplicate);
    }
    giver = votes[3];
  }
  return MPI_COMM_NULL;
}

/// Where the program is about to have all that MPI has, and no duplicate is left anywhere: torc
/// gives up the communicators of the job, and serves nothing from now on. By all ranks of the job,
/// in a set-up.
Status CommunicatorState::giveUpJobs(const CollectiveCall* call) {
  Votes votes{};
  {
    EngineLock lock;
    const bool can = program_communicators.load() > kMostCommunicators - kLastSpare &&
                     engine->duplicates == 0 && engine->isIdle() && engine->persistent.empty() &&
                     !program_has_threads.load();
    votes[0] = can ? 0 : 1;
  }
  if (Status status = combine(votes, call); !status.ok() || votes[0] != 0) return status;
  {
    EngineLock lock;
    engine->notices.stop();
  }
  // When all have stopped, all that was sent is there.
  if (Status status = combine(votes, call); !status.ok()) return status;
  EngineLock lock;
  engine->notices.close();
  engine->handles.close();
  PMPI_Comm_free(&engine->meetings);
  return {};
}

}  // namespace torc::runtime::pmpi
