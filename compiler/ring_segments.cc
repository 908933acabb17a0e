// The search for numbers of segments.
#include "compiler/ring_segments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "model/simulator/pipeline_cost.h"

namespace torc::compiler {
namespace {

// Plans are tried that the cost model does not put this far behind another.
constexpr double kDoubtfulCost = 1.05;
// Segments of rings that are under way, at most, and operations of a node in all of them.
constexpr std::uint32_t kMostRingWindow = 16;
constexpr double kMostSegmentedOperations = 1 << 20;
// What plans in segments have to take, compared with their busiest link, for phases to be tried in
// turn.
constexpr double kWorthTurns = 1.02;
// Where the halves of an allreduce fill lines together, which the cost model lets follow each
// other: the first number of segments that is tried, and their window.
constexpr std::uint32_t kFirstOverlapped = 32;
constexpr std::uint32_t kOverlappedWindow = 3;

/// As many segments under way as can be proved.
std::uint32_t mostWindow(const ScheduleView& uncut) {
  const double operations = std::max<double>(static_cast<double>(uncut.operations.size()), 1);
  return mostOf(kMostProvedOperations / operations - 1, kMostRingWindow);
}

}  // namespace

bool hasLine(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > 2 && topology.isLine(i)) return true;
  }
  return false;
}

void RingSegments::note(Candidate candidate, const ScheduleView& uncut) {
  PipelineOptions& options = candidate.options;
  const model::PipelineCost cost(uncut, machine_, bytes_);
  const std::uint32_t most = mostSegments(candidate, uncut);
  const bool halves = options.weights == passes::ColorWeights::kOverlapped;
  const std::uint32_t fewest = std::min(halves ? kFirstOverlapped : 1, most);
  options.segments = limits_.segments.value_or(
      std::max(fewest, cost.bestChunks(kCostedInFlight, std::min(most, model::kMostChunks))));
  options.in_flight = limits_.in_flight.value_or(halves ? kOverlappedWindow : kRingWindow);
  if (options.segments < 2) {
    options.in_flight = 0;
    return in_one_.push_back({std::move(candidate), most, kMostRingWindow});
  }
  candidate.predicted_s = cost.seconds(options.segments, kCostedInFlight) / (halves ? 2 : 1);
  plans_.push_back({std::move(candidate), most, mostWindow(uncut)});
}

/// As many segments as can be proved, and run by a node without its program being too long.
std::uint32_t RingSegments::mostSegments(const Candidate& candidate,
                                         const ScheduleView& uncut) const {
  const double operations = std::max<double>(static_cast<double>(uncut.operations.size()), 1);
  std::uint64_t most = passes::mostSegments(uncut);
  if (candidate.algorithm->estimate(spec_).cell_steps * (kRingWindow + 1) > kMostCellSteps ||
      mostWindow(uncut) < kRingWindow) {
    most = 1;
  }
  return mostOf(kMostSegmentedOperations / operations - 1, most);
}

bool RingSegments::tryPromising() {
  llvm::stable_sort(plans_, [](const Plan& a, const Plan& b) {
    return a.candidate.predicted_s < b.candidate.predicted_s;
  });
  const int before = left_;
  for (Plan& plan : plans_) {
    const bool is_promising = plan.candidate.predicted_s < kDoubtfulCost * best_();
    if (plan.is_tried || !is_promising || left_ == 0) continue;
    plan.is_tried = true;
    --left_;
    tryPlan(plan.candidate, plan.most, plan.most_in_flight);
  }
  return left_ < before;
}

void RingSegments::leaveOut(Choice& choice) const {
  const double best = best_();
  for (const Plan& plan : plans_) {
    if (plan.is_tried) continue;
    Candidate candidate = plan.candidate;
    llvm::raw_string_ostream(candidate.refusal)
        << llvm::format("the cost model says %.2f us", 1e6 * candidate.predicted_s)
        << (candidate.predicted_s < best ? ", and puts others before it" : "");
    candidate.tried = false;
    choice.candidates.push_back(std::move(candidate));
  }
  for (const Plan& plan : in_one_) {
    if (limits_.segments) break;
    const Candidate& candidate = plan.candidate;
    const bool has_others = llvm::any_of(plans_, [&](const Plan& other) {
      return other.candidate.algorithm == candidate.algorithm;
    });
    choice.left_out.push_back({has_others ? "segments of " + candidate.description() : "segments",
                               has_others ? nullptr : candidate.algorithm,
                               plan.most > 1
                                   ? "the cost model takes one"
                                   : "their proof, or a rank's program, would be too long"});
  }
}

/// In as many segments as the cost model takes, and from there on in twice or half as many as long
/// as that is faster, which it cannot say. Where that leaves links of a line idle, likewise with
/// phases in turn. Then with more under way, of the one that is better by far, or of both.
void RingSegments::tryPlan(Candidate candidate, std::uint32_t most, std::uint32_t most_in_flight) {
  using passes::SegmentOrder;
  candidate.options.segment_order = limits_.segment_order.value_or(SegmentOrder::kChains);
  Candidate in_turn = candidate;
  const Candidate& first = tries_(candidate);
  busy_ = first.busy_s;  // which no number of segments changes
  double best = secondsOf(first);
  if (best > kSlow * best_()) return;
  climbSegments(candidate, best, most);
  if (!limits_.segment_order && hasLine(spec_.topology) && best > kWorthTurns * busy_) {
    in_turn.options.segment_order = SegmentOrder::kPhases;
    double seconds = tried(in_turn);
    climbSegments(in_turn, seconds, most);
    if (seconds < kClose * best) climbWindow(in_turn, seconds, most_in_flight);
    if (seconds * kClose < best) return;
  }
  climbWindow(candidate, best, most_in_flight);
}

void RingSegments::climbSegments(Candidate& candidate, double& best, std::uint32_t most) {
  std::uint32_t& segments = candidate.options.segments;
  if (!limits_.segments && !climb(candidate, segments, best, 2, most, true))
    climb(candidate, segments, best, 2, most, false);
}

void RingSegments::climbWindow(Candidate& candidate, double& best, std::uint32_t most) {
  if (!limits_.in_flight) climb(candidate, candidate.options.in_flight, best, 1, most, true);
}

/// Doubles or halves `number`, one of the candidate's, as long as that is faster. Whether it was.
bool RingSegments::climb(Candidate& candidate, std::uint32_t& number, double& best,
                         std::uint32_t lowest, std::uint32_t highest, bool up) {
  const std::uint32_t from = number;
  while (best > kWorthwhile * busy_ && (up ? 2 * number <= highest : number >= 2 * lowest)) {
    const std::uint32_t before = number;
    number = up ? 2 * number : number / 2;
    const double seconds = tried(candidate);
    if (seconds * kWorthwhile >= best) {
      number = before;
      break;
    }
    best = seconds;
  }
  return number != from;
}

double RingSegments::tried(const Candidate& candidate) {
  return secondsOf(tries_(candidate));
}

}  // namespace torc::compiler
