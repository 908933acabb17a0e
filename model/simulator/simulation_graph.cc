#include "model/simulator/simulation_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/make_error.h"
#include "model/simulator/simulation_builder.h"
#include "schedules/broken_messages.h"
#include "schedules/expansion/expand.h"
#include "schedules/expansion/shares.h"

namespace torc::model {
namespace {

/// The k-th send of a stream in a direction matches the k-th receive of that stream, at the peer,
/// from that direction, in each segment.
void matchClasses(const ScheduleView& schedule, std::uint32_t segments,
                  SimulationBuilder& builder) {
  std::map<Shift, std::uint32_t> numbers;
  std::vector<Shift> directions;
  std::vector<std::uint32_t> outgoing, incoming;  // number of each shift's direction
  auto number = [&](const Shift& direction) {
    const auto [entry, fresh] =
        numbers.try_emplace(direction, static_cast<std::uint32_t>(directions.size()));
    if (fresh) directions.push_back(direction);
    return entry->second;
  };
  for (const Shift& shift : schedule.shifts) {
    outgoing.push_back(number(ir::messageDirection(schedule.topology, shift, 1)));
    incoming.push_back(number(ir::messageDirection(schedule.topology, shift, -1)));
  }
  const std::size_t kinds = directions.size() + schedule.peer_loops.size();
  const auto kindOf = [&](const Operation& operation, const std::vector<std::uint32_t>& ways) {
    if (!operation.hasPeerLoop()) return std::size_t{ways[operation.peer]};
    const auto first = llvm::find(schedule.peer_loops, schedule.peer_loops[operation.peer]);
    return directions.size() + static_cast<std::size_t>(first - schedule.peer_loops.begin());
  };
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  const auto operationOf = [&](const Task& task) -> const Operation& {
    return schedule.operations[task.operation % count];
  };
  const auto channel = [&](std::uint32_t receiver, const Task& task, std::size_t kind) {
    const std::uint64_t place = std::uint64_t{receiver} * segments + task.operation / count;
    return (place * schedule.streams.size() + operationOf(task).stream) * kinds + kind;
  };

  struct Receives {
    std::vector<std::uint32_t> tasks;  // in order
    std::size_t taken = 0;
  };
  std::unordered_map<std::uint64_t, Receives> channels;
  const std::vector<Task>& tasks = builder.graph().tasks;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind != TaskKind::kReceive) continue;
    const std::size_t kind = kindOf(operationOf(tasks[i]), incoming);
    channels[channel(tasks[i].node, tasks[i], kind)].tasks.push_back(i);
  }
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind != TaskKind::kSend) continue;
    const Operation& operation = operationOf(tasks[i]);
    const std::size_t kind = kindOf(operation, outgoing);
    Coordinates distance{};
    // The peers of a loop over peers are of its node's class.
    const std::uint32_t peer =
        operation.hasPeerLoop()
            ? tasks[i].node
            : builder.classes().neighbour(tasks[i].node, directions[kind], distance);
    const auto found = channels.find(channel(peer, tasks[i], kind));
    if (found == channels.end() || found->second.taken == found->second.tasks.size()) continue;
    builder.match(i, found->second.tasks[found->second.taken++]);
  }
}

bool holds(const Ranges& guard, const Coordinates& at, const Topology& topology) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (!contains(guard[axis], static_cast<std::uint32_t>(at[axis]), topology.axes[axis].size))
      return false;
  }
  return true;
}

/// What one message of ranks is known by at both ends.
struct MessageKey {
  std::int32_t from, to;
  std::uint32_t tag;
  auto operator<=>(const MessageKey&) const = default;
};

}  // namespace

std::string SimulationGraph::taskName(std::uint32_t task) const {
  return "operation " + std::to_string(tasks[task].operation) + " on rank " +
         std::to_string(ranks[tasks[task].node]);
}

double executions(const ScheduleView& schedule, const ir::NodeClasses& classes) {
  double all = 0;
  for (const Operation& operation : schedule.operations)
    all += classes.executions(operation);
  return all;
}

llvm::Expected<SimulationGraph> graphOfClasses(const ScheduleView& schedule, const Machine& machine,
                                               double bytes, std::uint32_t segments) {
  if (llvm::Error error = checkMachine(schedule.topology, machine)) return error;
  ir::NodeClasses classes(schedule, !looksAlike(schedule.topology, schedule.links));
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  const double tasks = executions(schedule, classes) * segments;
  if (llvm::Error error = checkTaskCount(schedule, classes.count(), tasks)) return error;
  SimulationBuilder builder(schedule, machine, classes);
  SimulationGraph& graph = builder.graph();
  const VectorShares shares(schedule, segments);
  std::vector<std::uint32_t> first_dependence{0}, dependences;  // by task
  // By operation of a node and segment: its task, or those that it waits for where the node does
  // not execute it.
  std::vector<llvm::SmallVector<std::uint32_t, kMostPassed>> tasks_of(std::size_t{count} *
                                                                      segments);
  std::vector<std::optional<double>> moved(count);  // bytes, by operation that a node executes
  std::vector<Ranges> guards;                       // by box
  for (const Box& box : schedule.boxes)
    guards.push_back(resolve(box, schedule.topology, {}));
  DroppedMessages dropped(schedule);
  llvm::SmallVector<std::uint32_t, 32> after, needed;
  llvm::BitVector is_needed(count);  // by operations that a node executes, or executed
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    const Coordinates at = builder.classes().coordinatesOf(node);
    const bool is_dead = schedule.topology.isDead(at);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Operation& operation = schedule.operations[i];
      const bool executes =
          !is_dead &&
          (operation.guard == kNone || holds(guards[operation.guard], at, schedule.topology)) &&
          !dropped.drops(operation, at);
      moved[i].reset();
      if (executes)
        moved[i] = shares.of(sends(operation.kind) ? operation.a : operation.dst, at) * bytes;
    }
    is_needed.reset();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (moved[i]) is_needed.set(i);
    }
    needed.assign(is_needed.set_bits_begin(), is_needed.set_bits_end());
    for (std::size_t k = 0; k < needed.size(); ++k) {
      for (const std::uint32_t dependence :
           schedule.dependencesOf(schedule.operations[needed[k]])) {
        const std::uint32_t before = operationOf(dependence);
        if (is_needed[before]) continue;
        is_needed.set(before);
        needed.push_back(before);
      }
    }
    std::sort(needed.begin(), needed.end());
    for (std::size_t k = 0; k < needed.size() * segments; ++k) {
      const std::uint32_t i = needed[k % needed.size()];
      const auto number = static_cast<std::uint32_t>(k / needed.size() * count + i);
      after.clear();
      for (const std::uint32_t dependence : schedule.dependencesOf(schedule.operations[i])) {
        const std::uint64_t back = std::uint64_t{schedule.segmentsBefore(dependence)} * count;
        const std::uint32_t before = operationOf(dependence);
        if (back + i > number) continue;  // of a segment before the first
        const auto& tasks_before = tasks_of[number - back - i + before];
        after.append(tasks_before.begin(), tasks_before.end());
      }
      if (after.size() > 1) {
        std::sort(after.begin(), after.end());  // llvm::sort is qsort for numbers
        after.erase(llvm::unique(after), after.end());
      }
      if (!moved[i] && after.size() <= kMostPassed) {
        tasks_of[number].assign(after.begin(), after.end());
        continue;
      }
      tasks_of[number].assign(1, static_cast<std::uint32_t>(graph.tasks.size()));
      if (moved[i]) {
        builder.addTask(node, i, *moved[i]);
      } else {
        builder.addPass(node, i);
      }
      graph.tasks.back().operation = number;
      dependences.insert(dependences.end(), after.begin(), after.end());
      first_dependence.push_back(static_cast<std::uint32_t>(dependences.size()));
    }
  }
  matchClasses(schedule, segments, builder);
  if (llvm::Error error = builder.checkMessages()) return error;
  builder.layDependences([&](std::uint32_t task, SimulationBuilder::Visit visit) {
    for (std::uint32_t k = first_dependence[task]; k < first_dependence[task + 1]; ++k)
      visit(dependences[k]);
  });
  return std::move(graph);
}

llvm::Expected<SimulationGraph> graphOfRanks(const ScheduleView& schedule, const Machine& machine,
                                             std::uint64_t elements, double element_bytes) {
  if (llvm::Error error = checkMachine(schedule.topology, machine)) return error;
  ir::NodeClasses ranks(schedule, true);
  if (llvm::Error error = checkTaskCount(schedule, ranks.count(), 0)) return error;
  SimulationBuilder builder(schedule, machine, ranks);
  SimulationGraph& graph = builder.graph();
  const CollectiveRow& facts = rowOf(schedule.collective);
  const Counts counts{
      elements / facts.countedBlocks(schedule.topology.ranks(), schedule.topology.axis_count),
      {},
      {}};

  std::vector<std::uint32_t> first_dependence{0}, dependences;  // by task
  std::vector<std::pair<MessageKey, std::uint32_t>> sent, received;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    const std::int32_t rank = graph.ranks[node];
    if (rank < 0) continue;
    const StatusOr<FlatProgram> program = expand(schedule, rank, counts);
    if (!program.ok()) {
      return makeError(program.status());
    }
    const auto first = static_cast<std::uint32_t>(graph.tasks.size());
    const double tasks =
        static_cast<double>(first) + static_cast<double>(program->operations.size());
    if (llvm::Error error = checkTaskCount(schedule, graph.nodes(), tasks)) return error;
    for (const FlatOperation& operation : program->operations) {
      const auto task = static_cast<std::uint32_t>(graph.tasks.size());
      const FlatRegion& moved = sends(operation.kind) ? operation.a : operation.dst;
      if (operation.isJoin()) {
        builder.addPass(node, operation.source);
      } else {
        const double bytes = static_cast<double>(moved.elements) * element_bytes;
        if (schedule.operations[operation.source].hasPeerLoop()) {
          builder.addMessage(node, operation.source, bytes, operation.peer);
        } else {
          builder.addTask(node, operation.source, bytes);
        }
      }
      for (std::uint32_t before : program->dependencesOf(operation))
        dependences.push_back(first + before);
      first_dependence.push_back(static_cast<std::uint32_t>(dependences.size()));
      if (sends(operation.kind)) sent.push_back({{rank, operation.peer, operation.tag}, task});
      if (receives(operation.kind)) {
        received.push_back({{operation.peer, rank, operation.tag}, task});
      }
    }
  }
  std::sort(sent.begin(), sent.end());
  std::sort(received.begin(), received.end());
  auto next = received.begin();
  for (const auto& [key, task] : sent) {
    while (next != received.end() && next->first < key)
      ++next;
    if (next != received.end() && next->first == key) builder.match(task, next->second);
  }
  if (llvm::Error error = builder.checkMessages()) return error;
  builder.layDependences([&](std::uint32_t task, SimulationBuilder::Visit visit) {
    for (std::uint32_t k = first_dependence[task]; k < first_dependence[task + 1]; ++k)
      visit(dependences[k]);
  });
  return std::move(graph);
}

}  // namespace torc::model
