// Packet network: what the processors of the nodes do.
#include <algorithm>

#include "model/packets/network.h"

namespace torc {

void PacketNetwork::wake(std::uint32_t node) {
  wakeAt(node, events_.now());
}

void PacketNetwork::callAt(std::uint64_t time, std::uint32_t what) {
  schedule(time - events_.now(), kCall, what, 0);
}

void PacketNetwork::wakeAt(std::uint32_t node, std::uint64_t time) {
  Node& it = node_[node];
  if (it.wakes_at != 0 && it.wakes_at <= time) return;
  it.wakes_at = time;
  schedule(time - events_.now(), kWake, node, 0);
}

/// Takes up the next job, if the processor is free and there is one: to receive and to send in
/// turn.
void PacketNetwork::serve(std::uint32_t node) {
  Node& it = node_[node];
  if (it.is_busy || (works_ && startWork(node))) return;
  if (it.receives_next) {
    if (!startReceive(node)) startSend(node);
  } else {
    if (!startSend(node)) startReceive(node);
  }
}

bool PacketNetwork::startWork(std::uint32_t node) {
  Node& it = node_[node];
  std::uint32_t ticks = 0;
  if (!traffic_->nextWork(node, ticks, it.job)) return false;
  it.is_busy = true;
  it.job_kind = Job::kWork;
  schedule(ticks, kProcessor, node, 0);
  return true;
}

bool PacketNetwork::startReceive(std::uint32_t node) {
  Node& it = node_[node];
  if (it.received == kNoPacket) return false;
  it.job = it.received;
  it.received = packet_[it.job].next;
  it.is_busy = true;
  it.job_kind = Job::kReceive;
  it.receives_next = false;
  schedule(traffic_->receiveTicks(node, packet_[it.job]), kProcessor, node, 0);
  return true;
}

bool PacketNetwork::startSend(std::uint32_t node) {
  Node& it = node_[node];
  for (std::uint32_t i = 0; i < classes_; ++i) {
    const std::uint32_t packet_class = (it.next_class + i) % classes_;
    Outgoing& outgoing = outgoing_[node * classes_ + packet_class];
    if (!it.has_outgoing[packet_class]) {
      if (!traffic_->next(node, packet_class, outgoing)) continue;
      it.has_outgoing[packet_class] = true;
    }
    if (outgoing.not_before > events_.now()) {
      wakeAt(node, outgoing.not_before);
      continue;
    }
    const int fifo = injectionFifo(node, packet_class, outgoing.packet.chunks, &outgoing.packet);
    if (fifo < 0) continue;
    std::int16_t& room = injection_room_[node * fifos_ + static_cast<std::uint32_t>(fifo)];
    room = static_cast<std::int16_t>(room - outgoing.packet.chunks);
    it.job = allocate();
    packet_[it.job] = outgoing.packet;
    packet_[it.job].source = node;
    least_chunks_ = std::min<std::int32_t>(least_chunks_, outgoing.packet.chunks);
    packet_[it.job].input = static_cast<std::uint8_t>(fifo);
    it.has_outgoing[packet_class] = false;
    it.next_class = static_cast<std::uint8_t>((packet_class + 1) % classes_);
    it.is_busy = true;
    it.job_kind = Job::kSend;
    it.receives_next = true;
    schedule(outgoing.ticks, kProcessor, node, 0);
    return true;
  }
  return false;
}

/// The emptiest FIFO of the class in which a packet has room; -1: none.
int PacketNetwork::injectionFifo(std::uint32_t node, std::uint32_t packet_class,
                                 std::uint32_t chunks, const Packet* packet) const {
  const std::uint32_t first = packet_class * fifos_ / classes_;
  const std::uint32_t end = (packet_class + 1) * fifos_ / classes_;
  int best = -1;
  std::int32_t most = static_cast<std::int32_t>(chunks) - 1;
  std::uint32_t allowed = ~0u;
  if (x_ & (1024|2048|4096)) {
    allowed = 0; int longest = 0;
    for (std::uint32_t i = 0; i < dimensions_; ++i) if (packet->hops[i] != 0) {
      std::uint32_t bit = 1u << (first + (2 * i + (packet->hops[i] < 0)) % (end - first));
      if (x_ & 2048) { if (!allowed) allowed = bit; }
      else if (x_ & 4096) { if (std::abs(packet->hops[i]) > longest) { longest = std::abs(packet->hops[i]); allowed = bit; } }
      else allowed |= bit;
    }
  }
  for (std::uint32_t fifo = first; fifo < end; ++fifo) {
    if (!(allowed >> fifo & 1)) continue;
    const std::int32_t room = injection_room_[node * fifos_ + fifo];
    if (room <= most) continue;
    most = room;
    best = static_cast<int>(fifo);
  }
  return best;
}

void PacketNetwork::finishJob(std::uint32_t node) {
  Node& it = node_[node];
  const std::uint32_t index = it.job;
  if (it.job_kind == Job::kWork) {
    traffic_->worked(*this, index);
  } else if (it.job_kind == Job::kReceive) {
    const Packet packet = packet_[index];
    Input& input = input_[node * directions_ + packet.input];
    input.room = static_cast<std::int16_t>(input.room + packet.chunks);
    for (std::uint32_t channel = 0; channel < kChannels && input.waiting != 0; ++channel) {
      if ((input.waiting >> channel & 1) != 0)
        tryReception(node, packet.input * kChannels + channel);
    }
    release(index);
    traffic_->received(*this, node, packet);
  } else {
    const std::uint32_t queue = kChannels * directions_ + packet_[index].input;
    if (append(node, queue, index)) offer(node, queue);
  }
  it.is_busy = false;
  serve(node);
}

}  // namespace torc
