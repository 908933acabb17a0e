// Describes a choice: candidates, their predicted times, the reason for the best.
#include <algorithm>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/choice/choice.h"
#include "support/columns.h"

namespace torc::compiler {
namespace {

/// The disadvantage of an equally fast candidate, by the order of ties.
std::string whatDecides(const Candidate& other, const Candidate& best) {
  if (other.leaves_neighbours != best.leaves_neighbours) return "sends to more than neighbours";
  if (other.buffers != best.buffers)
    return "has sends that MPI buffers though others wait for them";
  if (other.messages != best.messages) {
    return "has " + std::to_string(other.messages) + " messages instead of " +
           std::to_string(best.messages);
  }
  if (other.options.synchronous_sends != best.options.synchronous_sends)
    return "has synchronous sends";
  return "was not looked at closer";
}

/// "; X, predicted 7.2 % faster, is not trusted: ...", or "; X, predicted 0.9 % faster, has ...",
/// if a faster candidate was rejected.
std::string whyNotTheFastest(llvm::ArrayRef<Candidate> candidates) {
  constexpr double kSeen = 1.0005;  // 0.1 %
  const Candidate& best = candidates.front();
  const Candidate* fastest = &best;
  for (const Candidate& other : candidates) {
    if (other.refusal.empty() && other.predicted_s < fastest->predicted_s) fastest = &other;
  }
  if (kSeen * fastest->predicted_s >= best.predicted_s) return "";
  const double gain = best.predicted_s / fastest->predicted_s - 1;
  const std::string text =
      "; " + fastest->description() + formatted(", predicted %.1f %% faster, ", 100 * gain);
  if (kTie * fastest->cautiousSeconds() >= best.cautiousSeconds())
    return text + whatDecides(*fastest, best);
  const char* const why = fastest->mayFallIntoStep() ? "what shares a link may fall into step"
                          : fastest->by_packets
                              ? "packets judged it on fewer nodes"
                              : "others of its algorithm took longer in a closer look";
  return text + "is not trusted: " + why + ", and a closer look would be too long";
}

}  // namespace

std::string Candidate::description() const {
  std::string text = algorithm->name.str();
  if (algorithm->multicolor && !algorithm->isSettled())
    text += ", " + passes::word(options.weights).str() + " weights";
  if (options.cuts == CutRings::kDetours) text += ", cuts with detours";
  if (options.directions != passes::DirectionModel::kBidirectional) {
    text += ", " + passes::word(options.directions).str();
  }
  if (options.dependences == passes::DependenceKind::kPhase) text += ", phase by phase";
  if (options.chunks > 1) text += ", " + std::to_string(options.chunks) + " chunks";
  if (options.segments > 1) text += ", " + std::to_string(options.segments) + " segments";
  if (options.in_flight > 0) text += ", " + std::to_string(options.in_flight) + " in flight";
  if (options.segments > 1 && options.segment_order == passes::SegmentOrder::kPhases)
    text += ", phases in turn";
  if (options.synchronous_sends) text += ", synchronous sends";
  if (options.peers == PeerOrder::kFixed) text += ", peers in order";
  if (options.window > 0) text += ", " + std::to_string(options.window) + " at a time";
  if (options.led_cores > 0) text += ", leaders";
  return text;
}

std::string Choice::reason() const {
  const Candidate& best = candidates[0];
  const auto next = std::find_if(
      candidates.begin() + 1, candidates.end(),
      [&](const Candidate& other) { return other.predicted_s > kTie * best.predicted_s; });
  if (next == candidates.end() || !next->refusal.empty()) {
    return formatted("no other is slower by more than %.1f %%", 100 * (kTie - 1)) +
           whyNotTheFastest(candidates);
  }
  const double more = next->predicted_s - best.predicted_s;
  const double more_busy = next->busy_s - best.busy_s;
  std::string text =
      "the next, " + next->description() +
      formatted(", takes %.1f %% longer: its busiest link ", 100 * more / best.predicted_s);
  if (more_busy > more / 2) {
    text += formatted("carries %.0f bytes instead of %.0f", next->load_bytes, best.load_bytes);
  } else {
    text +=
        formatted("is idle for %.2f us instead of %.2f", 1e6 * (next->predicted_s - next->busy_s),
                  1e6 * (best.predicted_s - best.busy_s));
    text += next->steps > best.steps ? ", in " + std::to_string(next->steps) +
                                           " steps instead of " + std::to_string(best.steps)
                                     : ", waiting for other phases";
  }
  return text + whyNotTheFastest(candidates);
}

}  // namespace torc::compiler
