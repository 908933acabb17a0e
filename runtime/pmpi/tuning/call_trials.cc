// Call trials: candidates, turns, and the agreement on the fastest.
#include "runtime/pmpi/tuning/call_trials.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <mpi.h>

#include "runtime/api/api.h"
#include "runtime/job/contenders.h"
#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
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

std::unique_ptr<TrialCandidate> candidateOf(const LibraryEntry* entry,
                                            const CommunicatorState& state) {
  auto candidate = std::make_unique<TrialCandidate>();
  candidate->entry = entry;
  EngineLock lock;
  candidate->repeated = std::make_unique<RepeatedCalls>(state.callCache());
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
  if (state.trials == nullptr) state.trials = std::make_shared<CallTrials>(state);
  return *state.trials;
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
  list.push_back(candidateOf(own, state_));
  std::vector<std::uint32_t> files;
  // For ordered sums or whole vectors the library has only one.
  if (!key.has_one) {
    files =
        contenders(engine->library->index, state_.shape(), call.arguments.collective, call.bytes);
  }
  for (const std::uint32_t file : files) {
    if (own != nullptr && file == own->file) continue;
    if (list.size() == kMostSchedules) break;
    auto candidate = candidateOf(nullptr, state_);
    candidate->made = entryOfContender(state_.shape(), call.arguments.collective, file);
    candidate->made.reason = "the fastest of those that TORC_TUNE has tried";
    candidate->entry = &candidate->made;
    list.push_back(std::move(candidate));
  }
  if (own != nullptr) list.push_back(candidateOf(nullptr, state_));
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
  for (const std::unique_ptr<TrialCandidate>& candidate : made->candidates) {
    if (candidate->entry != nullptr) state_.schedules().hold(candidate->entry->file);
  }
  CallTrial* trial = trials_.emplace(key, std::move(made)).first->second.get();
  if (engine->statistics != nullptr && state_.rank() == 0) engine->statistics->trialBegins();
  return trial;
}

void CallTrials::choose(CollectiveCall& call, const Call& checked) {
  CallTrial* trial = trialOf(call, checked);
  if (trial == nullptr) return;
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
}

bool CallTrials::leavesOut(CollectiveCall& call) {
  if (call.trial == nullptr || call.verdict.reason() != Reason::kScheduleFailed) return false;
  CallTrial& of = *std::exchange(call.trial, nullptr);
  explain(state_, message(describe(call, state_), ": ", nameOf(of.current()),
                          " is not tried: it cannot be loaded"));
  const LibraryEntry* own = of.candidates[0]->entry;
  call.verdict = own != nullptr ? Verdict(*own) : Verdict(Reason::kMpiIsFaster);
  if (of.trial.turn() == 0) {
    finish(of, 0);
  } else {
    EngineLock lock;
    state_.schedules().letGo(of.current().entry->file, state_.calls());
    of.trial.leaveOut();
  }
  return true;
}

Status CallTrials::end(const CollectiveCall& call) {
  CallTrial& of = *call.trial;
  of.trial.took(std::max(0.0, PMPI_Wtime() - of.began));
  if (!of.trial.isOver()) return {};
  const std::span<double> seconds = of.trial.seconds();
  // Bits of numbers above 0 are in the order of the numbers.
  std::array<std::uint64_t, ServiceCollective::kMostWords> words;
  std::memcpy(words.data(), seconds.data(), seconds.size_bytes());
  of.vote->allreduce(call.comm, std::span(words).first(seconds.size()), MPI_MAX);
  const Status status = await(*of.vote, [&] {
    tellOfStall(call, state_, "it waits for the other ranks' times of what was tried");
  });
  if (!status.ok()) return status;
  std::memcpy(seconds.data(), of.vote->words().data(), seconds.size_bytes());
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
  for (std::size_t i = 0; i < of.candidates.size(); ++i) {
    TrialCandidate& candidate = *of.candidates[i];
    candidate.repeated.reset();
    const bool is_held = candidate.entry != nullptr && !of.trial.isOut(i);
    if (is_held) state_.schedules().letGo(candidate.entry->file, state_.calls());
  }
  of.vote.reset();
  of.winner = std::move(of.candidates[winner]);
  of.candidates.clear();
}

/// Reports the times of the candidates and the winner, to the statistics and with TORC_VERBOSE=3.
void CallTrials::tellOfResult(const CollectiveCall& call, const CallTrial& of,
                              std::size_t winner) const {
  if (engine->statistics == nullptr || state_.rank() != 0) return;
  static_cast<void>(attempt([&] {
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
  }));
}

}  // namespace torc::runtime::pmpi
