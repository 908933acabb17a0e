// Searches exchanges, in more and more segments as long as this is faster. The first number of
// segments is large enough for the limit of scratch.
#include <limits>

#include "compiler/choice/search.h"
#include "model/simulator/pipeline_cost.h"
#include "schedules/expansion/shares.h"

namespace torc::compiler {
namespace {

/// Whether exchanges halve the data for the opposite node, which is twice the messages.
bool isHalved(const Trials& trials, const Algorithm& algorithm) {
  const auto whole =
      llvm::expectedToOptional(trials.programs.get(algorithm, pipelineOf(algorithm, {})));
  return whole && (*whole)->schedule.colors.front().directions > 1;
}

/// The fewest segments whose scratch is within the limit, as far as there are as many.
std::uint32_t fewestSegments(const Trials& trials, const Candidate& candidate) {
  const auto whole = llvm::expectedToOptional(programOf(trials.programs, candidate));
  if (!whole) return 1;  // the candidate will say why
  const ScheduleView schedule = (*whole)->schedule.view();
  const double scratch = trials.bytes * VectorShares(schedule).scratch();
  const double limit = *trials.limits.scratch_bytes;
  if (scratch <= limit) return 1;
  return mostOf(kExchangeWindow * scratch / limit, passes::mostSegments(schedule));
}

void searchSegments(Trials& trials, const Algorithm& algorithm, passes::DirectionModel directions) {
  const ChoiceLimits& limits = trials.limits;
  Candidate candidate = trials.begin(algorithm);
  PipelineOptions& options = candidate.options;
  options.directions = directions;
  options.peers = limits.peers.value_or(options.peers);
  options.window = limits.window.value_or(options.window);
  if (limits.scratch_bytes && !limits.chunks) options.chunks = fewestSegments(trials, candidate);
  double before = std::numeric_limits<double>::infinity();
  // Around damage every node is simulated: in steps of four.
  const std::uint32_t more = trials.spec.topology.isDamaged() ? 4 : 2;
  for (;; options.chunks *= more) {
    if (!trials.attempt(candidate)) return;
    const double seconds = secondsOf(trials.last());
    const bool gains = seconds * kWorthwhile < before;
    if (limits.chunks || !gains || more * options.chunks > model::kMostChunks) return;
    before = seconds;
  }
}

}  // namespace

void searchExchanges(Trials& trials, const Algorithm& algorithm) {
  using passes::DirectionModel;
  const auto& settled = trials.limits.directions;
  searchSegments(trials, algorithm, settled.value_or(DirectionModel::kBidirectional));
  // Around damage, substitutes of dead nodes have too much data for one direction.
  if (!settled && !trials.spec.topology.isDamaged() && isHalved(trials, algorithm))
    searchSegments(trials, algorithm, DirectionModel::kUnidirectional);
}

}  // namespace torc::compiler
