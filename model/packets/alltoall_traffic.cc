#include "model/packets/alltoall_traffic.h"

#include <algorithm>
#include <cmath>

#include "model/packets/packet_sizes.h"
#include "model/packets/random.h"

namespace torc::model {
namespace {

/// Visits destinations in random order, once for every packet, or burst of packets, to each.
class Walk {
 public:
  /// Advances to the next packet; false if there is none. `number` is that of the packet to its
  /// destination, `index` that of the destination.
  template <typename Order>
  bool next(const Order& order, std::uint64_t key, std::uint64_t packets, std::uint64_t burst,
            std::uint32_t& index, std::uint64_t& number) {
    if (order.size() == 0 || round_ * burst >= packets) return false;
    index = order.at(position_, mixBits(key ^ round_));
    number = round_ * burst + in_burst_;
    ++in_burst_;
    if (in_burst_ == burst || number + 1 == packets) {
      in_burst_ = 0;
      if (++position_ == order.size()) {
        position_ = 0;
        ++round_;
      }
    }
    return true;
  }

 private:
  std::uint32_t position_ = 0;
  std::uint32_t in_burst_ = 0;
  std::uint32_t round_ = 0;
};

/// The order of the first of two phases: rounds along the line, each to all other places on it in
/// random order. In a round each of them gets a packet for another node of its plane, in random
/// order too.
class LineOrder {
 public:
  LineOrder(std::uint32_t length, std::uint32_t plane) : line_(length - 1), plane_(plane) {}

  std::uint32_t size() const { return line_.size() * plane_.size(); }
  /// The place on the line times the nodes of a plane, plus the node there.
  std::uint32_t at(std::uint32_t index, std::uint64_t key) const {
    const std::uint32_t round = index / line_.size();
    const std::uint32_t goal = line_.at(index % line_.size(), mixBits(key + round));
    return goal * plane_.size() + plane_.at(round, mixBits(key ^ std::uint64_t{goal + 1} << 32));
  }

 private:
  Permutation line_, plane_;
};

/// Shared by the strategies that send packets one by one: sizes, costs, counts.
class PacketAlltoall : public Traffic {
 public:
  PacketAlltoall(const PacketNetwork& network, const AlltoallOptions& options)
      : network_(network),
        options_(options),
        sizes_(network.parameters(), options.bytes, network.parameters().software_header,
               network.parameters().smallest),
        alpha_(network.ticks(network.parameters().alpha)),
        burst_(static_cast<std::uint64_t>(network.parameters().burst)),
        sent_(network.nodes()) {}

  std::string unfinished() const override {
    std::uint64_t sent = 0;
    for (const std::uint64_t it : sent_)
      sent += it;
    const std::uint64_t nodes = network_.nodes();
    if (options_.most_packets == 0 && sent != nodes * (nodes - 1) * sizes_.count()) {
      return "packets were never sent";
    }
    return sent == arrived_ ? "" : std::to_string(sent - arrived_) + " packets never arrived";
  }

 protected:
  bool maySend(std::uint32_t node) const {
    return options_.most_packets == 0 || sent_[node] < options_.most_packets;
  }

  /// A packet from `node` to `to`, the `number`-th of those for `destination`.
  void fill(std::uint32_t node, std::uint32_t to, std::uint32_t destination, std::uint64_t number,
            Outgoing& outgoing) {
    ++sent_[node];
    outgoing = Outgoing();
    outgoing.packet.chunks = sizes_.chunks(number);
    outgoing.packet.payload = static_cast<std::uint16_t>(sizes_.payload(number));
    outgoing.packet.tag = destination;
    outgoing.ticks = network_.sendTicks(outgoing.packet.chunks) + (number == 0 ? alpha_ : 0);
    network_.setHops(node, to, mixBits(options_.seed ^ mixBits(node ^ sent_[node] << 32)),
                     outgoing.packet);
  }

  void arrive(PacketNetwork& network, const Packet& packet) {
    ++arrived_;
    network.deliver(packet.payload);
  }

  std::uint64_t keyOf(std::uint32_t node, std::uint64_t stream) const {
    return mixBits(options_.seed * 0x9e3779b97f4a7c15u ^ mixBits(node | stream << 32));
  }

  const PacketNetwork& network_;
  const AlltoallOptions options_;
  const PacketSizes sizes_;
  const std::uint32_t alpha_;
  const std::uint64_t burst_;
  std::vector<std::uint64_t> sent_;  // by node: packets of its own
  std::uint64_t arrived_ = 0;
};

/// AR, DR and throttled: each node sends packets directly to every node.
class DirectTraffic : public PacketAlltoall {
 public:
  DirectTraffic(const PacketNetwork& network, const AlltoallOptions& options)
      : PacketAlltoall(network, options), order_(network.nodes() - 1), walks_(network.nodes()) {
    if (options.strategy != AlltoallStrategy::kThrottled) return;
    // Time of the larger of a message's first two packets on the bisection.
    const Topology& topology = network.topology();
    const std::uint64_t second = std::min<std::uint64_t>(sizes_.count() - 1, 1);
    const std::uint32_t chunks = std::max(sizes_.chunks(0), sizes_.chunks(second));
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(topology.dimensions()); ++i)
      interval_ = std::max(interval_, pairsOnLink(topology.axes[i]) * network.wireTicks(i, chunks));
  }

  bool next(std::uint32_t node, std::uint32_t, Outgoing& outgoing) override {
    std::uint32_t index = 0;
    std::uint64_t number = 0;
    if (!maySend(node) ||
        !walks_[node].next(order_, keyOf(node, 0), sizes_.count(), burst_, index, number)) {
      return false;
    }
    const std::uint32_t nodes = network_.nodes();
    const std::uint32_t to = (node + 1 + index) % nodes;
    const double earliest = interval_ * static_cast<double>(sent_[node]);
    fill(node, to, to, number, outgoing);
    outgoing.not_before = static_cast<std::uint64_t>(earliest);
    outgoing.packet.deterministic = options_.strategy == AlltoallStrategy::kDeterministic;
    return true;
  }

  void received(PacketNetwork& network, std::uint32_t, const Packet& packet) override {
    arrive(network, packet);
  }

 private:
  const Permutation order_;
  std::vector<Walk> walks_;  // by node
  double interval_ = 0;      // ticks between a node's packets; 0: none
};

/// First along the linear dimension to the plane of the destination, then within the plane. The two
/// phases have separate injection FIFOs, as they go in different directions. With credits (section
/// 5), the number of a node's packets at each forwarding node is bounded; that node returns a
/// credit for every few.
class TwoPhaseTraffic : public PacketAlltoall {
 public:
  TwoPhaseTraffic(const PacketNetwork& network, const AlltoallOptions& options)
      : PacketAlltoall(network, options),
        linear_(options.linear),
        length_(network.topology().axes[linear_].size),
        plane_(network.nodes() / length_),
        away_(length_, plane_),
        here_(plane_ - 1),
        credit_every_(static_cast<std::uint16_t>(network.parameters().credit_every)),
        credit_window_(static_cast<std::uint16_t>(network.parameters().credit_window)),
        nodes_(network.nodes()) {
    if (credit_every_ > 0) credits_.resize(std::size_t{network.nodes()} * length_);
    for (std::uint32_t chunks = 0; chunks < 256; ++chunks) {
      forward_ticks_.push_back(
          network.ticks(network.parameters().forward +
                        network.parameters().forward_byte * chunks * network.parameters().chunk));
    }
  }

  std::uint32_t classes() const override { return 2; }
  bool classesGoInDifferentDirections() const override { return true; }

  bool next(std::uint32_t node, std::uint32_t packet_class, Outgoing& outgoing) override {
    return packet_class == 0 ? nextLinear(node, outgoing) : nextPlanar(node, outgoing);
  }

  void received(PacketNetwork& network, std::uint32_t node, const Packet& packet) override {
    if (packet.tag == node) return arrive(network, packet);
    if (packet.tag == kCredit) {
      Credit& credit = creditOf(node, packet.source);
      credit.out = static_cast<std::uint16_t>(credit.out - credit_every_);
      return network.wake(node);
    }
    NodeState& it = nodes_[node];
    most_held_ = std::max(most_held_, ++it.held);
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(waiting_.size()));
      waiting_.emplace_back();
    }
    const std::uint32_t entry = free_.back();
    free_.pop_back();
    waiting_[entry] = packet;
    it.waiting.push(waiting_, entry);
  }

  std::uint64_t mostHeld() const override { return most_held_; }

 private:
  static constexpr std::uint64_t kAhead = 16;              // packets
  static constexpr std::uint32_t kCredit = kNoPacket - 1;  // the tag of a credit

  /// State between a node and another one on its line about each other's packets.
  struct Credit {
    std::uint16_t out = 0;   // own packets without credit from the other
    std::uint16_t owed = 0;  // the other's packets forwarded without credit given
    std::uint16_t due = 0;   // credits to send
  };
  Credit& creditOf(std::uint32_t node, std::uint32_t other) {
    return credits_[std::size_t{node} * length_ + network_.coordinate(other, linear_)];
  }

  struct NodeState {
    Walk away, here;
    std::uint64_t sent_away = 0, sent_here = 0;  // packets of its own
    EntryQueue waiting;                          // packets to forward
    std::uint32_t held = 0;                      // their number
    std::uint32_t credits = 0;                   // due credits
    bool forwarded = false;                      // the last packet was of the second phase
    bool has_index = false;                      // a packet waits for credit:
    std::uint32_t index = 0;
    std::uint64_t number = 0;
  };

  bool nextLinear(std::uint32_t node, Outgoing& outgoing) {
    NodeState& it = nodes_[node];
    if (it.credits > 0) return nextCredit(node, outgoing);
    if (!it.has_index && (!maySend(node) || !it.away.next(away_, keyOf(node, 1), sizes_.count(),
                                                          burst_, it.index, it.number))) {
      return false;
    }
    it.has_index = true;
    const std::uint32_t at = network_.coordinate(node, linear_);
    const std::uint32_t goal = (at + 1 + it.index / plane_) % length_;
    const std::uint32_t between = network_.withCoordinate(node, linear_, goal);
    const std::uint32_t destination = inPlane(node, goal, it.index % plane_);
    if (credit_every_ > 0 && destination != between) {
      Credit& credit = creditOf(node, between);
      if (credit.out == credit_window_) return false;
      ++credit.out;
    }
    it.has_index = false;
    ++it.sent_away;
    fill(node, between, destination, it.number, outgoing);
    return true;
  }

  bool nextCredit(std::uint32_t node, Outgoing& outgoing) {
    NodeState& it = nodes_[node];
    const std::size_t first = std::size_t{node} * length_;
    std::uint32_t to = 0;
    while (credits_[first + to].due == 0)
      ++to;
    --credits_[first + to].due;
    --it.credits;
    outgoing = Outgoing();
    outgoing.packet.chunks = 1;
    outgoing.packet.tag = kCredit;
    outgoing.ticks = network_.sendTicks(1);
    network_.setHops(node, network_.withCoordinate(node, linear_, to),
                     mixBits(options_.seed ^ ++forwards_), outgoing.packet);
    return true;
  }

  /// A packet of `source` was forwarded.
  void countForward(std::uint32_t node, std::uint32_t source) {
    --nodes_[node].held;
    if (credit_every_ == 0) return;
    Credit& credit = creditOf(node, source);
    if (++credit.owed < credit_every_) return;
    credit.owed = 0;
    ++credit.due;
    ++nodes_[node].credits;
  }

  bool nextPlanar(std::uint32_t node, Outgoing& outgoing) {
    NodeState& it = nodes_[node];
    // Alternates own packets and others'.
    if (it.forwarded && nextOwn(node, outgoing)) {
      it.forwarded = false;
      return true;
    }
    if (it.waiting.isEmpty()) return nextOwn(node, outgoing);
    const std::uint32_t entry = it.waiting.pop(waiting_);
    free_.push_back(entry);
    outgoing = Outgoing{waiting_[entry]};
    Packet& packet = outgoing.packet;
    countForward(node, packet.source);
    outgoing.ticks = network_.sendTicks(packet.chunks) + forward_ticks_[packet.chunks];
    network_.setHops(node, packet.tag, mixBits(options_.seed ^ ++forwards_), packet);
    it.forwarded = true;
    return true;
  }

  bool nextOwn(std::uint32_t node, Outgoing& outgoing) {
    NodeState& it = nodes_[node];
    // The number in a random order of all destinations, or slightly more.
    const std::uint64_t all_away = away_.size() * sizes_.count();
    if (it.sent_away < all_away &&
        it.sent_here * away_.size() > (it.sent_away + kAhead) * here_.size()) {
      return false;
    }
    std::uint32_t index = 0;
    std::uint64_t number = 0;
    if (!maySend(node) ||
        !it.here.next(here_, keyOf(node, 2), sizes_.count(), burst_, index, number)) {
      return false;
    }
    ++it.sent_here;
    const std::uint32_t destination = inPlane(node, network_.coordinate(node, linear_), index + 1);
    fill(node, destination, destination, number, outgoing);
    return true;
  }

  /// The node at `goal` on the linear axis, `index` nodes further than `node` in its plane.
  std::uint32_t inPlane(std::uint32_t node, std::uint32_t goal, std::uint32_t index) const {
    const Topology& topology = network_.topology();
    std::uint32_t to = network_.withCoordinate(node, linear_, goal);
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(topology.dimensions()); ++i) {
      if (i == linear_) continue;
      const std::uint32_t size = topology.axes[i].size;
      to = network_.withCoordinate(to, i, (network_.coordinate(node, i) + index % size) % size);
      index /= size;
    }
    return to;
  }

  const std::uint32_t linear_, length_, plane_;
  const LineOrder away_;    // of destinations in other planes
  const Permutation here_;  // of destinations in the own plane
  const std::uint16_t credit_every_, credit_window_;
  std::vector<Credit> credits_;  // by node and place on its line
  std::uint32_t most_held_ = 0;
  std::vector<NodeState> nodes_;
  std::vector<std::uint32_t> forward_ticks_;  // by chunks
  std::vector<Packet> waiting_;               // to be forwarded
  std::vector<std::uint32_t> free_;           // free entries of it
  std::uint64_t forwards_ = 0;
};

}  // namespace

std::string_view name(AlltoallStrategy strategy) {
  static constexpr std::string_view kNames[] = {"adaptive", "deterministic", "throttled",
                                                "two-phase", "virtual-mesh"};
  return kNames[static_cast<int>(strategy)];
}

double pairsOnLink(const Axis& axis) {
  const double size = axis.size, pairs = std::floor(size * size / 4);
  return pairs / (axis.isRing() ? 2 * size : size);
}

std::unique_ptr<Traffic> alltoallTraffic(const PacketNetwork& network,
                                         const AlltoallOptions& options) {
  switch (options.strategy) {
    case AlltoallStrategy::kTwoPhase:
      return std::make_unique<TwoPhaseTraffic>(network, options);
    case AlltoallStrategy::kVirtualMesh:
      return virtualMeshTraffic(network, options);
    default:
      return std::make_unique<DirectTraffic>(network, options);
  }
}

}  // namespace torc::model
