// Simulator: computes the times of a schedule's operations on a machine, event by event, per
// directed link.
//
//  - An operation is ready when its dependences are complete.
//  - A message starts when its send and its receive are both ready; one of at most `eager` bytes as
//    soon as its send is. A core of the sender is busy for o. For a larger message of at most
//    `buffered` bytes this happens as soon as its send is ready; the rest waits for the receive.
//    After the start-up time alpha, L and the latencies of the hops, which occupy no resource, the
//    bytes use all links of the message's route at once. Active messages share links max-min fairly
//    (model/simulator/fair_share.h); SimGrid, too, adds latency first and then bytes. After their
//    arrival the send is complete, and a core of the receiver is busy for o; then the receive is
//    complete, unless it reduces. A buffered send (of at most `eager` or `buffered` bytes) is
//    complete already when its core is free again; in a schedule with synchronous sends, a
//    send of data with dependants is not buffered.
//  - A reduction occupies a core for the arithmetic (gamma) or for the node's memory traffic of
//    three bytes per byte, whichever is longer; a copy, for two bytes per byte. The cores of a node
//    share its memory. Each stream has its core (Stream.core, modulo the cores of a rank); a core
//    serves ready operations first come, first served, but messages before arithmetic and copies,
//    like the executor (runtime/execution/executor.cc).
//  - On every link of the network a message has `envelope` bytes besides its data.
//  - The interface of a node is busy for message_gap with every message that leaves it; if it
//    cannot fetch the data itself, the sending core is busy for bytes / injection.
//  - A node sends, and receives, on at most `ports` links at a time. A message without a free port
//    waits, first come, first served.
//
// Of a schedule in many segments some are simulated, and each of the rest takes as long as the last
// of these: events of the later half are moved to the last segments of all.
//
// For a schedule that looks the same from every node, one node is simulated for all
// (ir/node_classes.h). Simultaneous events are processed by ascending index: results are
// reproducible.
#ifndef TORC_MODEL_SIMULATOR_SIMULATOR_H_
#define TORC_MODEL_SIMULATOR_SIMULATOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "model/simulator/routes.h"
#include "schedules/schedule.h"

namespace torc::model {

struct SimulateOptions {
  double bytes = 0;            // of the whole vector; >= 0
  bool per_rank = false;       // simulate every rank, with messages of whole elements
  double element_bytes = 4;    // of an element; with per_rank only
  bool critical_path = false;  // fill SimulateResult::critical_path
  bool events = false;         // and SimulateResult::events
};

/// Use of the busiest link of one axis and direction.
struct LinkUse {
  LinkClass link_class;
  double bytes = 0;   // carried
  double busy_s = 0;  // with some active message
  double idle_s = 0;  // the rest of the makespan
};

/// The last cause of waiting before an operation, or a message, started.
enum class WaitedFor : std::uint8_t {
  kNothing,     // ready from the beginning
  kDependence,  // an operation that it depends on
  kPeer,        // a dependence of the other end of its message
  kCore,        // its core, busy with another operation
  kInterface,   // its node's interface, busy with another message
  kPort,        // a port, in use by another message
};
std::string_view name(WaitedFor what);

/// One operation of the critical path: the last to end, its cause, the cause's cause... Each starts
/// when the one before ends. Extrapolated segments are one step.
struct CriticalStep {
  std::uint32_t operation = 0;  // of the schedule; kNone: of extrapolated segments
  std::uint32_t segment = 0;
  std::int32_t rank = 0;  // of the node that represents its class
  double start_s = 0;     // of the message or work, after any wait for a core or a port
  double end_s = 0;       // start of the next step
  WaitedFor waited_for = WaitedFor::kNothing;
};

/// Times of an operation on a node.
struct SimulatedEvent {
  OperationKind kind = OperationKind::kSend;
  std::uint32_t operation = 0;  // of the schedule
  std::uint32_t stream = 0;
  std::int32_t rank = 0;          // of the node that represents its class
  double begin_s = 0, end_s = 0;  // messages: from readiness on; work: on its core
  double bytes = 0;
  std::uint32_t partner = kNone;  // messages: the event of the other end
  std::uint32_t segment = 0;
  double wire_begin_s = 0, wire_end_s = 0;  // sends: transfer of the bytes over links
  double start_s = 0;                       // as in a step of the critical path that ends with it
  WaitedFor waited_for = WaitedFor::kNothing;  // likewise
  std::uint32_t cause = kNone;                 // likewise: the event of the step before
};

/// Segments extrapolated at equal distances from the simulated ones.
struct ContinuedSegments {
  std::uint32_t first = 0, count = 0;  // 0: none
  double simulated_s = 0;              // time of the other segments
  double begin_s = 0, end_s = 0;       // with events: between those of `first` and of those behind
};

/// "segments 9 to 2700 continued".
std::string text(const ContinuedSegments& continued);

struct SimulateResult {
  double makespan_s = 0;
  std::vector<LinkUse> links;               // by axis, + first; those that messages use
  std::uint64_t nodes = 0;                  // simulated
  std::uint64_t operations = 0;             // simulated
  std::uint64_t messages = 0;               // of the node that sends most
  bool buffers = false;                     // some send with dependants is complete when buffered
  std::uint64_t steps = 0;                  // messages, one after another, of the longest chain
  std::vector<CriticalStep> critical_path;  // in order of time
  std::vector<SimulatedEvent> events;       // without those of `continued` segments
  ContinuedSegments continued;
};

class GraphCache;

/// Simulates `schedule`, which has passed `validate`, on `machine`, which has the same shape.
/// Errors: another shape, a message without its other end, a deadlock, too many operations.
/// `graphs`: a cache shared with other simulations, or null (graph_cache.h).
llvm::Expected<SimulateResult> simulate(const ScheduleView& schedule, const Machine& machine,
                                        const SimulateOptions& options,
                                        GraphCache* graphs = nullptr);

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_SIMULATOR_H_
