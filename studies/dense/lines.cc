#include "studies/dense/lines.h"

namespace torc::studies {

Lines::Lines(const model::Machine& machine, LineTrees trees, double line_nodes)
    : link_(logPTorusOf(machine)), trees_(trees), line_nodes_(line_nodes) {
  // One dimension: a ring has two trees, and at most two of a node's links.
  link_.dimensions = 1;
  bool rings = true;
  for (const model::MachineDimension& dimension : machine.dimensions)
    rings = rings && (dimension.size == 1 || dimension.torus);
  link_.trees = rings ? 2 : 1;
  link_.links = machine.ports > 0 && machine.ports < link_.trees ? machine.ports : link_.trees;
}

LogPTorus Lines::line(double nodes) const {
  LogPTorus torus = link_;
  torus.nodes = line_nodes_ > 0 ? line_nodes_ : nodes;
  return torus;
}

double Lines::multicast(double nodes, double bytes) const {
  if (nodes <= 1) return 0;
  return (trees_ == LineTrees::kRectangular ? rectangularMulticast(line(nodes), bytes)
                                            : binomialMulticast(line(nodes), bytes))
      .seconds();
}

double Lines::reduction(double nodes, double bytes) const {
  if (nodes <= 1) return 0;
  return (trees_ == LineTrees::kRectangular ? rectangularReduction(line(nodes), bytes)
                                            : binomialReduction(line(nodes), bytes))
      .seconds();
}

double Lines::allreduce(double nodes, double bytes) const {
  return reduction(nodes, bytes) + multicast(nodes, bytes);
}

double Lines::shift(double bytes, double sharing) const {
  return sharing * bytes * link_.gap + 3 * link_.overhead + 3 * link_.latency;
}

double Lines::exchange(double nodes, double bytes) const {
  if (nodes <= 1) return 0;
  // On a ring, nodes / 4 hops on average over two links; on a line twice that.
  return bytes * nodes / (4.0 * link_.links) * link_.gap + (nodes - 1) * link_.overhead +
         3 * link_.latency;
}

}  // namespace torc::studies
