// Duplicates: MPI has about two thousand communicators, and torc takes few of them, first come,
// first served. Where the program has nearly all that are left, torc gives up its own for good, so
// that no program lacks one.
//
// That takes the set-up of a communicator of all ranks of the job, which are here then. A duplicate
// is freed where on every rank nothing is under way on it, and all its ranks have made as many
// calls there. Threads of the program could make another call meanwhile: programs with
// MPI_THREAD_MULTIPLE keep what they have.
#include <algorithm>
#include <vector>

#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "support/hash.h"

namespace torc::runtime::pmpi {
namespace {

// Of torc's, on a rank.
constexpr std::uint32_t kMostDuplicates = 128;
// MPICH 4.0's, besides MPI_COMM_WORLD and MPI_COMM_SELF. Open MPI has more.
constexpr int kMostCommunicators = 2046;
// So many are left to the program when torc begins to do without.
constexpr int kLeastSpare = 512;

}  // namespace

DuplicateSupply duplicateSupply() {
  if (engine->meetings == MPI_COMM_NULL) return DuplicateSupply::kUsedUp;
  const int used =
      program_communicators.load(std::memory_order_relaxed) + static_cast<int>(engine->duplicates);
  if (used > kMostCommunicators - kLeastSpare) return DuplicateSupply::kScarce;
  return engine->duplicates < kMostDuplicates ? DuplicateSupply::kEnough : DuplicateSupply::kUsedUp;
}

/// Of a duplicate on which nothing is under way: summed over its ranks, 0 where all of them have
/// made as many calls.
std::uint64_t CommunicatorState::callsVote() const {
  const auto weight = static_cast<std::uint64_t>(rank_ == 0 ? size_ - 1 : -1);
  return weight * hashNumbers(id_, history_.callsMade());
}

/// By all ranks of the job. Where no duplicate is left, the job's own communicators go, too: torc
/// serves nothing from now on.
Status CommunicatorState::giveUpDuplicates(const CollectiveCall* call) {
  std::vector<CommunicatorState*> given;
  Votes votes{};
  // Of one rank with threads: nothing is given up.
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
      state->reason_ = Reason::kNoDuplicate;
    }
    if (votes[1] != 0) return {};
    engine->notices.stop();
  }
  // When all have stopped, all that was sent is there.
  if (Status status = combine(votes, MPI_SUM, call); !status.ok()) return status;
  EngineLock lock;
  engine->notices.close();
  engine->handles.close();
  PMPI_Comm_free(&engine->meetings);
  return {};
}

}  // namespace torc::runtime::pmpi
