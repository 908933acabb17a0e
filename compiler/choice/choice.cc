// The choice: searches every algorithm, and takes one of the candidates.
#include "compiler/choice/choice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "compiler/choice/search.h"
#include "ir/make_error.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {
namespace {

// A candidate is proved before it is taken if its estimate has this share of the steps that a proof
// may have.
constexpr double kDoubtful = 0.5;
// Operations of the segments that are under way, which meet in the same memory, likewise.
constexpr double kManyUnderWay = 4e4;

// The longest vector for which one core is tried for all of a node where it would work at no cost.
constexpr double kMostLedBytes = 64 << 10;

// Work of a proof, compared with a limit of the choice's work.
constexpr double kLongProof = 2;

/// The segments, or else chunks, that a proof goes through one by one. Of segments of trees that is
/// one, of as many chunks as are in flight; races of the others take little.
double provedSegments(const Algorithm& algorithm, const PipelineOptions& options) {
  if (algorithm.inSegments()) return std::max(options.in_flight, 1u);
  if (algorithm.cutsIntoSegments()) return std::min(options.chunks, kExchangeWindow + 1);
  return options.chunks * std::min(options.segments, options.in_flight + 1);
}

class Chooser {
 public:
  Chooser(CompileCache& programs, const model::Machine& machine, double bytes,
          const ChoiceLimits& limits, Progress& progress)
      : trials_{programs, machine, bytes, limits, progress}, ring_segments_(trials_) {}

  Choice run() {
    llvm::SmallVector<const Algorithm*> wanted;
    for (const Algorithm& algorithm : algorithms()) {
      if (isLed(algorithm) || isWanted(algorithm, trials_.spec)) wanted.push_back(&algorithm);
    }
    // Pipelines go first: the busiest link of many others alone takes longer than these.
    std::stable_partition(wanted.begin(), wanted.end(),
                          [](const Algorithm* algorithm) { return algorithm->inSegments(); });
    Progress& progress = trials_.progress;
    progress.expect(wanted.size());
    for (const Algorithm* algorithm : wanted) {
      trials_.is_expected = true;
      progress.begin("trying " + algorithm->name.str());
      search(*algorithm);
      if (std::exchange(trials_.is_expected, false)) progress.done();
    }
    ring_segments_.searchPromising();
    std::vector<Candidate>& candidates = trials_.choice.candidates;
    if (candidates.empty()) return std::move(trials_.choice);
    do {
      lookCloser(trials_);
      judgeByPackets(trials_);
      // Candidates that were ahead of rings in segments may have lost.
    } while (!isProvable(trials_.taken()) || ring_segments_.searchPromising());
    ring_segments_.leaveOut();
    std::stable_sort(candidates.begin(), candidates.end(), isFaster);
    trials_.choice.built = trials_.simulator.built();
    if (candidates.front().refusal.empty()) {
      const auto chosen = candidates.begin() + (&trials_.taken() - candidates.data());
      std::rotate(candidates.begin(), chosen, chosen + 1);
    }
    return std::move(trials_.choice);
  }

 private:
  /// Tries all of an algorithm.
  void search(const Algorithm& algorithm) {
    if (isLed(algorithm)) {
      algorithm.inSegments() ? searchTrees(trials_, algorithm, /*has_leaders=*/true)
                             : searchLeaders(trials_, algorithm);
    }
    if (trials_.limits.leaders.value_or(false) || !isWanted(algorithm, trials_.spec)) return;
    Candidate beyond;
    beyond.algorithm = &algorithm;
    beyond.refusal = beyondLimits(algorithm.estimate(trials_.spec));
    if (!beyond.refusal.empty()) {
      trials_.attempt(beyond);
    } else if (algorithm.inSegments()) {
      searchTrees(trials_, algorithm, /*has_leaders=*/false);
    } else if (algorithm.form == PlanForm::kExchanges) {
      searchExchanges(trials_, algorithm);
    } else if (algorithm.form == PlanForm::kRounds) {
      searchRounds(trials_, algorithm);
    } else if (algorithm.isSettled()) {
      searchSteps(trials_, algorithm);
    } else {
      searchPlans(trials_, algorithm, ring_segments_);
    }
  }

  bool isWanted(const Algorithm& algorithm, const CollectiveSpec& spec) const {
    const Algorithm* const settled = trials_.limits.algorithm;
    return settled == nullptr ? isWorthTrying(algorithm, spec) : settled->name == algorithm.name;
  }

  /// Whether candidates are tried where the first core of a node executes the steps of `algorithm`
  /// for all of them. The limits decide; by default these are steps in segments and for short
  /// vectors, and all steps if the machine has a cost of a core's work.
  bool isLed(const Algorithm& algorithm) const {
    const model::Machine& machine = trials_.machine;
    const bool is_known = machine.gamma > 0 || machine.memory_bandwidth > 0;
    return coresOf(trials_.spec.topology) > 1 && passes::mayBeLed(rowOf(trials_.spec.collective)) &&
           trials_.limits.leaders.value_or(algorithm.inSegments() || is_known ||
                                           trials_.bytes <= kMostLedBytes) &&
           algorithm.form != PlanForm::kExchanges && algorithm.may_lead &&
           isWanted(algorithm, trials_.network);
  }

  /// Whether a candidate can be compiled, where another machine stood in for it, and proved, where
  /// its estimate leaves that open. If not, it says so.
  bool isProvable(Candidate& candidate) {
    const Algorithm& algorithm = *candidate.algorithm;
    CollectiveSpec spec = candidate.options.led_cores > 0 ? trials_.network : trials_.spec;
    if (candidate.options.cuts == CutRings::kDetours) spec.topology.addDetours();
    const ProgramSize size = algorithm.estimate(spec);
    const double cuts = algorithm.cutsIntoSegments() ? 8 : candidate.options.chunks;
    const PipelineOptions& options = candidate.options;
    const double segments = std::min(options.segments, options.in_flight + 1);
    const double under_way =
        static_cast<double>(candidate.operations) / options.segments * segments;
    const bool is_small =
        (algorithm.inSegments() || cuts * size.cell_steps < kDoubtful * kMostCellSteps) &&
        (options.segments == 1 || under_way < kManyUnderWay);
    if (!candidate.refusal.empty()) return true;
    const double most_work = trials_.limits.most_work.value_or(HUGE_VAL);
    // The default algorithm, compiled without a choice, has a proof, too.
    const double without = defaultAlgorithm(trials_.spec).estimate(trials_.spec).cell_steps;
    const double proof_steps = size.cell_steps * provedSegments(algorithm, options);
    if (algorithm.inSegments() && options.chunks > 1 && proof_steps > kMostCellSteps) {
      candidate.refusal = "its proof would take too long";
      return false;
    }
    if (kProofWork * (proof_steps - without) > kLongProof * most_work) {
      candidate.refusal = "its proof would take long";
      trials_.choice.is_cut_short = true;
      return false;
    }
    if (is_small && candidate.stand_in.empty()) return true;
    trials_.progress.begin("proving " + candidate.description());
    auto program = programOf(trials_.programs, candidate);
    if (!program) {
      candidate.refusal = toString(program.takeError());
      return false;
    }
    if (is_small) return true;
    llvm::Expected<ir::Program> rolled = rollLoops(**program, {.verify_each = false});
    if (!rolled) {
      candidate.refusal = toString(rolled.takeError());
      return false;
    }
    // Faults of the schedule are for whoever compiles it.
    const ir::VerifyResult proof = ir::verify(rolled->schedule.view());
    for (const ir::Fault& fault : proof.faults) {
      if (llvm::StringRef(fault.message).starts_with("too large to prove"))
        candidate.refusal = fault.message;
    }
    return candidate.refusal.empty();
  }

  Trials trials_;
  RingSegments ring_segments_;
};

}  // namespace

Choice consider(CompileCache& programs, const model::Machine& machine, double bytes,
                const ChoiceLimits& limits, Progress* progress) {
  Progress none(/*quiet=*/true);
  return Chooser(programs, machine, bytes, limits, progress == nullptr ? none : *progress).run();
}

llvm::Error checkPossible(const Choice& choice, const CollectiveSpec& spec) {
  if (choice.candidates.empty()) return noAlgorithm(spec);
  const Candidate& first = choice.candidates.front();
  if (first.refusal.empty()) return llvm::Error::success();
  const std::string for_shape =
      first.algorithm->name.str() + ": too large for " + spec.topology.shape() + ": ";
  return makeError((first.tried ? "" : for_shape) + first.refusal);
}

llvm::Expected<Choice> choose(const CollectiveSpec& spec, const model::Machine& machine,
                              double bytes, const ChoiceLimits& limits, Progress* progress) {
  CompileCache programs(spec);
  return choose(programs, machine, bytes, limits, progress);
}

llvm::Expected<Choice> choose(CompileCache& programs, const model::Machine& machine, double bytes,
                              const ChoiceLimits& limits, Progress* progress) {
  Choice choice = consider(programs, machine, bytes, limits, progress);
  if (llvm::Error error = checkPossible(choice, programs.spec())) return error;
  return choice;
}

}  // namespace torc::compiler
