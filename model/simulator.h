// Simulator: when a schedule's operations happen on a machine, event by event.
//
// An operation is ready when those that it depends on are complete. A message starts when its send
// and its receive are both ready (one of at most `eager_bytes` as soon as its send is); a core of
// the sender is busy for o; after the start-up time alpha the bytes go onto the links, which
// messages under way share max-min fairly; L and the latencies of the hops after the last byte has
// left, the send is complete, and a core of the receiver is busy for o. A reduction or copy
// occupies a core for as long as the arithmetic (gamma) or the node's memory takes, whichever is
// longer. A core serves what is ready first come, first served.
//
// For a schedule that looks the same from every node one node is simulated that stands for all.
#ifndef TORC_MODEL_SIMULATOR_H_
#define TORC_MODEL_SIMULATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/Support/Error.h>

#include "model/machine.h"
#include "model/simulation_graph.h"
#include "schedules/schedule.h"

namespace torc {

struct SimulateOptions {
  double bytes = 0;            // of the whole vector; >= 0
  bool per_rank = false;       // simulate every rank, with messages of whole elements
  double element_bytes = 4;    // of an element; per_rank only
  double eager_bytes = 0;      // messages up to this size do not wait for their receive
  bool critical_path = false;  // fill SimulateResult::critical_path
};

/// What the links of one axis and direction did.
struct LinkUse {
  LinkClass link_class;
  double bytes = 0;   // on the busiest link
  double busy_s = 0;  // of that link: some message was under way
  double idle_s = 0;  // the rest of the makespan
};

/// Why an operation did not start before it did.
enum class WaitedFor : std::uint8_t { kNothing, kDependence, kPeer, kCore, kPort };
std::string_view name(WaitedFor what);

/// One operation of the longest chain of events, from the end of one to the start of the next.
struct CriticalStep {
  std::uint32_t operation = 0;
  std::uint32_t node = 0;  // class or rank
  double start_s = 0;
  double end_s = 0;
  WaitedFor waited_for = WaitedFor::kNothing;
};

struct SimulateResult {
  double makespan_s = 0;
  std::vector<LinkUse> links;    // ordered by axis, + first; only those in use
  std::uint64_t nodes = 0;       // simulated
  std::uint64_t messages = 0;    // sent by the node that sends most
  std::uint64_t steps = 0;       // messages one after the other, in the longest such chain
  std::uint64_t operations = 0;  // simulated
  std::vector<CriticalStep> critical_path;  // in order of time
};

/// Simulates `schedule`, which has passed `validate`, on `machine`, whose shape is the schedule's.
/// Errors: another shape, messages that do not match, a deadlock, too many operations.
llvm::Expected<SimulateResult> simulate(const ScheduleView& schedule, const Machine& machine,
                                        const SimulateOptions& options);

}  // namespace torc

#endif  // TORC_MODEL_SIMULATOR_H_
