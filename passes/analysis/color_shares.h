// Division of a collective's data into colors: for each color the order in which its reduce-scatter
// visits the network axes (its allgather goes in reverse), and its share.
//
// A color of share w that visits axes of sizes d_1, d_2, ... sends over axis i, in both directions
// together, w (d_i - 1) / (d_1 ... d_i) of the vector. In units of a ring's capacity
// (capacityOf, c_i) the largest of these sums over the colors is at least
//   T* = max over S, a proper subset of the axes, of
//        (1 / prod_{i in S} d_i - 1/p) / sum_{i not in S} c_i
// (the data that the nodes of a sub-torus S must receive over the links that lead into it).
//
// In an allreduce with overlapping reduce-scatter and allgather a line of d nodes carries more. The
// k-th link of a line carries, in one direction, d - k blocks of d in the reduce-scatter and k in
// the allgather, d together on every link; a link of a ring carries 2 (d - 1) / 2 together. So the
// capacity of a line is then (d - 1) / d of a ring's, in proportion to its links. In one of them
// alone its last link allows half. With C the sum of these and links of one bandwidth the least
// largest load is (1 - 1/p) / C = (p - 1) / E on E cables: the bound of an allreduce whose parts
// are all single nodes (C. Nash-Williams, "Edge-disjoint spanning trees of finite graphs", 1961).
#ifndef TORC_PASSES_ANALYSIS_COLOR_SHARES_H_
#define TORC_PASSES_ANALYSIS_COLOR_SHARES_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "schedules/topology/topology.h"

namespace torc::passes {

struct ColorShare {
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes;  // network axes of more than one node, in order
  std::uint64_t weight = 1;                         // share = weight / sum of weights
};

/// N colors of the same weight in rotated orders: color j visits axes j, j+1, ..., N-1, 0, ..., j-1
/// ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects", section 4). One
/// color if there is no axis.
std::vector<ColorShare> equalShares(const Topology& topology);

/// Whether the reduce-scatter and the allgather of an allreduce use the links at the same time.
enum class Halves { kApart, kOverlapped };

/// Capacity of `axis` relative to a ring of bandwidth 1, its c_i: Topology::capacity, and (d - 1) /
/// d of the bandwidth for a line of d nodes with overlapping halves.
double capacityOf(const Topology& topology, std::uint32_t axis, Halves halves);

/// Up to N colors that keep all links busy for T*. In rotated orders of some arrangement of the
/// axes, the color that starts on axis i gets
///   w_i = (1/C) [c_i d_i / (d_i - 1) - c_{i-1} / (d_{i-1} - 1)],  C = sum of all c_i
/// if no w_i is negative; weights are exact then. This holds on every torus with equal links in its
/// natural arrangement, and also with lines among them if halves overlap: their c_i d_i / (d_i - 1)
/// is 1, their c_i / (d_i - 1) is 1 / d_i. Otherwise weights are rounded to 2^-40.
std::vector<ColorShare> balancedShares(const Topology& topology, Halves halves);

/// The largest load of an axis over its capacity, in units of the vector over a ring's bandwidth
/// (both directions): at best T*.
double largestLoad(const Topology& topology, Halves halves, llvm::ArrayRef<ColorShare> shares);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_COLOR_SHARES_H_
