// Searches the number of segments of tree pipelines: the one with the least modelled cost, half of
// it, half as many more, twice as many, and one. A buffered send completes at once, so that the
// sends of all segments would share the link and arrive together. If segments are short enough for
// buffering, the search also tries the largest number without it.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "compiler/choice/search.h"

namespace torc::compiler {
namespace {

// Time of a pipeline along trees over its busiest link's time from which on two messages in flight
// per link are tried.
constexpr double kWorthStaggering = 1.03;
constexpr std::uint32_t kStaggered = 2;
// Operations of a segment up to which they are tried round damage: the file has each twice.
constexpr std::uint32_t kMostStaggeredOperations = 1500;

// With many messages, nodes are idle because their scratch is full.
constexpr llvm::StringRef kMoreUnderWay = "one more segment under way does it";
constexpr llvm::StringRef kTooLong = "its program is too long for them";

std::set<std::uint32_t> segmentsToTry(const Trials& trials, const TreePipeline& pipeline,
                                      std::uint32_t most) {
  const std::uint32_t best = pipeline.bestSegments(trials.machine, trials.bytes, most / 2);
  std::set<std::uint32_t> tries = {best / 2, best, 3 * best / 2, 2 * best};
  const double longest = std::max(trials.machine.eager, trials.machine.buffered);
  const double unbuffered = pipeline.share * trials.bytes / (longest + 1);
  if (longest > 0 && unbuffered < best) tries.insert(static_cast<std::uint32_t>(unbuffered));
  tries.erase(tries.begin(), tries.upper_bound(1));
  return tries;
}

/// The reason why two messages in flight per link are not tried, if `one` is the best with one at a
/// time; empty if they are tried.
llvm::StringRef whyNotStaggered(const Trials& trials, const Candidate& one,
                                const ScheduleView& schedule) {
  if (one.predicted_s < kWorthStaggering * one.busy_s) return "its busiest link is hardly idle";
  if (one.busy_s > trials.bestSeconds())
    return "its busiest link alone takes longer than another takes in all";
  if (one.algorithm->pipeline(trials.stepsOn(one)).messages > 1) return kMoreUnderWay;
  if (schedule.topology.isDamaged() && schedule.operations.size() > kMostStaggeredOperations)
    return kTooLong;
  if (trials.limits.in_flight.value_or(kStaggered) < 2 || passes::canStagger(schedule)) return "";
  return "no axis is a ring";
}

/// Tries two messages in flight per link if start-ups leave links idle for long. The number of
/// segments hides start-ups, or fills the pipeline fastest with one at a time. Fractions of it
/// shorten the hops or reduce the messages.
void searchStaggered(Trials& trials, Candidate candidate) {
  const Algorithm& algorithm = *candidate.algorithm;
  PipelineOptions& options = candidate.options;
  const Candidate one = trials.bestOf(algorithm, options.led_cores > 0);
  options.chunks = 1;
  options.in_flight = 0;
  auto whole = programOf(trials.programs, candidate);
  if (!whole) return consumeError(whole.takeError());
  const llvm::StringRef reason = whyNotStaggered(trials, one, (*whole)->schedule.view());
  if (!reason.empty()) trials.leaveOut("2 in flight", &algorithm, reason);
  if (reason == kMoreUnderWay && !trials.limits.window) {
    options.chunks = one.options.chunks;
    options.window = algorithm.window + 1;
    if (!trials.attempt(candidate)) return;
  }
  options.in_flight = trials.limits.in_flight.value_or(kStaggered);
  if (!reason.empty() || options.in_flight < 2) return;
  const std::uint32_t hiding = algorithm.pipeline(trials.stepsOn(candidate))
                                   .mostStaggered(trials.machine, trials.bytes, options.in_flight,
                                                  passes::mostSegments((*whole)->schedule.view()));
  // The alignment of messages that share a link varies between numbers of segments, by a tenth in
  // time.
  const std::uint32_t most = std::max(hiding, one.options.chunks);
  for (options.chunks = most; options.chunks > most / 3 && options.chunks > 1;
       options.chunks -= (options.chunks + 3) / 4) {
    if (!trials.attempt(candidate)) return;
  }
}

}  // namespace

void searchTrees(Trials& trials, const Algorithm& algorithm, bool has_leaders) {
  Candidate candidate = trials.begin(algorithm);
  if (has_leaders) candidate.options.led_cores = coresOf(trials.spec.topology);
  const ChoiceLimits& limits = trials.limits;
  const Candidate as_it_is = candidate;
  candidate.options.in_flight = limits.in_flight.value_or(0);
  candidate.options.window = limits.window.value_or(0);
  const ProgramSize estimate = algorithm.estimate(has_leaders ? trials.network : trials.spec);
  if (!limits.chunks && limits.algorithm == nullptr)
    candidate.refusal = tooLarge(estimate, 1, kMostFileBytesOfNodes);
  if (!trials.attempt(candidate)) return;
  if (limits.chunks || trials.isLastRefused()) return;
  llvm::StringRef reason = limits.algorithm == nullptr ? trials.tooSlow() : "";
  if (estimate.operations * (algorithm.window + 1) > kMostProvedOperations) reason = kTooLong;
  if (!reason.empty()) return trials.leaveOut("chunks, in flight", &algorithm, reason);
  auto whole = programOf(trials.programs, as_it_is);
  if (!whole) return consumeError(whole.takeError());  // the candidate's compilation succeeded
  const std::set<std::uint32_t> tries =
      segmentsToTry(trials, algorithm.pipeline(trials.stepsOn(candidate)),
                    passes::mostSegments((*whole)->schedule.view()));
  double before = std::numeric_limits<double>::infinity();
  for (const std::uint32_t segments : tries) {
    candidate.options.chunks = segments;
    if (!trials.attempt(candidate)) return;
    const double seconds = secondsOf(trials.last());
    if (seconds * kTie > before) break;
    before = seconds;
  }
  searchStaggered(trials, candidate);
}

}  // namespace torc::compiler
