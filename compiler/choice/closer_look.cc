// The look at the best candidates rank by rank.
#include <algorithm>

#include "compiler/choice/trials.h"

namespace torc::compiler {
namespace {

// Simulations rank by rank, of candidates that come as close as this to the best, and operations on
// all ranks: of one candidate, and of all.
constexpr int kMostPerRank = 10;
constexpr double kPerRankOperations = 3e6;
constexpr double kAllPerRankOperations = 6e6;

bool isAlike(const Candidate& a, const Candidate& b) {
  return a.algorithm == b.algorithm && a.options.synchronous_sends == b.options.synchronous_sends &&
         (a.options.segments > 1) == (b.options.segments > 1) &&
         (a.options.in_flight > 1) == (b.options.in_flight > 1);
}

}  // namespace

void lookCloser(Trials& trials, Simulate simulate) {
  const CollectiveSpec& spec = trials.spec;
  if (rowOf(spec.collective).blocks != BlockSpace::kNode) return;
  if (!elementBytesFor(spec, trials.bytes)) return;
  const double limit = kClose * trials.taken().predicted_s;
  double left = kAllPerRankOperations;
  for (int looks = 0; looks < kMostPerRank; ++looks) {
    Candidate& best = trials.taken();
    const double work = static_cast<double>(spec.topology.ranks()) * best.work;
    const bool may_look = best.refusal.empty() && !best.per_rank && !best.by_packets &&
                          best.predicted_s <= limit && work <= std::min(kPerRankOperations, left);
    if (!may_look) return;
    left -= work;
    best.per_rank = true;
    const double by_classes_s = best.predicted_s;
    if (llvm::Error error = simulate(best)) {
      best.refusal = toString(std::move(error));
      continue;
    }
    for (Candidate& other : trials.choice.candidates) {
      if (isAlike(other, best))
        other.unseen = std::max(other.unseen, best.predicted_s / by_classes_s);
    }
  }
}

}  // namespace torc::compiler
