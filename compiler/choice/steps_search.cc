// Steps that are settled, in ever more chunks as long as that is faster and the program does not
// grow beyond what is worth it. Where the steps have parts already, the chunks divide those, as
// long as there are enough.
#include <algorithm>
#include <limits>
#include <string>

#include "compiler/choice/search.h"
#include "model/simulator/pipeline_cost.h"
#include "schedules/validation/validate.h"

namespace torc::compiler {
namespace {

// How often more chunks may gain less than is worthwhile.
constexpr int kWithoutGain = 2;

// Operations of all nodes beyond which chunks are not worth their price.
constexpr std::uint64_t kMostSteps = 1u << 18;

/// The next number of chunks to try: the least divisor of `parts` that is a third more, or
/// twice as many.
std::uint32_t nextChunks(std::uint32_t chunks, std::uint32_t parts) {
  for (std::uint32_t next = chunks + 1; next <= parts; ++next) {
    if (parts % next == 0 && 3 * next >= 4 * chunks) return next;
  }
  return 2 * chunks;
}

/// Whether the last candidate, which takes so much less than `before` by `more` times as many
/// chunks, is not to be expected to come to the best by still more: what they save is about as a
/// share of one, of which any number of chunks saves no more than this.
bool isBeyond(const Trials& trials, double before, double more) {
  const double saved = before - trials.last().predicted_s;
  return trials.last().predicted_s - std::max(saved, 0.0) / (more - 1) >
         kSlow * trials.bestSeconds();
}

}  // namespace

Search searchSteps(const Trials& trials, const Algorithm& algorithm) {
  Candidate candidate = trials.begin(algorithm);
  std::uint32_t& chunks = candidate.options.chunks;
  const ProgramSize estimate = algorithm.estimate(trials.spec);
  const double most_bytes = estimate.of_nodes ? kMostFileBytesOfNodes : kMostFileBytes;
  const bool is_doubtful = !estimate.of_nodes || estimate.cell_steps > kMostCellSteps;
  if (trials.limits.algorithm == nullptr && is_doubtful)
    candidate.refusal = tooLarge(estimate, chunks, most_bytes);
  co_yield candidate;
  const bool is_one_message = rowOf(trials.spec.collective).isOfNeighbours();
  if (trials.limits.chunks || trials.isLastRefused() || is_one_message) co_return;
  auto whole = programOf(trials.programs, candidate);
  if (!whole) co_return consumeError(whole.takeError());  // as the candidate has been
  const Schedule& schedule = (*whole)->schedule;
  const std::uint32_t parts = schedule.colors.empty() ? 1 : schedule.colors.front().chunks;
  double before = std::numeric_limits<double>::infinity();
  std::uint32_t chunks_before = chunks;
  for (int left = kWithoutGain; !trials.isLastRefused();) {
    const Candidate& added = trials.last();
    if (2 * added.operations > kMostSteps) {
      const LeftOut more{"more chunks", &algorithm, "its program is too long for them"};
      co_yield more;
      co_return;
    }
    // Cut and dealt chunks take turns, so that one can gain on the one before and not on all.
    left = added.predicted_s < before / kWorthwhile ? kWithoutGain : left - 1;
    if (chunks > chunks_before &&
        isBeyond(trials, before, static_cast<double>(chunks) / chunks_before))
      co_return;
    before = added.predicted_s;
    chunks_before = chunks;
    chunks = nextChunks(chunks, parts);
    if (left == 0 || chunks > model::kMostChunks) co_return;
    ProgramSize cut = sizeOf(schedule.view());
    const double cuts = passes::dealsChunks(schedule.view(), chunks) ? 1 : chunks;
    cut.proof_steps = estimate.proof_steps * (parts * cuts);
    cut.cell_steps = estimate.cell_steps * cuts;
    candidate.refusal = tooLarge(cut, chunks, most_bytes);
    if (candidate.refusal.empty()) candidate.refusal = trials.tooSlow().str();
    co_yield candidate;
  }
}

}  // namespace torc::compiler
