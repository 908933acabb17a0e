// Simulation graph: what the nodes of a torus execute, as the simulator takes it: tasks with
// dependences, matched messages with their routes, and how long what takes.
//
// A task is an operation on a node class (class mode: every node that one class stands for does the
// same at the same time), or an operation of one rank's flat program (per-rank mode). A message of
// class mode stands for one message of every node of the class; along a collapsed axis a message
// over k links is then on k nodes' way at once, so that it takes k times its bandwidth of the link
// that stands for all. Cores of a node (axis T) share its links and its memory.
//
// Routes are dimension-ordered (X first), along each axis the way round that the shift says.
#ifndef TORC_MODEL_SIMULATION_GRAPH_H_
#define TORC_MODEL_SIMULATION_GRAPH_H_

#include <cstdint>
#include <span>
#include <vector>

#include <llvm/Support/Error.h>

#include "model/fair_share.h"
#include "model/machine.h"
#include "schedules/schedule.h"

namespace torc {

/// A class of directed links: those of one axis in one direction. A line of two has one cable: both
/// ways round are its direction +.
struct LinkClass {
  std::uint32_t axis = 0;
  int sign = 1;

  auto operator<=>(const LinkClass&) const = default;
};

enum class TaskKind : std::uint8_t { kPass, kSend, kReceive, kLocal };

struct Task {
  TaskKind kind = TaskKind::kPass;
  std::uint32_t node = 0;         // class or rank
  std::uint32_t operation = 0;    // of the schedule
  std::uint32_t core = 0;         // of all cores
  std::uint32_t partner = kNone;  // other end of its message
  std::uint32_t route = kNone;    // sends: index of a route
  std::uint32_t memory = kNone;   // reductions and copies: group of flows through memory
  double bytes = 0;               // of the message, or worked on
  double work = 0;                // seconds of a core that reduces or copies, were memory no limit
};

/// The way of the messages from one node over one shift.
struct Route {
  std::uint32_t group = 0;      // of flows
  std::uint32_t node = 0;       // that sends: of the machine, not a rank
  std::uint32_t first = kNone;  // link (resource) on which it leaves; kNone inside a node
  double latency = 0;           // seconds
};

/// A directed link: a resource.
struct Link {
  LinkClass link_class;
  std::uint32_t resource = 0;
};

struct SimulationGraph {
  std::vector<Task> tasks;
  std::vector<std::uint32_t> first_successor;  // tasks + 1, into successors
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> waits;  // dependences of each task
  std::vector<Route> routes;
  std::vector<Link> links;  // that any message uses
  FairShare network;
  std::uint32_t nodes = 0;          // classes or ranks
  std::uint32_t machine_nodes = 0;  // of which the cores of one node are one
  std::uint32_t cores = 0;
};

/// Once per node class, `bytes` being those of the whole vector. Errors: a machine of another
/// shape, messages that do not match, too many tasks.
llvm::Expected<SimulationGraph> graphOfClasses(const ScheduleView& schedule, const Machine& machine,
                                               double bytes);

/// Every rank's flat program, with messages of whole elements. `elements` of `element_bytes` are
/// those of the whole vector (of a block per rank as many as fit).
llvm::Expected<SimulationGraph> graphOfRanks(const ScheduleView& schedule, const Machine& machine,
                                             std::uint64_t elements, double element_bytes);

}  // namespace torc

#endif  // TORC_MODEL_SIMULATION_GRAPH_H_
