// Call trials: candidates, turns, and the agreement on the fastest.
#include "runtime/pmpi/tuning/call_trials.h"

#include <algorithm>
#include <string>
#include <utility>

#include <mpi.h>

#include "runtime/api/api.h"
#include "runtime/job/contenders.h"
#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/decide.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/pmpi/tuning/load_turn.h"
#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/which_mpi.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// Most signatures of a communicator on trial; for later ones the library's choice stays. Each
/// takes some memory, and a period of slower calls.
constexpr std::size_t kMostTrials = 64;
/// Most schedules of a trial, the library's own choice among them.
constexpr std::size_t kMostSchedules = 8;

/// Calls up to this size have turns of several calls in a row, as in programs. This favours
/// candidates that let ranks run ahead of each other, as the program does.
constexpr std::uint64_t kShortBytes = std::uint64_t{64} << 10;
constexpr Trial::Length kOfShort{.rounds = 4, .calls = 4}, kOfLong{.rounds = 4, .calls = 1};

constexpr const char* kMpisName = "MPI's own";

const char* nameOf(const TrialCandidate& candidate) {
  return candidate.entry == nullptr
             ? kMpisName
             : engine->library->index.files[candidate.entry->file].name.c_str();
}

std::unique_ptr<TrialCandidate> candidateOf(const LibraryEntry* entry) {
  auto candidate = std::make_unique<TrialCandidate>();
  candidate->entry = entry;
  return candidate;
}

/// "MPI_Allreduce on 2x2, 8000 bytes": the trial's subject, for users.
std::string describe(const CollectiveCall& call, const CommunicatorState& state) {
  return message(functionName(call), " on ", state.description(), ", ", call.bytes, " bytes");
}

/// A line of TORC_VERBOSE=3, printed by rank 0 of the communicator.
void explain(const CommunicatorState& state, const std::string& text) {
  if (tells(Verbosity::kCalls) && state.rank() == 0) say(text);
}

}  // namespace

CallTrial::CallTrial(std::vector<std::unique_ptr<TrialCandidate>> all, std::size_t mpis,
                     Trial::Length length)
    : trial(all.size(), mpis, length), candidates(std::move(all)) {}

CallTrials& CallTrials::of(CommunicatorState& state) {
  if (state.tuning == nullptr) state.tuning = std::make_unique<CallTrials>(state);
  return static_cast<CallTrials&>(*state.tuning);
}

bool CallTrials::mayTry(const CollectiveCall& call) {
  const bool has_choice = !call.verdict.isMpis() || call.verdict.reason() == Reason::kMpiIsFaster;
  return has_choice && call.form == Form::kBlocking && !call.arguments.hasPairLists();
}

/// The library's own choice first, then its other files for such calls; MPI's own function is last,
/// unless it is the first.
std::vector<std::unique_ptr<TrialCandidate>> CallTrials::candidates(const CollectiveCall& call,
                                                                    const TrialKey& key) const {
  const LibraryEntry* own = call.verdict.entry();
  std::vector<std::unique_ptr<TrialCandidate>> list;
  list.push_back(candidateOf(own));
  std::vector<std::uint32_t> files;
  // For ordered sums or whole vectors the library has only one.
  if (!key.has_one) {
    files =
        contenders(engine->library->index, state_.shape(), call.arguments.collective, call.bytes);
  }
  for (const std::uint32_t file : files) {
    if (own != nullptr && file == own->file) continue;
    if (list.size() == kMostSchedules) break;
    auto candidate = std::make_unique<TrialCandidate>();
    candidate->made = entryOfContender(state_.shape(), call.arguments.collective, file);
    candidate->made.reason = "the fastest of those that TORC_TUNE has tried";
    candidate->entry = &candidate->made;
    list.push_back(std::move(candidate));
  }
  if (own != nullptr) list.push_back(candidateOf(nullptr));
  return list;
}

/// The trial of the call's signature; nullptr beyond the limit.
CallTrial* CallTrials::trialOf(const CollectiveCall& call, const Call& checked) {
  const TrialKey key{.id = call.id(),
                     .has_one = checked.needsOrderedSums() || checked.keeps_whole,
                     .is_of_user = !isPredefinedOp(call.arguments.op),
                     .bytes = call.bytes};
  if (const auto found = trials_.find(key); found != trials_.end()) return found->second.get();
  if (trials_.size() == kMostTrials) return nullptr;
  std::vector<std::unique_ptr<TrialCandidate>> list = candidates(call, key);
  const std::size_t mpis = call.verdict.isMpis() ? 0 : list.size() - 1;
  auto made = std::make_unique<CallTrial>(std::move(list), mpis,
                                          call.bytes <= kShortBytes ? kOfShort : kOfLong);
  EngineLock lock;
  CallTrial* trial = trials_.emplace(key, std::move(made)).first->second.get();
  if (engine->statistics != nullptr && state_.rank() == 0) engine->statistics->trialBegins();
  return trial;
}

bool CallTrials::hasFailed(const CollectiveCall& call) const {
  EngineLock lock;
  return state_.history().hasFailed(call);
}

Status CallTrials::choose(CollectiveCall& call, const Call& checked) {
  CallTrial* trial = nullptr;
  Status status = attempt([&]() -> Status {
    trial = trialOf(call, checked);
    return {};
  });
  if (!status.ok() || trial == nullptr) return status;
  while (trial->winner == nullptr && trial->current().entry != nullptr &&
         !trial->current().is_loaded) {
    status = attempt([&] { return load(call, *trial); });
    if (!status.ok() || hasFailed(call)) return status;
  }
  const bool is_over = trial->winner != nullptr;
  const LibraryEntry* entry = is_over ? trial->winner->entry : trial->current().entry;
  if (entry != nullptr) {
    call.verdict = *entry;
  } else {
    call.verdict = is_over ? Reason::kMpiIsFaster : Reason::kTried;
  }
  if (!is_over) {
    call.trial = trial;
    trial->began = PMPI_Wtime();
  }
  return {};
}

/// Loads the next candidate's schedule, or excludes it. If the library's own choice cannot be
/// loaded, the trial ends: calls are then served, or fall back, as without a trial.
Status CallTrials::load(CollectiveCall& call, CallTrial& of) {
  TrialCandidate& candidate = of.current();
  {
    EngineLock lock;
    if (call.number == 0) state_.history().note(call, Maker::kTorc);
  }
  const auto stage = loadInTurn(state_, *candidate.entry, call);
  if (!stage.ok()) return stage.status();
  if (*stage == CommunicatorSchedule::Stage::kReady) {
    EngineLock lock;
    candidate.repeated = std::make_unique<RepeatedCalls>(state_.callCache());
    state_.schedules().hold(candidate.entry->file);
    candidate.is_loaded = true;
  } else if (*stage == CommunicatorSchedule::Stage::kFailed) {
    explain(state_, message(describe(call, state_), ": ", nameOf(candidate),
                            " is not tried: it cannot be loaded"));
    if (of.trial.turn() == 0) {
      finish(of, 0);
    } else {
      EngineLock lock;
      state_.schedules().forgetFailed(candidate.entry->file);
      of.trial.leaveOut();
    }
  }
  return {};
}

Status CallTrials::end(const CollectiveCall& call) {
  CallTrial& of = *call.trial;
  of.trial.took(PMPI_Wtime() - of.began);
  if (!of.trial.isOver()) return {};
  const std::span<double> mine = of.trial.seconds();
  auto slowest = std::make_unique<double[]>(mine.size());
  std::ranges::copy(mine, slowest.get());
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Iallreduce(MPI_IN_PLACE, slowest.get(), static_cast<int>(mine.size()), MPI_DOUBLE,
                             MPI_MAX, call.comm, &request);
  int done = code != MPI_SUCCESS;
  const auto look = [&] {
    if (!done) code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done || code != MPI_SUCCESS;
  };
  progressUntil(look, [&] {
    tellOfStall(call, state_, "it waits for the other ranks' times of what was tried");
  });
  if (code != MPI_SUCCESS) {
    leaveToMpi(std::move(slowest));
    return mpiStatus(code, "MPI_Iallreduce");
  }
  std::copy_n(slowest.get(), mine.size(), mine.begin());
  const std::size_t winner = of.trial.winner();
  tellOfResult(call, of, winner);
  finish(of, winner);
  return {};
}

/// Makes the winner permanent. Frees schedules of the others that nothing else uses.
void CallTrials::finish(CallTrial& of, std::size_t winner) {
  EngineLock lock;
  if (const LibraryEntry* entry = of.candidates[winner]->entry; entry != nullptr) {
    state_.schedules().claim(entry->file);
  }
  for (const std::unique_ptr<TrialCandidate>& candidate : of.candidates) {
    candidate->repeated.reset();
    if (candidate->is_loaded) state_.schedules().letGo(candidate->entry->file, state_.calls());
  }
  of.winner = std::move(of.candidates[winner]);
  of.candidates.clear();
}

/// Reports the times of the candidates and the winner, to the statistics and with TORC_VERBOSE=3.
void CallTrials::tellOfResult(const CollectiveCall& call, const CallTrial& of,
                              std::size_t winner) const {
  if (engine->statistics == nullptr || state_.rank() != 0) return;
  static_cast<void>(attempt([&]() -> Status {
    TunedRow row;
    row.function = functionName(call);
    row.communicator = state_.description();
    row.bytes = call.bytes;
    row.calls = of.trial.calls();
    row.by = nameOf(*of.candidates[winner]);
    row.seconds = of.trial.typical(winner);
    row.own_seconds = of.trial.typical(0);
    std::string times;
    for (std::size_t i = 0; i < of.candidates.size(); ++i) {
      if (of.trial.isOut(i)) continue;
      const double seconds = of.trial.typical(i);
      if (of.candidates[i]->entry == nullptr) row.mpi_seconds = seconds;
      times += message(i == 0 ? "" : ", ", nameOf(*of.candidates[i]), " ", secondsText(seconds));
    }
    explain(state_, message(describe(call, state_), ": tried: ", times, "; from now on ", row.by));
    engine->statistics->trialEnds(std::move(row));
    return {};
  }));
}

}  // namespace torc::runtime::pmpi
