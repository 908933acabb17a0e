// Predicts the time by number of chunks.
#include "model/simulator/pipeline_cost.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <llvm/ADT/STLExtras.h>

#include "schedules/broken_messages.h"
#include "schedules/expansion/shares.h"
#include "schedules/root.h"

namespace torc::model {
namespace {

/// Simulates chains on links event by event.
class ChainRun {
 public:
  ChainRun(std::uint32_t in_flight, double cores) : in_flight_(in_flight), cores_(cores) {}

  /// Adds a chunk of a chain, after those already on its link. It begins when the chunks `before`
  /// have ended. Returns its number.
  std::uint32_t add(const MessageChain& chain, std::uint32_t chunks,
                    llvm::SmallVector<std::uint32_t, 2> before) {
    const auto number = static_cast<std::uint32_t>(jobs_.size());
    const double alone = chain.alone(chunks);
    const double per_alone = alone > 0 ? chain.messages / alone : 0.0;
    jobs_.push_back({alone, chain.transfer / chunks * per_alone, chain.reduce / chunks * per_alone,
                     1 / (chain.messages + chain.hops), std::move(before)});
    links_[chain.link].queue.push_back(number);
    return number;
  }

  /// Time of the last chain's end, seconds.
  double finish() {
    for (Link& link : links_) {
      if (!link.queue.empty()) used_.push_back(&link);
    }
    beginAll();
    while (step()) {
    }
    return now_;
  }

 private:
  struct Job {
    double alone;     // seconds
    double use;       // of the link, as a share of its time alone
    double core_use;  // of a core, likewise
    double first;     // share done with the first message
    llvm::SmallVector<std::uint32_t, 2> before;
    double done = 0;  // share
    bool ended = false;
  };
  struct Link {
    std::vector<std::uint32_t> queue;   // chains in order
    std::size_t begun = 0;              // begun so far
    std::vector<std::uint32_t> active;  // active chains
    double speed = 1;                   // of the active ones, with enough cores
  };

  bool hasSentFirst(const Job& job) const { return job.done >= job.first * (1 - kEpsilon); }

  /// Begins all possible chains on `link`.
  void begin(Link& link) {
    while (link.begun < link.queue.size() && link.active.size() < in_flight_) {
      const Job& next = jobs_[link.queue[link.begun]];
      if (llvm::any_of(next.before, [&](std::uint32_t job) { return !jobs_[job].ended; })) break;
      if (link.begun > 0 && !hasSentFirst(jobs_[link.queue[link.begun - 1]])) break;
      link.active.push_back(link.queue[link.begun++]);
    }
  }

  /// Begins all possible chains. Reducing chains share the cores, and those on a link share the
  /// link.
  void beginAll() {
    double core_use = 0;
    for (Link* const used : used_) {
      Link& link = *used;
      begin(link);
      for (const std::uint32_t number : link.active)
        core_use += jobs_[number].core_use;
    }
    core_speed_ = core_use > cores_ ? cores_ / core_use : 1;
    for (Link* const link : used_) {
      double use = 0;
      for (const std::uint32_t number : link->active)
        use += jobs_[number].use * coreSpeed(jobs_[number]);
      link->speed = use > 1 ? 1 / use : 1;
    }
  }

  double coreSpeed(const Job& job) const { return job.core_use > 0 ? core_speed_ : 1; }

  /// Advances to the next end of a chain or of its first message; false if all have ended.
  bool step() {
    double wait = -1;
    for (const Link* const link : used_) {
      for (const std::uint32_t number : link->active) {
        const Job& job = jobs_[number];
        const double left = (hasSentFirst(job) ? 1 : job.first) - job.done;
        const double seconds = left * job.alone / (link->speed * coreSpeed(job));
        if (wait < 0 || seconds < wait) wait = seconds;
      }
    }
    if (wait < 0) return false;
    now_ += wait;
    for (Link* const link : used_) {
      for (const std::uint32_t number : link->active) {
        Job& job = jobs_[number];
        job.done += job.alone > 0 ? wait * link->speed * coreSpeed(job) / job.alone : 1;
        if (job.done >= 1 - kEpsilon) job.ended = true;
      }
      std::erase_if(link->active, [&](std::uint32_t number) { return jobs_[number].ended; });
    }
    beginAll();
    return true;
  }

  static constexpr double kEpsilon = 1e-9;

  const std::uint32_t in_flight_;
  const double cores_;
  double core_speed_ = 1;  // of the reducing chains
  std::vector<Job> jobs_;
  std::array<Link, 2 * kMaxAxes> links_;
  llvm::SmallVector<Link*> used_;  // by some chain
  double now_ = 0;
};

/// Finds the messages that forward data just received by a node.
class HandedOn {
 public:
  explicit HandedOn(const ScheduleView& schedule)
      : schedule_(schedule), places_(schedule.operations.size()) {
    std::map<std::tuple<std::uint32_t, bool, Shift>, std::uint32_t> seen;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      if (operation.peer == kNone || operation.hasPeerLoop()) continue;
      const Shift& shift = schedule.shifts[operation.peer];
      places_[i] = seen[{operation.stream, sends(operation.kind), shift}]++;
    }
  }

  /// Links along `axis` used by a message of the send `index`.
  std::uint32_t links(std::uint32_t index, std::uint32_t axis) const {
    const Operation& send = schedule_.operations[index];
    if (send.guard == kNone) return 1;
    const Interval& nodes = schedule_.boxes[send.guard][axis];
    if (nodes.kind != IntervalKind::kAbsolute || nodes.length < 2) return 1;
    for (const std::uint32_t before : schedule_.dependencesOf(send)) {
      if (isFilledBy(before, index)) return nodes.length;
    }
    return 1;
  }

 private:
  /// Whether a node's receive `receive` gets the data of the previous node's send `send`.
  bool isFilledBy(std::uint32_t receive, std::uint32_t send) const {
    const Operation& a = schedule_.operations[receive];
    const Operation& b = schedule_.operations[send];
    if (!receives(a.kind) || a.stream != b.stream || places_[receive] != places_[send])
      return false;
    if (a.hasPeerLoop() || b.hasPeerLoop()) return false;
    Shift back = schedule_.shifts[b.peer];
    for (std::int32_t& hops : back)
      hops = -hops;
    return schedule_.shifts[a.peer] == back;
  }

  const ScheduleView& schedule_;
  std::vector<std::uint32_t> places_;  // among its stream's messages of that kind and peer
};

}  // namespace

PipelineCost::PipelineCost(const ScheduleView& any_root, const Machine& machine, double bytes)
    : streams_(static_cast<std::uint32_t>(any_root.streams.size())), cores_(machine.cores) {
  const RootedSchedule rooted(asCounted(any_root), 0);
  const ScheduleView& schedule = rooted.view();
  const HandedOn handed_on(schedule);
  const Topology& topology = schedule.topology;
  const VectorShares shares(schedule);
  const double reduce_time =
      std::max(machine.gamma, machine.memory_bandwidth > 0 ? 3 / machine.memory_bandwidth : 0.0);
  const double injection = machine.injection > 0 ? 1 / machine.injection : 0.0;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, MessageChain> chains;
  std::set<std::tuple<const MessageChain*, std::uint32_t, std::uint32_t>> counted;
  std::vector<bool> reduced(std::size_t{1} << 16);  // phases that reduce
  for (const Operation& operation : schedule.operations) {
    if (operation.b.present()) reduced[operation.phase] = true;
  }
  for (std::uint32_t index = 0; index < schedule.operations.size(); ++index) {
    const Operation& operation = schedule.operations[index];
    if (isDetour(schedule, operation)) continue;  // negligible beside the work of all nodes
    const Region& region = sends(operation.kind) ? operation.a : operation.dst;
    const double size = bytes * shares.of(region, {});
    const double reduce = size * reduce_time;
    const bool reduces =
        operation.kind == OperationKind::kReduce || operation.kind == OperationKind::kRecvReduce;
    if (reduces) compute_ += reduce / machine.cores;
    // A loop over peers has many messages already, which chunks do not hide.
    if (!sends(operation.kind) || operation.hasPeerLoop()) continue;
    const Shift& shift = schedule.shifts[operation.peer];
    std::uint32_t axis = 0;
    while (shift[axis] == 0)
      ++axis;
    const Axis& line = topology.axes[axis];
    const std::uint32_t link = 2 * axis + (line.linkSign(shift[axis]) < 0 ? 1 : 0);
    MessageChain& chain = chains[{operation.phase, operation.stream, link}];
    // On a line the node at the end and the others send the same blocks by different operations.
    if (!counted.emplace(&chain, region.pieces, region.box).second) continue;
    chain.phase = operation.phase;
    chain.stream = operation.stream;
    chain.link = link;
    chain.messages += 1;
    chain.hops += handed_on.links(index, axis) - 1;
    for (const std::uint32_t before : schedule.dependencesOf(operation)) {
      const Operation& other = schedule.operations[before];
      if (other.phase == operation.phase || other.stream == operation.stream) continue;
      if (!llvm::is_contained(chain.after, other.stream)) chain.after.push_back(other.stream);
    }
    // All messages of a ring's phase are of one size; of others, the mean.
    const double beta = line.kind == AxisKind::kCore
                            ? (machine.memory_bandwidth > 0 ? 2 / machine.memory_bandwidth : 0.0)
                            : 1 / machine.linkBandwidth(axis) + injection;
    const double envelope = line.kind == AxisKind::kCore ? 0 : machine.envelope;
    chain.transfer += ((size + envelope) * beta - chain.transfer) / chain.messages;
    if (reduced[operation.phase]) chain.reduce += (reduce - chain.reduce) / chain.messages;
    chain.start_up =
        machine.alpha + 2 * machine.overhead + machine.latency +
        (line.kind == AxisKind::kCore ? 0.0
                                      : machine.message_gap + machine.dimensions[axis].latency);
  }
  for (const auto& [key, chain] : chains)
    chains_.push_back(chain);
  std::ranges::stable_sort(chains_, {}, &MessageChain::phase);
}

double PipelineCost::seconds(std::uint32_t chunks, std::uint32_t in_flight) const {
  ChainRun run(in_flight, cores_);
  std::vector<std::vector<std::uint32_t>> last(streams_);  // of each chunk, in the phase before
  for (std::size_t begin = 0, end; begin < chains_.size(); begin = end) {
    for (end = begin; end < chains_.size(); ++end) {
      if (chains_[end].phase != chains_[begin].phase) break;
    }
    std::vector<std::vector<std::uint32_t>> now = last;
    for (std::size_t i = begin; i < end; ++i) {
      now[chains_[i].stream].assign(chunks, kNone);
    }
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      for (std::size_t i = begin; i < end; ++i) {
        const MessageChain& chain = chains_[i];
        llvm::SmallVector<std::uint32_t, 2> before;
        if (!last[chain.stream].empty()) {
          before = {last[chain.stream][chunk]};
        } else {
          for (const std::uint32_t stream : chain.after) {
            if (!last[stream].empty()) before.push_back(last[stream][chunk]);
          }
        }
        // On a line a stream has a chain each way at the same time; the longer one is the last.
        now[chain.stream][chunk] = run.add(chain, chunks, std::move(before));
      }
    }
    last = std::move(now);
  }
  return std::max(run.finish(), compute_);
}

double PipelineCost::busySeconds() const {
  std::array<double, 2 * kMaxAxes> busy{};
  for (const MessageChain& chain : chains_)
    busy[chain.link] += chain.messages * chain.transfer;
  return *std::max_element(busy.begin(), busy.end());
}

double PipelineCost::leastSeconds(std::uint32_t chunks, std::uint32_t in_flight) const {
  std::array<double, 2 * kMaxAxes> alone{};  // the chains of a link one after another
  for (const MessageChain& chain : chains_) {
    alone[chain.link] +=
        (chain.messages + chain.hops) * (chain.transfer + chain.reduce + chunks * chain.start_up);
  }
  return *std::max_element(alone.begin(), alone.end()) / in_flight;
}

std::uint32_t PipelineCost::bestChunks(std::uint32_t in_flight, std::uint32_t most) const {
  constexpr double kAsGood = 1.002;
  std::vector<double> times;  // by the logarithm of the chunks
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t chunks = 1; chunks <= std::max(most, 1u); chunks *= 2) {
    // Further chunks add further start-ups.
    if (leastSeconds(chunks, in_flight) > least) break;
    times.push_back(seconds(chunks, in_flight));
    least = std::min(least, times.back());
  }
  const double limit = kAsGood * least;
  return 1u << (llvm::find_if(times, [&](double time) { return time <= limit; }) - times.begin());
}

}  // namespace torc::model
