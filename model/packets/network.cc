#include "model/packets/network.h"

#include <algorithm>
#include <cmath>
#include <sys/mman.h>

namespace torc {
namespace {

// Ticks of the time that one byte needs on the fastest link: on Blue Gene/L a tick is a cycle.
constexpr double kTicksPerByte = 4;
// Events between the one that is dealt with and the one whose data are fetched.
constexpr std::size_t kPrefetchDistance = 6;
constexpr std::size_t kUsualPackets = 96;  // of a node
constexpr std::uint64_t kProgressEvents = 1 << 22;
// Longest way along a dimension, in hops.
constexpr std::uint32_t kMostHops = 127;

/// Large tables are walked at random: in large pages, where there are any, addresses are found
/// sooner.
template <typename T>
void useLargePages(const std::vector<T>& table) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(table.data());
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (begin + table.capacity() * sizeof(T)) / kPage * kPage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

llvm::Error fault(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

}  // namespace

llvm::Expected<PacketNetwork> PacketNetwork::make(const Topology& topology, const Machine& machine,
                                                  const PacketParameters& parameters) {
  if (topology.hasCores() || topology.isDamaged()) {
    return fault("packets: " + topology.shape() +
                 (topology.hasCores() ? " has cores: one processor serves a node here"
                                      : " is damaged: routers go no ways round"));
  }
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Axis& axis = topology.axes[static_cast<std::size_t>(i)];
    const std::uint32_t most = axis.isRing() ? axis.size / 2 : axis.size - 1;
    if (most > kMostHops) {
      return fault("packets: axis " + llvm::Twine(axis.name) + " has " + llvm::Twine(axis.size) +
                   " nodes: ways of more than " + llvm::Twine(kMostHops) + " hops");
    }
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
      channels_(kChannels * directions_),
      queues_(channels_ + fifos_),
      crossbar_(static_cast<std::uint32_t>(parameters.crossbar)),
      inject_every_(static_cast<std::uint32_t>(parameters.inject_every)) {
  double fastest = 0;
  for (const MachineDimension& dimension : machine.dimensions)
    fastest = std::max(fastest, dimension.bandwidth);
  tick_s_ = 1 / (fastest * kTicksPerByte);
  token_ticks_ = ticks(parameters.tokens);
  channel_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.channel));
  bubble_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.bubble));
  slot_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.packet));
  injection_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.injection));
  reception_chunks_ = static_cast<std::int32_t>(chunksOf(parameters.reception));
  std::uint32_t stride = 1;
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    const std::uint8_t axis = topology.order[i];
    stride_[axis] = stride;
    stride *= topology.axes[axis].size;
  }
  wire_ticks_.resize(std::size_t{256} * dimensions_);
  send_ticks_.resize(256);
  receive_ticks_.resize(256);
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    const Axis& axis = topology.axes[i];
    size_[i] = axis.size;
    is_ring_[i] = wraps_[i] = axis.isRing();
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

  // First the room, then large pages, then what is in them.
  const auto fill = [](auto& table, std::size_t size) {
    table.reserve(size);
    useLargePages(table);
    table.resize(size);
  };
  fill(queue_, std::size_t{nodes_} * queues_);
  fill(output_, std::size_t{nodes_} * directions_);
  fill(input_, output_.size());
  fill(node_, nodes_);
  // As many packets as are usually under way; more if they are smaller.
  moving_.reserve(std::size_t{nodes_} * kUsualPackets);
  useLargePages(moving_);
  cargo_.reserve(std::size_t{nodes_} * kUsualPackets);
  useLargePages(cargo_);
  injection_room_.assign(std::size_t{nodes_} * fifos_,
                         static_cast<std::int16_t>(injection_chunks_));
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    for (std::uint32_t direction = 0; direction < directions_; ++direction) {
      const std::uint32_t dimension = direction / 2;
      const std::uint32_t at = coordinate(node, dimension), size = size_[dimension];
      const bool up = direction % 2 == 0;
      Output& output = output_[node * directions_ + direction];
      for (std::int16_t& tokens : output.tokens)
        tokens = static_cast<std::int16_t>(channel_chunks_);
      input_[node * directions_ + direction].room = static_cast<std::int16_t>(reception_chunks_);
      if (size == 1 || (!wraps_[dimension] && at == (up ? size - 1 : 0))) continue;
      output.neighbour = withCoordinate(node, dimension, (at + (up ? 1 : size - 1)) % size);
      input_[output.neighbour * directions_ + direction].upstream = linkPlace(node, direction);
    }
  }
}

double PacketNetwork::memoryBytes(const Topology& topology, const PacketParameters& parameters,
                                  double packet_bytes) {
  const double directions = 2.0 * topology.dimensions();
  const double queues = kChannels * directions + parameters.injection_fifos;
  const double packets =
      (kChannels * directions * parameters.channel +
       parameters.injection_fifos * parameters.injection + directions * parameters.reception) /
      packet_bytes;
  // A packet under way has up to two events to come; both tables grow by doubling.
  const double of_packets =
      packets * 2 * (sizeof(Moving) + sizeof(Cargo) + 2 * sizeof(PacketEvent));
  return static_cast<double>(topology.sites()) *
         (queues * sizeof(Queue) + directions * (sizeof(Output) + sizeof(Input)) + sizeof(Node) +
          2 * sizeof(Outgoing) + 2 * parameters.injection_fifos + of_packets);
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
    if (wraps_[i]) {
      if (hops < 0) hops += size;
      if (2 * hops > size || (2 * hops == size && (random >> i & 1) != 0)) hops -= size;
    }
    packet.hops[i] = static_cast<std::int8_t>(hops);
  }
}

llvm::Error PacketNetwork::run(Traffic& traffic, const std::function<void()>& progress) {
  traffic_ = &traffic;
  classes_ = std::min(traffic.classes(), fifos_);
  works_ = traffic.works();
  outgoing_.resize(std::size_t{nodes_} * classes_);
  for (std::uint32_t node = 0; node < nodes_; ++node)
    schedule(0, kWake, node, 0);
  PacketEvent event;
  std::uint64_t count = 0;
  std::uint64_t next_sample = samples_.slice;
  while (events_.next(event)) {
    while (events_.now() >= next_sample) {
      sample();
      next_sample = samples_.all.back().end + samples_.slice;
    }
    if (const PacketEvent* later = events_.ahead(kPrefetchDistance)) prefetch(*later);
    handle(event);
    if (++count % kProgressEvents == 0 && progress) progress();
  }
  sample();
  return check();
}

/// Fetches what an event will need, long before it does: with thousands of nodes no cache holds it.
void PacketNetwork::prefetch(const PacketEvent& event) const {
  const std::uint32_t place = event.place;
  switch (static_cast<Event>(event.detail & 7)) {
    case kArrive:
    case kDelivered: {
      const std::size_t node = place >> 6;
      __builtin_prefetch(&queue_[node * queues_ + (place & 63)]);
      __builtin_prefetch(&moving_[event.detail >> 3]);
      __builtin_prefetch(&node_[node]);
      const Output* const outputs = &output_[node * directions_];
      for (std::uint32_t i = 0; i < directions_; ++i)
        __builtin_prefetch(outputs + i);
      return;
    }
    case kLinkFree: {
      const std::size_t node = place >> 4;
      const std::uint32_t queue = event.detail >> 3 & 63;
      __builtin_prefetch(&queue_[node * queues_ + queue]);
      __builtin_prefetch(&node_[node]);
      if (queue < channels_) __builtin_prefetch(&input_[node * directions_ + queue / kChannels]);
      const Output* const outputs = &output_[node * directions_];
      for (std::uint32_t i = 0; i < directions_; ++i)
        __builtin_prefetch(outputs + i);
      return;
    }
    case kTokens: {
      const std::size_t node = place >> 4;
      __builtin_prefetch(&output_[node * directions_ + (place & 15)]);
      __builtin_prefetch(&node_[node]);
      return;
    }
    case kProcessor:
      __builtin_prefetch(&node_[place]);
      return;
    default:
      return;
  }
}

void PacketNetwork::handle(const PacketEvent& event) {
  const std::uint32_t place = event.place, detail = event.detail >> 3;
  switch (static_cast<Event>(event.detail & 7)) {
    case kArrive:
      return arrived(place >> 6, place & 63, detail);
    case kLinkFree:
      return becameFree(place >> 4, place & 15, detail);
    case kTokens:
      addTokens(output_[(place >> 4) * directions_ + (place & 15)], detail);
      return arbitrate(place >> 4, place & 15);
    case kDelivered:
      return delivered(place >> 6, place & 63, detail);
    case kProcessor:
      return finishJob(place);
    case kWake:
      if (node_[place].wakes_at == events_.now()) node_[place].wakes_at = 0;
      return serve(place);
    case kCall:
      return traffic_->called(*this, place);
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
  Moving& moving = moving_[index];
  std::copy(std::begin(packet.hops), std::end(packet.hops), moving.hops);
  moving.chunks = packet.chunks;
  moving.deterministic = packet.deterministic;
  cargo_[index] = {packet.source, packet.tag, packet.payload, packet.input};
  return index;
}

/// All of a packet, as traffic knows it.
Packet PacketNetwork::packetOf(std::uint32_t index) const {
  Packet packet;
  packet.chunks = moving_[index].chunks;
  packet.deterministic = moving_[index].deterministic;
  packet.source = cargo_[index].source;
  packet.tag = cargo_[index].tag;
  packet.payload = cargo_[index].payload;
  packet.input = cargo_[index].input;
  return packet;
}

void PacketNetwork::release(std::uint32_t packet) {
  ++taken_up_;
  moving_[packet].next = free_packet_;
  free_packet_ = packet;
}

void PacketNetwork::append(Queue& fifo, std::uint32_t packet) {
  moving_[packet].next = kNoPacket;
  if (fifo.head == kNoPacket) {
    fifo.head = packet;
  } else {
    moving_[fifo.tail].next = packet;
  }
  fifo.tail = packet;
  fifo.chunks = static_cast<std::uint16_t>(fifo.chunks + moving_[packet].chunks);
}

/// The packet at the head is on its way out.
void PacketNetwork::removeHead(Queue& fifo) {
  const Moving& packet = moving_[fifo.head];
  fifo.head = packet.next;
  fifo.chunks = static_cast<std::uint16_t>(fifo.chunks - packet.chunks);
  fifo.is_busy = 1;
}

void PacketNetwork::sample() {
  if (samples_.all.size() == PacketSamples::kMost) samples_.halve();
  PacketSample sample;
  PacketSample before;
  for (const PacketSample& it : samples_.all) {
    before.delivered += it.delivered;
    for (std::size_t d = 0; d < before.busy.size(); ++d)
      before.busy[d] += it.busy[d];
    before.end = it.end;
  }
  sample.end = std::min(before.end + samples_.slice, std::max(before.end, events_.now()));
  sample.delivered = samples_.delivered - before.delivered;
  for (std::size_t d = 0; d < before.busy.size(); ++d)
    sample.busy[d] = samples_.busy[d] - before.busy[d];
  for (std::size_t i = 0; i < output_.size(); ++i) {
    if (output_[i].neighbour == kNoPacket) continue;
    countReturned(output_[i]);
    for (std::uint32_t c = 0; c < kChannels; ++c) {
      sample.queued[i % directions_ / 2][c] +=
          static_cast<std::uint64_t>(channel_chunks_ - output_[i].tokens[c]);
    }
  }
  for (const std::int16_t room : injection_room_)
    sample.injection += static_cast<std::uint64_t>(injection_chunks_ - room);
  samples_.all.push_back(sample);
}

llvm::Error PacketNetwork::check() const {
  static constexpr const char* kNames[] = {"dynamic 0", "dynamic 1", "bubble"};
  const std::uint64_t left = packet_count_ - taken_up_;
  for (std::uint32_t i = 0; i < queue_.size(); ++i) {
    const std::uint32_t head = queue_[i].head;
    if (head == kNoPacket) continue;
    const std::uint32_t node = i / queues_, queue = i % queues_;
    std::string where = "injection FIFO " + std::to_string(queue - channels_);
    if (queue < channels_) {
      const std::uint32_t direction = queue / kChannels;
      where = std::string("the ") + kNames[queue % kChannels] + " channel of " +
              topology_.axes[direction / 2].name + (direction % 2 == 0 ? '+' : '-');
    }
    return fault("deadlock: " + llvm::Twine(left) + " packets never arrive, the first waits in " +
                 where + " on node " + llvm::Twine(node) + ", from node " +
                 llvm::Twine(cargo_[head].source));
  }
  if (left > 0) return fault(llvm::Twine(left) + " packets were lost");
  bool all_back = !token_fault_;
  for (const Output& output : output_) {
    std::array<std::int32_t, kChannels> tokens{};
    std::copy(std::begin(output.tokens), std::end(output.tokens), tokens.begin());
    for (std::uint8_t i = 0; i < output.returning; ++i)
      tokens[output.returned[i] & 3] += output.returned[i] >> 2;
    for (const std::int32_t it : tokens)
      all_back &= it == channel_chunks_;
  }
  if (!all_back) return fault("tokens were lost, or counted twice");
  const std::string unfinished = traffic_->unfinished();
  if (!unfinished.empty()) return fault("deadlock: " + unfinished);
  return llvm::Error::success();
}

}  // namespace torc
