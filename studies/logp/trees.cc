// Evaluates the equations of studies/logp/trees.h.
#include "studies/logp/trees.h"

#include <algorithm>
#include <cmath>

namespace torc::studies {
namespace {

/// Seconds per byte sent by a node on all its links together.
double sendingPerByte(const LogPTorus& torus) {
  return torus.gap / torus.links;
}

/// The same of a reduction, whose sums overlap with the transfers.
double reducingPerByte(const LogPTorus& torus) {
  return std::max(sendingPerByte(torus), torus.summing);
}

/// Handshake with the next node: an eager send.
double hop(const LogPTorus& torus) {
  return 2 * torus.overhead + torus.latency;
}

TreeTime rectangular(const LogPTorus& torus, double bytes, double per_byte) {
  // Eq. 3 without its bandwidth: a rendezvous is an eager send (2o + L) and a get (o + 2L). Those
  // of the other trees overlap with it except for the sender's overhead: Eq. 4.
  const double rendezvous = 3 * torus.overhead + 3 * torus.latency;
  const double others = (torus.trees - 1) * torus.overhead;
  const double d = torus.dimensions;
  return {bytes * per_byte, rendezvous + others, d * std::pow(torus.nodes, 1 / d) * hop(torus)};
}

TreeTime binomial(const LogPTorus& torus, double bytes, double per_byte) {
  const double stages = std::log2(torus.nodes);
  return {stages * bytes * per_byte, 0, stages * hop(torus)};
}

}  // namespace

LogPTorus logPTorusOf(const model::Machine& machine) {
  LogPTorus torus;
  double slowest = 0;
  for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
    const model::MachineDimension& dimension = machine.dimensions[i];
    if (dimension.size == 1) continue;
    torus.nodes *= dimension.size;
    ++torus.dimensions;
    // Two nodes that share their only cable are a line.
    const bool ring = dimension.torus && (dimension.size > 2 || dimension.cables() > 1);
    torus.trees += ring ? 2 : 1;
    const double bandwidth = machine.linkBandwidth(i);
    slowest = slowest == 0 ? bandwidth : std::min(slowest, bandwidth);
  }
  torus.links = machine.ports > 0 ? std::min(torus.trees, machine.ports) : torus.trees;
  torus.overhead = machine.overhead;
  torus.latency = machine.latency + machine.alpha;
  torus.gap = slowest > 0 ? 1 / slowest : 0;
  const double memory = machine.memory_bandwidth > 0 ? 3 / machine.memory_bandwidth : 0;
  torus.summing = std::max(machine.gamma / machine.cores, memory);
  return torus;
}

TreeTime rectangularMulticast(const LogPTorus& torus, double bytes) {
  if (torus.dimensions == 0) return {};
  return rectangular(torus, bytes, sendingPerByte(torus));
}

TreeTime rectangularReduction(const LogPTorus& torus, double bytes) {
  if (torus.dimensions == 0) return {};
  return rectangular(torus, bytes, reducingPerByte(torus));
}

TreeTime binomialMulticast(const LogPTorus& torus, double bytes) {
  if (torus.dimensions == 0) return {};
  return binomial(torus, bytes, sendingPerByte(torus));
}

TreeTime binomialReduction(const LogPTorus& torus, double bytes) {
  if (torus.dimensions == 0) return {};
  return binomial(torus, bytes, reducingPerByte(torus));
}

}  // namespace torc::studies
