// Evaluates the closed forms of studies/baselines/baselines.h.
#include "studies/baselines/baselines.h"

#include <algorithm>
#include <cmath>

namespace torc::studies {
namespace {

struct Terms {
  double nodes = 1;
  double depth = 0;     // A
  double per_byte = 0;  // 1 / b
  double reduced = 0;   // max(1 / b, R(1))
  double start_up = 0;  // alpha + 2 o + L
};

Terms termsOf(const model::Machine& machine) {
  Terms terms;
  double links = 0, slowest = 0;
  for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
    const std::uint32_t size = machine.dimensions[i].size;
    terms.nodes *= size;
    if (size == 1) continue;
    terms.depth += size - 1;
    links += 2;
    const double bandwidth = machine.linkBandwidth(i);
    slowest = slowest == 0 ? bandwidth : std::min(slowest, bandwidth);
  }
  if (links == 0) return terms;
  terms.per_byte = 1 / (links * slowest);
  const double memory = machine.memory_bandwidth > 0 ? 3 / machine.memory_bandwidth : 0;
  terms.reduced = std::max({terms.per_byte, machine.gamma, memory});
  terms.start_up = machine.alpha + 2 * machine.overhead + machine.latency;
  return terms;
}

/// `times` successive pipelines through trees of depth A, of `bytes` each.
double pipelined(const Terms& terms, double times, double bytes, double per_byte) {
  double segments = 1;
  if (terms.start_up > 0) {
    const double best = std::sqrt(terms.depth * times * bytes * per_byte / terms.start_up);
    segments = std::max(1.0, std::round(best / times));
  }
  const double all = times * segments;
  return (terms.depth + all) * (terms.start_up + times * bytes * per_byte / all);
}

}  // namespace

double spanningTreesTime(const model::Machine& machine, Collective collective, double bytes) {
  const Terms terms = termsOf(machine);
  if (terms.nodes <= 1) return 0;
  const CollectiveRow& row = rowOf(collective);
  const double times = row.layout == Layout::kBlockMajor ? terms.nodes : 1;
  double seconds = 0;
  if (row.reduces()) seconds += pipelined(terms, times, bytes / times, terms.reduced);
  if (row.outWhole()) seconds += pipelined(terms, times, bytes / times, terms.per_byte);
  return seconds;
}

double binomialTreesTime(const model::Machine& machine, Collective collective, double bytes) {
  const Terms terms = termsOf(machine);
  if (terms.nodes <= 1) return 0;
  const double rounds = std::ceil(std::log2(terms.nodes));
  const double broadcast = rounds * (bytes * terms.per_byte + terms.start_up);
  const double reduction = rounds * (bytes * terms.reduced + terms.start_up);
  const double scatter =
      (terms.nodes - 1) / terms.nodes * bytes * terms.per_byte + rounds * terms.start_up;
  const CollectiveRow& row = rowOf(collective);
  const bool has_own_blocks = row.layout == Layout::kBlockMajor;
  return (row.reduces() ? reduction : 0) + (has_own_blocks ? scatter : 0) +
         (row.outWhole() ? broadcast : 0);
}

}  // namespace torc::studies
