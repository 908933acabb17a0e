// What is tried, and which of it is taken.
#include "compiler/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/ring_segments.h"
#include "ir/node_classes.h"
#include "ir/verifier/verifier.h"
#include "model/simulator/pipeline_cost.h"
#include "schedules/expansion/shares.h"
#include "schedules/validation/validate.h"

namespace torc::compiler {
namespace {

// How often more chunks of steps that are settled may gain less than is worthwhile.
constexpr int kWithoutGain = 2;

// What start-ups and hops have to take of a pipeline along trees, compared with what its busiest
// link carries, for two messages to be tried on a link at a time.
constexpr double kWorthStaggering = 1.03;
constexpr std::uint32_t kStaggered = 2;

// Operations of all nodes beyond which chunks are not worth their price.
constexpr std::uint64_t kMostSteps = 1u << 18;

// Simulations rank by rank, of candidates that come as close as this to the best, and operations on
// all ranks: of one candidate, and of all.
constexpr int kMostPerRank = 10;
constexpr double kPerRankOperations = 1.5e6;
constexpr double kAllPerRankOperations = 6e6;

// What of the steps of a proof its estimate has to say for it to be looked at before it is needed.
constexpr double kDoubtful = 0.5;

// The longest vector for which one core is tried for all of a node where it would work at no cost.
constexpr double kMostLedBytes = 64 << 10;

std::string mebibytes(double bytes) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::format("%.1f MiB", bytes / (1 << 20));
  return text;
}

class Chooser {
 public:
  Chooser(CompileCache& programs, const model::Machine& machine, double bytes,
          const ChoiceLimits& limits, Progress* progress)
      : programs_(programs),
        spec_(programs.spec()),
        network_(networkOf(spec_)),
        machine_(machine),
        bytes_(bytes),
        limits_(limits),
        progress_(progress),
        simulator_(programs, machine, bytes),
        ring_segments_(
            spec_, machine, bytes, limits,
            [this](const Candidate& candidate) -> const Candidate& {
              add(candidate);
              return choice_.candidates.back();
            },
            [this] { return bestSeconds(); }) {}

  Choice run() {
    llvm::SmallVector<const Algorithm*> wanted;
    for (const Algorithm& algorithm : algorithms()) {
      if (isLed(algorithm) || isWanted(algorithm, spec_)) wanted.push_back(&algorithm);
    }
    if (progress_ != nullptr) progress_->expect(wanted.size());
    for (const Algorithm* algorithm : wanted) {
      is_expected_ = true;
      if (progress_ != nullptr) progress_->begin("trying " + algorithm->name.str());
      addAll(*algorithm);
      if (std::exchange(is_expected_, false) && progress_ != nullptr) progress_->done();
    }
    ring_segments_.tryPromising();
    std::vector<Candidate>& candidates = choice_.candidates;
    if (candidates.empty()) return std::move(choice_);
    do {
      lookCloser();
      // What was ahead of rings in segments may have lost.
    } while (!isProvable(taken()) || ring_segments_.tryPromising());
    ring_segments_.leaveOut(choice_);
    std::stable_sort(candidates.begin(), candidates.end(), isFaster);
    choice_.built = simulator_.built();
    if (!candidates.front().refusal.empty()) return std::move(choice_);
    const auto chosen = candidates.begin() + (&taken() - candidates.data());
    std::rotate(candidates.begin(), chosen, chosen + 1);
    return std::move(choice_);
  }

 private:
  /// All candidates of an algorithm.
  void addAll(const Algorithm& algorithm) {
    if (isLed(algorithm)) addLed(algorithm);
    if (limits_.leaders.value_or(false) || !isWanted(algorithm, spec_)) return;
    if (isBeyondLimits(algorithm)) return;
    if (algorithm.inSegments()) {
      addSegments(algorithm);
    } else if (algorithm.form == PlanForm::kExchanges) {
      addExchanges(algorithm, limits_.directions.value_or(passes::DirectionModel::kBidirectional));
      if (!limits_.directions && isHalved(algorithm)) {
        addExchanges(algorithm, passes::DirectionModel::kUnidirectional);
      }
    } else if (algorithm.form == PlanForm::kRounds) {
      addRounds(algorithm);
    } else if (algorithm.isSettled()) {
      addSteps(algorithm);
    } else {
      addPlans(algorithm);
    }
  }

  static bool isFaster(const Candidate& a, const Candidate& b) {
    if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
    return a.cautiousSeconds() < b.cautiousSeconds();
  }

  /// Of those that are as good as the fastest, the least in the order of ties.
  Candidate& taken() {
    Candidate* taken = &*llvm::min_element(choice_.candidates, isFaster);
    const double limit = kTie * taken->cautiousSeconds();
    for (Candidate& other : choice_.candidates) {
      if (!other.refusal.empty() || other.cautiousSeconds() > limit) continue;
      if (other.tieOrder() < taken->tieOrder()) taken = &other;
    }
    return *taken;
  }

  /// Simulates the best candidate rank by rank, with messages of whole elements, which need not be
  /// of one size, and whichever is the best then, until that is one that has been, or it is too
  /// much work. What an algorithm loses by it counts for its other candidates with such sends. Not
  /// an all-to-all: its messages are of one size, and as all are under way at once the simulator
  /// would share all links anew whenever one ends.
  void lookCloser() {
    if (rowOf(spec_.collective).blocks == BlockSpace::kPair) return;
    if (!elementBytesFor(spec_, bytes_)) return;
    const double limit = kClose * taken().predicted_s;
    const auto ranks = static_cast<double>(spec_.topology.ranks());
    double left = kAllPerRankOperations;
    for (int looks = 0; looks < kMostPerRank; ++looks) {
      Candidate& best = taken();
      const double work = ranks * best.work;
      const bool may_look = best.refusal.empty() && !best.per_rank && best.predicted_s <= limit &&
                            work <= std::min(kPerRankOperations, left);
      if (!may_look) return;
      left -= work;
      best.per_rank = true;
      const double by_classes_s = best.predicted_s;
      if (llvm::Error error = simulate(best, ", rank by rank")) {
        best.refusal = toString(std::move(error));
        continue;
      }
      const double lost = best.predicted_s / by_classes_s;
      for (Candidate& other : choice_.candidates) {
        if (other.algorithm != best.algorithm) continue;
        if (other.options.synchronous_sends != best.options.synchronous_sends) continue;
        if ((other.options.segments > 1) != (best.options.segments > 1)) continue;
        other.unseen = std::max(other.unseen, lost);
      }
    }
  }

  bool isWanted(const Algorithm& algorithm, const CollectiveSpec& spec) const {
    return limits_.algorithm == nullptr ? isWorthTrying(algorithm, spec)
                                        : limits_.algorithm->name == algorithm.name;
  }

  /// Whether it is tried that the first core of a node executes the steps of `algorithm` for all of
  /// them. Unless that is asked for, only short vectors' where the machine does not say what a
  /// core's work costs.
  bool isLed(const Algorithm& algorithm) const {
    const bool is_known = machine_.gamma > 0 || machine_.memory_bandwidth > 0;
    return coresOf(spec_.topology) > 1 && passes::mayBeLed(rowOf(spec_.collective)) &&
           limits_.leaders.value_or(is_known || bytes_ <= kMostLedBytes) &&
           algorithm.form != PlanForm::kExchanges && isWanted(algorithm, network_);
  }

  /// Whether no program of `algorithm` can be made or proved; then a candidate says so.
  bool isBeyondLimits(const Algorithm& algorithm) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    candidate.refusal = beyondLimits(algorithm.estimate(spec_));
    if (candidate.refusal.empty()) return false;
    candidate.tried = false;
    choice_.candidates.push_back(std::move(candidate));
    return true;
  }

  /// Whether a candidate can be proved: looked at where its estimate leaves that open. If not, it
  /// says so.
  bool isProvable(Candidate& candidate) {
    const Algorithm& algorithm = *candidate.algorithm;
    const ProgramSize size = algorithm.estimate(candidate.options.led_cores > 0 ? network_ : spec_);
    const double cuts = algorithm.cutsIntoSegments() ? 8 : candidate.options.chunks;
    if (!candidate.refusal.empty() || cuts * size.cell_steps < kDoubtful * kMostCellSteps) {
      return true;
    }
    if (progress_ != nullptr) progress_->begin("proving " + candidate.description());
    auto program = programs_.get(algorithm, pipelineOf(algorithm, candidate.options));
    if (!program) {
      candidate.refusal = toString(program.takeError());
      return false;
    }
    // Faults of the schedule are for whoever compiles it.
    const ir::VerifyResult proof = ir::verify((*program)->schedule.view());
    for (const ir::Fault& fault : proof.faults) {
      if (llvm::StringRef(fault.message).starts_with("too large to prove")) {
        candidate.refusal = fault.message;
      }
    }
    return candidate.refusal.empty();
  }

  /// What is to be tried of an option.
  template <typename Value>
  static std::vector<Value> toTry(const std::optional<Value>& settled,
                                  std::initializer_list<Value> free) {
    if (settled) return {*settled};
    return free;
  }

  /// A ring of two is the same in half its one step.
  std::vector<passes::DirectionModel> directionsToTry() const {
    const Topology& topology = spec_.topology;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      if (topology.axes[i].size > 2 && !topology.isLine(i)) {
        return toTry(limits_.directions, {passes::DirectionModel::kBidirectional,
                                          passes::DirectionModel::kHalfLatency});
      }
    }
    return toTry(limits_.directions, {passes::DirectionModel::kBidirectional});
  }

  /// Whether exchanges halve what goes to the node opposite, which is twice the messages.
  bool isHalved(const Algorithm& algorithm) {
    auto whole = programs_.get(algorithm, pipelineOf(algorithm, {}));
    if (whole) return (*whole)->schedule.colors.front().directions > 1;
    consumeError(whole.takeError());
    return false;
  }

  /// Steps that are settled, in ever more chunks as long as that is faster and the program does not
  /// grow beyond what is worth it. Where the steps have parts already, the chunks divide those, as
  /// long as there are enough.
  void addSteps(const Algorithm& algorithm) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    candidate.options.chunks = limits_.chunks.value_or(1);
    const ProgramSize estimate = algorithm.estimate(spec_);
    const double most_bytes = estimate.of_nodes ? kMostFileBytesOfNodes : kMostFileBytes;
    const bool is_doubtful = !estimate.of_nodes || estimate.cell_steps > kMostCellSteps;
    if (limits_.algorithm == nullptr && is_doubtful &&
        isTooLarge(candidate, estimate, most_bytes)) {
      return;
    }
    if (limits_.chunks) return add(candidate);
    auto whole = programs_.get(algorithm, pipelineOf(algorithm, candidate.options));
    if (!whole) {
      candidate.refusal = toString(whole.takeError());
      return choice_.candidates.push_back(std::move(candidate));
    }
    const Schedule& schedule = (*whole)->schedule;
    ProgramSize size = sizeOf(schedule.view());
    size.proof_steps = estimate.proof_steps;
    const std::uint32_t parts = schedule.colors.empty() ? 1 : schedule.colors.front().chunks;
    double before = std::numeric_limits<double>::infinity();
    int left = kWithoutGain;
    for (std::uint32_t& chunks = candidate.options.chunks; chunks <= model::kMostChunks && left > 0;
         chunks = nextChunks(chunks, parts)) {
      if (chunks > 1) {
        ProgramSize cut = size;
        const double cuts = passes::dealsChunks(schedule.view(), chunks) ? 1 : chunks;
        cut.proof_steps *= parts * cuts;
        cut.cell_steps = estimate.cell_steps * cuts;
        if (isTooLarge(candidate, cut, most_bytes) || isTooSlow(candidate)) return;
      }
      add(candidate);
      const Candidate& added = choice_.candidates.back();
      if (!added.refusal.empty()) return;
      if (2 * added.operations > kMostSteps) {
        choice_.left_out.push_back({"more chunks", &algorithm, "its program is too long for them"});
        return;
      }
      // Cut and dealt chunks take turns, so that one can gain on the one before and not on all.
      left = added.predicted_s < before / kWorthwhile ? kWithoutGain : left - 1;
      before = added.predicted_s;
    }
  }

  /// Rounds are for short vectors, of which no more chunks are worth it: in two directions, whose
  /// messages take different links, and in one, of half as many.
  void addRounds(const Algorithm& algorithm) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    candidate.options.chunks = limits_.chunks.value_or(1);
    candidate.options.weights = limits_.weights.value_or(passes::ColorWeights::kEqual);
    if (limits_.algorithm == nullptr &&
        isTooLarge(candidate, algorithm.estimate(spec_), kMostFileBytesOfNodes)) {
      return;
    }
    for (const passes::DirectionModel directions :
         toTry(limits_.directions,
               {passes::DirectionModel::kBidirectional, passes::DirectionModel::kUnidirectional})) {
      candidate.options.directions = directions;
      add(candidate);
    }
  }

  /// Steps of nodes that one core executes, which are for short vectors: in one chunk, with as few
  /// messages as the algorithm has.
  void addLed(const Algorithm& algorithm) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    candidate.options.led_cores = coresOf(spec_.topology);
    candidate.options.chunks = limits_.chunks.value_or(1);
    const ProgramSize estimate = algorithm.estimate(network_);
    if (limits_.algorithm == nullptr && algorithm.isSettled() && !estimate.of_nodes &&
        isTooLarge(candidate, estimate, kMostFileBytes)) {
      return;
    }
    const bool is_halved =
        algorithm.form == PlanForm::kRings || algorithm.form == PlanForm::kRounds;
    candidate.options.directions =
        limits_.directions.value_or(is_halved ? passes::DirectionModel::kUnidirectional
                                              : passes::DirectionModel::kBidirectional);
    candidate.options.in_flight = limits_.in_flight.value_or(0);
    candidate.options.weights = limits_.weights.value_or(passes::ColorWeights::kEqual);
    candidate.options.dependences = limits_.dependences.value_or(passes::DependenceKind::kRegion);
    add(candidate);
  }

  /// Exchanges, in ever more segments as long as that is faster; in so many from the start that
  /// their scratch is as small as it has to be.
  void addExchanges(const Algorithm& algorithm, passes::DirectionModel directions) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    candidate.options.directions = directions;
    candidate.options.weights = limits_.weights.value_or(passes::ColorWeights::kEqual);
    candidate.options.peers = limits_.peers.value_or(candidate.options.peers);
    candidate.options.window = limits_.window.value_or(candidate.options.window);
    std::uint32_t& segments = candidate.options.chunks;
    segments = limits_.chunks.value_or(1);
    if (limits_.scratch_bytes && !limits_.chunks) {
      auto whole = programs_.get(algorithm, pipelineOf(algorithm, candidate.options));
      if (!whole) return add(candidate);  // which says why not
      const double scratch = bytes_ * VectorShares((*whole)->schedule.view()).scratch();
      const double in_segments = kExchangeWindow * scratch / *limits_.scratch_bytes;
      const std::uint32_t most = passes::mostSegments((*whole)->schedule.view());
      if (scratch > *limits_.scratch_bytes) segments = mostOf(in_segments, most);
    }
    double before = std::numeric_limits<double>::infinity();
    for (;; segments *= 2) {
      add(candidate);
      const Candidate& added = choice_.candidates.back();
      const bool gains = added.refusal.empty() && added.predicted_s * kWorthwhile < before;
      if (limits_.chunks || !gains || 2 * segments > model::kMostChunks) return;
      before = added.predicted_s;
    }
  }

  /// Steps for a segment, in as many as the pipeline's cost says, in half, in half as many more, in
  /// twice as many, and in one. A buffered send is over at once, so that those of all segments
  /// would share the link, and arrive together: where segments would be so short, also in as many
  /// as are just not.
  void addSegments(const Algorithm& algorithm) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    std::uint32_t& segments = candidate.options.chunks;
    if (limits_.chunks) {
      segments = *limits_.chunks;
      return add(candidate);
    }
    if (limits_.algorithm == nullptr &&
        isTooLarge(candidate, algorithm.estimate(spec_), kMostFileBytesOfNodes)) {
      return;
    }
    add(candidate);
    if (!choice_.candidates.back().refusal.empty()) return;
    if (algorithm.estimate(spec_).operations * (algorithm.window + 1) > kMostProvedOperations) {
      choice_.left_out.push_back(
          {"chunks, in flight", &algorithm, "its program is too long for them"});
      return;
    }
    auto whole = programs_.get(algorithm, pipelineOf(algorithm, candidate.options));
    if (!whole) return consumeError(whole.takeError());  // as the candidate has been
    const TreePipeline pipeline = algorithm.pipeline(spec_.topology);
    const std::uint32_t most = passes::mostSegments((*whole)->schedule.view());
    const std::uint32_t best = pipeline.bestSegments(machine_, bytes_, most / 2);
    std::set<std::uint32_t> tries = {best / 2, best, 3 * best / 2, 2 * best};
    const double longest = std::max(machine_.eager, machine_.buffered);
    const double unbuffered = pipeline.share * bytes_ / (longest + 1);
    if (longest > 0 && unbuffered < best) {
      tries.insert(static_cast<std::uint32_t>(unbuffered));
    }
    double before = std::numeric_limits<double>::infinity();
    for (const std::uint32_t more : tries) {
      if (more <= 1) continue;
      segments = more;
      const double seconds = tried(candidate);
      if (seconds * kTie > before) break;
      before = seconds;
    }
    addStaggered(candidate);
  }

  /// Two messages on a link at a time, where start-ups leave links idle for long, in as many
  /// segments as hide them, or a half or a quarter of that: the hops are shorter or the messages
  /// fewer.
  void addStaggered(Candidate candidate) {
    const Algorithm& algorithm = *candidate.algorithm;
    const Candidate& one =
        *llvm::min_element(choice_.candidates, [&](const auto& a, const auto& b) {
          const bool is_other[] = {a.algorithm != &algorithm, b.algorithm != &algorithm};
          return is_other[0] != is_other[1] ? is_other[1] : isFaster(a, b);
        });
    const auto leaveOut = [&](llvm::StringRef reason) {
      choice_.left_out.push_back({"2 in flight", &algorithm, reason.str()});
    };
    if (one.predicted_s < kWorthStaggering * one.busy_s)
      return leaveOut("its busiest link is hardly idle");
    if (one.busy_s > bestSeconds())
      return leaveOut("its busiest link alone takes longer than another takes in all");
    PipelineOptions& options = candidate.options;
    if (algorithm.pipeline(spec_.topology).messages > 1) {
      // Of many messages what is idle are nodes whose scratch is full.
      leaveOut("one more segment under way does it");
      options.chunks = one.options.chunks;
      options.window = algorithm.window + 1;
      return add(candidate);
    }
    options.in_flight = limits_.in_flight.value_or(kStaggered);
    if (options.in_flight < 2) return;
    if (!passes::canStagger(spec_.topology))
      return leaveOut(spec_.topology.isDamaged() ? "something is dead" : "no axis is a ring");
    options.chunks = 1;
    auto whole = programs_.get(algorithm, pipelineOf(algorithm, options));
    if (!whole) return consumeError(whole.takeError());
    options.chunks = algorithm.pipeline(spec_.topology)
                         .mostStaggered(machine_, bytes_, options.in_flight,
                                        passes::mostSegments((*whole)->schedule.view()));
    for (int halved = 0; halved < 3 && options.chunks > 1; ++halved, options.chunks /= 2)
      add(candidate);
  }

  /// The next number of chunks to try: the least divisor of `parts` that is a third more, or
  /// twice as many.
  static std::uint32_t nextChunks(std::uint32_t chunks, std::uint32_t parts) {
    for (std::uint32_t next = chunks + 1; next <= parts; ++next) {
      if (parts % next == 0 && 3 * next >= 4 * chunks) return next;
    }
    return 2 * chunks;
  }

  /// Whether a candidate of that size is not to be compiled; then it says why.
  bool isTooLarge(Candidate& candidate, const ProgramSize& size, double most_bytes) {
    const double bytes = size.fileBytes(candidate.options.chunks);
    if (bytes > most_bytes && !size.in_loops) {
      candidate.refusal =
          "its file would have about " + mebibytes(bytes) + ", more than " + mebibytes(most_bytes);
    } else if (size.proof_steps > kMostProofSteps || size.cell_steps > kMostCellSteps) {
      candidate.refusal = "its proof would take too long";
    } else {
      return false;
    }
    candidate.tried = false;
    choice_.candidates.push_back(std::move(candidate));
    return true;
  }

  /// Whether a candidate like the last one, but in more chunks, cannot be the best, for what its
  /// busiest link carries alone takes longer; then it says so.
  bool isTooSlow(Candidate& candidate) {
    const double best = bestSeconds();
    double bandwidth = 0;
    for (int i = 0; i < spec_.topology.dimensions(); ++i)
      bandwidth = std::max(bandwidth, machine_.linkBandwidth(static_cast<std::uint32_t>(i)));
    if (choice_.candidates.back().load_bytes <= kSlow * best * bandwidth) return false;
    candidate.refusal = "its busiest link alone takes longer than another takes in all";
    candidate.tried = false;
    choice_.candidates.push_back(candidate);
    return true;
  }

  void addPlans(const Algorithm& algorithm) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    // With an axis of cores every core is a rank of its own.
    if (!spec_.topology.hasCores()) candidate.options.cores = machine_.cores;
    for (const passes::ColorWeights weights :
         algorithm.multicolor ? toTry(limits_.weights, {passes::ColorWeights::kEqual,
                                                        passes::ColorWeights::kBalanced})
                              : std::vector{passes::ColorWeights::kEqual}) {
      candidate.options.weights = weights;
      for (const passes::DirectionModel directions : directionsToTry()) {
        candidate.options.directions = directions;
        addPipelines(candidate);
      }
    }
    if (mayOverlapHalves(algorithm)) addOverlapped(candidate);
  }

  /// Whether the reduce-scatter and the allgather of an allreduce can fill lines together.
  bool mayOverlapHalves(const Algorithm& algorithm) const {
    const CollectiveRow& row = rowOf(spec_.collective);
    if (!algorithm.multicolor || algorithm.form != PlanForm::kRings) return false;
    if (!row.reduces() || !row.inWhole() || !row.outWhole() || row.isRooted()) return false;
    if (limits_.weights.value_or(passes::ColorWeights::kOverlapped) !=
            passes::ColorWeights::kOverlapped ||
        limits_.dependences.value_or(passes::DependenceKind::kRegion) !=
            passes::DependenceKind::kRegion) {
      return false;
    }
    return limits_.weights || hasLine(spec_.topology);
  }

  /// Rings whose halves fill lines together: in segments, for which they are.
  void addOverlapped(Candidate candidate) {
    PipelineOptions& options = candidate.options;
    options.weights = passes::ColorWeights::kOverlapped;
    options.dependences = passes::DependenceKind::kRegion;
    for (const passes::DirectionModel directions : directionsToTry()) {
      options.directions = directions;
      options.chunks = limits_.chunks.value_or(1);
      options.in_flight = limits_.in_flight.value_or(0);
      if (limits_.segments.value_or(1) == 1 && (limits_.chunks || limits_.weights)) add(candidate);
      if (!limits_.chunks) noteInSegments(candidate);
    }
  }

  /// Where the schedule is to overlap phases: all at once, in order, in the chunks that are asked
  /// for, and in segments.
  void addPipelines(Candidate candidate) {
    PipelineOptions& options = candidate.options;
    for (const passes::DependenceKind dependences :
         toTry(limits_.dependences,
               {passes::DependenceKind::kPhase, passes::DependenceKind::kRegion})) {
      options.dependences = dependences;
      const bool overlaps = dependences == passes::DependenceKind::kRegion;
      options.chunks = limits_.chunks.value_or(1);
      options.in_flight = limits_.in_flight.value_or(0);
      if (limits_.segments.value_or(1) == 1) {
        add(candidate);
        if (overlaps && !limits_.in_flight) {
          const std::uint32_t most = limits_.chunks ? 2 : 1;
          for (options.in_flight = 1; options.in_flight <= most; ++options.in_flight)
            add(candidate);
        }
      }
      if (overlaps && !limits_.chunks) noteInSegments(candidate);
    }
  }

  /// Notes a plan of rings that may be run in segments.
  void noteInSegments(const Candidate& candidate) {
    auto uncut = simulator_.uncutOf(candidate);
    if (!uncut) return consumeError(uncut.takeError());  // as the candidate has been
    ring_segments_.note(candidate, (*uncut)->schedule.view());
  }

  /// What the best of the candidates takes so far.
  double bestSeconds() const {
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& other : choice_.candidates) {
      if (other.refusal.empty()) best = std::min(best, other.cautiousSeconds());
    }
    return best;
  }

  /// Adds the candidate; what it takes.
  double tried(const Candidate& candidate) {
    add(candidate);
    return secondsOf(choice_.candidates.back());
  }

  /// Of a candidate whose sends may be over before anybody receives them, also what becomes of it
  /// where they are synchronous; the better one comes last, for what goes on from it.
  void add(Candidate candidate) {
    candidate.options.synchronous_sends = limits_.synchronous_sends.value_or(false);
    addAsItIs(candidate);
    const Candidate& added = choice_.candidates.back();
    if (limits_.synchronous_sends || !added.refusal.empty() || !added.buffers) return;
    candidate.options.synchronous_sends = true;
    addAsItIs(std::move(candidate));
    std::vector<Candidate>& all = choice_.candidates;
    if (isFaster(all[all.size() - 2], all.back())) std::swap(all[all.size() - 2], all.back());
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

  void addAsItIs(Candidate candidate) {
    if (llvm::Error error = simulate(candidate, "")) candidate.refusal = toString(std::move(error));
    if (candidate.refusal.empty() && limits_.scratch_bytes &&
        candidate.scratch_bytes > *limits_.scratch_bytes) {
      candidate.refusal = "its scratch would have " +
                          std::to_string(static_cast<std::uint64_t>(candidate.scratch_bytes)) +
                          " bytes, more than the limit of " +
                          std::to_string(static_cast<std::uint64_t>(*limits_.scratch_bytes));
    }
    choice_.candidates.push_back(std::move(candidate));
  }

  CompileCache& programs_;
  const CollectiveSpec& spec_;
  const CollectiveSpec network_;
  const model::Machine& machine_;
  const double bytes_;
  const ChoiceLimits& limits_;
  Progress* const progress_;
  bool is_expected_ = false;  // whether progress knows of the next candidate
  Choice choice_;
  CandidateSimulator simulator_;
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
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 (first.tried ? "" : for_shape) + first.refusal);
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
