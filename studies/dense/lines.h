// Messages on the lines of a grid of nodes, by the models of trees (studies/logp/trees.h).
#ifndef TORC_STUDIES_DENSE_LINES_H_
#define TORC_STUDIES_DENSE_LINES_H_

#include "studies/dense/dense_cost.h"
#include "studies/logp/trees.h"

namespace torc::studies {

/// Seconds of one message of `bytes` on a line of `nodes`; none on a line of one node.
class Lines {
 public:
  Lines(const model::Machine& machine, LineTrees trees, double line_nodes);

  double multicast(double nodes, double bytes) const;
  double reduction(double nodes, double bytes) const;
  double allreduce(double nodes, double bytes) const;
  /// To the next node, on one link shared by `sharing` such messages, as a rendezvous (Eq. 3).
  double shift(double bytes, double sharing) const;
  /// `bytes` of every node go to others of its ring, evenly: each link carries an eighth of all.
  double exchange(double nodes, double bytes) const;

 private:
  LogPTorus line(double nodes) const;

  LogPTorus link_;  // a line of two, with an adjustable number of nodes
  LineTrees trees_;
  double line_nodes_;
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_DENSE_LINES_H_
