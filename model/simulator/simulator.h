// Simulator: when the operations of a schedule happen on a machine, event by event, per directed
// link.
//
//  - An operation is ready when those that it depends on are complete.
//  - A message starts when its send and its receive are both ready; one of at most `eager` bytes
//    as soon as its send is. A core of the sender is busy for o. A larger message of at most
//    `buffered` bytes has this done as soon as its send is ready; the rest waits for the receive.
//    After the start-up time alpha, L and the latencies of the hops, which occupy nobody, the bytes
//    go onto all links of the message's way at once. Messages under way share links max-min fairly
//    (model/simulator/fair_share.h); latency first and then bytes is how SimGrid does it, too. When
//    they have arrived the send is complete (one of at most `eager` or `buffered` bytes already
//    when its core is free again, for its data are in a buffer; of a schedule with synchronous
//    sends no data for which something waits are buffered), and a core of the receiver is busy for
//    o; then the receive is complete, unless it reduces.
//  - A reduction occupies a core for the arithmetic (gamma) or for as long as the node's memory
//    needs for its three bytes per byte, whichever is longer; a copy, for two bytes per byte. The
//    cores of a node share its memory. Each stream has its core (Stream.core, modulo the cores of a
//    rank); a core serves what is ready first come, first served, but messages before arithmetic
//    and copies, as the executor does (runtime/execution/executor.cc).
//  - On every link of the network a message has `envelope` bytes besides its data.
//  - The interface of a node is busy for message_gap with every message that leaves it; where it
//    cannot fetch the data itself the core that sends is busy for bytes / injection.
//  - A node sends, and receives, on at most `ports` links at a time. A message that finds none free
//    waits, first come, first served.
//
// Of a schedule in many segments some are simulated, and the rest takes as long for each as the
// last of these did: events of the later half happen where the last segments of all do.
//
// For a schedule that looks the same from every node one node is simulated that stands for all
// (ir/node_classes.h). Where events happen at the same time, the lower index comes first:
// the result is always the same.
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

/// What the busiest link of one axis and direction did.
struct LinkUse {
  LinkClass link_class;
  double bytes = 0;   // that it carried
  double busy_s = 0;  // some message was under way
  double idle_s = 0;  // the rest of the makespan
};

/// What an operation, or a message, waited for last before it started.
enum class WaitedFor : std::uint8_t {
  kNothing,     // ready from the beginning
  kDependence,  // an operation that it depends on
  kPeer,        // one that the other end of its message depends on
  kCore,        // its core, busy with another operation
  kInterface,   // its node's interface, busy with another message
  kPort,        // a port, in use by another message
};
std::string_view name(WaitedFor what);

/// One operation of the critical path: what ends last, what it waited for, what that waited for...
/// Each starts when the one before ends. Segments that were continued are one step.
struct CriticalStep {
  std::uint32_t operation = 0;  // of the schedule; kNone: of segments that were continued
  std::uint32_t segment = 0;
  std::int32_t rank = 0;  // of the node that stands for its class
  double start_s = 0;     // of the message or of the work; where it waited for a core or a
  double end_s = 0;       // port, when it got it. Until it made way for the next step.
  WaitedFor waited_for = WaitedFor::kNothing;
};

/// When an operation happened on a node.
struct SimulatedEvent {
  OperationKind kind = OperationKind::kSend;
  std::uint32_t operation = 0;  // of the schedule
  std::uint32_t stream = 0;
  std::int32_t rank = 0;          // of the node that stands for its class
  double begin_s = 0, end_s = 0;  // messages: from when they could be started; work: on its core
  double bytes = 0;
  std::uint32_t partner = kNone;  // messages: the event of the other end
  std::uint32_t segment = 0;
  double wire_begin_s = 0, wire_end_s = 0;  // sends: while the bytes went over links
  double start_s = 0;                       // as in a step of the critical path that ends with it
  WaitedFor waited_for = WaitedFor::kNothing;  // likewise
  std::uint32_t cause = kNone;                 // likewise: the event of the step before
};

/// Segments that follow in even time from those that were simulated.
struct ContinuedSegments {
  std::uint32_t first = 0, count = 0;  // 0: none
  double simulated_s = 0;              // that the others take
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
  bool buffers = false;                     // some send that is waited for is over when buffered
  std::uint64_t steps = 0;                  // messages, one after another, of the longest chain
  std::vector<CriticalStep> critical_path;  // in order of time
  std::vector<SimulatedEvent> events;       // but of `continued` segments
  ContinuedSegments continued;
};

class GraphCache;

/// Simulates `schedule`, which has passed `validate`, on `machine`, whose shape is the schedule's.
/// Errors: another shape, a message without its other end, a deadlock, too many operations.
/// `graphs`: those of other simulations, or none (graph_cache.h).
llvm::Expected<SimulateResult> simulate(const ScheduleView& schedule, const Machine& machine,
                                        const SimulateOptions& options,
                                        GraphCache* graphs = nullptr);

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_SIMULATOR_H_
