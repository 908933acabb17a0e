// Searches for short vectors, without more chunks: rounds, and leaders.
#include "compiler/choice/search.h"

namespace torc::compiler {

using passes::DirectionModel;

/// In two directions, with messages on different links, and in one, with half as many messages.
void searchRounds(Trials& trials, const Algorithm& algorithm) {
  Candidate candidate = trials.begin(algorithm);
  if (trials.limits.algorithm == nullptr) {
    candidate.refusal =
        tooLarge(algorithm.estimate(trials.spec), candidate.options.chunks, kMostFileBytesOfNodes);
  }
  if (!candidate.refusal.empty()) {
    trials.attempt(candidate);
    return;
  }
  for (const DirectionModel directions :
       toTry(trials.limits.directions,
             {DirectionModel::kBidirectional, DirectionModel::kUnidirectional})) {
    candidate.options.directions = directions;
    if (!trials.attempt(candidate)) return;
  }
}

/// With as few messages as the algorithm allows.
void searchLeaders(Trials& trials, const Algorithm& algorithm) {
  const ChoiceLimits& limits = trials.limits;
  Candidate candidate = trials.begin(algorithm);
  PipelineOptions& options = candidate.options;
  options.led_cores = coresOf(trials.spec.topology);
  const ProgramSize estimate = algorithm.estimate(trials.network);
  if (limits.algorithm == nullptr && algorithm.isSettled() && !estimate.of_nodes)
    candidate.refusal = tooLarge(estimate, options.chunks, kMostFileBytes);
  if (candidate.refusal.empty()) {
    const bool is_halved =
        algorithm.form == PlanForm::kRings || algorithm.form == PlanForm::kRounds;
    options.directions = limits.directions.value_or(is_halved ? DirectionModel::kUnidirectional
                                                              : DirectionModel::kBidirectional);
    options.in_flight = limits.in_flight.value_or(0);
    options.dependences = limits.dependences.value_or(passes::DependenceKind::kRegion);
  }
  trials.attempt(candidate);
}

}  // namespace torc::compiler
