// The choice: the loop that tries the proposals of searches, and takes one of the candidates.
#include "compiler/choice/choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "compiler/choice/rings_search.h"
#include "compiler/choice/search.h"
#include "compiler/choice/trials.h"
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

// Work of a judgement by packets; of a proof, compared with a limit of the choice's work.
constexpr double kWorkOfPackets = 1e7, kLongProof = 2;

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
          const ChoiceLimits& limits, Progress* progress)
      : trials_{programs, machine, bytes, limits},
        progress_(progress),
        simulator_(programs, machine, bytes),
        ring_segments_(trials_) {}

  Choice run() {
    llvm::SmallVector<const Algorithm*> wanted;
    for (const Algorithm& algorithm : algorithms()) {
      if (isLed(algorithm) || isWanted(algorithm, trials_.spec)) wanted.push_back(&algorithm);
    }
    // Pipelines go first: the busiest link of many others alone takes longer than these.
    std::stable_partition(wanted.begin(), wanted.end(),
                          [](const Algorithm* algorithm) { return algorithm->inSegments(); });
    if (progress_ != nullptr) progress_->expect(wanted.size());
    for (const Algorithm* algorithm : wanted) {
      is_expected_ = true;
      if (progress_ != nullptr) progress_->begin("trying " + algorithm->name.str());
      follow(search(*algorithm));
      if (std::exchange(is_expected_, false) && progress_ != nullptr) progress_->done();
    }
    follow(ring_segments_.searchPromising());
    std::vector<Candidate>& candidates = trials_.choice.candidates;
    if (candidates.empty()) return std::move(trials_.choice);
    do {
      lookCloser(trials_, workLeft() / simulator_.workOfSimulated(),
                 [this](Candidate& best) { return simulate(best, ", rank by rank"); });
      if (!isBeyondWork(hasPackets() ? kWorkOfPackets : 0)) judgeByPackets(trials_, progress_);
      // Candidates that were ahead of rings in segments may have lost.
    } while (!isProvable(trials_.taken()) || follow(ring_segments_.searchPromising()));
    follow(ring_segments_.leaveOut());
    std::stable_sort(candidates.begin(), candidates.end(), isFaster);
    trials_.choice.built = simulator_.built();
    if (candidates.front().refusal.empty()) {
      const auto chosen = candidates.begin() + (&trials_.taken() - candidates.data());
      std::rotate(candidates.begin(), chosen, chosen + 1);
    }
    return std::move(trials_.choice);
  }

 private:
  bool hasPackets() const {
    const Topology& topology = trials_.spec.topology;
    return trials_.machine.router && !topology.isDamaged() && !topology.hasCores();
  }

  /// The work that the limit leaves.
  double workLeft() const {
    return trials_.limits.most_work.value_or(HUGE_VAL) - simulator_.work();
  }
  /// Whether that is too little for so much. The choice says so.
  bool isBeyondWork(double work) {
    const bool is_beyond = work > workLeft();
    trials_.choice.is_cut_short |= is_beyond;
    return is_beyond;
  }

  bool isBeyondWork(const Search::Proposal& proposal) {
    const auto* candidate = std::get_if<Candidate>(&proposal);
    return candidate != nullptr && candidate->refusal.empty() &&
           isBeyondWork(kBuiltWork * candidate->algorithm->estimate(trials_.spec).operations);
  }

  /// The loop: carries out the proposals of a search, which goes on with their results. Whether it
  /// proposed anything.
  bool follow(Search search) {
    bool is_any = false;
    while (Search::Proposal* proposal = search.next()) {
      if (isBeyondWork(*proposal)) break;
      is_any = true;
      if (auto* inner = std::get_if<Search>(proposal)) {
        follow(std::move(*inner));
      } else if (auto* left_out = std::get_if<LeftOut>(proposal)) {
        trials_.choice.left_out.push_back(std::move(*left_out));
      } else {
        add(std::move(std::get<Candidate>(*proposal)));
      }
    }
    return is_any;
  }

  /// With leaders.
  Search searchLed(const Algorithm& algorithm) const {
    return algorithm.inSegments() ? searchTrees(trials_, algorithm, /*has_leaders=*/true)
                                  : searchLeaders(trials_, algorithm);
  }

  /// All of an algorithm.
  Search search(const Algorithm& algorithm) {
    if (isLed(algorithm)) co_yield searchLed(algorithm);
    if (trials_.limits.leaders.value_or(false) || !isWanted(algorithm, trials_.spec)) co_return;
    Candidate beyond;
    beyond.algorithm = &algorithm;
    beyond.refusal = beyondLimits(algorithm.estimate(trials_.spec));
    if (!beyond.refusal.empty()) {
      co_yield beyond;
    } else if (algorithm.inSegments()) {
      co_yield searchTrees(trials_, algorithm, /*has_leaders=*/false);
    } else if (algorithm.form == PlanForm::kExchanges) {
      co_yield searchExchanges(trials_, algorithm);
    } else if (algorithm.form == PlanForm::kRounds) {
      co_yield searchRounds(trials_, algorithm);
    } else if (algorithm.isSettled()) {
      co_yield searchSteps(trials_, algorithm);
    } else {
      co_yield searchPlans(trials_, algorithm, ring_segments_);
    }
  }

  /// Tries the candidate. If its sends may be over before anybody receives them, also tries it with
  /// synchronous sends; the search goes on from the better one.
  void add(Candidate candidate) {
    if (!candidate.refusal.empty()) {
      candidate.tried = false;
      return push(std::move(candidate));
    }
    const std::optional<bool>& settled = trials_.limits.synchronous_sends;
    candidate.options.synchronous_sends = settled.value_or(false);
    tryOnce(candidate);
    if (settled || trials_.isLastRefused() || !trials_.last().buffers) return;
    const std::size_t first = trials_.last_index;
    candidate.options.synchronous_sends = true;
    tryOnce(std::move(candidate));
    if (isFaster(trials_.choice.candidates[first], trials_.last())) trials_.last_index = first;
  }

  void push(Candidate candidate) {
    trials_.last_index = trials_.choice.candidates.size();
    trials_.choice.candidates.push_back(std::move(candidate));
  }

  /// Nothing that has the program of another one is a candidate.
  void tryOnce(Candidate candidate) {
    std::vector<Candidate>& all = trials_.choice.candidates;
    if (auto programs = simulator_.programsOf(candidate)) {
      const auto [same, is_new] = tried_.try_emplace(*programs, all.size());
      if (!is_new) {
        trials_.last_index = same->second;
        const std::string other = all[same->second].description();
        if (other != candidate.description())
          trials_.choice.left_out.push_back(
              {candidate.description(), nullptr, "its program is one of those that are"});
        return;
      }
    } else {
      consumeError(programs.takeError());  // as it says below
    }
    const std::optional<double>& most_scratch = trials_.limits.scratch_bytes;
    if (llvm::Error error = simulate(candidate, "")) {
      candidate.refusal = toString(std::move(error));
    } else if (most_scratch && candidate.scratch_bytes > *most_scratch) {
      candidate.refusal = "its scratch would have " +
                          std::to_string(static_cast<std::uint64_t>(candidate.scratch_bytes)) +
                          " bytes, more than the limit of " +
                          std::to_string(static_cast<std::uint64_t>(*most_scratch));
    }
    push(std::move(candidate));
  }

  /// Simulates the candidate as one of the things that progress counts.
  llvm::Error simulate(Candidate& candidate, llvm::StringRef how) {
    if (progress_ != nullptr) {
      if (!std::exchange(is_expected_, false)) progress_->expect(1);
      progress_->begin("trying " + candidate.description() + how.str());
    }
    llvm::Error error = simulator_.simulate(candidate);
    if (progress_ != nullptr) progress_->done();
    return error;
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
    if (progress_ != nullptr) progress_->begin("proving " + candidate.description());
    auto program = programOf(trials_.programs, candidate);
    if (!program) {
      candidate.refusal = toString(program.takeError());
      return false;
    }
    if (is_small) return true;
    passes::PassManagerOptions unproved;
    unproved.verify_each = false;
    llvm::Expected<ir::Program> rolled = rollLoops(**program, unproved);
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
  Progress* const progress_;
  bool is_expected_ = false;  // whether progress knows of the next candidate
  CandidateSimulator simulator_;
  std::map<CandidateSimulator::Programs, std::size_t> tried_;  // which of the candidates has them
  RingSegments ring_segments_;
};

}  // namespace

Choice consider(CompileCache& programs, const model::Machine& machine, double bytes,
                const ChoiceLimits& limits, Progress* progress) {
  return Chooser(programs, machine, bytes, limits, progress).run();
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
