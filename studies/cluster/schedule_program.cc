// Expands a schedule for all ranks, and sorts their operations into rounds.
#include "studies/cluster/schedule_program.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/make_error.h"
#include "schedules/expansion/expand.h"

namespace torc::studies {
namespace {

/// An operation of any rank.
struct Step {
  OperationKind kind = OperationKind::kCopy;
  std::uint32_t core = 0, peer = 0;  // of the cluster
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0, runs = 0;
  std::uint32_t round = 0;
  std::uint32_t posted = 0;                         // of a message: receives of its round before it
  std::uint32_t waits = 0;                          // predecessors not yet sorted
  std::uint32_t first_follower = 0, followers = 0;  // of the table
};

bool isMessage(const Step& step) {
  return step.kind == OperationKind::kSend || step.kind == OperationKind::kRecv;
}

std::uint64_t runsOf(const FlatProgram& program, const FlatRegion& region) {
  std::uint64_t runs = 0;
  for (const StridedExtent& extent : program.stridedExtentsOf(region))
    runs += iterations(program.loopsOf(extent));
  return runs;
}

/// Maps ranks to cores of the cluster.
class Places {
 public:
  explicit Places(const Topology& topology) : topology_(topology) {
    cores_ = topology.hasCores() ? topology.axes[topology.axis_count - 1].size : 1;
  }
  std::uint32_t cores() const { return cores_; }
  std::uint32_t coreOf(std::int32_t rank) const {
    const Coordinates at = topology_.coordinatesOf(rank);
    std::uint32_t node = 0;
    for (int axis = topology_.dimensions(); axis-- > 0;)
      node = node * topology_.axes[axis].size + static_cast<std::uint32_t>(at[axis]);
    return node * cores_ + (topology_.hasCores() ? at[topology_.axis_count - 1] : 0);
  }

 private:
  const Topology& topology_;
  std::uint32_t cores_;
};

/// All steps, with the table of their dependences.
class Steps {
 public:
  llvm::Error read(const ScheduleView& schedule, std::uint64_t bytes, const Places& places);
  llvm::Error sort();
  std::vector<Step>& steps() { return steps_; }

 private:
  llvm::Error match();
  void countPosted();

  std::vector<Step> steps_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> messages_;  // send, receive
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;     // before, after
};

llvm::Error Steps::read(const ScheduleView& schedule, std::uint64_t bytes, const Places& places) {
  const std::uint64_t ranks = schedule.topology.ranks();
  Counts counts;
  counts.count = bytes;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const StatusOr<FlatProgram> program = expand(schedule, static_cast<std::int32_t>(rank), counts);
    if (!program.ok()) return makeError(program.status());
    const std::size_t first = steps_.size();
    const std::uint64_t operations = program->operations.size();
    if (ranks > kMostClusterOperations / std::max<std::uint64_t>(operations, 1)) {
      return makeError("the ranks have more than " + llvm::Twine(kMostClusterOperations) +
                       " operations, some " + llvm::Twine(operations) + " each");
    }
    for (const FlatOperation& operation : program->operations) {
      Step step;
      step.kind = operation.kind;
      step.core = places.coreOf(program->rank);
      if (operation.peer >= 0) step.peer = places.coreOf(operation.peer);
      step.tag = operation.tag;
      const FlatRegion& region =
          operation.kind == OperationKind::kSend ? operation.a : operation.dst;
      step.bytes = region.elements;
      step.runs = runsOf(*program, region);
      const auto index = static_cast<std::uint32_t>(steps_.size());
      for (const std::uint32_t before : program->dependencesOf(operation))
        edges_.emplace_back(static_cast<std::uint32_t>(first + before), index);
      steps_.push_back(step);
    }
  }
  return match();
}

/// Adds a dependence of each receive on its send.
llvm::Error Steps::match() {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::vector<Key> sends, receives;  // from, to, tag, step
  for (std::uint32_t index = 0; index < steps_.size(); ++index) {
    const Step& step = steps_[index];
    if (step.kind == OperationKind::kSend)
      sends.emplace_back(step.core, step.peer, step.tag, index);
    if (step.kind == OperationKind::kRecv)
      receives.emplace_back(step.peer, step.core, step.tag, index);
  }
  std::sort(sends.begin(), sends.end());
  std::sort(receives.begin(), receives.end());
  if (sends.size() != receives.size()) return makeError("a message has no receiver");
  for (std::size_t i = 0; i < sends.size(); ++i)
    messages_.emplace_back(std::get<3>(sends[i]), std::get<3>(receives[i]));
  edges_.insert(edges_.end(), messages_.begin(), messages_.end());
  return llvm::Error::success();
}

llvm::Error Steps::sort() {
  std::sort(edges_.begin(), edges_.end());
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
    const auto& [before, after] = edges_[edge];
    if (steps_[before].followers++ == 0) steps_[before].first_follower = edge;
    ++steps_[after].waits;
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t index = 0; index < steps_.size(); ++index) {
    if (steps_[index].waits == 0) ready.push_back(index);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const Step& step = steps_[ready[next]];
    for (std::uint32_t i = 0; i < step.followers; ++i) {
      Step& after = steps_[edges_[step.first_follower + i].second];
      // A receive is in the round of its send; its dependants on its rank come later.
      const bool later = isMessage(step) && after.core == step.core;
      after.round = std::max(after.round, step.round + (later ? 1 : 0));
      if (--after.waits == 0) ready.push_back(edges_[step.first_follower + i].second);
    }
  }
  if (ready.size() != steps_.size()) return makeError("operations wait for each other");
  edges_.clear();
  countPosted();
  return llvm::Error::success();
}

/// Receives are posted in the order of the program.
void Steps::countPosted() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> posted;  // by core and round
  for (Step& step : steps_) {
    if (step.kind == OperationKind::kRecv) step.posted = posted[{step.core, step.round}]++;
  }
  for (const auto& [send, receive] : messages_)
    steps_[send].posted = steps_[receive].posted;
  messages_.clear();
}

struct CoreRounds {
  std::vector<Round> rounds;
  std::vector<std::uint64_t> first_send;  // by round, into `sends`
  std::vector<Message> sends;
};

class ScheduleProgram : public ClusterProgram {
 public:
  ScheduleProgram(std::uint32_t nodes, std::uint32_t cores, std::vector<CoreRounds> rounds)
      : nodes_(nodes), cores_(cores), rounds_(std::move(rounds)) {}

  std::uint32_t nodes() const override { return nodes_; }
  std::uint32_t coresPerNode() const override { return cores_; }
  std::uint64_t rounds(std::uint32_t core) const override { return rounds_[core].rounds.size(); }
  Round round(std::uint32_t core, std::uint64_t index) const override {
    return rounds_[core].rounds[index];
  }
  Message message(std::uint32_t core, std::uint64_t round, std::uint64_t send) const override {
    return rounds_[core].sends[rounds_[core].first_send[round] + send];
  }

 private:
  const std::uint32_t nodes_, cores_;
  const std::vector<CoreRounds> rounds_;
};

/// Adds sorted steps to the rounds of their cores.
class RoundBuilder {
 public:
  RoundBuilder(const Cluster& cluster, std::uint32_t nodes, std::uint32_t cores, double bytes)
      : cluster_(cluster),
        total_(std::uint64_t{nodes} * cores),
        cores_(cores),
        exceeds_cache_(2 * bytes * static_cast<double>(total_) > cluster.cache),
        rounds_(total_) {}

  std::vector<CoreRounds> build(std::vector<Step>& steps) {
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.round < b.round; });
    const std::size_t count = steps.empty() ? 0 : steps.back().round + 1;
    for (CoreRounds& core : rounds_) {
      core.rounds.resize(count);
      core.first_send.resize(count);
    }
    for (const Step& step : steps)
      add(step);
    return std::move(rounds_);
  }

 private:
  /// A copy of `step`'s data; from or into memory if the NIC accesses them there.
  void copy(const Step& step, bool nic, Copy& copy) const {
    copy.bytes += static_cast<double>(step.bytes);
    copy.runs += static_cast<double>(step.runs);
    copy.memory |= nic || exceeds_cache_;
  }

  void add(const Step& step) {
    CoreRounds& core = rounds_[step.core];
    Round& round = core.rounds[step.round];
    const bool network = step.peer / cores_ != step.core / cores_;
    const auto bytes = static_cast<double>(step.bytes);
    switch (step.kind) {
      case OperationKind::kSend: {
        const bool pushed = cluster_.pio_limit > 0 && bytes <= cluster_.pio_limit;
        if (step.runs > 1)
          copy(step, network && !pushed && bytes > cluster_.buffered, round.before);
        if (round.sends++ == 0) core.first_send[step.round] = core.sends.size();
        core.sends.push_back({step.peer, network, bytes, connection(step.core, step.peer),
                              connection(step.peer, step.core), step.posted});
        return;
      }
      case OperationKind::kRecv:
        ++round.receives;
        if (step.runs > 1) copy(step, network && bytes > cluster_.buffered, round.after);
        return;
      default:
        copy(step, false, round.before);
    }
  }

  std::uint64_t connection(std::uint32_t own, std::uint32_t other) const {
    return 1 + own * total_ + other;
  }

  const Cluster& cluster_;
  const std::uint64_t total_;
  const std::uint32_t cores_;
  const bool exceeds_cache_;
  std::vector<CoreRounds> rounds_;
};

}  // namespace

llvm::Expected<std::unique_ptr<ClusterProgram>> scheduleProgram(const Cluster& cluster,
                                                                const ScheduleView& schedule,
                                                                std::uint64_t bytes) {
  if (schedule.collective != Collective::kAlltoall) {
    return makeError("a cluster plays schedules of alltoall, not of " +
                     llvm::Twine(std::string(rowOf(schedule.collective).name)));
  }
  if (schedule.topology.dead_node_count > 0) return makeError("a cluster has no dead nodes");
  const Places places(schedule.topology);
  const auto nodes = static_cast<std::uint32_t>(schedule.topology.ranks() / places.cores());
  Steps steps;
  if (llvm::Error error = steps.read(schedule, bytes, places)) return error;
  if (llvm::Error error = steps.sort()) return error;
  RoundBuilder builder(cluster, nodes, places.cores(), static_cast<double>(bytes));
  return std::make_unique<ScheduleProgram>(nodes, places.cores(), builder.build(steps.steps()));
}

}  // namespace torc::studies
