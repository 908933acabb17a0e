// Packet network: the routers.
#include <algorithm>

#include <llvm/Support/Compiler.h>

#include "model/packets/network.h"

namespace torc::model {

// The functions of every hop are inlined.

/// The packet at the head of a queue leaves.
LLVM_ATTRIBUTE_ALWAYS_INLINE void PacketNetwork::grant(std::uint32_t node, std::uint32_t direction,
                                                       std::uint32_t queue, std::uint32_t channel) {
  Site& site = site_[node];
  PacketQueue& fifo = site.queue(queue);
  const std::uint32_t index = fifo.head, chunks = fifo.head_chunks;
  const std::uint64_t others = ~(std::uint64_t{1} << queue);
  for (std::uint32_t left = fifo.head_directions; left != 0; left &= left - 1) {
    OutputLink& asked = site.outputs[lowestBit(left)];
    asked.wanted &= others;
    asked.escapes &= others;
  }
  MovingPacket& packet = moving_[index];
  removeHead(fifo, packet.next, chunks);
  const std::uint32_t dimension = direction / 2;
  OutputLink& output = site.outputs[direction];
  output.is_free = 0;
  const std::uint32_t reserved =
      channel == kBubbleChannel ? static_cast<std::uint32_t>(slot_chunks_) : chunks;
  output.tokens[channel] = static_cast<std::int16_t>(output.tokens[channel] - reserved);
  if (output.tokens[channel] < 0) token_fault_ = true;
  std::int8_t& hops = packet.hops[dimension];
  hops = static_cast<std::int8_t>(hops + (direction % 2 == 0 ? -1 : 1));
  const std::uint32_t done = static_cast<std::uint32_t>(hops == 0) << direction;
  packet.directions = static_cast<std::uint16_t>(packet.directions & ~done);
  ++packet_hops_;
  const std::uint32_t busy = wireTicks(dimension, chunks);
  samples_.busy[direction] += busy;
  if (queue < kFirstInjection) {
    const std::uint32_t input = queue / kQueuesOfDirection;
    const bool is_last = ++site.inputs[input].leaving == crossbar_;
    site.held |= is_last ? queuesOf(input) : 0;
  }
  schedule(busy, kLinkFree, linkPlace(node, direction), chunks << 6 | queue);
  const std::uint32_t hop = hop_ticks_[dimension];
  packet.arrives = static_cast<std::uint32_t>(events_.now() + hop);
  PacketQueue& next = site_[output.neighbour].inputs[direction].channels[channel];
  // Behind others it requests links after they have left.
  if (append(next, index, chunks))
    schedule(hop, kArrive, queuePlace(output.neighbour, queueOf(direction, channel)), index);
}

/// A packet's last byte has left the buffer of a channel: its room is known upstream after a delay.
LLVM_ATTRIBUTE_ALWAYS_INLINE void PacketNetwork::returnTokens(const InputPort& input,
                                                              std::uint32_t queue,
                                                              std::uint32_t chunks) {
  const std::uint32_t direction = queue / kQueuesOfDirection, channel = queue % kQueuesOfDirection;
  if (channel == kBubbleChannel) chunks = static_cast<std::uint32_t>(slot_chunks_);
  const std::uint32_t returned = chunks << 2 | channel;
  OutputLink& output = site_[input.upstream].outputs[direction];
  const bool is_awaited = output.is_free && output.waiting() != 0;
  if (!is_awaited) countReturned(output);
  if (is_awaited || output.returning == OutputLink::kMostReturning)
    return schedule(token_ticks_, kTokens, linkPlace(input.upstream, direction), returned);
  output.returned[output.returning] = static_cast<std::uint16_t>(returned);
  output.due[output.returning] = static_cast<std::uint32_t>(events_.now() + token_ticks_);
  ++output.returning;
}

/// The first chunk of a packet has arrived: it was the first one of its queue when it started.
void PacketNetwork::arrived(std::uint32_t node, std::uint32_t queue, std::uint32_t packet) {
  const PacketQueue& fifo = site_[node].queue(queue);
  if (fifo.head == packet && fifo.is_busy == 0) offer(node, queue);
}

/// A queue is no longer busy: its next packet requests links, now or on arrival.
void PacketNetwork::offerNext(std::uint32_t node, std::uint32_t queue) {
  const std::uint32_t head = site_[node].queue(queue).head;
  if (head == kNoPacket) return;
  const std::uint32_t wait = moving_[head].arrives - static_cast<std::uint32_t>(events_.now());
  if (wait == 0 || wait > most_hop_ticks_) return offer(node, queue);
  schedule(wait, kArrive, queuePlace(node, queue), head);
}

/// The packet at the head of a queue requests its links, and takes the best free one.
void PacketNetwork::offer(std::uint32_t node, std::uint32_t queue) {
  Site& site = site_[node];
  PacketQueue& fifo = site.queue(queue);
  const std::uint32_t index = fifo.head;
  const MovingPacket& packet = moving_[index];
  std::uint32_t directions = packet.directions;
  if (directions == 0) return tryReception(node, queue);
  if (packet.deterministic) directions &= ~(directions - 1);
  fifo.head_chunks = packet.chunks;
  fifo.head_directions = static_cast<std::uint16_t>(directions);
  fifo.is_deterministic = packet.deterministic;
  const std::uint64_t bit = std::uint64_t{1} << queue;
  const std::uint64_t dynamic_bit = packet.deterministic ? 0 : bit;
  const bool may_leave = (site.held & bit) == 0;
  std::uint64_t escape_bit = bit;  // in the first dimension with hops left
  std::uint32_t free_links = 0;    // requested directions
  std::int32_t best_direction = -1, best_channel = -1, best_tokens = -1;
  do {
    const std::uint32_t direction = lowestBit(directions);
    OutputLink& output = site.outputs[direction];
    output.wanted |= dynamic_bit;
    output.escapes |= escape_bit;
    escape_bit = 0;
    if (!output.is_free) continue;
    free_links |= 1u << direction;
    countReturned(output);
    const int channel = may_leave ? channelFor(output, direction, queue, fifo) : -1;
    if (channel < 0) continue;
    // A dynamic channel comes before the bubble channel, then the one with the most tokens; of
    // equals, one that changes from packet to packet.
    const std::int32_t tokens = channel == static_cast<int>(kBubbleChannel)
                                    ? 0
                                    : 2 * output.tokens[channel] + (index >> direction / 2 & 1);
    if (tokens > best_tokens) {
      best_tokens = tokens;
      best_channel = channel;
      best_direction = static_cast<std::int32_t>(direction);
    }
  } while ((directions &= directions - 1) != 0);
  if (best_direction >= 0) {
    return grant(node, static_cast<std::uint32_t>(best_direction), queue,
                 static_cast<std::uint32_t>(best_channel));
  }
  for (; free_links != 0; free_links &= free_links - 1)
    awaitReturned(node, lowestBit(free_links));
}

/// The queues waiting for a link whose heads have room on it.
LLVM_ATTRIBUTE_ALWAYS_INLINE std::uint64_t PacketNetwork::roomFor(const Site& site,
                                                                  std::uint32_t direction) const {
  const OutputLink& output = site.outputs[direction];
  const std::int32_t dynamic = std::max(output.tokens[0], output.tokens[1]);
  std::uint64_t fit = 0;
  if (dynamic >= slot_chunks_) {
    fit = output.wanted;
  } else if (dynamic >= least_chunks_) {
    for (std::uint64_t bits = output.wanted; bits != 0; bits &= bits - 1) {
      if (site.queue(lowestBit(bits)).head_chunks <= dynamic) fit |= bits & -bits;
    }
  }
  const std::int32_t more = output.tokens[kBubbleChannel] - slot_chunks_;
  if (more < 0) return fit & ~site.held;
  if (more >= std::max(bubble_chunks_, escape_chunks_) || !is_ring_[direction / 2]) {
    fit |= output.escapes;
  } else {
    fit |= output.escapes & std::uint64_t{1} << queueOf(direction, kBubbleChannel);
    const std::uint64_t any = more >= std::min(bubble_chunks_, escape_chunks_) ? ~fit : 0;
    for (std::uint64_t bits = output.escapes & any; bits != 0; bits &= bits - 1) {
      if (more >= entryChunks(site.queue(lowestBit(bits)))) fit |= bits & -bits;
    }
  }
  return fit & ~site.held;
}

namespace {

/// The longest of the queues in `fit`, which is not empty; round-robin among equals.
std::uint32_t longest(const Site& site, std::uint64_t fit, std::uint32_t turn) {
  std::uint32_t most = 0, best = 0;
  for (std::uint64_t bits = fit; bits != 0; bits &= bits - 1) {
    const std::uint32_t queue = lowestBit(bits);
    const std::uint32_t rank =
        static_cast<std::uint32_t>(site.queue(queue).chunks) << 6 | (63 - ((queue - turn) & 63));
    if (rank < most) continue;
    most = rank;
    best = queue;
  }
  return best;
}

}  // namespace

/// Gives a free link to one of the waiting packets that have room: to that of the longest queue in
/// the network; to an injected one if there is none, and periodically before them.
void PacketNetwork::arbitrate(std::uint32_t node, std::uint32_t direction) {
  Site& site = site_[node];
  OutputLink& output = site.outputs[direction];
  if (!output.is_free || output.waiting() == 0) return;
  countReturned(output);
  std::uint64_t fit = roomFor(site, direction);
  if (fit == 0) return awaitReturned(node, direction);
  const bool injects = ++output.since_injection >= inject_every_;
  if (injects) output.since_injection = 0;
  std::uint32_t queue = 0;
  if ((fit & kAllChannels) != 0 && (!injects || (fit & ~kAllChannels) == 0)) {
    queue = longest(site, fit & kAllChannels, output.turn);
  } else {
    fit &= ~kAllChannels;
    const std::uint64_t behind = fit >> output.turn << output.turn;
    queue = lowestBit(behind != 0 ? behind : fit);
  }
  output.turn = static_cast<std::uint8_t>((queue + 1) & 63);
  const int channel = channelFor(output, direction, queue, site.queue(queue));
  grant(node, direction, queue, static_cast<std::uint32_t>(channel));
}

/// The last byte of a packet has left through a link.
void PacketNetwork::becameFree(std::uint32_t node, std::uint32_t direction, std::uint32_t detail) {
  Site& site = site_[node];
  const std::uint32_t queue = detail & 63, chunks = detail >> 6;
  site.queue(queue).is_busy = 0;
  std::uint64_t released = 0;
  if (queue < kFirstInjection) {
    InputPort& input = site.inputs[queue / kQueuesOfDirection];
    if (input.leaving-- == crossbar_) {
      released = queuesOf(queue / kQueuesOfDirection);
      site.held &= ~released;
    }
    returnTokens(input, queue, chunks);
  } else {
    std::int16_t& room = site.injection_room[queue - kFirstInjection];
    room = static_cast<std::int16_t>(room + chunks);
  }
  // The next packet of the queue may take another link at once, but this one in turn only.
  offerNext(node, queue);
  site.outputs[direction].is_free = 1;
  arbitrate(node, direction);
  if (queue >= kFirstInjection) return serve(node);
  if (released == 0) return;
  for (std::uint32_t other = 0; other < directions_; ++other) {
    if ((site.outputs[other].waiting() & released) != 0) arbitrate(node, other);
  }
}

/// Moves a packet into the reception FIFO of the queue's direction, as soon as it has room.
void PacketNetwork::tryReception(std::uint32_t node, std::uint32_t queue) {
  const std::uint32_t direction = queue / kQueuesOfDirection, channel = queue % kQueuesOfDirection;
  InputPort& input = site_[node].inputs[direction];
  PacketQueue& fifo = input.channels[channel];
  const std::uint32_t index = fifo.head;
  const std::uint8_t chunks = moving_[index].chunks;
  const std::uint32_t bit = 1u << channel;
  if (input.is_busy != 0 || input.room < chunks) {
    input.waiting = static_cast<std::uint8_t>(input.waiting | bit);
    return;
  }
  input.waiting = static_cast<std::uint8_t>(input.waiting & ~bit);
  input.is_busy = 1;
  input.room = static_cast<std::int16_t>(input.room - chunks);
  removeHead(fifo, moving_[index].next, chunks);
  cargo_[index].input = static_cast<std::uint8_t>(direction);
  schedule(wireTicks(direction / 2, chunks), kDelivered, queuePlace(node, queue), index);
}

/// A packet has arrived in its reception FIFO.
void PacketNetwork::delivered(std::uint32_t node, std::uint32_t queue, std::uint32_t index) {
  const std::uint32_t direction = queue / kQueuesOfDirection, channel = queue % kQueuesOfDirection;
  Site& site = site_[node];
  InputPort& input = site.inputs[direction];
  input.is_busy = 0;
  input.channels[channel].is_busy = 0;
  returnTokens(input, queue, moving_[index].chunks);
  site.received.push(moving_, index);
  // Waiting packets come before the next packet of this queue.
  for (std::uint32_t i = 1; i < kPacketChannels && input.waiting != 0; ++i) {
    const std::uint32_t other = (channel + i) % kPacketChannels;
    if ((input.waiting >> other & 1) != 0) tryReception(node, queueOf(direction, other));
  }
  offerNext(node, queue);
  serve(node);
}

/// A packet waits for a free link: returning tokens become events.
void PacketNetwork::awaitReturned(std::uint32_t node, std::uint32_t direction) {
  OutputLink& output = site_[node].outputs[direction];
  const auto now = static_cast<std::uint32_t>(events_.now());
  for (std::uint8_t i = 0; i < output.returning; ++i)
    schedule(output.due[i] - now, kTokens, linkPlace(node, direction), output.returned[i]);
  output.returning = 0;
}

}  // namespace torc::model
