#include "model/packets/program_traffic.h"

#include <algorithm>

namespace torc::model {
namespace {

// Bytes of memory moved per byte, as in the link simulator.
constexpr double kReduceTraffic = 3;
constexpr double kCopyTraffic = 2;
constexpr double kNano = 1e9;

}  // namespace

ProgramTraffic::ProgramTraffic(const PacketNetwork& network, const SimulationGraph& graph,
                               const Machine& machine, bool adaptive)
    : network_(network),
      graph_(graph),
      machine_(machine),
      adaptive_(adaptive),
      classes_(std::min({2 * static_cast<std::uint32_t>(network.topology().dimensions()),
                         static_cast<std::uint32_t>(network.parameters().injection_fifos),
                         kMaxPacketClasses})),
      start_ticks_(network.ticks((machine.alpha + machine.latency) * kNano)),
      overhead_ticks_(network.ticks(machine.overhead * kNano)),
      gap_ticks_(network.ticks(machine.message_gap * kNano)),
      states_(graph.tasks.size()),
      sends_(std::size_t{network.nodes()} * classes_),
      work_(network.nodes()) {
  for (std::uint32_t i = 0; i < states_.size(); ++i)
    states_[i].waiting = graph.dependencesOf(0, i);
}

void ProgramTraffic::start(PacketNetwork& network) {
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    if (states_[i].waiting == 0) ready_.push_back(i);
  }
  settle(network);
}

void ProgramTraffic::push(List& list, std::uint32_t task) {
  states_[task].next = kNone;
  if (list.first == kNone) {
    list.first = task;
  } else {
    states_[list.last].next = task;
  }
  list.last = task;
}

std::uint32_t ProgramTraffic::pop(List& list) {
  const std::uint32_t task = list.first;
  list.first = states_[task].next;
  return task;
}

PacketSizes ProgramTraffic::sizesOf(const Task& send) const {
  const PacketParameters& p = network_.parameters();
  return PacketSizes(p, send.bytes, p.header, p.chunk);
}

/// By the link on which it leaves, so that a full link holds up no others.
std::uint32_t ProgramTraffic::classOf(const Task& send) const {
  const Shift& way = graph_.routes[send.route].way;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(network_.topology().dimensions()); ++i) {
    if (way[i] != 0) return (2 * i + (way[i] < 0 ? 1 : 0)) % classes_;
  }
  return 0;
}

bool ProgramTraffic::isShort(std::uint32_t send, double longest) const {
  return longest > 0 && graph_.tasks[send].fragment() <= longest &&
         !graph_.isSynchronous(send, send);
}

bool ProgramTraffic::next(std::uint32_t node, std::uint32_t packet_class, Outgoing& outgoing) {
  List& list = sends_[node * classes_ + packet_class];
  if (list.first == kNone) return false;
  const std::uint32_t task = pop(list);
  const Task& send = graph_.tasks[task];
  State& state = states_[task];
  const PacketSizes sizes = sizesOf(send);
  outgoing = Outgoing();
  outgoing.packet.chunks = sizes.chunks(state.sent);
  outgoing.packet.payload = static_cast<std::uint16_t>(sizes.payload(state.sent));
  outgoing.packet.tag = task;
  outgoing.packet.deterministic = !adaptive_;
  const Shift& way = graph_.routes[send.route].way;
  for (int i = 0; i < network_.topology().dimensions(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    // The two ways round a line of two are one cable.
    const Axis& it = network_.topology().axes[axis];
    const std::int32_t from =
        static_cast<std::int32_t>(network_.coordinate(node, static_cast<std::uint32_t>(i)));
    const std::int32_t hops = it.hasOneCable() && way[axis] != 0 ? 1 - 2 * from : way[axis];
    outgoing.packet.hops[axis] = static_cast<std::int8_t>(hops);
  }
  outgoing.ticks = network_.sendTicks(outgoing.packet.chunks);
  if (state.sent == 0) outgoing.ticks += overhead_ticks_ + gap_ticks_;
  if (++state.sent < sizes.count()) push(list, task);
  return true;
}

bool ProgramTraffic::nextWork(std::uint32_t node, std::uint32_t& ticks, std::uint32_t& tag) {
  if (work_[node].first == kNone) return false;
  tag = pop(work_[node]);
  const Task& task = graph_.tasks[tag];
  double seconds = task.workSeconds();
  if (machine_.memory_bandwidth > 0) {
    const double traffic =
        task.workSeconds() > 0 || task.kind == TaskKind::kReceive ? kReduceTraffic : kCopyTraffic;
    seconds = std::max(seconds, traffic * task.bytes / machine_.memory_bandwidth);
  }
  ticks = network_.ticks(seconds * kNano);
  return true;
}

void ProgramTraffic::worked(PacketNetwork& network, std::uint32_t tag) {
  complete(network, tag);
  settle(network);
}

std::uint32_t ProgramTraffic::receiveTicks(std::uint32_t, const Packet& packet) {
  const bool is_first = states_[packet.tag].arrived == 0;
  return network_.receiveTicks(packet.chunks) + (is_first ? overhead_ticks_ : 0);
}

void ProgramTraffic::received(PacketNetwork& network, std::uint32_t, const Packet& packet) {
  const std::uint32_t send = packet.tag;
  network.deliver(packet.payload);
  const Task& task = graph_.tasks[send];
  if (++states_[send].arrived < sizesOf(task).count()) return;
  if (!isBuffered(send)) complete(network, send);
  if (states_[task.partner].is_ready) finishReceive(network, task.partner);
  settle(network);
}

/// The data of a receive that is ready are there.
void ProgramTraffic::finishReceive(PacketNetwork& network, std::uint32_t receive) {
  const Task& task = graph_.tasks[receive];
  if (task.workSeconds() > 0 || task.memory != kNone) {
    work(network, receive);
  } else {
    complete(network, receive);
  }
}

void ProgramTraffic::work(PacketNetwork& network, std::uint32_t task) {
  const std::uint32_t node = nodeOf(graph_.tasks[task]);
  push(work_[node], task);
  network.wake(node);
}

void ProgramTraffic::complete(PacketNetwork&, std::uint32_t task) {
  states_[task].is_complete = true;
  ++complete_;
  graph_.forSuccessors(task, task, [&](std::uint32_t after) {
    if (--states_[after].waiting == 0) ready_.push_back(after);
  });
}

/// Deals with tasks that have become ready, and with those that become so by that.
void ProgramTraffic::settle(PacketNetwork& network) {
  while (!ready_.empty()) {
    const std::uint32_t task = ready_.back();
    ready_.pop_back();
    becomeReady(network, task);
  }
}

void ProgramTraffic::becomeReady(PacketNetwork& network, std::uint32_t index) {
  const Task& task = graph_.tasks[index];
  State& state = states_[index];
  state.is_ready = true;
  switch (task.kind) {
    case TaskKind::kPass:
      return complete(network, index);
    case TaskKind::kLocal:
      if (task.workSeconds() > 0 || task.memory != kNone) return work(network, index);
      return complete(network, index);
    case TaskKind::kSend:
      if (isEager(index) || states_[task.partner].is_ready) startMessage(network, index);
      if (isBuffered(index)) complete(network, index);
      return;
    case TaskKind::kReceive: {
      const std::uint32_t send = task.partner;
      if (states_[send].is_started) {
        if (states_[send].arrived == sizesOf(graph_.tasks[send]).count()) {
          finishReceive(network, index);
        }
      } else if (states_[send].is_ready) {
        startMessage(network, send);
      }
      return;
    }
  }
}

void ProgramTraffic::startMessage(PacketNetwork& network, std::uint32_t send) {
  states_[send].is_started = true;
  network.callAt(network.now() + start_ticks_, send);
}

void ProgramTraffic::called(PacketNetwork& network, std::uint32_t send) {
  const std::uint32_t node = nodeOf(graph_.tasks[send]);
  push(sends_[node * classes_ + classOf(graph_.tasks[send])], send);
  network.wake(node);
}

std::string ProgramTraffic::unfinished() const {
  if (complete_ == states_.size()) return "";
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    if (states_[i].is_complete) continue;
    return std::to_string(states_.size() - complete_) +
           " operations never complete, the first is " + graph_.taskName(i);
  }
  return "";
}

}  // namespace torc::model
