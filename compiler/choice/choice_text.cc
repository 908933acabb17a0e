// What a choice says of itself: candidates, their predicted times, the reason for the best.
#include <algorithm>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/choice/choice.h"
#include "model/bounds/bounds.h"

namespace torc::compiler {
namespace {

/// Things of one reason in a line, "not tried: weights of bfb, groups: ...", or, where that would
/// be long, in several.
void printLeftOut(llvm::ArrayRef<LeftOut> things, llvm::raw_ostream& out) {
  constexpr std::size_t kLongest = 110;
  llvm::SmallVector<bool> are_told(things.size());
  for (std::size_t i = 0; i < things.size(); ++i) {
    const LeftOut& first = things[i];
    if (are_told[i]) continue;
    const std::string begin = "not tried: " + (first.of != nullptr ? first.what + " of " : "");
    std::string line;
    for (std::size_t j = i; j < things.size(); ++j) {
      const LeftOut& thing = things[j];
      const bool is_alike = thing.reason == first.reason &&
                            (thing.of == nullptr) == (first.of == nullptr) &&
                            (thing.of == nullptr || thing.what == first.what);
      if (!is_alike || are_told[j]) continue;
      const std::string name = thing.of != nullptr ? thing.of->name.str() : thing.what;
      if (line.ends_with(" " + name)) {  // of several plans
        are_told[j] = true;
        continue;
      }
      if (!line.empty() && line.size() + name.size() + first.reason.size() > kLongest) break;
      line += (line.empty() ? begin : ", ") + name;
      are_told[j] = true;
    }
    out << line << ": " << first.reason << '\n';
  }
}

/// What one that is as good as the best lacks of it, by the order of ties.
std::string whatDecides(const Candidate& other, const Candidate& best) {
  if (other.leaves_neighbours != best.leaves_neighbours) return "sends to more than neighbours";
  if (other.buffers != best.buffers) return "has sends that MPI buffers though others wait for them";
  if (other.messages != best.messages) {
    return "has " + std::to_string(other.messages) + " messages instead of " +
           std::to_string(best.messages);
  }
  if (other.options.synchronous_sends != best.options.synchronous_sends)
    return "has synchronous sends";
  return "was not looked at closer";
}

/// "; X, predicted 7.2 % faster, is not trusted: ...", or "; X, predicted 0.9 % faster, has ...",
/// where one is faster that was not chosen.
std::string whyNotTheFastest(llvm::ArrayRef<Candidate> candidates) {
  constexpr double kSeen = 1.0005;  // as 0.1 %
  const Candidate& best = candidates.front();
  const Candidate* fastest = &best;
  for (const Candidate& other : candidates) {
    if (other.refusal.empty() && other.predicted_s < fastest->predicted_s) fastest = &other;
  }
  if (kSeen * fastest->predicted_s >= best.predicted_s) return "";
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "; " << fastest->description() << ", predicted "
      << llvm::format("%.1f", 100 * (best.predicted_s / fastest->predicted_s - 1))
      << " % faster, ";
  if (kTie * fastest->cautiousSeconds() >= best.cautiousSeconds()) {
    out << whatDecides(*fastest, best);
    return text;
  }
  out << "is not trusted: "
      << (fastest->mayFallIntoStep() ? "what shares a link may fall into step"
          : fastest->by_packets      ? "packets judged it on fewer nodes"
                                     : "others of its algorithm took longer in a closer look")
      << ", and a closer look would be too long";
  return text;
}

}  // namespace

std::string Candidate::description() const {
  std::string text = algorithm->name.str();
  if (algorithm->multicolor && !algorithm->isSettled())
    text += ", " + passes::word(options.weights).str() + " weights";
  if (options.cuts == CutRings::kDetours) text += ", cuts with detours";
  if (options.directions != passes::DirectionModel::kBidirectional) {
    text += ", " + passes::word(options.directions).str();
  }
  if (options.dependences == passes::DependenceKind::kPhase) text += ", phase by phase";
  if (options.chunks > 1) text += ", " + std::to_string(options.chunks) + " chunks";
  if (options.segments > 1) text += ", " + std::to_string(options.segments) + " segments";
  if (options.in_flight > 0) text += ", " + std::to_string(options.in_flight) + " in flight";
  if (options.segments > 1 && options.segment_order == passes::SegmentOrder::kPhases)
    text += ", phases in turn";
  if (options.synchronous_sends) text += ", synchronous sends";
  if (options.peers == PeerOrder::kFixed) text += ", peers in order";
  if (options.window > 0) text += ", " + std::to_string(options.window) + " at a time";
  if (options.led_cores > 0) text += ", leaders";
  return text;
}

std::string Choice::reason() const {
  const Candidate& best = candidates[0];
  std::string text;
  llvm::raw_string_ostream out(text);
  const auto next = std::find_if(
      candidates.begin() + 1, candidates.end(),
      [&](const Candidate& other) { return other.predicted_s > kTie * best.predicted_s; });
  if (next == candidates.end() || !next->refusal.empty()) {
    out << "no other is slower by more than " << llvm::format("%.1f", 100 * (kTie - 1)) << " %"
        << whyNotTheFastest(candidates);
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
  out << whyNotTheFastest(candidates);
  return text;
}

void printChoice(const Choice& choice, const CollectiveSpec& spec, const model::Machine& machine,
                 std::uint64_t bytes, const ChoiceLimits& limits, llvm::raw_ostream& out) {
  const llvm::StringRef name = rowOf(spec.collective).name;
  model::BoundRequest request;
  request.collective = rowOf(spec.collective);
  request.bytes = static_cast<double>(bytes);
  const double bound = model::lowerBound(machine, request).bound_s;
  out << name << " of " << bytes << " bytes on " << spec.topology.shape() << ", machine "
      << machine.name << llvm::format("; no algorithm takes less than %.2f us\n", 1e6 * bound);
  const bool is_possible = !choice.candidates.empty() && choice.best().refusal.empty();
  if (is_possible)
    out << "predicted us  x bound  busiest link us   steps  messages  operations  candidate\n";
  // By predicted time; what cannot be had, or is not worth a try, behind.
  std::vector<const Candidate*> rows;
  for (const Candidate& candidate : choice.candidates)
    rows.push_back(&candidate);
  const auto key = [](const Candidate& candidate) {
    const bool is_refused = !candidate.refusal.empty();
    return std::pair(is_refused, is_refused ? 0.0 : candidate.predicted_s);
  };
  llvm::stable_sort(rows,
                    [&](const Candidate* a, const Candidate* b) { return key(*a) < key(*b); });
  for (const Candidate* row : rows) {
    const Candidate& candidate = *row;
    if (!candidate.refusal.empty()) {
      out << (candidate.tried ? "not possible: " : "not tried: ") << candidate.description() << ": "
          << candidate.refusal << '\n';
      continue;
    }
    out << (row == &choice.best() ? '*' : ' ')
        << llvm::format("%11.2f %8.3f %16.2f %7llu %9llu %11llu  ", 1e6 * candidate.predicted_s,
                        bound > 0 ? candidate.predicted_s / bound : 1.0, 1e6 * candidate.busy_s,
                        static_cast<unsigned long long>(candidate.steps),
                        static_cast<unsigned long long>(candidate.messages),
                        static_cast<unsigned long long>(candidate.operations))
        << candidate.description()
        << (candidate.by_packets ? " (by packets)"
            : candidate.per_rank ? " (rank by rank)"
                                 : "")
        << '\n';
  }
  printLeftOut(leftOut(choice, spec, machine, limits), out);
  if (!is_possible) return;
  if (!choice.best().stand_in.empty()) {
    out << "simulated on " << choice.best().stand_in
        << ", which has fewer nodes that differ, and scaled by the cost model; steps and messages "
           "are those of that shape\n";
  }
  out << "chosen: " << choice.best().description() << "; " << choice.reason() << '\n';
}

}  // namespace torc::compiler
