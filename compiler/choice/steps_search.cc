// Searches fixed steps in more and more chunks, as long as this is faster and the program stays
// within limits. If the steps already have parts, the chunks divide these first.
#include <algorithm>
#include <limits>
#include <string>

#include "compiler/choice/search.h"
#include "model/simulator/pipeline_cost.h"
#include "schedules/validation/validate.h"

namespace torc::compiler {
namespace {

// Number of successive trials without a worthwhile gain.
constexpr int kWithoutGain = 2;

// Limit of operations of all nodes for more chunks.
constexpr std::uint64_t kMostSteps = 1u << 18;

/// The next number of chunks to try: the least divisor of `parts` that is at least a third more, or
/// twice as many.
std::uint32_t nextChunks(std::uint32_t chunks, std::uint32_t parts) {
  for (std::uint32_t next = chunks + 1; next <= parts; ++next) {
    if (parts % next == 0 && 3 * next >= 4 * chunks) return next;
  }
  return 2 * chunks;
}

/// Whether still more chunks cannot bring the last candidate close to the best. It has `more` times
/// as many chunks as the candidate with time `before`. The total saving of any number of chunks is
/// at most about the saving of this step over `more` - 1.
bool isBeyond(const Trials& trials, double before, double more) {
  const double saved = before - trials.last().predicted_s;
  return trials.last().predicted_s - std::max(saved, 0.0) / (more - 1) >
         kSlow * trials.bestSeconds();
}

}  // namespace

void searchSteps(Trials& trials, const Algorithm& algorithm) {
  Candidate candidate = trials.begin(algorithm);
  std::uint32_t& chunks = candidate.options.chunks;
  const ProgramSize estimate = algorithm.estimate(trials.spec);
  const double most_bytes = estimate.of_nodes ? kMostFileBytesOfNodes : kMostFileBytes;
  const bool is_doubtful = !estimate.of_nodes || estimate.cell_steps > kMostCellSteps;
  if (trials.limits.algorithm == nullptr && is_doubtful)
    candidate.refusal = tooLarge(estimate, chunks, most_bytes);
  if (!trials.attempt(candidate)) return;
  const bool is_one_message = rowOf(trials.spec.collective).isOfNeighbours();
  if (trials.limits.chunks || trials.isLastRefused() || is_one_message) return;
  auto whole = programOf(trials.programs, candidate);
  if (!whole) return consumeError(whole.takeError());  // the candidate's compilation succeeded
  const Schedule& schedule = (*whole)->schedule;
  const std::uint32_t parts = schedule.colors.empty() ? 1 : schedule.colors.front().chunks;
  double before = std::numeric_limits<double>::infinity();
  std::uint32_t chunks_before = chunks;
  for (int left = kWithoutGain; !trials.isLastRefused();) {
    const Candidate& added = trials.last();
    if (2 * added.operations > kMostSteps)
      return trials.leaveOut("more chunks", &algorithm, "its program is too long for them");
    // Cut and dealt chunks alternate, so that one step can gain without being the best.
    left = added.predicted_s < before / kWorthwhile ? kWithoutGain : left - 1;
    if (chunks > chunks_before &&
        isBeyond(trials, before, static_cast<double>(chunks) / chunks_before))
      return;
    before = added.predicted_s;
    chunks_before = chunks;
    chunks = nextChunks(chunks, parts);
    if (left == 0 || chunks > model::kMostChunks) return;
    ProgramSize cut = sizeOf(schedule.view());
    const double cuts = passes::dealsChunks(schedule.view(), chunks) ? 1 : chunks;
    cut.proof_steps = estimate.proof_steps * (parts * cuts);
    cut.cell_steps = estimate.cell_steps * cuts;
    candidate.refusal = tooLarge(cut, chunks, most_bytes);
    if (candidate.refusal.empty()) candidate.refusal = trials.tooSlow().str();
    if (!trials.attempt(candidate)) return;
  }
}

}  // namespace torc::compiler
