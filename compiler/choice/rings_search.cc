// Searches plans of rings: with equal and balanced weights, in one and in both directions, phase by
// phase and with overlapping phases; then in segments.
#include <algorithm>
#include <cmath>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "compiler/choice/search.h"
#include "model/bounds/bounds.h"
#include "model/simulator/pipeline_cost.h"
#include "support/columns.h"

namespace torc::compiler {
namespace {

using passes::ColorWeights;
using passes::DependenceKind;
using passes::DirectionModel;
using passes::SegmentOrder;

// Plans are tried unless their modelled cost exceeds the best one by this factor.
constexpr double kDoubtfulCost = 1.05;
// Limits for segments of rings in flight, and for operations of a node in all of them.
constexpr std::uint32_t kMostRingWindow = 16;
constexpr double kMostSegmentedOperations = 1 << 20;
// Time of a plan in segments over its busiest link's time from which on alternating phases are
// tried.
constexpr double kWorthTurns = 1.02;
// With more ranks, detours are tried only if lines exceed the bound by this factor.
constexpr std::uint64_t kFewRanks = 128;
constexpr double kCloseLines = 1.2;
constexpr double kMostDetourOperations = 20000;
// First number of segments and their window for overlapped halves of an allreduce. Halves overlap
// if they fill lines together, or if one keeps the cores busy and the other the links. The cost
// model assumes that they are sequential.
constexpr std::uint32_t kFirstOverlapped = 32;
constexpr std::uint32_t kOverlappedWindow = 3;

/// As many segments in flight as can be proved.
std::uint32_t mostWindow(const ScheduleView& uncut) {
  const double operations = std::max<double>(static_cast<double>(uncut.operations.size()), 1);
  return mostOf(kMostProvedOperations / operations - 1, kMostRingWindow);
}

/// The spec of a plan, with the detours of its rings.
CollectiveSpec specOf(const Trials& trials, const PipelineOptions& options) {
  CollectiveSpec spec = trials.spec;
  if (options.cuts == CutRings::kDetours) spec.topology.addDetours();
  return spec;
}

/// Whether cut rings, as lines, carry a load close to the bound, so that detours gain little.
bool doLinesComeClose(const Trials& trials) {
  const model::BoundRequest request{rowOf(Collective::kAllgather), trials.bytes};
  model::Machine lines = trials.machine;
  for (std::size_t i = 0; i < lines.dimensions.size(); ++i)
    lines.dimensions[i].torus &= !trials.spec.topology.isLine(static_cast<std::uint32_t>(i));
  lines.dead_links.clear();
  return model::lowerBound(lines, request).bandwidth_s <
         kCloseLines * model::lowerBound(trials.machine, request).bandwidth_s;
}

/// Treatments of cut rings to try, for collectives without a root: both, unless the search is long
/// with little gain, or there are too many detours. Each step of a ring has some.
std::vector<CutRings> cutsToTry(const Trials& trials, const Algorithm& algorithm) {
  CollectiveSpec detours = trials.spec;
  const bool is_cut = detours.topology.addDetours() && !rowOf(trials.spec.collective).isRooted();
  if (!is_cut || algorithm.estimate(detours).operations > kMostDetourOperations ||
      (detours.topology.ranks() > kFewRanks && doLinesComeClose(trials)))
    return toTry(trials.limits.cuts, {CutRings::kLines});
  return toTry(trials.limits.cuts, {CutRings::kLines, CutRings::kDetours});
}

/// On a ring of two, half latency has the same single step.
std::vector<DirectionModel> directionsToTry(const Trials& trials, const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > 2 && !topology.isLine(i)) {
      return toTry(trials.limits.directions,
                   {DirectionModel::kBidirectional, DirectionModel::kHalfLatency});
    }
  }
  return toTry(trials.limits.directions, {DirectionModel::kBidirectional});
}

/// Variants of dependences: if phases overlap, all at once, in order, in the given chunks, and in
/// segments. The loads of links are equal for all.
void searchDependences(Trials& trials, Candidate candidate, RingSegments& segments) {
  const ChoiceLimits& limits = trials.limits;
  PipelineOptions& options = candidate.options;
  for (const DependenceKind dependences :
       toTry(limits.dependences, {DependenceKind::kPhase, DependenceKind::kRegion})) {
    options.dependences = dependences;
    options.in_flight = limits.in_flight.value_or(0);
    const bool overlaps = dependences == DependenceKind::kRegion;
    if (limits.segments.value_or(1) == 1) {
      if (!trials.attempt(candidate)) return;
      if (limits.algorithm == nullptr && !limits.dependences && !overlaps &&
          !trials.tooSlow().empty()) {
        return trials.leaveOut(
            "overlapping phases, in flight, segments of " + candidate.description(), nullptr,
            trials.tooSlow());
      }
      const std::uint32_t most = !overlaps || limits.in_flight ? 0 : limits.chunks ? 2 : 1;
      for (options.in_flight = 1; options.in_flight <= most; ++options.in_flight) {
        if (!trials.attempt(candidate)) return;
      }
    }
    if (overlaps && !limits.chunks) segments.note(candidate);
  }
}

/// Whether a collective has two halves, a reduce-scatter and an allgather.
bool hasHalves(const CollectiveRow& row) {
  return row.reduces() && row.inWhole() && row.outWhole() && !row.isRooted();
}

/// Whether the halves of an allreduce can fill lines together.
bool mayOverlapHalves(const Trials& trials, const Algorithm& algorithm, const Topology& topology) {
  const ChoiceLimits& limits = trials.limits;
  return algorithm.multicolor && hasHalves(rowOf(trials.spec.collective)) &&
         limits.dependences.value_or(DependenceKind::kRegion) == DependenceKind::kRegion &&
         (limits.weights ? *limits.weights == ColorWeights::kOverlapped : hasLine(topology));
}

}  // namespace

bool hasLine(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > 2 && topology.isLine(i)) return true;
  }
  return false;
}

void RingSegments::note(Candidate candidate) {
  auto uncut = uncutOf(trials_.programs, candidate);
  if (!uncut) return consumeError(uncut.takeError());  // the candidate's compilation succeeded
  const ScheduleView schedule = (*uncut)->schedule.view();
  const ChoiceLimits& limits = trials_.limits;
  PipelineOptions& options = candidate.options;
  const model::PipelineCost cost(schedule, trials_.machine, trials_.bytes);
  const std::uint32_t most = mostSegments(candidate, schedule);
  const bool by_cores =
      hasHalves(rowOf(trials_.spec.collective)) && 2 * cost.reduceSeconds() > cost.busySeconds();
  const bool halves = by_cores || options.weights == ColorWeights::kOverlapped;
  const std::uint32_t fewest = std::min(halves ? kFirstOverlapped : 1, most);
  options.segments = limits.segments.value_or(
      std::max(fewest, cost.bestChunks(kCostedInFlight, std::min(most, model::kMostChunks))));
  options.in_flight = limits.in_flight.value_or(halves ? kOverlappedWindow : kRingWindow);
  if (options.segments < 2) {
    options.in_flight = 0;
    return in_one_.push_back({std::move(candidate), most, kMostRingWindow});
  }
  candidate.predicted_s = cost.seconds(options.segments, kCostedInFlight) / (halves ? 2 : 1);
  if (by_cores) {
    const double least = std::max(cost.reduceSeconds(), cost.busySeconds());
    candidate.predicted_s = std::max(candidate.predicted_s, least);
  }
  plans_.push_back({std::move(candidate), most, mostWindow(schedule)});
}

/// As many segments as can be proved, with an acceptable length of a node's program.
std::uint32_t RingSegments::mostSegments(const Candidate& candidate,
                                         const ScheduleView& uncut) const {
  const double operations = std::max<double>(static_cast<double>(uncut.operations.size()), 1);
  const CollectiveSpec spec = specOf(trials_, candidate.options);
  const double proof = candidate.algorithm->estimate(spec).cell_steps * (kRingWindow + 1);
  const bool is_provable = proof <= kMostCellSteps && mostWindow(uncut) >= kRingWindow;
  return mostOf(kMostSegmentedOperations / operations - 1,
                is_provable ? passes::mostSegments(uncut) : 1);
}

bool RingSegments::searchPromising() {
  bool is_any = false;
  llvm::stable_sort(plans_, [](const Plan& a, const Plan& b) {
    return a.candidate.predicted_s < b.candidate.predicted_s;
  });
  for (Plan& plan : plans_) {
    const bool is_promising = plan.candidate.predicted_s < kDoubtfulCost * trials_.bestSeconds();
    int& left = left_[static_cast<std::size_t>(plan.candidate.options.cuts)];
    if (plan.is_tried || !is_promising || left == 0) continue;
    plan.is_tried = is_any = true;
    --left;
    searchPlan(plan);
  }
  return is_any;
}

void RingSegments::leaveOut() {
  const double best = trials_.bestSeconds();
  for (const Plan& plan : plans_) {
    if (plan.is_tried) continue;
    Candidate candidate = plan.candidate;
    candidate.refusal = formatted("the cost model says %.2f us", 1e6 * candidate.predicted_s) +
                        (candidate.predicted_s < best ? ", and puts others before it" : "");
    trials_.attempt(candidate);
  }
  if (trials_.limits.segments) return;
  for (const Plan& plan : in_one_) {
    const Algorithm* const algorithm = plan.candidate.algorithm;
    const bool has_others = llvm::any_of(
        plans_, [&](const Plan& other) { return other.candidate.algorithm == algorithm; });
    trials_.leaveOut(has_others ? "segments of " + plan.candidate.description() : "segments",
                     has_others ? nullptr : algorithm,
                     plan.most > 1 ? "the cost model takes one"
                                   : "their proof, or a rank's program, would be too long");
  }
}

/// Tries the number of segments of the cost model. From there doubles or halves it as long as this
/// is faster, which the model cannot predict. If this leaves links of a line idle, does the same
/// with alternating phases. Then tries more segments in flight for the much better variant, or for
/// both.
void RingSegments::searchPlan(const Plan& plan) {
  const ChoiceLimits& limits = trials_.limits;
  const std::optional<SegmentOrder>& settled = limits.segment_order;
  const auto climbSegments = [&](Candidate& candidate, double& best) {
    return climb(candidate, candidate.options.segments, limits.segments, best, 2, plan.most);
  };
  const auto climbWindow = [&](Candidate& candidate, double& best) {
    std::uint32_t& in_flight = candidate.options.in_flight;
    const std::uint32_t most = std::min(plan.most_in_flight, candidate.options.segments);
    return climb(candidate, in_flight, limits.in_flight, best, in_flight, most);
  };
  Candidate candidate = plan.candidate;
  candidate.options.segment_order = settled.value_or(SegmentOrder::kChains);
  Candidate in_turn = candidate;
  if (!trials_.attempt(candidate)) return;
  busy_ = trials_.last().busy_s;  // equal for any number of segments
  double best = secondsOf(trials_.last());
  if (best > kSlow * trials_.bestSeconds()) return;
  climbSegments(candidate, best);
  if (!settled && hasLine(specOf(trials_, candidate.options).topology) &&
      best > kWorthTurns * busy_) {
    in_turn.options.segment_order = SegmentOrder::kPhases;
    if (!trials_.attempt(in_turn)) return;
    double seconds = secondsOf(trials_.last());
    climbSegments(in_turn, seconds);
    if (seconds < kClose * best) climbWindow(in_turn, seconds);
    if (seconds * kClose < best) return;
  }
  climbWindow(candidate, best);
}

/// Doubles `number`, an option of the candidate, as long as this is faster than `best`; without a
/// gain, halves it. A `settled` number stays.
void RingSegments::climb(Candidate& candidate, std::uint32_t& number,
                         const std::optional<std::uint32_t>& settled, double& best,
                         std::uint32_t lowest, std::uint32_t highest) {
  if (settled) return;
  const std::uint32_t from = number;
  for (const bool up : {true, false}) {
    while (best > kWorthwhile * busy_ && (up ? 2 * number <= highest : number >= 2 * lowest)) {
      const std::uint32_t before = number;
      number = up ? 2 * number : number / 2;
      if (!trials_.attempt(candidate)) return;
      const double seconds = secondsOf(trials_.last());
      if (seconds * kWorthwhile >= best) {
        number = before;
        break;
      }
      best = seconds;
    }
    if (number != from) return;
  }
}

namespace {

/// Searches weights, with the candidate's treatment of cut rings.
void searchWeights(Trials& trials, Candidate candidate, RingSegments& segments) {
  const ChoiceLimits& limits = trials.limits;
  const Algorithm& algorithm = *candidate.algorithm;
  PipelineOptions& options = candidate.options;
  const Topology topology = specOf(trials, options).topology;
  const std::vector<DirectionModel> both = directionsToTry(trials, topology);
  for (const ColorWeights weights :
       algorithm.multicolor ? toTry(limits.weights, {ColorWeights::kEqual, ColorWeights::kBalanced})
                            : std::vector{ColorWeights::kEqual}) {
    options.weights = weights;
    for (const DirectionModel directions : both) {
      options.directions = directions;
      searchDependences(trials, candidate, segments);
    }
  }
  if (!mayOverlapHalves(trials, algorithm, topology)) return;
  // Rings whose halves fill lines together: only in segments.
  options.weights = ColorWeights::kOverlapped;
  options.dependences = DependenceKind::kRegion;
  options.in_flight = limits.in_flight.value_or(0);
  for (const DirectionModel directions : both) {
    options.directions = directions;
    const bool is_in_one = limits.segments.value_or(1) == 1 && (limits.chunks || limits.weights);
    if (is_in_one && !trials.attempt(candidate)) return;
    if (!limits.chunks) segments.note(candidate);
  }
}

}  // namespace

void searchPlans(Trials& trials, const Algorithm& algorithm, RingSegments& segments) {
  Candidate candidate = trials.begin(algorithm);
  PipelineOptions& options = candidate.options;
  // With an axis of cores every core is a rank.
  if (!trials.spec.topology.hasCores()) options.cores = trials.machine.cores;
  for (const CutRings cuts : cutsToTry(trials, algorithm)) {
    options.cuts = cuts;
    searchWeights(trials, candidate, segments);
  }
}

}  // namespace torc::compiler
