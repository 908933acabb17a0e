// Simulates the events of a cluster: working cores, and messages in NIC, wire and switch.
#include "studies/cluster/cluster_simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "studies/cluster/fat_tree.h"
#include "studies/cluster/posted_receives.h"

namespace torc::studies {
namespace {

enum class Kind : std::uint8_t { kData, kRequest, kReply };  // requests and replies of a rendezvous

/// A message in flight, in a pool.
struct Flight {
  Message message;
  std::uint32_t from = 0;
  std::uint64_t round = 0;  // of the sender
  Kind kind = Kind::kData;
  double sent = 0;    // when its last byte left the sending NIC
  double ends = -1;   // behind a tree: arrival of its last byte; -1: not known yet
  double taken = -1;  // end of the NIC's work on it, likewise
};

enum class What : std::uint8_t {
  kProceed,  // a core is free
  kEnter,    // the first packet of a message is at the NIC
  kHead,     // the first byte is at the receiving NIC
  kArrived,  // the receiving core can see all of it
  kSent,     // the data of a message have left the sender's memory
  kWire,     // a message is ready for the first link of the tree
  kLink,     // a link of the tree is free
};

struct Event {
  double time;
  std::uint64_t order;
  What what;
  std::uint32_t subject;  // a core, a flight or a link

  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

/// Times at which a node's shared resources are free again.
struct Node {
  double out = 0, in = 0;  // the wire
  double bus = 0, memory = 0, engine = 0;
  std::uint64_t connection = 0;  // of the engine's last message; 0: none
  /// Messages not yet served by the engine: the time of their service, and their connections.
  std::deque<std::pair<double, std::uint64_t>> queue;
  std::unordered_map<std::uint64_t, std::uint64_t> queued;  // their number, by connection
  std::uint32_t at_barrier = 0;                             // waiting cores
  // Behind a tree: seconds of the wire requested, and granted, for messages; and cores that may
  // continue to push after that many.
  double asked = 0, had = 0;
  struct Held {
    std::uint32_t core;
    double until, earliest;
  };
  std::deque<Held> held;
};

enum class Phase : std::uint8_t { kStart, kBarrier, kBefore, kMessages, kDone };

struct Core {
  Phase phase = Phase::kStart;
  bool idle = false;  // waits for a message
  std::uint64_t index = 0;
  Round round;
  std::uint64_t sent = 0, received = 0;
  std::uint64_t open = 0;  // sends with data not yet sent
  std::deque<std::uint32_t> inbox;
  std::vector<std::uint32_t> too_early;  // requests of later rounds
  PostedReceives posted;
};

class Simulation : public FatTree::Events {
 public:
  Simulation(const Cluster& cluster, const ClusterProgram& program)
      : cluster_(cluster),
        program_(program),
        per_node_(program.coresPerNode()),
        nodes_(program.nodes()),
        cores_(static_cast<std::size_t>(program.nodes()) * program.coresPerNode()) {
    run_.cores.resize(cores_.size());
    if (program.nodes() > cluster.leaf_nodes) tree_.emplace(cluster, program.nodes(), *this);
  }

  ClusterRun run() {
    for (std::uint32_t core = 0; core < cores_.size(); ++core)
      at(0, What::kProceed, core);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      handle(event);
    }
    run_.completed = std::all_of(cores_.begin(), cores_.end(),
                                 [](const Core& core) { return core.phase == Phase::kDone; });
    run_.seconds = *std::max_element(run_.cores.begin(), run_.cores.end());
    return std::move(run_);
  }

 private:
  Node& nodeOf(std::uint32_t core) { return nodes_[core / per_node_]; }

  void at(double time, What what, std::uint32_t subject) {
    events_.push({time, order_++, what, subject});
  }

  std::uint32_t take(const Flight& flight) {
    if (unused_.empty()) {
      pool_.push_back(flight);
      return static_cast<std::uint32_t>(pool_.size() - 1);
    }
    const std::uint32_t index = unused_.back();
    unused_.pop_back();
    pool_[index] = flight;
    return index;
  }

  void handle(const Event& event) {
    switch (event.what) {
      case What::kProceed:
        return proceed(event.subject);
      case What::kEnter:
        return enter(event.subject);
      case What::kHead:
        return head(event.subject);
      case What::kArrived:
        return arrived(event.subject);
      case What::kSent:
        --cores_[event.subject].open;
        return wake(event.subject);
      case What::kWire:
        return toTree(event.subject);
      case What::kLink:
        return tree_->linkIsFree(now_, event.subject);
    }
  }

  void wake(std::uint32_t core) {
    if (!cores_[core].idle) return;
    cores_[core].idle = false;
    proceed(core);
  }

  /// End of a copy that begins now.
  double copied(std::uint32_t core, const Copy& copy) {
    double end = now_ + copy.runs * cluster_.copy_overhead;
    if (!copy.memory) return end + copy.bytes / cluster_.cached_copy;
    if (copy.bytes <= 0) return end;
    Node& node = nodeOf(core);
    node.memory = std::max(node.memory, now_) + copy.bytes / cluster_.memory_bandwidth;
    return std::max(end + copy.bytes / cluster_.memory_copy, node.memory);
  }

  /// A core is free, and continues its round.
  void proceed(std::uint32_t number) {
    Core& core = cores_[number];
    switch (core.phase) {
      case Phase::kStart:
        return begin(number);
      case Phase::kBarrier:
        core.phase = Phase::kBefore;
        return at(copied(number, core.round.before) + post(core), What::kProceed, number);
      case Phase::kBefore:
        core.phase = Phase::kMessages;
        core.inbox.insert(core.inbox.end(), core.too_early.begin(), core.too_early.end());
        core.too_early.clear();
        return exchange(number);
      case Phase::kMessages:
        return exchange(number);
      case Phase::kDone:
        return;
    }
  }

  void begin(std::uint32_t number) {
    Core& core = cores_[number];
    if (core.index == program_.rounds(number)) {
      core.phase = Phase::kDone;
      run_.cores[number] = now_;
      return;
    }
    core.round = program_.round(number, core.index);
    core.sent = 0;
    core.phase = Phase::kBarrier;
    if (!core.round.barrier) return proceed(number);
    Node& node = nodeOf(number);
    if (++node.at_barrier < per_node_) return;
    node.at_barrier = 0;
    const std::uint32_t first = number / per_node_ * per_node_;
    for (std::uint32_t other = first; other < first + per_node_; ++other)
      at(now_ + cluster_.flag * (per_node_ - 1), What::kProceed, other);
  }

  /// Posts the receives of a round. Returns the seconds of their search in the queue of unexpected
  /// messages, and of the copies of those found.
  double post(Core& core) {
    const PostedReceives::Found found = core.posted.post(core.index, core.round.receives);
    core.received = found.messages;
    run_.searched += found.searched;
    return static_cast<double>(found.searched) * cluster_.match +
           found.bytes / cluster_.cached_copy;
  }

  /// Additional seconds of work for a message due to open receives.
  double openWork(const Core& core) const {
    return static_cast<double>(core.round.receives - core.received) * cluster_.open_receive;
  }

  /// Seconds of the search for the receive of an arrived message.
  double matched(Core& core, const Flight& flight) {
    const std::uint64_t before = core.posted.take(flight.message.posted);
    run_.searched += before;
    return static_cast<double>(before) * cluster_.match;
  }

  /// The messages of a round: arrived ones first, then those to be sent.
  void exchange(std::uint32_t number) {
    Core& core = cores_[number];
    if (!core.inbox.empty()) {
      const std::uint32_t flight = core.inbox.front();
      core.inbox.pop_front();
      return takeIn(number, flight);
    }
    if (core.sent < core.round.sends) return send(number);
    if (core.open > 0 || core.received < core.round.receives) {
      core.idle = true;
      return;
    }
    core.phase = Phase::kStart;
    ++core.index;
    at(copied(number, core.round.after), What::kProceed, number);
  }

  void send(std::uint32_t number) {
    Core& core = cores_[number];
    const Flight flight{program_.message(number, core.index, core.sent++), number, core.index};
    const double bytes = flight.message.bytes;
    if (!flight.message.network) {
      const double end = now_ + cluster_.shared_overhead + bytes / cluster_.cached_copy;
      at(end + cluster_.flag, What::kArrived, take(flight));
      return at(end, What::kProceed, number);
    }
    ++run_.messages;
    run_.bytes += bytes;
    if (bytes <= cluster_.rendezvous) return post(number, flight, openWork(core));
    ++core.open;
    Flight request = flight;
    request.kind = Kind::kRequest;
    post(number, request, 0);
  }

  /// Bytes on the wire: a request and a reply have no data.
  static double dataOf(const Flight& flight) {
    return flight.kind == Kind::kData ? flight.message.bytes : 0;
  }

  bool isPushed(const Flight& flight) const {
    return cluster_.pio_limit > 0 && dataOf(flight) <= cluster_.pio_limit;
  }

  /// Whether the NIC reads the data from the program's buffer.
  bool isInPlace(const Flight& flight) const {
    return !isPushed(flight) && dataOf(flight) > cluster_.buffered;
  }

  /// The core hands a message to its NIC, after `work` seconds of other work.
  void post(std::uint32_t number, Flight flight, double work) {
    flight.ends = flight.taken = -1;  // a reply has times of its own
    const double bytes = dataOf(flight);
    double end = now_ + work + cluster_.send_overhead;
    if (isPushed(flight)) {
      end += std::min(bytes, cluster_.payload) / cluster_.pio_bandwidth;
      at(end, What::kEnter, take(flight));  // the end of the core's pushes follows from it
      return;
    }
    if (bytes <= cluster_.buffered) end += bytes / cluster_.cached_copy;
    if (isInPlace(flight) && flight.message.bytes <= cluster_.rendezvous) ++cores_[number].open;
    at(end, What::kEnter, take(flight));
    at(end, What::kProceed, number);
  }

  double packets(double bytes) const { return std::max(1.0, std::ceil(bytes / cluster_.payload)); }

  /// Seconds on the wire, or on the bus if that is slower.
  double passing(double bytes) const {
    return std::max((bytes + packets(bytes) * cluster_.header) / cluster_.link_bandwidth,
                    bytes / cluster_.bus_bandwidth);
  }

  /// Time at which the engine has begun a message, with its first packet served. It serves
  /// connections alternately, packet by packet: with others in the queue every packet has another
  /// connection than the one before.
  double served(Node& node, std::uint64_t connection, double bytes) {
    double first = cluster_.message, rest = 0;
    if (cluster_.connection > 0) {
      for (; !node.queue.empty() && node.queue.front().first <= now_; node.queue.pop_front()) {
        const auto queued = node.queued.find(node.queue.front().second);
        if (--queued->second == 0) node.queued.erase(queued);
      }
      const bool in_turn = node.queue.size() > node.queued[connection]++;
      if (in_turn || connection != node.connection) first += cluster_.connection;
      if (in_turn) rest = (packets(bytes) - 1) * cluster_.connection;
      node.connection = connection;
    }
    const double begun = std::max(node.engine, now_) + first;
    node.engine = begun + rest;
    if (cluster_.connection > 0) node.queue.emplace_back(node.engine, connection);
    return begun;
  }

  /// Time at which the engine has begun a message, whose data then use the bus.
  double moved(Node& node, std::uint64_t connection, double bytes) {
    const double ready = served(node, connection, bytes);
    node.bus = std::max(node.bus, ready) + bytes / cluster_.bus_total;
    return ready;
  }

  /// Time at which a message begins to use the wire of a node in one direction; `wire` is the end
  /// of its last use.
  double carried(Node& node, double& wire, std::uint64_t connection, double bytes) {
    const double ready = moved(node, connection, bytes);
    const double start = std::max(ready, wire);
    wire = start + passing(bytes);
    return start;
  }

  void enter(std::uint32_t index) {
    Flight& flight = pool_[index];
    Node& node = nodeOf(flight.from);
    const double bytes = dataOf(flight);
    const double last = passing(std::min(bytes, cluster_.payload));
    if (tree_) return enterTree(index, last);
    const double start = carried(node, node.out, flight.message.out, bytes);
    flight.sent = std::max({node.out, node.bus, node.engine + last});
    if (isPushed(flight)) {
      const double rest = std::max(0.0, bytes - cluster_.payload) / cluster_.pio_bandwidth;
      flight.sent = std::max(flight.sent, now_ + rest + last);
      const double held = flight.sent - cluster_.pio_buffer / cluster_.link_bandwidth;
      at(std::max(now_ + rest, held), What::kProceed, flight.from);
    } else if (isInPlace(flight)) {
      at(flight.sent, What::kSent, flight.from);
    }
    at(start + cluster_.latency + cluster_.switch_latency, What::kHead, index);
  }

  /// A message enters the tree when the engine has begun with it. The core may be ahead of the wire
  /// by the NIC's buffer.
  void enterTree(std::uint32_t index, double last) {
    Flight& flight = pool_[index];
    Node& node = nodeOf(flight.from);
    const double bytes = dataOf(flight);
    const double ready = moved(node, flight.message.out, bytes);
    flight.sent = std::max(node.bus, node.engine + last);
    node.asked += passing(bytes);
    if (isPushed(flight)) {
      const double rest = std::max(0.0, bytes - cluster_.payload) / cluster_.pio_bandwidth;
      flight.sent = std::max(flight.sent, now_ + rest + last);
      node.held.push_back(
          {flight.from, node.asked - cluster_.pio_buffer / cluster_.link_bandwidth, now_ + rest});
      release(node);
    }
    at(ready, What::kWire, index);
  }

  /// Lets cores continue to push.
  void release(Node& node) {
    for (; !node.held.empty() && node.held.front().until <= node.had * (1 + 1e-12);
         node.held.pop_front())
      at(std::max(now_, node.held.front().earliest), What::kProceed, node.held.front().core);
  }

  void toTree(std::uint32_t index) {
    const Flight& flight = pool_[index];
    const double bytes = dataOf(flight);
    tree_->send(now_, index, flight.from / per_node_, flight.message.to / per_node_, packets(bytes),
                bytes + packets(bytes) * cluster_.header, passing(bytes), flight.sent);
  }

  void freeAt(double time, std::uint32_t link) override { at(time, What::kLink, link); }

  void left(std::uint32_t index) override {
    const Flight& flight = pool_[index];
    Node& node = nodeOf(flight.from);
    node.had += passing(dataOf(flight));
    release(node);
    if (!isInPlace(flight)) return;
    --cores_[flight.from].open;
    wake(flight.from);
  }

  void reached(std::uint32_t index) override {
    at(now_ + cluster_.latency + cluster_.switch_latency, What::kHead, index);
  }

  void ends(std::uint32_t index, double end) override {
    pool_[index].ends = end + cluster_.latency + cluster_.switch_latency;
    arriveFromTree(index);
  }

  /// A message from the tree has arrived; its end may be known before the NIC has begun.
  void arriveFromTree(std::uint32_t index) {
    const Flight& flight = pool_[index];
    if (flight.ends >= 0 && flight.taken >= 0)
      at(std::max(flight.ends, flight.taken), What::kArrived, index);
  }

  void head(std::uint32_t index) {
    Flight& flight = pool_[index];
    Node& node = nodeOf(flight.message.to);
    const double bytes = dataOf(flight);
    const double last = passing(std::min(bytes, cluster_.payload));
    if (tree_) {  // its last link has carried it
      moved(node, flight.message.in, bytes);
      flight.taken = std::max(node.bus, node.engine + last);
      return arriveFromTree(index);
    }
    carried(node, node.in, flight.message.in, bytes);
    const double end = flight.sent + cluster_.latency + cluster_.switch_latency;
    at(std::max({node.in, node.bus, node.engine + last, end}), What::kArrived, index);
  }

  void arrived(std::uint32_t index) {
    const Flight& flight = pool_[index];
    Core& core = cores_[flight.message.to];
    const bool early = flight.kind == Kind::kRequest &&
                       (flight.round > core.index ||
                        (flight.round == core.index && core.phase != Phase::kMessages));
    if (early) {
      core.too_early.push_back(index);
      return;
    }
    core.inbox.push_back(index);
    wake(flight.message.to);
  }

  /// A core processes an arrived message.
  void takeIn(std::uint32_t number, std::uint32_t index) {
    Core& core = cores_[number];
    const Flight flight = pool_[index];
    if (flight.kind == Kind::kRequest && flight.round > core.index) {
      core.too_early.push_back(index);
      return exchange(number);
    }
    unused_.push_back(index);
    if (flight.kind == Kind::kRequest) {
      Flight reply = flight;
      reply.kind = Kind::kReply;
      std::swap(reply.message.to, reply.from);
      std::swap(reply.message.in, reply.message.out);
      return post(number, reply, cluster_.receive_overhead + matched(core, flight));
    }
    if (flight.kind == Kind::kReply) {
      Flight data = flight;
      data.kind = Kind::kData;
      std::swap(data.message.to, data.from);
      std::swap(data.message.in, data.message.out);
      if (!isInPlace(data)) --core.open;
      return post(number, data, cluster_.receive_overhead);
    }
    const double bytes = flight.message.bytes;
    double search = openWork(core);
    if (flight.round != core.index) {
      core.posted.arriveEarly(flight.round, flight.message.posted, bytes);
    } else {
      ++core.received;
      if (!flight.message.network || bytes <= cluster_.rendezvous) search += matched(core, flight);
    }
    if (!flight.message.network) {
      return at(now_ + search + cluster_.shared_overhead + bytes / cluster_.cached_copy,
                What::kProceed, number);
    }
    const bool out = bytes <= std::max(cluster_.buffered, cluster_.eager_copy);
    at(copied(number, {out ? bytes : 0, 0, true}) + search + cluster_.receive_overhead,
       What::kProceed, number);
  }

  const Cluster& cluster_;
  const ClusterProgram& program_;
  const std::uint32_t per_node_;
  std::optional<FatTree> tree_;
  double now_ = 0;
  std::uint64_t order_ = 0;
  std::vector<Node> nodes_;
  std::vector<Core> cores_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Flight> pool_;
  std::vector<std::uint32_t> unused_;
  ClusterRun run_;
};

}  // namespace

ClusterRun simulateCluster(const Cluster& cluster, const ClusterProgram& program) {
  return Simulation(cluster, program).run();
}

}  // namespace torc::studies
