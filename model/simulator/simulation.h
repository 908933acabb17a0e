// One run of the simulator over the events of a graph.
#ifndef TORC_MODEL_SIMULATOR_SIMULATION_H_
#define TORC_MODEL_SIMULATOR_SIMULATION_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "model/simulator/simulation_graph.h"
#include "model/simulator/simulator.h"

namespace torc::model {

class Simulation {
 public:
  /// All three must outlive this.
  Simulation(const SimulationGraph& graph, const Machine& machine, const SimulateOptions& options);

  /// Runs to the end. Returns the number of tasks that never complete.
  std::uint64_t run();
  /// After run(): the first incomplete task.
  std::uint32_t firstPending() const;
  /// After a run() that returned 0.
  SimulateResult result() const;
  /// Time of fewer segments of the graph.
  struct Fewer {
    std::uint32_t segments = 0;
    double makespan_s = 0;
  };
  /// Likewise: extrapolates the result to `segments` segments. The graph's segments must end at
  /// equal distances, be half as many again as fill the pipeline, and take longer than `fewer` in
  /// proportion. Returns whether they do. The numbers of segments differ by even numbers.
  bool continueTo(std::uint32_t segments, const Fewer& fewer, SimulateResult& result) const;

 private:
  enum class Event : std::uint8_t { kStartedUp, kServed };

  struct Timer {
    double time;
    Event event;
    std::uint32_t task;

    bool operator<(const Timer& other) const {  // the top of a heap is the earliest
      if (time != other.time) return time > other.time;
      return event != other.event ? event > other.event : task > other.task;
    }
  };

  struct State {
    std::uint32_t dependences : 28 = 0;  // that are incomplete
    bool is_ready : 1 = false;
    bool at_interface : 1 = false;  // sends: the core has done its part
    bool has_arrived : 1 = false;   // receives: the data have arrived
    bool is_complete : 1 = false;
    std::uint32_t depth = 0;  // messages one after another up to its end
  };

  /// Times of a task's events, and the causes of its waits.
  struct History {
    double ready = 0;                        // when its dependences were complete
    double served = 0;                       // when a core took it up
    double left = 0;                         // sends: when the core had done its part
    double passing = 0;                      // sends: when the node's interface took it up
    double posted = 0;                       // sends: when the interface had done its part
    double end = 0;                          // when it was complete
    double departure = 0;                    // sends: when the data were first on the links
    double arrival = 0;                      // sends: when the data were at the other end
    std::uint32_t cause = kNone;             // the dependence that completed last
    std::uint32_t core_before = kNone;       // the task that its core served before
    std::uint32_t interface_before = kNone;  // the send that the interface served before
    std::uint32_t port_before = kNone;       // the send whose port it got after waiting
  };

  struct Segment {
    std::uint32_t left = 0;   // incomplete tasks
    std::uint32_t depth = 0;  // messages one after another up to its end
    double end = 0;           // when it was complete
  };

  /// A request for a core or for ports. Requests of the same instant are served in the order of
  /// their operations, independent of the order of events.
  struct Request {
    bool is_work = false;  // of a core: more than the overhead of a message
    std::uint64_t instant = 0;
    std::uint32_t operation = 0;
    std::uint32_t task = 0;

    auto operator<=>(const Request&) const = default;
  };

  struct Core {
    bool busy = false;
    std::uint32_t last = kNone;           // task served last
    llvm::SmallVector<Request, 1> queue;  // a heap, the least on top
  };

  /// Links of a node in use in one direction, with the active messages on each; requests that lack
  /// a port here.
  struct Ports {
    std::map<std::uint32_t, std::uint32_t> in_use;
    std::vector<Request> queue;
  };

  /// Records the time, or a task.
  void note(std::uint32_t index, double History::*what) {
    if (!history_.empty()) history_[index].*what = now_;
  }
  void note(std::uint32_t index, std::uint32_t History::*what, std::uint32_t task) {
    if (!history_.empty()) history_[index].*what = task;
  }

  void becomeReady(std::uint32_t index);
  void finish(std::uint32_t index);

  // Tasks are numbered across all segments.
  std::uint32_t segmentOf(std::uint32_t index) const {
    return static_cast<std::uint32_t>(inverse_ * (index + __uint128_t{1}) >> 64);
  }
  std::uint32_t inSegment(std::uint32_t index) const {
    return index - graph_.segmentStart(segmentOf(index));
  }
  const Task& taskOf(std::uint32_t index) const { return graph_.tasks[inSegment(index)]; }
  double bytesOf(std::uint32_t index) const {
    return graph_.bytes.empty() ? taskOf(index).bytes : graph_.bytes[index];
  }
  std::uint32_t partnerOf(std::uint32_t index) const {
    return graph_.segmentStart(segmentOf(index)) + taskOf(index).partner;
  }

  // Messages; `send` is the task of the sender.
  bool isShort(std::uint32_t send, double longest) const {
    return graph_.isShort(send, inSegment(send), longest);
  }
  bool isEager(std::uint32_t send) const { return isShort(send, graph_.eager); }
  bool isBuffered(std::uint32_t send) const { return isShort(send, graph_.buffered); }
  void startMessage(std::uint32_t send);
  void leaveRank(std::uint32_t send);
  void postSend(std::uint32_t send);
  void startUp(std::uint32_t send);
  void startTransfer(std::uint32_t send);
  void arrive(std::uint32_t send);

  void transfer(std::uint32_t send);

  bool takePorts(const Request& request);
  void releasePorts(std::uint32_t send);

  // Cores, and the interfaces of nodes, which act as cores for sends after that of their rank.
  std::uint32_t coreOf(std::uint32_t index) const;
  double busySeconds(std::uint32_t index) const;
  void wantCore(std::uint32_t index);
  void occupyCore(std::uint32_t index);
  void serve(std::uint32_t index);
  void moveMemory(std::uint32_t index);
  void leaveCore(std::uint32_t index);

  void endFlows();
  void handleTimer();
  bool settle();
  Request request(std::uint32_t index) const {
    const Task& task = taskOf(index);
    return {task.kind != TaskKind::kSend && task.hasWork(), instant_,
            segmentOf(index) * graph_.operations + task.operation, index};
  }

  // The critical path, backwards (simulation_path.cc).
  enum class Stage : std::uint8_t { kServed, kPosted, kTransferred, kComplete };
  struct Point {
    std::uint32_t task = kNone;
    Stage stage = Stage::kComplete;
  };
  double timeOf(const Point& point) const;
  Point before(const Point& point, CriticalStep& step) const;
  std::vector<CriticalStep> criticalPath() const;
  std::vector<SimulatedEvent> events() const;

  const SimulationGraph& graph_;
  FairShare network_;
  const Machine& machine_;
  const SimulateOptions& options_;
  const std::uint64_t inverse_;   // of the number of tasks in a segment, times 2^64
  std::vector<State> states_;     // by number
  std::vector<History> history_;  // by number; empty: not recorded
  std::vector<Segment> segments_;
  std::vector<Core> cores_;
  std::vector<Ports> sending_, receiving_;  // by node; empty: no limit
  std::priority_queue<Timer> timers_;
  std::vector<std::uint32_t> ready_;  // at this moment, in order
  double now_ = 0;
  std::uint64_t instant_ = 0;  // number of instants so far; times equal up to rounding are one
  double instant_end_ = 0;
  std::vector<Request> port_requests_;      // to be served at the end of the instant
  std::vector<std::uint32_t> freed_cores_;  // likewise: free cores with requests
  std::vector<std::uint32_t> ended_;        // flows
  std::uint64_t complete_ = 0;
  std::uint32_t last_ = kNone;  // last completed task
  double end_ = 0;              // and its time
};

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_SIMULATION_H_
