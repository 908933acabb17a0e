// Baselines: times of other algorithms for large vectors on a torus, in closed form. The bucket
// algorithms are compared with them (studies/papers/bucket_figures.cc); no schedules are compiled
// for them.
//
// Notation: p nodes; N dimensions of more than one node; n bytes of the full vector; b = 2N times
// the bandwidth of the slowest dimension's link (bytes/s into or out of a node); A = sum of (d_i -
// 1); o, L and alpha as in model/machines/machine.h; R(n) the time of one core to reduce n bytes: n
// gamma, or 3 n / memory bandwidth if that is longer.
//
// Spanning trees. 2N trees that share no link, each for a 2N-th of the vector, in successive
// segments: Faraj et al., ICS 2009, the library that "Optimal Bucket Algorithms for Large MPI
// Collectives on Torus Interconnects" (Jain and Sabharwal, ICS 2010) compares itself with; its
// section 2.3. A broadcast in S segments takes
//   (A + S) (alpha + 2 o + L + n / (b S)),   S = sqrt(A n / (b (alpha + 2 o + L))), rounded, >= 1
// and a reduction the same with max(1 / b, R(1)) for 1 / b. One core works for all trees.
//   allgather       p broadcasts of n / p bytes behind each other
//   reduce_scatter  p reductions of n / p bytes behind each other
//                   (both: p S segments behind each other, as many as suit n)
//   allreduce       a reduction, then a broadcast
// Binomial trees, Solomonik et al., SC 2011, section 4 (studies/logp/trees.h), in whole rounds and
// with one core: a broadcast takes
//   log2(p) (n / b + 2 o + L),
// a reduction the same with max(1 / b, R(1)) for 1 / b; a gather or scatter of n bytes in all takes
//   (p - 1) / p n / b + log2(p) (2 o + L).
//   allgather       gather, then broadcast
//   reduce_scatter  reduction, then scatter
//   allreduce       reduction, then broadcast
#ifndef TORC_STUDIES_BASELINES_BASELINES_H_
#define TORC_STUDIES_BASELINES_BASELINES_H_

#include "model/machines/machine.h"
#include "schedules/schedule.h"

namespace torc::studies {

/// Seconds for a vector of `bytes` > 0; 0 on one node. Every node works with one core.
double spanningTreesTime(const model::Machine& machine, Collective collective, double bytes);
double binomialTreesTime(const model::Machine& machine, Collective collective, double bytes);

}  // namespace torc::studies

#endif  // TORC_STUDIES_BASELINES_BASELINES_H_
