#include "model/packets/network.h"

#include <algorithm>
#include <cmath>

#include <llvm/Support/Compiler.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/make_error.h"

namespace torc::model {
namespace {

// Ticks per byte on the fastest link: on Blue Gene/L a tick is a cycle.
constexpr double kTicksPerByte = 4;
constexpr std::size_t kUsualPackets = 96;  // of a node
constexpr std::uint64_t kProgressEvents = 1 << 22;
// Longest distance along a dimension, in hops; so coordinates are bytes.
constexpr std::uint32_t kMostHops = 127;

// Times of hops and of tokens, in ticks, have 31 bits; nodes in events have 26.
constexpr double kLongestTicks = 0x7fffffff;
constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 26;

double ticksPerSecond(const Machine& machine) {
  double fastest = 0;
  for (const MachineDimension& dimension : machine.dimensions)
    fastest = std::max(fastest, dimension.bandwidth);
  return fastest * kTicksPerByte;
}

}  // namespace

llvm::Expected<PacketNetwork> PacketNetwork::make(const Topology& topology, const Machine& machine,
                                                  const PacketParameters& parameters) {
  if (topology.hasCores() || topology.isDamaged() || !machine.dead_links.empty()) {
    return makeError("packets: " + topology.shape() +
                     (topology.hasCores() ? " has cores: one processor serves a node here"
                                          : " is damaged: routers go no ways round"));
  }
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Axis& axis = topology.axes[static_cast<std::size_t>(i)];
    const std::uint32_t most = axis.isRing() ? axis.size / 2 : axis.size - 1;
    if (most > kMostHops) {
      return makeError("packets: axis " + llvm::Twine(axis.name) + " has " +
                       llvm::Twine(axis.size) + " nodes: ways of more than " +
                       llvm::Twine(kMostHops) + " hops");
    }
  }
  if (topology.sites() >= kMostNodes)
    return makeError("packets: " + topology.shape() + " has more than " +
                     llvm::Twine(kMostNodes - 1) + " nodes");
  double longest_s = parameters.tokens * 1e-9;
  for (const MachineDimension& dimension : machine.dimensions)
    longest_s = std::max(longest_s, dimension.latency);
  if (const double most_s = kLongestTicks / ticksPerSecond(machine); longest_s > most_s) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format(
        "packets: a hop or its tokens take %g s, more than the %g s that links so fast may",
        longest_s, most_s);
    return makeError(text);
  }
  return PacketNetwork(topology, machine, parameters);
}

PacketNetwork::PacketNetwork(const Topology& topology, const Machine& machine,
                             const PacketParameters& parameters)
    : topology_(topology),
      parameters_(parameters),
      dimensions_(static_cast<std::uint32_t>(topology.dimensions())),
      directions_(2 * dimensions_),
      nodes_(static_cast<std::uint32_t>(topology.sites())),
      fifos_(static_cast<std::uint32_t>(parameters.injection_fifos)),
      crossbar_(static_cast<std::uint32_t>(parameters.crossbar)),
      inject_every_(static_cast<std::uint32_t>(parameters.inject_every)) {
  tick_s_ = 1 / ticksPerSecond(machine);
  const double fastest = ticksPerSecond(machine) / kTicksPerByte;
  token_ticks_ = ticks(parameters.tokens);
  channel_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.channel));
  bubble_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.bubble));
  escape_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.escape));
  slot_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.packet));
  injection_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.injection));
  reception_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.reception));
  std::uint32_t stride = 1;
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    const std::uint8_t axis = topology.order[i];
    stride_[axis] = stride;
    stride *= topology.axes[axis].size;
  }
  place_.resize(nodes_);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    for (std::uint32_t i = 0; i < dimensions_; ++i) {
      const std::uint64_t at = node / stride_[i] % topology.axes[i].size;
      place_[node] |= at << 8 * i;
    }
  }
  wire_ticks_.resize(std::size_t{256} * dimensions_);
  send_ticks_.resize(256);
  receive_ticks_.resize(256);
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    const Axis& axis = topology.axes[i];
    size_[i] = axis.size;
    is_ring_[i] = axis.isRing();
    const MachineDimension& links = machine.dimensions[i];
    hop_ticks_[i] = ticks(links.latency * 1e9);
    most_hop_ticks_ = std::max(most_hop_ticks_, hop_ticks_[i]);
    for (std::uint32_t chunks = 1; chunks < 256; ++chunks) {
      const double bytes = chunks * parameters.chunk + parameters.wire;
      wire_ticks_[i * 256 + chunks] = static_cast<std::uint32_t>(
          std::lround(bytes * kTicksPerByte * fastest / links.bandwidth));
    }
  }
  for (std::uint32_t chunks = 1; chunks < 256; ++chunks) {
    const double bytes = chunks * parameters.chunk;
    send_ticks_[chunks] = ticks(parameters.send + bytes * parameters.send_byte);
    receive_ticks_[chunks] = ticks(parameters.receive + bytes * parameters.receive_byte);
  }

  // Room for the usual number of packets in flight; more if they are smaller.
  moving_.reserve(std::size_t{nodes_} * kUsualPackets);
  cargo_.reserve(std::size_t{nodes_} * kUsualPackets);
  site_.resize(nodes_);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    Site& site = site_[node];
    for (std::uint32_t fifo = 0; fifo < fifos_; ++fifo)
      site.injection_room[fifo] = static_cast<std::int16_t>(injection_chunks_);
    for (std::uint32_t direction = 0; direction < directions_; ++direction) {
      const std::uint32_t dimension = direction / 2;
      const std::uint32_t at = coordinate(node, dimension), size = size_[dimension];
      const bool up = direction % 2 == 0;
      OutputLink& output = site.outputs[direction];
      for (std::int16_t& tokens : output.tokens)
        tokens = static_cast<std::int16_t>(channel_chunks_);
      site.inputs[direction].room = static_cast<std::int16_t>(reception_chunks_);
      if (size == 1 || (!is_ring_[dimension] && at == (up ? size - 1 : 0))) continue;
      output.neighbour = withCoordinate(node, dimension, (at + (up ? 1 : size - 1)) % size);
      site_[output.neighbour].inputs[direction].upstream = node;
    }
  }
}

double PacketNetwork::memoryBytes(const Topology& topology, const PacketParameters& parameters,
                                  double packet_bytes) {
  const double directions = 2.0 * topology.dimensions();
  const double packets =
      (kPacketChannels * directions * parameters.channel +
       parameters.injection_fifos * parameters.injection + directions * parameters.reception) /
      packet_bytes;
  // A packet in flight has up to two pending events; both tables grow by doubling.
  const double of_packets =
      packets * 2 * (sizeof(MovingPacket) + sizeof(Cargo) + 2 * sizeof(PacketEvent));
  return static_cast<double>(topology.sites()) *
         (sizeof(Site) + 8 + 2 * sizeof(Outgoing) + of_packets);
}

std::uint32_t PacketNetwork::ticks(double ns) const {
  return static_cast<std::uint32_t>(std::lround(std::min(ns * 1e-9 / tick_s_, 4e9)));
}

std::uint32_t PacketNetwork::chunksOf(double bytes) const {
  return static_cast<std::uint32_t>(std::ceil(bytes / parameters_.chunk));
}

void PacketNetwork::setHops(std::uint32_t from, std::uint32_t to, std::uint64_t random,
                            Packet& packet) const {
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    const auto size = static_cast<std::int32_t>(size_[i]);
    std::int32_t hops = static_cast<std::int32_t>(coordinate(to, i)) -
                        static_cast<std::int32_t>(coordinate(from, i));
    if (is_ring_[i]) {
      if (hops < 0) hops += size;
      if (2 * hops > size || (2 * hops == size && (random >> i & 1) != 0)) hops -= size;
    }
    packet.hops[i] = static_cast<std::int8_t>(hops);
  }
}

std::uint32_t PacketNetwork::allocate(const Packet& packet) {
  ++packet_count_;
  std::uint32_t index = free_packet_;
  if (index == kNoPacket) {
    index = static_cast<std::uint32_t>(moving_.size());
    moving_.emplace_back();
    cargo_.emplace_back();
  } else {
    free_packet_ = moving_[index].next;
  }
  std::uint32_t directions = 0;
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    if (packet.hops[i] != 0) directions |= 1u << directionOf(i, packet.hops[i]);
  }
  moving_[index] = {packet, kNoPacket, 0, static_cast<std::uint16_t>(directions),
                    packet.deterministic};
  cargo_[index] = packet;
  return index;
}

/// Ends a slice of time. The contents of a link's channels are the tokens that it lacks.
void PacketNetwork::sample() {
  if (samples_.all.size() == PacketSamples::kMost) samples_.halve();
  PacketSample sample = samples_.sinceLast(events_.now());
  for (Site& site : site_) {
    for (std::uint32_t direction = 0; direction < directions_; ++direction) {
      OutputLink& output = site.outputs[direction];
      countReturned(output);
      for (std::uint32_t c = 0; c < kPacketChannels; ++c) {
        sample.queued[direction / 2][c] +=
            static_cast<std::uint64_t>(channel_chunks_ - output.tokens[c]);
      }
    }
    for (std::uint32_t fifo = 0; fifo < fifos_; ++fifo)
      sample.injection += static_cast<std::uint64_t>(injection_chunks_ - site.injection_room[fifo]);
  }
  samples_.all.push_back(sample);
}

llvm::Error PacketNetwork::check() const {
  static constexpr const char* kNames[] = {"dynamic 0", "dynamic 1", "bubble"};
  const std::uint64_t left = packet_count_ - taken_up_;
  for (std::size_t i = 0; i < std::size_t{nodes_} * 64; ++i) {
    const auto node = static_cast<std::uint32_t>(i / 64),
               queue = static_cast<std::uint32_t>(i % 64);
    if (queue < kFirstInjection && queue % kQueuesOfDirection >= kPacketChannels) continue;
    const std::uint32_t head = site_[node].queue(queue).head;
    if (head == kNoPacket) continue;
    std::string where = "injection FIFO " + std::to_string(queue - kFirstInjection);
    if (queue < kFirstInjection) {
      const std::uint32_t direction = queue / kQueuesOfDirection;
      where = std::string("the ") + kNames[queue % kQueuesOfDirection] + " channel of " +
              topology_.axes[direction / 2].name + (direction % 2 == 0 ? '+' : '-');
    }
    return makeError("deadlock: " + llvm::Twine(left) +
                     " packets never arrive, the first waits in " + where + " on node " +
                     llvm::Twine(node) + ", from node " + llvm::Twine(cargo_[head].source));
  }
  if (left > 0) return makeError(llvm::Twine(left) + " packets were lost");
  bool all_back = !token_fault_;
  for (const Site& site : site_) {
    for (std::uint32_t direction = 0; direction < directions_; ++direction) {
      const OutputLink& output = site.outputs[direction];
      std::array<std::int32_t, kPacketChannels> tokens{};
      std::copy(std::begin(output.tokens), std::end(output.tokens), tokens.begin());
      for (std::uint8_t i = 0; i < output.returning; ++i)
        tokens[output.returned[i] & 3] += output.returned[i] >> 2;
      for (const std::int32_t it : tokens)
        all_back &= it == channel_chunks_;
    }
  }
  if (!all_back) return makeError("tokens were lost, or counted twice");
  const std::string unfinished = traffic_->unfinished();
  if (!unfinished.empty()) return makeError("deadlock: " + unfinished);
  return llvm::Error::success();
}

LLVM_ATTRIBUTE_ALWAYS_INLINE void PacketNetwork::handle(const PacketEvent& event) {
  const std::uint32_t place = event.place, detail = event.detail >> 3;
  switch (static_cast<Event>(event.detail & 7)) {
    case kArrive:
      return arrived(place >> 6, place & 63, detail);
    case kLinkFree:
      return becameFree(place >> 4, place & 15, detail);
    case kTokens:
      addTokens(site_[place >> 4].outputs[place & 15], detail);
      return arbitrate(place >> 4, place & 15);
    case kDelivered:
      return delivered(place >> 6, place & 63, detail);
    case kProcessor:
      return finishJob(place);
    case kWake:
      if (site_[place].wakes_at == events_.now()) site_[place].wakes_at = 0;
      return serve(place);
    case kCall:
      return traffic_->called(*this, place);
  }
}

llvm::Error PacketNetwork::run(Traffic& traffic, double most_s,
                               const std::function<void(double hops)>& progress) {
  traffic_ = &traffic;
  traffic.start(*this);
  shareFifos(traffic);
  works_ = traffic.works();
  outgoing_.resize(std::size_t{nodes_} * classes_);
  for (std::uint32_t node = 0; node < nodes_; ++node)
    schedule(0, kWake, node, 0);
  PacketEvent event;
  std::uint64_t count = 0, next_sample = samples_.slice;
  while (events_.next(event)) {
    while (events_.now() >= next_sample) {
      sample();
      next_sample = samples_.all.back().end + samples_.slice;
      if (static_cast<double>(events_.now()) * tick_s_ > most_s) return llvm::Error::success();
    }
    handle(event);
    if (++count % kProgressEvents == 0 && progress) progress(static_cast<double>(packet_hops_));
  }
  sample();
  return check();
}

}  // namespace torc::model
