// The virtual mesh of Kumar and Heidelberger, section 4.2.
#include <algorithm>

#include "model/packets/alltoall_traffic.h"
#include "model/packets/packet_sizes.h"
#include "model/packets/random.h"

namespace torc::model {
namespace {

constexpr double kMostRatio = 4;

class VirtualMeshTraffic : public Traffic {
 public:
  VirtualMeshTraffic(const PacketNetwork& network, const AlltoallOptions& options)
      : network_(network),
        mesh_(virtualMesh(network.topology())),
        bytes_(options.bytes),
        seed_(options.seed),
        alpha_(network.ticks(network.parameters().message_alpha)),
        phases_{phase(mesh_.rows_of, mesh_.columns_of), phase(mesh_.columns_of, mesh_.rows_of)},
        nodes_(network.nodes()) {}

  bool next(std::uint32_t node, std::uint32_t, Outgoing& outgoing) override {
    NodeState& it = nodes_[node];
    if (it.phase == 0 && it.position == phases_[0].order.size()) {
      // The messages to columns need the blocks of all rows.
      if (it.received[0] < phases_[0].packets) return false;
      it.phase = 1;
      it.position = 0;
    }
    const Phase& phase = phases_[it.phase];
    if (it.phase == 1 && it.position == phase.order.size()) return false;
    const std::uint64_t key = mixBits(seed_ ^ mixBits(node * 2ull + it.phase));
    const std::uint32_t to = member(node, it.phase, phase.order.at(it.position, key) + 1);
    outgoing = Outgoing();
    outgoing.packet.chunks = phase.sizes.chunks(it.packet);
    outgoing.packet.tag = it.phase;
    outgoing.packet.payload = static_cast<std::uint16_t>(phase.sizes.payload(it.packet));
    outgoing.ticks = network_.sendTicks(outgoing.packet.chunks) +
                     (it.packet == 0 ? alpha_ + phase.copy_ticks : 0);
    network_.setHops(node, to, mixBits(key ^ mixBits(it.packet | std::uint64_t{to} << 32)),
                     outgoing.packet);
    if (++it.packet == phase.sizes.count()) {
      it.packet = 0;
      ++it.position;
    }
    return true;
  }

  void received(PacketNetwork& network, std::uint32_t node, const Packet& packet) override {
    NodeState& it = nodes_[node];
    ++it.received[packet.tag];
    // A message of the second phase counts its blocks without their headers.
    if (packet.tag == 1) {
      const double blocks = bytes_ / (bytes_ + network_.parameters().message_header);
      network.deliver(static_cast<std::uint64_t>(packet.payload * blocks));
    }
  }

  std::string unfinished() const override {
    for (const NodeState& it : nodes_) {
      if (it.received[0] != phases_[0].packets || it.received[1] != phases_[1].packets) {
        return "messages of the virtual mesh never arrived";
      }
    }
    return "";
  }

 private:
  struct Phase {
    Permutation order;             // of the other members of the row, or column
    PacketSizes sizes;             // of a message
    std::uint64_t packets = 0;     // that a node receives
    std::uint32_t copy_ticks = 0;  // to assemble a message
  };
  struct NodeState {
    std::uint32_t phase = 0;
    std::uint32_t position = 0;
    std::uint64_t packet = 0;  // of its message
    std::uint64_t received[2] = {};
  };

  Phase phase(std::uint32_t members, std::uint32_t blocks) const {
    const PacketParameters& p = network_.parameters();
    const double message = blocks * (bytes_ + p.message_header);
    const PacketSizes sizes(p, message, p.header, p.chunk);
    return {Permutation(members - 1), sizes, (members - 1) * sizes.count(),
            network_.ticks(message * p.copy_byte)};
  }

  /// The node `index` further in the row of a node (phase 0) or in its column.
  std::uint32_t member(std::uint32_t node, std::uint32_t phase, std::uint32_t index) const {
    const Topology& topology = network_.topology();
    std::uint32_t to = node;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(topology.dimensions()); ++i) {
      const std::uint32_t size = topology.axes[i].size, at = network_.coordinate(node, i);
      const bool in_row = (mesh_.whole >> i & 1) != 0;
      if (i == mesh_.split && mesh_.block > 0) {
        const std::uint32_t block = mesh_.block, blocks = size / block;
        const std::uint32_t low = at % block, high = at / block;
        const std::uint32_t radix = phase == 0 ? block : blocks;
        const std::uint32_t step = index % radix;
        index /= radix;
        to = network_.withCoordinate(to, i,
                                     phase == 0 ? high * block + (low + step) % block
                                                : (high + step) % blocks * block + low);
      } else if (in_row == (phase == 0)) {
        to = network_.withCoordinate(to, i, (at + index % size) % size);
        index /= size;
      }
    }
    return to;
  }

  const PacketNetwork& network_;
  const VirtualMesh mesh_;
  const double bytes_;
  const std::uint64_t seed_;
  const std::uint32_t alpha_;
  const Phase phases_[2];
  std::vector<NodeState> nodes_;
};

}  // namespace

VirtualMesh virtualMesh(const Topology& topology) {
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  const double nodes = static_cast<double>(topology.sites());
  VirtualMesh best;
  double best_ratio = 0;
  const auto consider = [&](VirtualMesh mesh) {
    mesh.rows_of = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      if ((mesh.whole >> i & 1) != 0) mesh.rows_of *= topology.axes[i].size;
    }
    if (mesh.block > 0) mesh.rows_of *= mesh.block;
    mesh.columns_of = static_cast<std::uint32_t>(nodes) / mesh.rows_of;
    const double rows = mesh.rows_of, columns = mesh.columns_of;
    // Of a mesh and its mirror image, the one with the longer rows.
    const double ratio = std::max(rows, columns) / std::min(rows, columns);
    if (best_ratio == 0 || ratio < best_ratio ||
        (ratio == best_ratio && mesh.rows_of > best.rows_of)) {
      best = mesh;
      best_ratio = ratio;
    }
  };
  for (std::uint32_t whole = 0; whole < 1u << dimensions; ++whole)
    consider({whole, 0, 0, 1, 1});
  if (best_ratio <= kMostRatio) return best;
  for (std::uint32_t whole = 0; whole < 1u << dimensions; ++whole) {
    for (std::uint32_t split = 0; split < dimensions; ++split) {
      if ((whole >> split & 1) != 0) continue;
      for (std::uint32_t block = 2; block < topology.axes[split].size; ++block) {
        if (topology.axes[split].size % block == 0) consider({whole, split, block, 1, 1});
      }
    }
  }
  return best;
}

std::unique_ptr<Traffic> virtualMeshTraffic(const PacketNetwork& network,
                                            const AlltoallOptions& options) {
  return std::make_unique<VirtualMeshTraffic>(network, options);
}

}  // namespace torc::model
