#include "model/packets/program_traffic.h"

#include <algorithm>
#include <string>
#include <vector>

#include "model/packets/packet_sizes.h"

namespace torc::model {
namespace {

constexpr double kNano = 1e9;

class ProgramTraffic : public Traffic {
 public:
  ProgramTraffic(const PacketNetwork& network, const SimulationGraph& graph, const Machine& machine)
      : network_(network),
        graph_(graph),
        machine_(machine),
        dimensions_(static_cast<std::uint32_t>(network.topology().dimensions())),
        classes_(std::min({2 * dimensions_,
                           static_cast<std::uint32_t>(network.parameters().injection_fifos),
                           kMaxPacketClasses})),
        start_ticks_(network.ticks((machine.alpha + machine.latency) * kNano)),
        overhead_ticks_(network.ticks(machine.overhead * kNano)),
        gap_ticks_(network.ticks(machine.message_gap * kNano)),
        states_(graph.tasks.size()),
        sends_(std::size_t{network.nodes()} * classes_),
        work_(network.nodes()) {}

  std::uint32_t classes() const override { return classes_; }
  bool works() const override { return true; }

  void start(PacketNetwork& network) override {
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      states_[i].waiting = graph_.dependencesOf(0, i);
      if (states_[i].waiting == 0) ready_.push_back(i);
    }
    settle(network);
  }

  bool next(std::uint32_t node, std::uint32_t packet_class, Outgoing& outgoing) override {
    EntryQueue& queue = sends_[node * classes_ + packet_class];
    if (queue.isEmpty()) return false;
    const std::uint32_t task = queue.pop(states_);
    const Task& send = graph_.tasks[task];
    State& state = states_[task];
    const PacketSizes sizes = sizesOf(send);
    outgoing = Outgoing();
    outgoing.packet.chunks = sizes.chunks(state.sent);
    outgoing.packet.payload = static_cast<std::uint16_t>(sizes.payload(state.sent));
    outgoing.packet.tag = task;
    outgoing.packet.deterministic = network_.parameters().adaptive == 0;
    const Shift& way = graph_.routes[send.route].way;
    for (std::uint32_t i = 0; i < dimensions_; ++i) {
      // The two ways round a line of two are one cable.
      const bool has_one_cable = network_.topology().axes[i].hasOneCable() && way[i] != 0;
      outgoing.packet.hops[i] = static_cast<std::int8_t>(
          has_one_cable ? 1 - 2 * static_cast<std::int32_t>(network_.coordinate(node, i)) : way[i]);
    }
    outgoing.ticks = network_.sendTicks(outgoing.packet.chunks);
    if (state.sent == 0) outgoing.ticks += overhead_ticks_ + gap_ticks_;
    if (++state.sent < sizes.count()) queue.push(states_, task);
    return true;
  }

  bool nextWork(std::uint32_t node, std::uint32_t& ticks, std::uint32_t& tag) override {
    if (work_[node].isEmpty()) return false;
    tag = work_[node].pop(states_);
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

  void worked(PacketNetwork& network, std::uint32_t tag) override {
    complete(tag);
    settle(network);
  }

  std::uint32_t furtherReceiveTicks(const Packet& packet) const override {
    return states_[packet.tag].arrived == 0 ? overhead_ticks_ : 0;
  }

  void received(PacketNetwork& network, std::uint32_t, const Packet& packet) override {
    const std::uint32_t send = packet.tag;
    network.deliver(packet.payload);
    ++states_[send].arrived;
    if (!hasArrived(send)) return;
    if (!graph_.isShort(send, send, graph_.buffered)) complete(send);
    const std::uint32_t receive = graph_.tasks[send].partner;
    if (states_[receive].is_ready) work(network, receive);
    settle(network);
  }

  /// The start-up of a message has ended.
  void called(PacketNetwork& network, std::uint32_t send) override {
    const Task& task = graph_.tasks[send];
    sends_[nodeOf(task) * classes_ + classOf(task)].push(states_, send);
    network.wake(nodeOf(task));
  }

  std::string unfinished() const override {
    if (complete_ == states_.size()) return "";
    const auto first = std::ranges::find(states_, false, &State::is_complete);
    return std::to_string(states_.size() - complete_) +
           " operations never complete, the first is " +
           graph_.taskName(static_cast<std::uint32_t>(first - states_.begin()));
  }

 private:
  struct State {
    std::uint32_t waiting = 0;   // incomplete dependences
    std::uint32_t next = kNone;  // in the list of a node's sends, or of its work
    std::uint32_t sent = 0;      // packets; sends alone
    std::uint32_t arrived = 0;   // packets
    bool is_ready = false;
    bool is_started = false;  // sends
    bool is_complete = false;
  };

  PacketSizes sizesOf(const Task& send) const {
    const PacketParameters& p = network_.parameters();
    return PacketSizes(p, send.bytes, p.header, p.chunk);
  }
  bool hasArrived(std::uint32_t send) const {
    return states_[send].arrived == sizesOf(graph_.tasks[send]).count();
  }
  std::uint32_t nodeOf(const Task& task) const {
    return static_cast<std::uint32_t>(graph_.ranks[task.node]);
  }
  /// By the first link, so that a full link does not delay other messages.
  std::uint32_t classOf(const Task& send) const {
    const Shift& way = graph_.routes[send.route].way;
    for (std::uint32_t i = 0; i < dimensions_; ++i) {
      if (way[i] != 0) return (2 * i + (way[i] < 0 ? 1 : 0)) % classes_;
    }
    return 0;
  }

  void becomeReady(PacketNetwork& network, std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    states_[index].is_ready = true;
    switch (task.kind) {
      case TaskKind::kPass:
        return complete(index);
      case TaskKind::kLocal:
        return work(network, index);
      case TaskKind::kSend:
        if (graph_.isShort(index, index, graph_.eager) || states_[task.partner].is_ready) {
          startMessage(network, index);
        }
        if (graph_.isShort(index, index, graph_.buffered)) complete(index);
        return;
      case TaskKind::kReceive:
        if (states_[task.partner].is_started) {
          if (hasArrived(task.partner)) work(network, index);
        } else if (states_[task.partner].is_ready) {
          startMessage(network, task.partner);
        }
        return;
    }
  }

  void startMessage(PacketNetwork& network, std::uint32_t send) {
    states_[send].is_started = true;
    network.callAt(network.now() + start_ticks_, send);
  }

  /// A reduction or copy is ready, or a receive has its data.
  void work(PacketNetwork& network, std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    if (!task.hasWork()) return complete(index);
    work_[nodeOf(task)].push(states_, index);
    network.wake(nodeOf(task));
  }

  void complete(std::uint32_t task) {
    states_[task].is_complete = true;
    ++complete_;
    graph_.forSuccessors(task, task, [&](std::uint32_t after) {
      if (--states_[after].waiting == 0) ready_.push_back(after);
    });
  }

  /// Processes tasks that have become ready, and those that become ready in turn.
  void settle(PacketNetwork& network) {
    while (!ready_.empty()) {
      const std::uint32_t task = ready_.back();
      ready_.pop_back();
      becomeReady(network, task);
    }
  }

  const PacketNetwork& network_;
  const SimulationGraph& graph_;
  const Machine& machine_;
  const std::uint32_t dimensions_;
  const std::uint32_t classes_;
  const std::uint32_t start_ticks_;     // alpha and L
  const std::uint32_t overhead_ticks_;  // o
  const std::uint32_t gap_ticks_;       // message_gap: the processor is the interface
  std::vector<State> states_;           // by task
  std::vector<EntryQueue> sends_;       // by node and class: messages in flight
  std::vector<EntryQueue> work_;        // by node
  std::vector<std::uint32_t> ready_;    // tasks that have become ready
  std::uint64_t complete_ = 0;
};

}  // namespace

std::unique_ptr<Traffic> programTraffic(const PacketNetwork& network, const SimulationGraph& graph,
                                        const Machine& machine) {
  return std::make_unique<ProgramTraffic>(network, graph, machine);
}

}  // namespace torc::model
