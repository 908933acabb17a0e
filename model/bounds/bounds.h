// Lower bounds: what no algorithm can beat on a machine. docs/research/bounds.md derives them; for
// symmetric tori see "Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects",
// section 3.
//
// Bandwidth. What must go into a set A of nodes, or out of it, divided by the bandwidth of the live
// links between A and the rest; or what must go between the parts of a split, divided by the
// bandwidth between them. For an allgather of n bytes over p nodes and the sub-tori spanned by a
// set S of dimensions that is the general
//   T* = (n beta / 2) max over S of (1 / prod_{i in S} d_i - 1 / p) / sum_{i not in S} c_i
// with c_i = 1 for a ring, 1/2 for a line (Axis::capacity).
// Compute. (p - 1) / p n gamma over the cores, or three times that over the memory bandwidth.
// Latency. One start-up, and the hops between the nodes that are furthest apart.
#ifndef TORC_MODEL_BOUNDS_BOUNDS_H_
#define TORC_MODEL_BOUNDS_BOUNDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "schedules/collective.h"

namespace torc::model {

/// The names of what bounds are known for, as on the command line: more than can be compiled.
std::vector<llvm::StringRef> boundedCollectives();
/// The row of facts of one of them. Errors list the names.
llvm::Expected<CollectiveRow> parseBoundedCollective(llvm::StringRef name);

struct BoundRequest {
  CollectiveRow collective = rowOf(Collective::kAllreduce);
  /// n, >= 0: of the whole vector, which a rank contributes to, has or gets; of pair blocks from
  /// one rank to one other.
  double bytes = 0;
  bool unidirectional = false;  // a link carries one direction at a time
};

/// What limits the bandwidth.
enum class BandwidthLimit : std::uint8_t {
  kNone,      // one node, or no bytes
  kCut,       // a sub-torus spanned by S
  kSplit,     // all sub-tori spanned by S
  kSlab,      // half of a dimension
  kDistance,  // the way that the bytes have to go along a dimension
  kNarrowest  // the narrowest of all cuts
};
llvm::StringRef name(BandwidthLimit limit);

struct Bound {
  /// Seconds that no algorithm can beat: the largest of the next three.
  double bound_s = 0;
  double bandwidth_s = 0;
  double compute_s = 0;
  double latency_s = 0;

  BandwidthLimit limit = BandwidthLimit::kNone;
  std::uint32_t dimensions = 0;  // bit i: axis i is in S; for a slab or distance, the dimension
  bool ports_limit = false;      // not the links, but how many of them a node can use at a time

  /// Allreduce only: what no reduce_scatter followed by an allgather can beat in bandwidth. The
  /// same on tori; on lines and damaged tori an allreduce whose two halves overlap can be faster.
  std::optional<double> reduce_scatter_allgather_s;

  /// Rounds of messages: with a message to any node on each port, and with messages between
  /// neighbours only. Seconds of a round's start-up and hop.
  std::uint32_t rounds = 0;
  std::uint32_t neighbour_rounds = 0;
  double round_s = 0;

  double nodes = 0;  // live ones
};

Bound lowerBound(const Machine& machine, const BoundRequest& request);

/// Whether every rank contributes to, and gets, the whole of a sum.
bool isAllreduce(const CollectiveRow& row);

/// Seconds in which `nodes` nodes do the arithmetic, or their memory does.
double computeSeconds(const Machine& machine, const BoundRequest& request, double nodes);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_BOUNDS_H_
