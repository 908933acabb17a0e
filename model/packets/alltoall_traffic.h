// The all-to-alls of "Performance Analysis and Optimization of All-to-all Communication on the Blue
// Gene/L Supercomputer" (Kumar and Heidelberger), packet by packet.
//
// A node's packets are a stream that is never stored: the order of its destinations is a random
// permutation, computed on the fly. Memory grows with the number of nodes, not of pairs.
#ifndef TORC_MODEL_PACKETS_ALLTOALL_TRAFFIC_H_
#define TORC_MODEL_PACKETS_ALLTOALL_TRAFFIC_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "model/packets/network.h"
#include "model/packets/traffic.h"

namespace torc::model {

enum class AlltoallStrategy : std::uint8_t {
  kAdaptive,       // AR, section 3
  kDeterministic,  // DR, section 3.2: dimension order on the bubble channel
  kThrottled,      // section 3.2: AR, sent at the rate of the bisection
  kTwoPhase,       // section 4.1
  kVirtualMesh,    // section 4.2
};

/// "adaptive", "deterministic", "throttled", "two-phase", "virtual-mesh".
std::string_view name(AlltoallStrategy strategy);

struct AlltoallOptions {
  AlltoallStrategy strategy = AlltoallStrategy::kAdaptive;
  double bytes = 240;  // of a pair
  std::uint64_t seed = 1;
  std::uint32_t linear = 0;        // dimension of the first of two phases
  std::uint32_t most_packets = 0;  // own packets after which a node stops; 0: all
};

/// Packets on the busiest link of an axis for one from every node to every node, divided by the
/// nodes: the average rate that the bisection allows.
double pairsOnLink(const Axis& axis);

/// The rows of the virtual mesh: nodes that differ in the dimensions of `whole`, and within a block
/// of `block` nodes of the dimension `split` (`block` 0: none).
struct VirtualMesh {
  std::uint32_t whole = 0;  // a bit for each dimension
  std::uint32_t split = 0;
  std::uint32_t block = 0;
  std::uint32_t rows_of = 1;     // nodes of a row, Pvx
  std::uint32_t columns_of = 1;  // nodes of a column, Pvy
};
/// Whole dimensions if rows are then at most four times as long as columns, and vice versa, else
/// with one dimension split; as nearly square as possible. 8x8x8: rows of half an XY plane;
/// 8x32x16: rows are XZ planes.
VirtualMesh virtualMesh(const Topology& topology);

/// `network` must outlive it.
std::unique_ptr<Traffic> alltoallTraffic(const PacketNetwork& network,
                                         const AlltoallOptions& options);
/// The traffic of a virtual mesh (section 4.2): all blocks for a column go to its node in the own
/// row in one message, then from row messages to one message for each node of the column.
std::unique_ptr<Traffic> virtualMeshTraffic(const PacketNetwork& network,
                                            const AlltoallOptions& options);

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_ALLTOALL_TRAFFIC_H_
