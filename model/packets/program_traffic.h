// The traffic of a schedule: the messages of all ranks' programs, packet by packet, each when what
// it depends on is complete.
//
// Messages start as in the link simulator (model/simulator/simulator.h): when both ends are ready,
// or, up to `eager` bytes, when the send is; after alpha and L. Then the packets of a node's
// messages leave in turn, each on the links of its dimensions in order, X first, the way round that
// the schedule says. Reductions and copies keep the processor busy.
#ifndef TORC_MODEL_PACKETS_PROGRAM_TRAFFIC_H_
#define TORC_MODEL_PACKETS_PROGRAM_TRAFFIC_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "model/machines/machine.h"
#include "model/packets/network.h"
#include "model/packets/packet_sizes.h"
#include "model/packets/traffic.h"
#include "model/simulator/simulation_graph.h"

namespace torc::model {

class ProgramTraffic : public Traffic {
 public:
  /// All must outlive it. `graph` is one of ranks, its ranks those of the network's nodes.
  /// `adaptive`: routers choose the order of dimensions.
  ProgramTraffic(const PacketNetwork& network, const SimulationGraph& graph, const Machine& machine,
                 bool adaptive);

  std::uint32_t classes() const override { return classes_; }
  bool works() const override { return true; }
  bool next(std::uint32_t node, std::uint32_t packet_class, Outgoing& outgoing) override;
  bool nextWork(std::uint32_t node, std::uint32_t& ticks, std::uint32_t& tag) override;
  void worked(PacketNetwork& network, std::uint32_t tag) override;
  std::uint32_t receiveTicks(std::uint32_t node, const Packet& packet) override;
  void received(PacketNetwork& network, std::uint32_t node, const Packet& packet) override;
  void called(PacketNetwork& network, std::uint32_t what) override;
  std::string unfinished() const override;

  /// Makes what depends on nothing ready.
  void start(PacketNetwork& network);

 private:
  struct State {
    std::uint32_t waiting = 0;   // dependences that are not complete
    std::uint32_t next = kNone;  // in the list of a node's sends, or of its work
    std::uint32_t sent = 0;      // packets; sends alone
    std::uint32_t arrived = 0;   // likewise
    bool is_ready = false;
    bool is_started = false;  // sends
    bool is_complete = false;
  };
  struct List {
    std::uint32_t first = kNone, last = kNone;
  };

  void push(List& list, std::uint32_t task);
  std::uint32_t pop(List& list);

  PacketSizes sizesOf(const Task& send) const;
  std::uint32_t nodeOf(const Task& task) const {
    return static_cast<std::uint32_t>(graph_.ranks[task.node]);
  }
  std::uint32_t classOf(const Task& send) const;
  bool isEager(std::uint32_t send) const { return isShort(send, machine_.eager); }
  bool isBuffered(std::uint32_t send) const {
    return isShort(send, std::max(machine_.eager, machine_.buffered));
  }
  bool isShort(std::uint32_t send, double longest) const;
  void becomeReady(PacketNetwork& network, std::uint32_t task);
  void startMessage(PacketNetwork& network, std::uint32_t send);
  void finishReceive(PacketNetwork& network, std::uint32_t receive);
  void work(PacketNetwork& network, std::uint32_t task);
  void complete(PacketNetwork& network, std::uint32_t task);
  void settle(PacketNetwork& network);

  const PacketNetwork& network_;
  const SimulationGraph& graph_;
  const Machine& machine_;
  const bool adaptive_;
  const std::uint32_t classes_;
  const std::uint32_t start_ticks_;     // alpha and L
  const std::uint32_t overhead_ticks_;  // o
  const std::uint32_t gap_ticks_;       // message_gap: the processor is the interface
  std::vector<State> states_;           // by task
  std::vector<List> sends_;             // by node and class: messages under way
  std::vector<List> work_;              // by node
  std::vector<std::uint32_t> ready_;    // tasks that have become ready
  bool settling_ = false;
  std::uint64_t complete_ = 0;
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_PROGRAM_TRAFFIC_H_
