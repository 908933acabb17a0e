// The look at the best candidates rank by rank.
#include <algorithm>

#include "compiler/choice/trials.h"
#include "ir/node_classes.h"
#include "schedules/expansion/shares.h"

namespace torc::compiler {
namespace {

// Simulations rank by rank, of candidates that come as close as this to the best, and operations on
// all ranks: of one candidate, and of all.
constexpr int kMostPerRank = 10;
constexpr double kPerRankOperations = 3e6;
constexpr double kAllPerRankOperations = 1e7;
// Of those whose messages share links along trees, so many are looked at.
constexpr std::size_t kMostInStep = 3;
// Approximate number of simulated segments of many.
constexpr double kSimulatedSegments = 16;
// Of a message: one more or less changes nothing.
constexpr double kManyElements = 1000;

std::uint32_t segmentsOf(const Candidate& candidate) {
  return candidate.algorithm->inSegments() ? candidate.options.chunks : candidate.options.segments;
}

bool isAlike(const Candidate& a, const Candidate& b) {
  return a.algorithm == b.algorithm && a.options.synchronous_sends == b.options.synchronous_sends &&
         (a.options.segments > 1) == (b.options.segments > 1) &&
         (a.options.in_flight > 1) == (b.options.in_flight > 1);
}

/// Whether it is as if the candidate had been simulated rank by rank: every rank has been by
/// itself, messages on a link follow one another, and have so many elements that whole ones are no
/// other.
llvm::Expected<bool> isSeenClosely(const Trials& trials, const Candidate& candidate) {
  if (!candidate.stand_in.empty() || candidate.mayFallIntoStep()) return false;
  auto program = programOf(trials.programs, candidate);
  if (!program) return program.takeError();
  const ScheduleView schedule = (*program)->schedule.view();
  if (ir::NodeClasses(schedule, false).count() < schedule.topology.ranks()) return false;
  const VectorShares shares(schedule);
  const double elements =
      trials.bytes / *elementBytesFor(trials.spec, trials.bytes) / schedule.segments;
  return llvm::all_of(schedule.operations, [&](const Operation& operation) {
    return !sends(operation.kind) || isSignal(operation.kind) ||
           shares.of(operation.a, {}) * elements >= kManyElements;
  });
}

}  // namespace

void lookCloser(Trials& trials) {
  const CollectiveSpec& spec = trials.spec;
  if (rowOf(spec.collective).blocks != BlockSpace::kNode) return;
  if (!elementBytesFor(spec, trials.bytes)) return;
  const double limit = kClose * trials.taken().predicted_s;
  double left = kAllPerRankOperations;
  double most = trials.workLeft() / trials.simulator.workOfSimulated();
  // Whether it may be looked at, which has been done then.
  const auto look = [&](Candidate& best) {
    const double work = static_cast<double>(spec.topology.ranks()) * best.work;
    const bool may_look = best.refusal.empty() && !best.per_rank && !best.by_packets &&
                          best.predicted_s <= limit && work <= std::min(kPerRankOperations, left);
    if (!may_look) return false;
    llvm::Expected<bool> is_seen = isSeenClosely(trials, best);
    const double simulated = work * std::min(1.0, kSimulatedSegments / segmentsOf(best));
    if (is_seen && !*is_seen && simulated > most) {
      trials.choice.is_cut_short = true;
      return false;
    }
    const double by_classes_s = best.predicted_s;
    best.per_rank = true;
    llvm::Error error = is_seen.takeError();
    if (!error && !*is_seen) {
      left -= work;
      most -= simulated;
      error = trials.simulate(best, ", rank by rank");
    }
    if (error) {
      best.refusal = toString(std::move(error));
      return true;
    }
    for (Candidate& other : trials.choice.candidates) {
      if (isAlike(other, best))
        other.unseen = std::max(other.unseen, best.predicted_s / by_classes_s);
    }
    return true;
  };
  int looks = 0;
  const auto lookAtBest = [&] {
    while (looks < kMostPerRank && look(trials.taken()))
      ++looks;
  };
  lookAtBest();
  // Messages that share a link fall into step differently for every number of chunks: the loss of
  // one number says nothing of the next.
  std::vector<Candidate*> in_step;
  for (Candidate& candidate : trials.choice.candidates) {
    if (candidate.mayFallIntoStep() && candidate.algorithm->inSegments() &&
        candidate.predicted_s < trials.taken().predicted_s)
      in_step.push_back(&candidate);
  }
  llvm::stable_sort(in_step, [](const Candidate* a, const Candidate* b) {
    return a->predicted_s < b->predicted_s;
  });
  for (Candidate* candidate : llvm::ArrayRef(in_step).take_front(kMostInStep))
    look(*candidate);
  lookAtBest();
}

}  // namespace torc::compiler
