// Supply of duplicates: MPI has about two thousand communicators, and torc takes few of them, first
// come, first served. If the program has nearly all the others, torc gives up its own for good, so
// that no program lacks one.
//
// Duplicates are given up in the set-up of a communicator of all ranks of the job. A duplicate is
// freed if it is idle on every rank, and all its ranks have made as many calls there. Other threads
// could make another call meanwhile: programs with MPI_THREAD_MULTIPLE keep their duplicates.
#include <algorithm>
#include <vector>

#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "support/hash.h"

namespace torc::runtime::pmpi {
namespace {

// Duplicates of torc on a rank.
constexpr std::uint32_t kMostDuplicates = 128;
// Limit of MPICH 4.0, besides MPI_COMM_WORLD and MPI_COMM_SELF. Open MPI has more.
constexpr int kMostCommunicators = 2046;
// Below so many communicators left for the program, torc gives its own up.
constexpr int kLeastSpare = 512;

}  // namespace

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
