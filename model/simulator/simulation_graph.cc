#include "model/simulator/simulation_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/make_error.h"
#include "model/simulator/simulation_builder.h"
#include "schedules/broken_messages.h"
#include "schedules/expansion/expand.h"
#include "schedules/expansion/placement.h"
#include "schedules/expansion/shares.h"

namespace torc::model {
namespace {

/// Most segments between an operation and its dependence.
constexpr std::uint32_t kMostBefore = 1u << 16;

/// The k-th send of a stream in a direction matches the k-th receive of that stream, at the peer,
/// from that direction, in each segment.
void matchClasses(const ScheduleView& schedule, SimulationBuilder& builder) {
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
  const auto operationOf = [&](const Task& task) -> const Operation& {
    return schedule.operations[task.operation];
  };
  const auto channel = [&](std::uint64_t receiver, const Task& task, std::size_t kind) {
    return (receiver * schedule.streams.size() + operationOf(task).stream) * kinds + kind;
  };

  std::vector<std::pair<std::uint64_t, std::uint32_t>> sent, received;
  const std::vector<Task>& tasks = builder.graph().tasks;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    if (task.kind == TaskKind::kReceive) {
      received.push_back({channel(task.node, task, kindOf(operationOf(task), incoming)), i});
    } else if (task.kind == TaskKind::kSend) {
      const std::size_t kind = kindOf(operationOf(task), outgoing);
      Coordinates distance{};
      // The peers of a loop over peers are in its node's class.
      const std::uint32_t peer =
          operationOf(task).hasPeerLoop()
              ? task.node
              : builder.classes().neighbour(task.node, directions[kind], distance);
      sent.push_back({channel(peer, task, kind), i});
    }
  }
  builder.match(sent, received);
}

/// If MPI counts per block, every block has as many elements as fit.
Counts countsOf(const ScheduleView& schedule, std::uint64_t elements) {
  const CollectiveRow& row = rowOf(schedule.collective);
  const Topology& topology = schedule.topology;
  return {elements / row.countedBlocks(topology.ranks(), topology.axis_count), {}, {}};
}

/// The operations of a segment that are tasks of a node, and their dependences.
class NodeProgram {
 public:
  /// An operation of this segment or of an earlier one.
  struct Earlier {
    std::uint32_t operation = 0;
    std::uint32_t segments_before = 0;

    auto operator<=>(const Earlier&) const = default;
  };

  explicit NodeProgram(const ScheduleView& schedule)
      : schedule_(schedule),
        passed_(schedule.operations.size()),
        number_(schedule.operations.size()),
        is_needed_(static_cast<unsigned>(schedule.operations.size())),
        is_task_(is_needed_.size()) {}

  /// The program of a node; `executes(operation)`: whether the node executes it. Other operations
  /// pass their dependences on; with too many of these they become empty tasks.
  template <typename Executes>
  void take(Executes executes) {
    needed_.clear();
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      if (executes(i)) needed_.push_back(i);
    }
    if (needed_ == executed_ && !first_.empty()) return;  // as the last node
    executed_ = needed_;
    is_needed_.reset();
    for (const std::uint32_t i : executed_)
      is_needed_.set(i);
    is_task_ = is_needed_;
    bool waits_for_later = false;  // a dependence on earlier segments, which is passed on
    for (std::size_t k = 0; k < needed_.size(); ++k) {
      for (const std::uint32_t dependence :
           schedule_.dependencesOf(schedule_.operations[needed_[k]])) {
        if (schedule_.segmentsBefore(dependence) >= most_before_) continue;
        const std::uint32_t before = operationOf(dependence);
        waits_for_later |= before >= needed_[k] && !is_task_[before];
        if (is_needed_[before]) continue;
        is_needed_.set(before);
        needed_.push_back(before);
        passed_[before].clear();
      }
    }
    std::sort(needed_.begin(), needed_.end());
    while (passOn() && waits_for_later) {
    }
    tasks_.clear();
    first_.assign(1, 0);
    dependences_.clear();
    for (const std::uint32_t i : needed_) {
      if (!is_task_[i]) continue;
      collect(i);
      number_[i] = static_cast<std::uint32_t>(tasks_.size());
      tasks_.push_back(i);
      dependences_.insert(dependences_.end(), after_.begin(), after_.end());
      first_.push_back(dependences_.size());
    }
  }

  /// Operations that are tasks, in order.
  llvm::ArrayRef<std::uint32_t> tasks() const { return tasks_; }
  /// The place of an operation among them.
  std::uint32_t taskOf(std::uint32_t operation) const { return number_[operation]; }
  /// Dependences of the task at a place.
  llvm::ArrayRef<Earlier> dependencesOf(std::size_t place) const {
    return llvm::ArrayRef(dependences_).slice(first_[place], first_[place + 1] - first_[place]);
  }

 private:
  /// Finds the dependences that operations pass on, given those of others. Returns whether there
  /// are new ones.
  bool passOn() {
    bool is_more = false;
    for (const std::uint32_t i : needed_) {
      if (is_task_[i]) continue;
      collect(i);
      if (after_.size() > kMostPassed) {
        is_task_.set(i);
      } else if (llvm::ArrayRef(passed_[i]) != llvm::ArrayRef(after_)) {
        passed_[i].assign(after_.begin(), after_.end());
      } else {
        continue;
      }
      is_more = true;
    }
    return is_more;
  }

  /// Collects the dependences of an operation, each task once.
  void collect(std::uint32_t i) {
    after_.clear();
    for (const std::uint32_t dependence : schedule_.dependencesOf(schedule_.operations[i])) {
      const std::uint32_t before = operationOf(dependence);
      const std::uint32_t back = schedule_.segmentsBefore(dependence);
      if (is_task_[before]) {
        add(before, back);
        continue;
      }
      for (const Earlier& earlier : passed_[before])
        add(earlier.operation, earlier.segments_before + back);
    }
    if (after_.size() < 2) return;
    std::sort(after_.begin(), after_.end());
    after_.erase(llvm::unique(after_), after_.end());
  }

  void add(std::uint32_t operation, std::uint32_t back) {
    if (back < most_before_) after_.push_back({operation, back});
  }

  const ScheduleView& schedule_;
  // Of segments that are all under way at once, none waits for one a window before.
  const std::uint32_t most_before_ =
      schedule_.segments > schedule_.window ? kMostBefore : schedule_.window;
  std::vector<llvm::SmallVector<Earlier, kMostPassed>> passed_;  // by operation without a task
  std::vector<std::uint32_t> number_;                            // by operation with a task
  llvm::BitVector is_needed_, is_task_;
  llvm::SmallVector<std::uint32_t> executed_, needed_, tasks_;
  std::vector<std::size_t> first_;  // dependence, by place of a task
  std::vector<Earlier> dependences_, after_;
};

/// Key of a message at both ends: source rank, destination rank, tag.
using MessageKey = std::tuple<std::int32_t, std::int32_t, std::uint32_t>;

// Number of nodes from which the tasks of all are estimated, and the least share of the estimate.
constexpr std::uint32_t kSampledNodes = 24;
constexpr double kSurelyMore = 0.98;

}  // namespace

std::string SimulationGraph::taskName(std::uint32_t number) const {
  return "operation " + std::to_string(operationOf(number)) + " on rank " +
         std::to_string(ranks[tasks[number % tasks.size()].node]);
}

double executions(const ScheduleView& schedule, const ir::NodeClasses& classes) {
  double all = 0;
  for (const Operation& operation : schedule.operations)
    all += classes.executions(operation);
  return all;
}

llvm::Expected<SimulationGraph> graphOfClasses(const ScheduleView& schedule, const Machine& machine,
                                               bool per_rank) {
  if (llvm::Error error = checkMachine(schedule.topology, machine)) return error;
  ir::NodeClasses classes(schedule, per_rank || !looksAlike(schedule.topology, schedule.links));
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  const double tasks = executions(schedule, classes);
  if (llvm::Error error = checkTaskCount(schedule, classes.count(), tasks)) return error;
  SimulationBuilder builder(schedule, machine, classes);
  const SimulationGraph& graph = builder.graph();
  const VectorShares shares(schedule);
  std::vector<double> task_shares;
  NodeProgram program(schedule);
  std::vector<std::optional<double>> moved(count);  // share, by executed operation
  std::vector<Ranges> guards;                       // by box
  for (const Box& box : schedule.boxes)
    guards.push_back(resolve(box, schedule.topology, {}));
  DroppedMessages dropped(schedule);
  const auto take = [&](std::uint32_t node) {
    const Coordinates at = builder.classes().coordinatesOf(node);
    const bool is_dead = schedule.topology.isDead(at);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Operation& operation = schedule.operations[i];
      const bool executes =
          !is_dead &&
          (operation.guard == kNone || contains(guards[operation.guard], schedule.topology, at)) &&
          !dropped.drops(operation, at);
      moved[i].reset();
      if (executes) moved[i] = shares.of(sends(operation.kind) ? operation.a : operation.dst, at);
    }
    program.take([&](std::uint32_t i) { return moved[i].has_value(); });
  };
  // Passed dependences are visible only node by node: a few nodes are tried first, in little time.
  if (llvm::Error error = checkTaskCount(schedule, graph.nodes(), 1.0 * graph.nodes() * count)) {
    consumeError(std::move(error));
    double sampled = 0;
    for (std::uint32_t sample = 0; sample < kSampledNodes; ++sample) {
      take(static_cast<std::uint32_t>(std::uint64_t{sample} * graph.nodes() / kSampledNodes));
      sampled += static_cast<double>(program.tasks().size());
    }
    const double all = kSurelyMore * sampled / kSampledNodes * graph.nodes();
    if (llvm::Error error = checkTaskCount(schedule, graph.nodes(), all)) return error;
  }
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    take(node);
    const auto first = static_cast<std::uint32_t>(graph.tasks.size());
    for (const auto& [place, i] : llvm::enumerate(program.tasks())) {
      if (moved[i]) {
        builder.addTask(node, i, 0);
      } else {
        builder.addPass(node, i);
      }
      task_shares.push_back(moved[i].value_or(0));
      for (const auto& [operation, back] : program.dependencesOf(place))
        builder.addDependence(first + program.taskOf(operation), back);
    }
    if (llvm::Error error =
            checkTaskCount(schedule, graph.nodes(), static_cast<double>(graph.tasks.size()))) {
      return error;
    }
  }
  matchClasses(schedule, builder);
  if (llvm::Error error = builder.checkMessages()) return error;
  SimulationGraph made = builder.finish();
  made.shares = std::move(task_shares);
  return made;
}

bool allHaveElements(const ScheduleView& schedule, double elements) {
  constexpr double kEnough = 2;  // each nested division omits less than one
  const VectorShares shares(schedule);
  return llvm::all_of(schedule.operations, [&](const Operation& operation) {
    const double share = shares.of(sends(operation.kind) ? operation.a : operation.dst, {});
    return isSignal(operation.kind) || share * elements >= kEnough * schedule.segments;
  });
}

void layElements(const ScheduleView& schedule, std::uint64_t elements, double element_bytes,
                 std::uint32_t segments, SimulationGraph& graph) {
  const Counts counts = countsOf(schedule, elements);
  const RootedSchedule rooted(schedule, 0);
  graph.bytes.assign(graph.tasks.size() * segments, 0);
  std::optional<Placement> placement;  // of the node
  for (std::uint32_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& task = graph.tasks[i];
    if (i == 0 || task.node != graph.tasks[i - 1].node)
      placement.emplace(rooted, graph.ranks[task.node], counts, /*in_place=*/false);
    if (task.kind == TaskKind::kPass) continue;
    const Operation& operation = schedule.operations[task.operation];
    const Region& moved = sends(operation.kind) ? operation.a : operation.dst;
    for (std::uint32_t segment = 0; segment < segments; ++segment) {
      const auto count = static_cast<double>(placement->elementsOf(moved, segment));
      graph.bytes[graph.segmentStart(segment) + i] = count * element_bytes;
    }
  }
}

llvm::Expected<SimulationGraph> graphOfRanks(const ScheduleView& schedule, const Machine& machine,
                                             std::uint64_t elements, double element_bytes,
                                             bool has_links) {
  if (llvm::Error error = checkMachine(schedule.topology, machine)) return error;
  ir::NodeClasses ranks(schedule, true);
  if (llvm::Error error = checkTaskCount(schedule, ranks.count(), 0)) return error;
  SimulationBuilder builder(schedule, machine, ranks, has_links);
  const SimulationGraph& graph = builder.graph();
  const Counts counts = countsOf(schedule, elements);
  std::vector<std::pair<MessageKey, std::uint32_t>> sent, received;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    const std::int32_t rank = graph.ranks[node];
    if (rank < 0) continue;
    const StatusOr<FlatProgram> program = expand(schedule, rank, counts);
    if (!program.ok()) return makeError(program.status());
    const auto first = static_cast<std::uint32_t>(graph.tasks.size());
    const auto tasks = static_cast<double>(first + program->operations.size());
    if (llvm::Error error = checkTaskCount(schedule, graph.nodes(), tasks)) return error;
    for (const FlatOperation& operation : program->operations) {
      const auto task = static_cast<std::uint32_t>(graph.tasks.size());
      const FlatRegion& moved = sends(operation.kind) ? operation.a : operation.dst;
      if (operation.isJoin()) {
        builder.addPass(node, operation.source);
      } else {
        const bool is_of_loop = schedule.operations[operation.source].hasPeerLoop();
        builder.addTask(node, operation.source, static_cast<double>(moved.elements) * element_bytes,
                        is_of_loop ? operation.peer : -1);
      }
      for (const std::uint32_t before : program->dependencesOf(operation))
        builder.addDependence(first + before);
      if (sends(operation.kind)) sent.push_back({{rank, operation.peer, operation.tag}, task});
      if (receives(operation.kind)) {
        received.push_back({{operation.peer, rank, operation.tag}, task});
      }
    }
  }
  builder.match(sent, received);
  if (llvm::Error error = builder.checkMessages()) return error;
  return builder.finish();
}

}  // namespace torc::model
