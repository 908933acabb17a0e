// Candidates, their simulation, and the reason for the best.
#include "compiler/choice.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "model/bounds/bounds.h"
#include "model/simulator/pipeline_cost.h"
#include "model/simulator/simulator.h"

namespace torc {
namespace {

// Operations of single nodes, beyond which a schedule is too large a price for what chunks gain.
constexpr std::uint64_t kMostSteps = 1u << 18;
// What twice the chunks of these must gain.
constexpr double kWorthwhile = 1.02;
// Candidates whose times differ by less are taken as equal, which no prediction can tell apart:
// then fewer messages decide.
constexpr double kTie = 1.01;

// Per-rank simulation, where not all messages are of one size, is for candidates that come close to
// the best, as many as this, and for at most so many operations on all ranks.
constexpr double kClose = 1.3;
constexpr int kMostPerRank = 6;
constexpr double kPerRankOperations = 4e5;
// Two chunks on a link fill each other's pauses as long as they do not fall into step. Unless that
// has been simulated rank by rank, this much is thought to be lost.
constexpr double kFallIntoStep = 1.05;

class Chooser {
 public:
  Chooser(CompileCache& programs, const Machine& machine, double bytes, const ChoiceLimits& limits)
      : programs_(programs),
        spec_(programs.spec()),
        machine_(machine),
        bytes_(bytes),
        limits_(limits) {}

  llvm::Expected<Choice> run() {
    for (const Algorithm& algorithm : algorithms()) {
      const bool wanted = limits_.algorithm == nullptr
                              ? algorithm.suits == nullptr || algorithm.suits(spec_.topology)
                              : limits_.algorithm->name == algorithm.name;
      if (!wanted) continue;
      if (algorithm.makes_steps) {
        addSteps(algorithm);
      } else {
        addPlans(algorithm);
      }
    }
    std::vector<Candidate>& candidates = choice_.candidates;
    std::stable_sort(candidates.begin(), candidates.end(), isFaster);
    lookCloser();
    std::stable_sort(candidates.begin(), candidates.end(), isFaster);
    if (!candidates.front().refusal.empty()) {
      return llvm::createStringError(llvm::inconvertibleErrorCode(), candidates.front().refusal);
    }
    // Of those that are as good as the fastest, the one with the fewest messages.
    const double limit = kTie * candidates.front().cautiousSeconds();
    auto chosen = candidates.begin();
    for (auto it = chosen; it != candidates.end(); ++it) {
      if (!it->refusal.empty() || it->cautiousSeconds() > limit) break;
      if (it->messages < chosen->messages) chosen = it;
    }
    std::rotate(candidates.begin(), chosen, chosen + 1);
    return std::move(choice_);
  }

 private:
  static bool isFaster(const Candidate& a, const Candidate& b) {
    if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
    return a.cautiousSeconds() < b.cautiousSeconds();
  }

  /// Simulates the best candidates rank by rank, if that is no great work.
  void lookCloser() {
    int left = kMostPerRank;
    const double limit = kClose * choice_.candidates.front().predicted_s;
    const auto ranks = static_cast<double>(spec_.topology.ranks());
    for (Candidate& candidate : choice_.candidates) {
      if (!candidate.refusal.empty() || candidate.predicted_s > limit || left == 0) break;
      if (ranks * static_cast<double>(candidate.operations) > kPerRankOperations) continue;
      --left;
      candidate.per_rank = true;
      if (llvm::Error error = measure(candidate)) candidate.refusal = toString(std::move(error));
    }
  }

  /// The words of an option that are to be tried.
  static std::vector<std::string> words(const std::optional<std::string>& settled,
                                        std::initializer_list<const char*> free) {
    if (settled) return {*settled};
    return {free.begin(), free.end()};
  }

  /// A ring of two is the same in half its one step.
  std::vector<std::string> directionsToTry() const {
    const Topology& topology = spec_.topology;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      if (topology.axes[i].size > 2 && !topology.isLine(i)) {
        return words(limits_.directions, {"bidirectional", "half-latency"});
      }
    }
    return words(limits_.directions, {"bidirectional"});
  }

  /// Steps that are settled, in ever more chunks as long as that is faster.
  void addSteps(const Algorithm& algorithm) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    std::uint32_t& chunks = candidate.options.chunks;
    double least = 0;
    for (chunks = limits_.chunks.value_or(1); chunks <= kMostChunks; chunks *= 2) {
      add(candidate);
      const Candidate& added = choice_.candidates.back();
      const bool gains_little = least > 0 && added.predicted_s > least / kWorthwhile;
      if (limits_.chunks || !added.refusal.empty() || gains_little) return;
      if (2 * added.operations > kMostSteps) return;
      least = added.predicted_s;
    }
  }

  void addPlans(const Algorithm& algorithm) {
    Candidate candidate;
    candidate.algorithm = &algorithm;
    // With an axis of cores every core is a rank of its own.
    if (!spec_.topology.hasCores()) candidate.options.cores = machine_.cores;
    for (const std::string& weights : algorithm.multicolor
                                          ? words(limits_.weights, {"equal", "balanced"})
                                          : std::vector<std::string>{"equal"}) {
      candidate.options.weights = weights;
      for (const std::string& directions : directionsToTry()) {
        candidate.options.directions = directions;
        addPipelines(candidate);
      }
    }
  }

  /// Where the schedule is to overlap phases: all at once, in order, and in the chunks that the
  /// cost model takes.
  void addPipelines(Candidate candidate) {
    PipelineOptions& options = candidate.options;
    for (const std::string& dependences : words(limits_.dependences, {"phase", "region"})) {
      options.dependences = dependences;
      const bool overlaps = dependences == "region";
      options.chunks = limits_.chunks.value_or(1);
      options.in_flight = limits_.in_flight.value_or(0);
      add(candidate);
      if (!overlaps || limits_.in_flight) continue;
      options.in_flight = 1;
      add(candidate);
      for (options.in_flight = 1; options.in_flight <= 2; ++options.in_flight)
        addChunks(candidate);
    }
  }

  /// In the number of chunks that the cost model takes, and in half as many: it takes all messages
  /// to be of one size, and two chunks to fill each other's pauses perfectly.
  void addChunks(Candidate candidate) {
    std::uint32_t& chunks = candidate.options.chunks;
    chunks = limits_.chunks ? *limits_.chunks : bestChunks(candidate);
    if (chunks > 1) add(candidate);
    if (limits_.chunks || chunks < 4) return;
    chunks /= 2;
    add(candidate);
  }

  /// The number of chunks that the cost model takes for the candidate's plan; 1 if it has none.
  std::uint32_t bestChunks(const Candidate& candidate) {
    auto uncut =
        programs_.get(*candidate.algorithm, planPipeline(*candidate.algorithm, candidate.options) +
                                                ",expand-rings,coalesce");
    if (!uncut) {
      consumeError(uncut.takeError());
      return 1;
    }
    return PipelineCost((*uncut)->schedule.view(), machine_, bytes_)
        .bestChunks(candidate.options.in_flight);
  }

  void add(Candidate candidate) {
    if (llvm::Error error = measure(candidate)) candidate.refusal = toString(std::move(error));
    choice_.candidates.push_back(std::move(candidate));
  }

  llvm::Error measure(Candidate& candidate) {
    auto program =
        programs_.get(*candidate.algorithm, pipelineOf(*candidate.algorithm, candidate.options));
    if (!program) return program.takeError();
    const Schedule& schedule = (*program)->schedule;
    SimulateOptions options;
    options.bytes = bytes_;
    options.per_rank = candidate.per_rank;
    llvm::Expected<SimulateResult> result = simulate(schedule.view(), machine_, options);
    if (!result) return result.takeError();
    candidate.predicted_s = result->makespan_s;
    candidate.busy_s = candidate.load_bytes = 0;
    for (const LinkUse& link : result->links) {
      candidate.busy_s = std::max(candidate.busy_s, link.busy_s);
      candidate.load_bytes = std::max(candidate.load_bytes, link.bytes);
    }
    candidate.steps = result->steps;
    candidate.messages = result->messages;
    candidate.operations = schedule.operations.size();
    return llvm::Error::success();
  }

  CompileCache& programs_;
  const CollectiveSpec& spec_;
  const Machine& machine_;
  const double bytes_;
  const ChoiceLimits& limits_;
  Choice choice_;
};

}  // namespace

std::string Candidate::description() const {
  std::string text = algorithm->name.str();
  if (algorithm->multicolor) text += ", " + options.weights + " weights";
  if (options.directions != "bidirectional") text += ", " + options.directions;
  if (options.dependences == "phase") text += ", phase by phase";
  if (options.chunks > 1) text += ", " + std::to_string(options.chunks) + " chunks";
  if (options.in_flight > 0) text += ", " + std::to_string(options.in_flight) + " in flight";
  return text;
}

double Candidate::cautiousSeconds() const {
  const bool may_fall = options.in_flight > 1 && !per_rank;
  return predicted_s * (may_fall ? kFallIntoStep : 1.0);
}

std::string Choice::reason() const {
  const Candidate& best = candidates[0];
  std::string text;
  llvm::raw_string_ostream out(text);
  const auto next = std::find_if(
      candidates.begin() + 1, candidates.end(),
      [&](const Candidate& other) { return other.predicted_s > kTie * best.predicted_s; });
  if (next == candidates.end() || !next->refusal.empty()) {
    out << "no other is slower by more than " << llvm::format("%.1f", 100 * (kTie - 1)) << " %";
    return text;
  }
  const double more = next->predicted_s - best.predicted_s;
  const double more_busy = next->busy_s - best.busy_s;
  out << "the next, " << next->description() << ", takes "
      << llvm::format("%.1f", 100 * more / best.predicted_s) << " % longer: its busiest link ";
  if (more_busy > more / 2) {
    out << llvm::format("carries %.0f bytes instead of %.0f", next->load_bytes, best.load_bytes);
  } else {
    out << llvm::format("is idle for %.2f us instead of %.2f",
                        1e6 * (next->predicted_s - next->busy_s),
                        1e6 * (best.predicted_s - best.busy_s));
    if (next->steps > best.steps) {
      out << ", in " << next->steps << " steps instead of " << best.steps;
    } else {
      out << ", waiting for other phases";
    }
  }
  return text;
}

llvm::Expected<Choice> choose(const CollectiveSpec& spec, const Machine& machine, double bytes,
                              const ChoiceLimits& limits) {
  CompileCache programs(spec);
  return choose(programs, machine, bytes, limits);
}

llvm::Expected<Choice> choose(CompileCache& programs, const Machine& machine, double bytes,
                              const ChoiceLimits& limits) {
  return Chooser(programs, machine, bytes, limits).run();
}

void printChoice(const Choice& choice, const CollectiveSpec& spec, const Machine& machine,
                 std::uint64_t bytes, llvm::raw_ostream& out) {
  const llvm::StringRef name = rowOf(spec.collective).name;
  BoundRequest request;
  request.collective = cantFail(parseBoundedCollective(name));
  request.bytes = static_cast<double>(bytes);
  const double bound = lowerBound(machine, request).bound_s;
  out << name << " of " << bytes << " bytes on " << spec.topology.shape() << ", machine "
      << machine.name << llvm::format("; no algorithm takes less than %.2f us\n", 1e6 * bound)
      << "predicted us  x bound  busiest link us   steps  messages  operations  candidate\n";
  for (const Candidate& candidate : choice.candidates) {
    if (!candidate.refusal.empty()) {
      out << "not possible: " << candidate.description() << ": " << candidate.refusal << '\n';
      continue;
    }
    out << llvm::format("%12.2f %8.3f %16.2f %7llu %9llu %11llu  ", 1e6 * candidate.predicted_s,
                        bound > 0 ? candidate.predicted_s / bound : 1.0, 1e6 * candidate.busy_s,
                        static_cast<unsigned long long>(candidate.steps),
                        static_cast<unsigned long long>(candidate.messages),
                        static_cast<unsigned long long>(candidate.operations))
        << candidate.description() << (candidate.per_rank ? " (rank by rank)" : "") << '\n';
  }
  out << "chosen: " << choice.best().description() << "; " << choice.reason() << '\n';
}

}  // namespace torc
