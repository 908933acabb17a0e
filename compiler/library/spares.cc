// Ranks the simulated schedules of a range.
#include <algorithm>
#include <optional>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "compiler/library/ranges.h"

namespace torc::compiler {
namespace {

// Largest ratio to the best predicted time at any size for a spare.
constexpr double kFar = 3.0;

/// A schedule, and its smallest ratio to the best time.
struct Ranked {
  const Candidate* candidate = nullptr;
  passes::PassPipeline pipeline;
  double times_best = 0;

  bool isSame(const Algorithm* algorithm, const passes::PassPipeline& other) const {
    return candidate->algorithm == algorithm && pipeline == other;
  }
};

/// Schedules other than the chosen one, without duplicates, the best first.
std::vector<Ranked> othersOf(const ScheduleRange& range) {
  const Algorithm* const chosen = range.chosen.algorithm;
  const passes::PassPipeline chosen_pipeline = pipelineOf(*chosen, range.chosen.options);
  std::vector<Ranked> others;
  for (const SizedChoice& sized : range.choices) {
    const double best_s = sized.choice.best().cautiousSeconds();
    for (const Candidate& candidate : sized.choice.candidates) {
      if (!candidate.refusal.empty()) continue;
      const double times_best = best_s > 0 ? candidate.cautiousSeconds() / best_s : 1.0;
      if (times_best > kFar) continue;
      passes::PassPipeline pipeline = pipelineOf(*candidate.algorithm, candidate.options);
      if (candidate.algorithm == chosen && pipeline == chosen_pipeline) continue;
      const auto known = llvm::find_if(
          others, [&](const Ranked& other) { return other.isSame(candidate.algorithm, pipeline); });
      if (known == others.end()) {
        others.push_back({&candidate, std::move(pipeline), times_best});
      } else {
        known->times_best = std::min(known->times_best, times_best);
      }
    }
  }
  llvm::stable_sort(others,
                    [](const Ranked& a, const Ranked& b) { return a.times_best < b.times_best; });
  return others;
}

/// The chosen schedule of rings in `segments`, if it has fewer; std::nullopt for short vectors.
std::optional<Candidate> inSegments(const ScheduleRange& range, std::uint32_t segments) {
  constexpr std::uint64_t kShort = 64u << 10;  // bytes
  const Candidate& chosen = range.chosen;
  if (chosen.algorithm->form != PlanForm::kRings ||
      chosen.options.chunks * chosen.options.segments >= segments ||
      range.choices.back().bytes < kShort) {
    return std::nullopt;
  }
  Candidate candidate;
  candidate.algorithm = chosen.algorithm;
  candidate.options = chosen.options;
  candidate.options.chunks = 1;
  candidate.options.segments = segments;
  candidate.options.in_flight = kRingWindow;
  candidate.options.dependences = passes::DependenceKind::kRegion;
  return candidate;
}

}  // namespace

std::vector<Candidate> sparesOf(const ScheduleRange& range, std::size_t count) {
  if (count == 0) return {};
  std::vector<Candidate> spares, more;
  const std::optional<Candidate> in_8 = inSegments(range, 8), in_4 = inSegments(range, 4);
  if (in_8) spares.push_back(*in_8);
  if (in_4) more.push_back(*in_4);
  std::vector<const Algorithm*> seen = {range.chosen.algorithm};
  for (const Ranked& ranked : othersOf(range)) {
    const auto isIt = [&](const std::optional<Candidate>& segmented) {
      return segmented && haveSameSchedule(*ranked.candidate, *segmented);
    };
    if (isIt(in_8) || isIt(in_4)) continue;
    const Algorithm* const algorithm = ranked.candidate->algorithm;
    const bool is_first = !llvm::is_contained(seen, algorithm);
    if (is_first) seen.push_back(algorithm);
    (is_first ? spares : more).push_back(*ranked.candidate);
  }
  llvm::append_range(spares, more);
  if (spares.size() > count) spares.resize(count);
  return spares;
}

}  // namespace torc::compiler
