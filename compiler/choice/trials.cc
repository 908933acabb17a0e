// Tries candidates, and finds the best of them.
#include "compiler/choice/trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "support/columns.h"

namespace torc::compiler {
namespace {

std::string mebibytes(double bytes) {
  return formatted("%.1f MiB", bytes / (1 << 20));
}

}  // namespace

bool isFaster(const Candidate& a, const Candidate& b) {
  if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
  return a.cautiousSeconds() < b.cautiousSeconds();
}

std::string tooLarge(const ProgramSize& size, std::uint32_t chunks, double most_bytes) {
  const double bytes = size.fileBytes(chunks);
  if (bytes > most_bytes && !size.in_loops)
    return "its file would have about " + mebibytes(bytes) + ", more than " + mebibytes(most_bytes);
  if (size.proof_steps > kMostProofSteps || size.cell_steps > kMostCellSteps)
    return "its proof would take too long";
  return "";
}

Candidate Trials::begin(const Algorithm& algorithm) const {
  Candidate candidate;
  candidate.algorithm = &algorithm;
  candidate.options.chunks = limits.chunks.value_or(1);
  candidate.options.weights = limits.weights.value_or(passes::ColorWeights::kEqual);
  return candidate;
}

bool Trials::attempt(Candidate candidate) {
  candidate.tried = candidate.refusal.empty();
  if (!candidate.tried) {
    add(std::move(candidate));
    return true;
  }
  if (isBeyondWork(kBuiltWork * candidate.algorithm->estimate(spec).operations)) return false;
  const std::optional<bool>& settled = limits.synchronous_sends;
  candidate.options.synchronous_sends = settled.value_or(false);
  tryOnce(candidate);
  if (settled || isLastRefused() || !last().buffers) return true;
  const std::size_t first = last_index;
  candidate.options.synchronous_sends = true;
  tryOnce(std::move(candidate));
  if (isFaster(choice.candidates[first], last())) last_index = first;
  return true;
}

void Trials::add(Candidate candidate) {
  last_index = choice.candidates.size();
  choice.candidates.push_back(std::move(candidate));
}

/// Nothing that has the program of another one is a candidate.
void Trials::tryOnce(Candidate candidate) {
  if (auto same_programs = simulator.programsOf(candidate)) {
    const auto [same, is_new] = tried.try_emplace(*same_programs, choice.candidates.size());
    if (!is_new) {
      last_index = same->second;
      if (last().description() != candidate.description())
        leaveOut(candidate.description(), nullptr, "its program is one of those that are");
      return;
    }
  } else {
    consumeError(same_programs.takeError());  // as it says below
  }
  const std::optional<double>& most_scratch = limits.scratch_bytes;
  if (llvm::Error error = simulate(candidate, "")) {
    candidate.refusal = toString(std::move(error));
  } else if (most_scratch && candidate.scratch_bytes > *most_scratch) {
    candidate.refusal = "its scratch would have " +
                        std::to_string(static_cast<std::uint64_t>(candidate.scratch_bytes)) +
                        " bytes, more than the limit of " +
                        std::to_string(static_cast<std::uint64_t>(*most_scratch));
  }
  add(std::move(candidate));
}

llvm::Error Trials::simulate(Candidate& candidate, llvm::StringRef how) {
  if (!std::exchange(is_expected, false)) progress.expect(1);
  progress.begin("trying " + candidate.description() + how.str());
  llvm::Error error = simulator.simulate(candidate);
  progress.done();
  return error;
}

void Trials::leaveOut(const llvm::Twine& what, const Algorithm* of, llvm::StringRef reason) {
  choice.left_out.push_back({what.str(), of, reason.str()});
}

double Trials::workLeft() const {
  return limits.most_work.value_or(HUGE_VAL) - simulator.work();
}

bool Trials::isBeyondWork(double work) {
  const bool is_beyond = work > workLeft();
  choice.is_cut_short |= is_beyond;
  return is_beyond;
}

const Candidate& Trials::bestOf(const Algorithm& algorithm, bool has_leaders) const {
  const auto isOther = [&](const Candidate& candidate) {
    return candidate.algorithm != &algorithm || (candidate.options.led_cores > 0) != has_leaders;
  };
  return *llvm::min_element(choice.candidates, [&](const Candidate& a, const Candidate& b) {
    return isOther(a) != isOther(b) ? isOther(b) : isFaster(a, b);
  });
}

double Trials::bestSeconds() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : choice.candidates) {
    if (candidate.refusal.empty()) best = std::min(best, candidate.cautiousSeconds());
  }
  return best;
}

llvm::StringRef Trials::tooSlow() const {
  double bandwidth = 0;
  for (int i = 0; i < spec.topology.dimensions(); ++i)
    bandwidth = std::max(bandwidth, machine.linkBandwidth(static_cast<std::uint32_t>(i)));
  if (last().load_bytes <= kSlow * bestSeconds() * bandwidth) return "";
  return "its busiest link alone takes longer than another takes in all";
}

Candidate& Trials::taken() {
  Candidate* taken = &*llvm::min_element(choice.candidates, isFaster);
  const double limit = kTie * taken->cautiousSeconds();
  for (Candidate& other : choice.candidates) {
    if (!other.refusal.empty() || other.cautiousSeconds() > limit) continue;
    if (other.tieOrder() < taken->tieOrder()) taken = &other;
  }
  return *taken;
}

}  // namespace torc::compiler
