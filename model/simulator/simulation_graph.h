// Simulation graph: the input of the simulator: tasks with dependences, matched messages with their
// routes, and durations.
//
// A task is an operation of one rank's flat program, or of a node class, whose nodes all do the
// same at the same time. All segments have the same tasks: the graph stores those of one, and the
// number of segments.
#ifndef TORC_MODEL_SIMULATOR_SIMULATION_GRAPH_H_
#define TORC_MODEL_SIMULATOR_SIMULATION_GRAPH_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <llvm/Support/Error.h>

#include "ir/node_classes.h"
#include "model/machines/machine.h"
#include "model/simulator/fair_share.h"
#include "model/simulator/routes.h"
#include "schedules/schedule.h"

namespace torc::model {

enum class TaskKind : std::uint8_t {
  kPass,  // nothing: the node does not execute the operation
  kSend,
  kReceive,  // and reduces, if there is work
  kLocal,    // reduction or copy
};

struct Task {
  TaskKind kind = TaskKind::kPass;
  std::uint32_t node = 0;         // class or rank
  std::uint32_t operation = 0;    // of the schedule
  std::uint32_t core = 0;         // among all cores of all nodes
  std::uint32_t partner = kNone;  // messages: the task of the other end
  std::uint32_t route = kNone;    // sends: index of a route
  std::uint32_t memory = kNone;   // reductions and copies: group of flows; kNone: no limit
  std::uint32_t messages = 1;     // of a loop over peers: simultaneous messages
  std::uint32_t blocks = 1;       // sends: blocks that are apart in memory
  double bytes = 0;               // sent, received, reduced or copied; of each message
  double work = 0;  // seconds per byte of a core, without a limit of memory; sends: to copy them

  double workSeconds() const { return work * bytes; }
  bool hasWork() const { return workSeconds() > 0 || memory != kNone; }
  /// Bytes of a single MPI message: one of the task's blocks, if these are apart in memory and
  /// large enough (cutMessages in runtime/execution/message_fragments.h), else all.
  double fragment() const {
    return bytes < kLeastFragmentBytes * std::max(blocks, 2u) ? bytes : bytes / blocks;
  }
};

/// Bytes of memory traffic per byte: a reduction reads two and writes one, a copy, which may be
/// from core to core, reads one and writes one.
inline constexpr double kReduceTraffic = 3;
inline constexpr double kCopyTraffic = 2;

/// The route of the messages from one node over one shift.
struct MessageRoute {
  static constexpr std::uint32_t kInside = 0xffffffffu;  // from core to core: no link

  std::uint32_t group = 0;        // of flows
  std::uint32_t from = 0;         // node of the machine, not rank
  std::uint32_t to = 0;           // likewise
  std::uint32_t first = kInside;  // resource: its first link
  std::uint32_t last = kInside;   // and last link
  double latency_s = 0;           // from a byte's departure to its arrival
  Shift way{};  // from node to node; of a loop over peers the farthest along each axis
};

/// A directed link.
struct Link {
  LinkClass link_class;
  std::uint32_t resource = 0;
};

/// A dependence of a task: on a task of its own segment, or of an earlier one; none if there are
/// not that many segments.
struct TaskDependence {
  std::uint32_t task = 0;
  std::uint32_t segments_before = 0;
};

struct SimulationGraph {
  std::vector<Task> tasks;       // of a segment; task i of segment s has number s * size() + i
  std::vector<double> shares;    // by task: of the bytes of a segment; empty: bytes are final
  std::uint32_t operations = 0;  // of the schedule
  std::uint32_t segments = 1;
  std::vector<std::uint32_t> first_successor;   // tasks + 1 entries, into successors
  std::vector<std::uint32_t> successors;        // distance of each dependant, in numbers; ascending
  std::vector<std::uint32_t> first_dependence;  // tasks + 1 entries, into segments_before
  std::vector<std::uint32_t> segments_before;   // of the dependences; ascending
  bool is_synchronous = false;                  // sends, under kSynchronousSends
  double eager = 0, buffered = 0;               // longest message of each kind, bytes
  std::vector<double> bytes;  // by number; empty: those of the task, in all segments
  std::vector<MessageRoute> routes;
  std::vector<Link> links;          // usable by messages
  FairShare network;                // links and memories
  std::vector<std::int32_t> ranks;  // of each simulated node; -1: dead
  std::uint32_t machine_nodes = 0;  // ranks of one node are one
  std::uint32_t cores = 0;          // of all nodes
  std::uint32_t copies = 1;         // ranks of a node that each of `ranks` represents

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(ranks.size()); }
  /// Of all segments.
  std::uint32_t taskCount() const { return segmentStart(segments); }
  std::uint32_t segmentStart(std::uint32_t segment) const {
    return segment * static_cast<std::uint32_t>(tasks.size());
  }
  std::uint32_t dependencesOf(std::uint32_t segment, std::uint32_t task) const {
    const auto begin = segments_before.begin() + first_dependence[task];
    const auto end = segments_before.begin() + first_dependence[task + 1];
    if (begin == end || *(end - 1) <= segment) return static_cast<std::uint32_t>(end - begin);
    return static_cast<std::uint32_t>(std::upper_bound(begin, end, segment) - begin);
  }
  /// Calls `visit` with the number of each dependant of a task with a number, `task` in its
  /// segment.
  template <typename Visit>
  void forSuccessors(std::uint32_t number, std::uint32_t task, Visit visit) const {
    for (std::uint32_t k = first_successor[task]; k < first_successor[task + 1]; ++k) {
      if (successors[k] >= taskCount() - number) return;
      visit(number + successors[k]);
    }
  }
  /// Whether a task has dependants.
  bool isAwaited(std::uint32_t number, std::uint32_t task) const {
    const std::uint32_t first = first_successor[task];
    return first < first_successor[task + 1] && successors[first] < taskCount() - number;
  }
  /// Whether a send has at most `longest` bytes (`eager`: it transmits its data at once;
  /// `buffered`: it is complete before they are sent) and need not be complete only when it is
  /// received.
  bool isShort(std::uint32_t number, std::uint32_t task, double longest) const {
    return longest > 0 && tasks[task].fragment() <= longest &&
           !(is_synchronous && tasks[task].bytes > 0 && isAwaited(number, task));
  }
  /// Numbers operations like ir::unrollSegments().
  std::uint32_t operationOf(std::uint32_t number) const {
    const auto count = static_cast<std::uint32_t>(tasks.size());
    return number / count * operations + tasks[number % count].operation;
  }
  void setBytes(double of_segment) {
    for (std::size_t i = 0; i < tasks.size(); ++i)
      tasks[i].bytes = shares[i] * of_segment;
    bytes.clear();
  }
  /// "operation 5 on rank 3".
  std::string taskName(std::uint32_t number) const;
};

/// Operations on all classes, or slightly more, as those of dead nodes count too.
double executions(const ScheduleView& schedule, const ir::NodeClasses& classes);

/// One task per node class, or per rank, of one segment, independent of the number of segments and
/// of their bytes (setBytes). `schedule` has passed `validate`. Errors: a machine of another shape,
/// a message without its other end, too many tasks.
llvm::Expected<SimulationGraph> graphOfClasses(const ScheduleView& schedule, const Machine& machine,
                                               bool per_rank);

/// Whether all messages of a schedule, for the node at the origin, have elements in every segment
/// if the vector has `elements`: flat programs omit empty ones.
bool allHaveElements(const ScheduleView& schedule, double elements);

/// Lets the tasks of `graph`, which has all ranks, move whole elements, in its first `segments`
/// segments; the vector has `elements` elements, as below.
void layElements(const ScheduleView& schedule, std::uint64_t elements, double element_bytes,
                 std::uint32_t segments, SimulationGraph& graph);

/// Every rank's flat program, with messages of whole elements. The vector has `elements` elements;
/// if MPI counts per block, every block has as many as fit. Without `has_links` routes
/// are displacements without links. Errors as above.
llvm::Expected<SimulationGraph> graphOfRanks(const ScheduleView& schedule, const Machine& machine,
                                             std::uint64_t elements, double element_bytes,
                                             bool has_links = true);

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_SIMULATION_GRAPH_H_
