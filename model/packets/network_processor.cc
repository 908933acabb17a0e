// Packet network: the processors of the nodes.
#include <algorithm>
#include <cstdlib>

#include "model/packets/network.h"

namespace torc::model {

void PacketNetwork::wakeAt(std::uint32_t node, std::uint64_t time) {
  Site& it = site_[node];
  if (it.wakes_at != 0 && it.wakes_at <= time) return;
  it.wakes_at = time;
  schedule(time - events_.now(), kWake, node, 0);
}

/// Takes up the next job, if the processor is free and there is one, alternating receives and
/// sends.
void PacketNetwork::serve(std::uint32_t node) {
  Site& it = site_[node];
  if (it.is_busy || (works_ && startWork(node))) return;
  if (it.receives_next) {
    if (!startReceive(node)) startSend(node);
  } else {
    if (!startSend(node)) startReceive(node);
  }
}

bool PacketNetwork::startWork(std::uint32_t node) {
  Site& it = site_[node];
  std::uint32_t ticks = 0;
  if (!traffic_->nextWork(node, ticks, it.job)) return false;
  it.is_busy = true;
  it.job_kind = PacketJob::kWork;
  schedule(ticks, kProcessor, node, 0);
  return true;
}

bool PacketNetwork::startReceive(std::uint32_t node) {
  Site& it = site_[node];
  if (it.received.isEmpty()) return false;
  it.job = it.received.pop(moving_);
  it.is_busy = true;
  it.job_kind = PacketJob::kReceive;
  it.receives_next = false;
  const Packet packet = packetOf(it.job);
  schedule(receive_ticks_[packet.chunks] + traffic_->furtherReceiveTicks(packet), kProcessor, node,
           0);
  return true;
}

bool PacketNetwork::startSend(std::uint32_t node) {
  Site& it = site_[node];
  for (std::uint32_t i = 0; i < classes_; ++i) {
    std::uint32_t packet_class = it.next_class + i;
    if (packet_class >= classes_) packet_class -= classes_;
    Outgoing& outgoing = outgoing_[node * classes_ + packet_class];
    const std::uint32_t bit = 1u << packet_class;
    if ((it.has_outgoing & bit) == 0) {
      if (!traffic_->next(node, packet_class, outgoing)) continue;
      it.has_outgoing = static_cast<std::uint8_t>(it.has_outgoing | bit);
      outgoing.packet.source = node;
      outgoing.packet.input = fifo_of_[packet_class][longestWay(outgoing.packet)];
    }
    if (outgoing.not_before > events_.now()) {
      wakeAt(node, outgoing.not_before);
      continue;
    }
    std::int16_t& room = it.injection_room[outgoing.packet.input];
    if (room < outgoing.packet.chunks) continue;
    room = static_cast<std::int16_t>(room - outgoing.packet.chunks);
    it.job = allocate(outgoing.packet);
    least_chunks_ = std::min<std::int32_t>(least_chunks_, outgoing.packet.chunks);
    it.has_outgoing = static_cast<std::uint8_t>(it.has_outgoing & ~bit);
    it.next_class = static_cast<std::uint8_t>(packet_class + 1 == classes_ ? 0 : packet_class + 1);
    it.is_busy = true;
    it.job_kind = PacketJob::kSend;
    it.receives_next = true;
    schedule(outgoing.ticks, kProcessor, node, 0);
    return true;
  }
  return false;
}

/// The direction in which a packet has most hops.
std::uint32_t PacketNetwork::longestWay(const Packet& packet) const {
  std::uint32_t direction = 0;
  int most = 0;
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    const int hops = std::abs(packet.hops[i]);
    if (hops <= most) continue;
    most = hops;
    direction = directionOf(i, packet.hops[i]);
  }
  return direction;
}

/// A class's share of the injection FIFOs, by direction: all of them if each direction has one and
/// classes differ in directions.
void PacketNetwork::shareFifos(const Traffic& traffic) {
  classes_ = std::min(traffic.classes(), fifos_);
  const bool is_shared = traffic.classesGoInDifferentDirections() && fifos_ >= directions_;
  for (std::uint32_t i = 0; i < classes_; ++i) {
    const std::uint32_t first = is_shared ? 0 : i * fifos_ / classes_;
    const std::uint32_t end = is_shared ? fifos_ : (i + 1) * fifos_ / classes_;
    for (std::uint32_t direction = 0; direction < directions_; ++direction)
      fifo_of_[i][direction] = static_cast<std::uint8_t>(first + direction % (end - first));
  }
}

void PacketNetwork::finishJob(std::uint32_t node) {
  Site& it = site_[node];
  const std::uint32_t index = it.job;
  if (it.job_kind == PacketJob::kWork) {
    traffic_->worked(*this, index);
  } else if (it.job_kind == PacketJob::kReceive) {
    const Packet packet = packetOf(index);
    InputPort& input = it.inputs[packet.input];
    input.room = static_cast<std::int16_t>(input.room + packet.chunks);
    for (std::uint32_t channel = 0; channel < kPacketChannels && input.waiting != 0; ++channel) {
      if ((input.waiting >> channel & 1) != 0) tryReception(node, queueOf(packet.input, channel));
    }
    ++taken_up_;
    moving_[index].next = free_packet_;
    free_packet_ = index;
    traffic_->received(*this, node, packet);
  } else {
    const std::uint32_t queue = kFirstInjection + cargo_[index].input;
    moving_[index].arrives = static_cast<std::uint32_t>(events_.now());
    append(it.queue(queue), index, moving_[index].chunks);
    arrived(node, queue, index);
  }
  it.is_busy = false;
  serve(node);
}

}  // namespace torc::model
