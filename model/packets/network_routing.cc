// Packet network: what routers do.
#include <algorithm>
#include <bit>

#include "model/packets/network.h"

namespace torc {

/// The first chunk of a packet is there: it was the first one of its queue when it started.
void PacketNetwork::arrived(std::uint32_t node, std::uint32_t queue, std::uint32_t packet) {
  const Queue& fifo = queue_[std::size_t{node} * queues_ + queue];
  if (fifo.head == packet && fifo.is_busy == 0) offer(node, queue);
}

/// A queue is no longer busy: its next packet asks for links, now or when it is there.
void PacketNetwork::offerNext(std::uint32_t node, std::uint32_t queue) {
  const std::uint32_t head = queue_[std::size_t{node} * queues_ + queue].head;
  if (head == kNoPacket) return;
  const std::uint32_t now = static_cast<std::uint32_t>(events_.now()) & kTimeMask;
  const std::uint32_t wait = (moving_[head].arrives - now) & kTimeMask;
  if (wait == 0 || wait > most_hop_ticks_) return offer(node, queue);
  schedule(wait, kArrive, queuePlace(node, queue), head);
}

/// The packet at the head of a queue asks for its links, and takes the best one that is free.
void PacketNetwork::offer(std::uint32_t node, std::uint32_t queue) {
  const std::uint32_t index = queue_[std::size_t{node} * queues_ + queue].head;
  const Moving& packet = moving_[index];
  const std::uint64_t bit = std::uint64_t{1} << queue;
  const bool may_leave = (node_[node].held & bit) == 0;
  Output* const outputs = &output_[node * directions_];
  bool is_first = true;          // dimension with hops left
  std::uint32_t free_links = 0;  // directions asked for
  std::int32_t best_direction = -1, best_channel = -1, best_tokens = -1;
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    if (packet.hops[i] == 0) continue;
    const std::uint32_t direction = 2 * i + (packet.hops[i] < 0 ? 1 : 0);
    Output& output = outputs[direction];
    if (!packet.deterministic) output.wanted |= bit;
    if (is_first) output.escapes |= bit;
    if (output.is_free) {
      free_links |= 1u << direction;
      countReturned(output);
      const int channel = may_leave ? channelFor(output, direction, queue, packet) : -1;
      // A dynamic channel comes before the bubble channel, then the one with the most tokens; of
      // equals, one that changes from packet to packet.
      if (channel >= 0) {
        const std::int32_t tokens = channel == static_cast<int>(kBubble)
                                        ? 0
                                        : 2 * output.tokens[channel] + (index >> i & 1);
        if (tokens > best_tokens) {
          best_tokens = tokens;
          best_channel = channel;
          best_direction = static_cast<std::int32_t>(direction);
        }
      }
    }
    is_first = false;
    if (packet.deterministic) break;
  }
  if (is_first) return tryReception(node, queue);
  if (best_direction >= 0) {
    return grant(node, static_cast<std::uint32_t>(best_direction), queue,
                 static_cast<std::uint32_t>(best_channel));
  }
  for (; free_links != 0; free_links &= free_links - 1)
    awaitReturned(node, static_cast<std::uint32_t>(std::countr_zero(free_links)));
}

/// The channel on which the packet can leave in this direction; -1: none has room.
int PacketNetwork::channelFor(const Output& output, std::uint32_t direction, std::uint32_t queue,
                              const Moving& packet) const {
  const std::int32_t chunks = packet.chunks;
  if (!packet.deterministic) {
    const int dynamic = output.tokens[1] > output.tokens[0] ? 1 : 0;
    if (output.tokens[dynamic] >= chunks) return dynamic;
  }
  if ((output.escapes >> queue & 1) == 0) return -1;
  const bool goes_on = queue == direction * kChannels + kBubble || !is_ring_[direction / 2];
  const std::int32_t needed = slot_chunks_ + (goes_on ? 0 : bubble_chunks_);
  return output.tokens[kBubble] >= needed ? static_cast<int>(kBubble) : -1;
}

/// Of the queues that wait for a link, those whose heads have room on it.
std::uint64_t PacketNetwork::roomFor(std::uint32_t node, std::uint32_t direction) const {
  const Output& output = output_[node * directions_ + direction];
  const std::int32_t dynamic = std::max(output.tokens[0], output.tokens[1]);
  std::uint64_t fit = 0;
  if (dynamic >= slot_chunks_) {
    fit = output.wanted;
  } else if (dynamic >= least_chunks_) {
    for (std::uint64_t bits = output.wanted; bits != 0; bits &= bits - 1) {
      const auto queue = static_cast<std::uint32_t>(std::countr_zero(bits));
      if (moving_[queue_[std::size_t{node} * queues_ + queue].head].chunks <= dynamic)
        fit |= bits & -bits;
    }
  }
  const std::int32_t bubble = output.tokens[kBubble];
  if (bubble >= slot_chunks_ + bubble_chunks_ ||
      (bubble >= slot_chunks_ && !is_ring_[direction / 2])) {
    fit |= output.escapes;
  } else if (bubble >= slot_chunks_) {
    fit |= output.escapes & std::uint64_t{1} << (direction * kChannels + kBubble);
  }
  return fit & ~node_[node].held;
}

/// Of the queues in `fit`, which is not empty, the longest; of equals the next in turn.
std::uint32_t PacketNetwork::longest(std::uint32_t node, std::uint64_t fit,
                                     std::uint64_t behind) const {
  const Queue* const queues = &queue_[std::size_t{node} * queues_];
  std::uint32_t most = 0, best = 0;
  for (const std::uint64_t half : {fit & behind, fit & ~behind}) {
    for (std::uint64_t bits = half; bits != 0; bits &= bits - 1) {
      const auto queue = static_cast<std::uint32_t>(std::countr_zero(bits));
      if (queues[queue].chunks <= most) continue;
      most = queues[queue].chunks;
      best = queue;
    }
  }
  return best;
}

/// Gives a free link to one of the packets that wait for it and have room: to that of the longest
/// queue in the network; to one that is to be injected where there is none, and now and then before
/// them.
void PacketNetwork::arbitrate(std::uint32_t node, std::uint32_t direction) {
  Output& output = output_[node * directions_ + direction];
  if (!output.is_free || (output.wanted | output.escapes) == 0) return;
  countReturned(output);
  std::uint64_t fit = roomFor(node, direction);
  if (fit == 0) return awaitReturned(node, direction);
  const bool injects = ++output.since_injection >= inject_every_;
  if (injects) output.since_injection = 0;
  const std::uint64_t inside = (std::uint64_t{1} << channels_) - 1;
  const std::uint64_t behind = output.turn >= 64 ? 0 : ~std::uint64_t{0} << output.turn;
  std::uint32_t queue = 0;
  if ((fit & inside) != 0 && (!injects || (fit & ~inside) == 0)) {
    queue = longest(node, fit & inside, behind);
  } else {
    fit &= ~inside;
    if ((fit & behind) != 0) fit &= behind;
    queue = static_cast<std::uint32_t>(std::countr_zero(fit));
  }
  output.turn = static_cast<std::uint8_t>(queue + 1);
  const Moving& packet = moving_[queue_[std::size_t{node} * queues_ + queue].head];
  const int channel = channelFor(output, direction, queue, packet);
  grant(node, direction, queue, static_cast<std::uint32_t>(channel));
}

/// The packet at the head of a queue leaves.
void PacketNetwork::grant(std::uint32_t node, std::uint32_t direction, std::uint32_t queue,
                          std::uint32_t channel) {
  Queue& fifo = queue_[std::size_t{node} * queues_ + queue];
  const std::uint32_t index = fifo.head;
  Moving& packet = moving_[index];
  removeHead(fifo);
  Output* const outputs = &output_[node * directions_];
  const std::uint64_t others = ~(std::uint64_t{1} << queue);
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    if (packet.hops[i] == 0) continue;
    Output& asked = outputs[2 * i + (packet.hops[i] < 0 ? 1 : 0)];
    asked.wanted &= others;
    asked.escapes &= others;
  }
  const std::uint32_t dimension = direction / 2, chunks = packet.chunks;
  Output& output = outputs[direction];
  output.is_free = 0;
  const std::uint32_t reserved =
      channel == kBubble ? static_cast<std::uint32_t>(slot_chunks_) : chunks;
  output.tokens[channel] = static_cast<std::int16_t>(output.tokens[channel] - reserved);
  if (output.tokens[channel] < 0) token_fault_ = true;
  packet.hops[dimension] =
      static_cast<std::int8_t>(packet.hops[dimension] + (direction % 2 == 0 ? -1 : 1));
  ++packet_hops_;
  const std::uint32_t busy = wireTicks(dimension, chunks);
  samples_.busy[direction] += busy;
  if (queue < channels_) {
    const std::uint32_t input = queue / kChannels;
    if (++input_[node * directions_ + input].leaving == crossbar_) {
      node_[node].held |= kAllChannels << input * kChannels;
    }
  }
  schedule(busy, kLinkFree, linkPlace(node, direction), chunks << 6 | queue);
  const std::uint64_t arrival = events_.now() + hop_ticks_[dimension];
  packet.arrives = static_cast<std::uint32_t>(arrival) & kTimeMask;
  const std::uint32_t arrives_in = direction * kChannels + channel;
  Queue& next = queue_[std::size_t{output.neighbour} * queues_ + arrives_in];
  // Behind others it asks for links when they have left.
  if (next.head == kNoPacket)
    schedule(hop_ticks_[dimension], kArrive, queuePlace(output.neighbour, arrives_in), index);
  append(next, index);
}

/// The last byte of a packet has left through a link.
void PacketNetwork::becameFree(std::uint32_t node, std::uint32_t direction, std::uint32_t detail) {
  const std::uint32_t queue = detail & 63, chunks = detail >> 6;
  queue_[std::size_t{node} * queues_ + queue].is_busy = 0;
  const bool is_injection = queue >= channels_;
  std::uint64_t released = 0;
  if (is_injection) {
    std::int16_t& room = injection_room_[node * fifos_ + queue - channels_];
    room = static_cast<std::int16_t>(room + chunks);
  } else {
    if (input_[node * directions_ + queue / kChannels].leaving-- == crossbar_) {
      released = kAllChannels << queue / kChannels * kChannels;
      node_[node].held &= ~released;
    }
    returnTokens(node, queue, chunks);
  }
  // The next packet of the queue may take another link at once, but this one in turn only.
  offerNext(node, queue);
  output_[node * directions_ + direction].is_free = 1;
  arbitrate(node, direction);
  if (is_injection) return serve(node);
  if (released == 0) return;
  for (std::uint32_t other = 0; other < directions_; ++other) {
    const Output& output = output_[node * directions_ + other];
    if (((output.wanted | output.escapes) & released) != 0) arbitrate(node, other);
  }
}

/// Into the reception FIFO of the queue's direction, as soon as that has room.
void PacketNetwork::tryReception(std::uint32_t node, std::uint32_t queue) {
  Queue& fifo = queue_[std::size_t{node} * queues_ + queue];
  const std::uint32_t index = fifo.head, direction = queue / kChannels;
  const std::uint8_t chunks = moving_[index].chunks;
  Input& input = input_[node * directions_ + direction];
  if (input.is_busy != 0 || input.room < chunks) {
    input.waiting = static_cast<std::uint8_t>(input.waiting | 1u << queue % kChannels);
    return;
  }
  input.waiting = static_cast<std::uint8_t>(input.waiting & ~(1u << queue % kChannels));
  input.is_busy = 1;
  input.room = static_cast<std::int16_t>(input.room - chunks);
  removeHead(fifo);
  cargo_[index].input = static_cast<std::uint8_t>(direction);
  schedule(wireTicks(direction / 2, chunks), kDelivered, queuePlace(node, queue), index);
}

/// A packet is in its reception FIFO.
void PacketNetwork::delivered(std::uint32_t node, std::uint32_t queue, std::uint32_t index) {
  const std::uint32_t direction = queue / kChannels;
  Input& input = input_[node * directions_ + direction];
  Node& here = node_[node];
  input.is_busy = 0;
  queue_[std::size_t{node} * queues_ + queue].is_busy = 0;
  returnTokens(node, queue, moving_[index].chunks);
  moving_[index].next = kNoPacket;
  if (here.received == kNoPacket) {
    here.received = index;
  } else {
    moving_[here.received_tail].next = index;
  }
  here.received_tail = index;
  // Those that wait come before the next packet of this queue.
  for (std::uint32_t i = 1; i < kChannels && input.waiting != 0; ++i) {
    const std::uint32_t other = (queue + i) % kChannels;
    if ((input.waiting >> other & 1) != 0) tryReception(node, direction * kChannels + other);
  }
  offerNext(node, queue);
  serve(node);
}

/// A packet's last byte has left the buffer of a channel: upstream its room is known some time
/// later.
void PacketNetwork::returnTokens(std::uint32_t node, std::uint32_t queue, std::uint32_t chunks) {
  const std::uint32_t channel = queue % kChannels;
  if (channel == kBubble) chunks = static_cast<std::uint32_t>(slot_chunks_);
  const std::uint32_t returned = chunks << 2 | channel;
  const std::uint32_t link = input_[node * directions_ + queue / kChannels].upstream;
  Output& output = output_[(link >> 4) * directions_ + (link & 15)];
  const bool is_awaited = output.is_free && (output.wanted | output.escapes) != 0;
  if (!is_awaited) countReturned(output);
  if (is_awaited || output.returning == Output::kMostReturning)
    return schedule(token_ticks_, kTokens, link, returned);
  output.returned[output.returning] = static_cast<std::uint16_t>(returned);
  output.due[output.returning] = static_cast<std::uint32_t>(events_.now() + token_ticks_);
  ++output.returning;
}

void PacketNetwork::addTokens(Output& output, std::uint32_t returned) {
  std::int16_t& tokens = output.tokens[returned & 3];
  tokens = static_cast<std::int16_t>(tokens + (returned >> 2));
  if (tokens > channel_chunks_) token_fault_ = true;
}

/// Takes up the tokens that are back.
void PacketNetwork::countReturned(Output& output) {
  const auto now = static_cast<std::uint32_t>(events_.now());
  std::uint8_t back = 0;
  // What is not due soon is long past.
  while (back < output.returning && output.due[back] - now - 1 >= token_ticks_)
    addTokens(output, output.returned[back++]);
  if (back == 0) return;
  output.returning = static_cast<std::uint8_t>(output.returning - back);
  for (std::uint8_t i = 0; i < output.returning; ++i) {
    output.returned[i] = output.returned[i + back];
    output.due[i] = output.due[i + back];
  }
}

/// A packet waits for a link that is free: tokens on their way back become events.
void PacketNetwork::awaitReturned(std::uint32_t node, std::uint32_t direction) {
  Output& output = output_[node * directions_ + direction];
  const auto now = static_cast<std::uint32_t>(events_.now());
  for (std::uint8_t i = 0; i < output.returning; ++i)
    schedule(output.due[i] - now, kTokens, linkPlace(node, direction), output.returned[i]);
  output.returning = 0;
}

}  // namespace torc
