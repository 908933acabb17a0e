// Lower bounds: times that no algorithm can beat on a machine. docs/research/bounds.md derives
// them; for symmetric tori see "Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects", section 3.
//
// Bandwidth. The data that must enter or leave a set A of nodes, divided by the bandwidth of the
// live links between A and the rest; or the data that must go between the parts of a split, divided
// by the bandwidth between them. For an allgather of n bytes over p nodes and the sub-tori spanned
// by a set S of dimensions that is the general
//   T* = (n beta / 2) max over S of (1 / prod_{i in S} d_i - 1 / p) / sum_{i not in S} c_i
// with c_i = 1 for a ring, 1/2 for a line (Axis::capacity). Compute. (p - 1) / p n gamma over the
// cores, or three times that over the memory bandwidth. Latency. One start-up, and the hops between
// the nodes that are farthest apart.
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

/// The names of all collectives with bounds, as on the command line: more than can be compiled.
std::vector<llvm::StringRef> boundedCollectives();
/// The row of facts for one of these names. Errors list the names.
llvm::Expected<CollectiveRow> parseBoundedCollective(llvm::StringRef name);

struct BoundRequest {
  CollectiveRow collective = rowOf(Collective::kAllreduce);
  /// n, >= 0: of the whole vector that a rank contributes to, has or gets; of pair blocks, from one
  /// rank to one other.
  double bytes = 0;
  bool unidirectional = false;  // a link carries one direction at a time
};

/// Kind of the bandwidth limit.
enum class BandwidthLimit : std::uint8_t {
  kNone,      // one node, or no bytes
  kCut,       // a sub-torus spanned by S
  kSplit,     // all sub-tori spanned by S
  kSlab,      // half of a dimension
  kDistance,  // the distance of the bytes along a dimension
  kNarrowest  // the narrowest of all cuts
};
llvm::StringRef name(BandwidthLimit limit);

struct Bound {
  /// Lower bound in seconds: the largest of the next three.
  double bound_s = 0;
  double bandwidth_s = 0;
  double compute_s = 0;
  double latency_s = 0;

  BandwidthLimit limit = BandwidthLimit::kNone;
  std::uint32_t dimensions = 0;  // bit i: axis i is in S; for a slab or distance, the dimension
  bool ports_limit = false;      // the limit is the number of links that a node can use at a time

  /// Allreduce only: bandwidth bound of a reduce_scatter followed by an allgather. It is the same
  /// on tori; on lines and damaged tori an allreduce with overlapping halves can be faster.
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

/// Seconds of arithmetic on `nodes` nodes, or of their memory traffic.
double computeSeconds(const Machine& machine, const BoundRequest& request, double nodes);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_BOUNDS_H_
