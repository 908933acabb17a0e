// Records the tried candidates, and finds the best of them.
#include "compiler/choice/trials.h"

#include <algorithm>
#include <limits>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

namespace torc::compiler {
namespace {

std::string mebibytes(double bytes) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f MiB", bytes / (1 << 20));
  return text;
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
