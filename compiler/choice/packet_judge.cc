// The judgement of the best candidates packet by packet.
#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/choice/candidate.h"
#include "compiler/choice/trials.h"
#include "model/packets/packet_simulator.h"
#include "model/packets/packet_sizes.h"
#include "model/simulator/simulator.h"
#include "schedules/expansion/shares.h"

namespace torc::compiler {
namespace {

// The least ratio of packets' time to links' time that is expected, where processors allow it.
constexpr double kLeastRatio = 0.85;
// Work of one simulation and of all together, in hops of packets, some 2 million a second; hops
// that cost as much as a message.
constexpr double kMostWork = 2.5e6, kMostWorkOfAll = 1e7;
constexpr double kHopsOfMessage = 8;
// Of a judgement, in the choice's unit of work.
constexpr double kWorkOfPackets = 1e7;
// The slowdown that a smaller shape may hide.
constexpr double kOnSmaller = 1.1;
// Nodes of the shapes, and the share of each axis that the next one has.
constexpr std::uint64_t kMostNodes = 512, kFewestNodes = 64;
constexpr double kNextShape = 0.75;

/// Seconds for which the processor of a node sends its messages and receives as many packets, one
/// after the other; the link simulator lets them overlap.
double processorSeconds(const ScheduleView& schedule, const model::Machine& machine, double bytes) {
  const model::PacketParameters& p = *machine.router;
  const VectorShares shares(schedule);
  double ns = 0;
  for (const Operation& operation : schedule.operations) {
    if (!sends(operation.kind) || operation.guard != kNone) continue;
    const double message = shares.of(operation.a, {}) * bytes / schedule.segments;
    const model::PacketSizes sizes(p, message, p.header, p.chunk);
    const auto packets = static_cast<double>(sizes.count());
    const double in_packets = message + p.header * packets;
    const double one = 1e9 * (machine.overhead + machine.message_gap) +
                       packets * (p.send + p.receive) + in_packets * (p.send_byte + p.receive_byte);
    ns += one * (operation.hasPeerLoop() ? schedule.peer_loops[operation.peer].size() : 1.0);
  }
  return 1e-9 * ns * schedule.segments;
}

/// Judges candidates on the machine, or where these are too much on smaller ones.
class PacketJudge {
 public:
  explicit PacketJudge(Trials& trials) : trials_(trials) {
    std::array<bool, kMaxAxes> all{};
    all.fill(true);
    const Topology& topology = trials.spec.topology;
    if (topology.sites() <= kMostNodes)
      shapes_.emplace_back(Target{trials.machine, topology}, trials.spec.collective);
    for (std::uint64_t most = kMostNodes; most >= kFewestNodes; most /= 2) {
      auto smaller = standInFor(topology, trials.machine, all, most, kNextShape);
      if (!smaller || (!shapes_.empty() &&
                       smaller->topology.sites() >= shapes_.back().stand_in.topology.sites()))
        continue;
      shapes_.emplace_back(*std::move(smaller), trials.spec.collective);
    }
  }

  /// Judges the candidate that may be the best, first on the smallest shape, then on the largest
  /// within the limit of work, until the best one has been judged so.
  void run() {
    std::vector<Candidate*> rows;
    for (Candidate& candidate : trials_.choice.candidates) {
      if (!candidate.refusal.empty() || candidate.by_packets) continue;
      if (!candidate.estimated)
        candidate.unseen = std::max(kLeastRatio, processorsOverLinks(candidate));
      rows.push_back(&candidate);
    }
    while (!rows.empty() && !shapes_.empty()) {
      const auto next = llvm::min_element(
          rows, [](const Candidate* a, const Candidate* b) { return isFaster(*a, *b); });
      if ((*next)->cautiousSeconds() > kTie * bestJudged()) return;
      const bool is_estimated = (*next)->estimated;
      is_estimated ? judge(**next) : estimate(**next);
      if (is_estimated || !(*next)->estimated) rows.erase(next);
    }
  }

 private:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  bool isWhole(const Smaller& shape) const {
    return shape.stand_in.topology.sites() == trials_.spec.topology.sites();
  }

  /// Seconds of the best candidate that has been judged.
  double bestJudged() const {
    double best = kNoLimit;
    for (const Candidate& candidate : trials_.choice.candidates) {
      if (candidate.by_packets) best = std::min(best, candidate.cautiousSeconds());
    }
    return best;
  }

  /// Seconds of processors, divided by those of links.
  double processorsOverLinks(const Candidate& candidate) const {
    if (!candidate.stand_in.empty()) return 0;
    const auto program = llvm::expectedToOptional(programOf(trials_.programs, candidate));
    if (!program) return 0;
    return processorSeconds((*program)->schedule.view(), trials_.machine, trials_.bytes) /
           candidate.predicted_s;
  }

  /// Estimates by the smallest shape; a candidate without an estimate gets the worst ratio.
  void estimate(Candidate& candidate) {
    std::optional<double> ratio;
    if (left_ > 0) ratio = packetsOverLinks(shapes_.back(), candidate, kNoLimit);
    candidate.estimated = ratio.has_value();
    worst_ = std::max(worst_, ratio.value_or(1));
    candidate.unseen = std::max(ratio.value_or(worst_), processorsOverLinks(candidate));
  }

  /// Judges by the largest shape within the limit of work, else by the estimate.
  void judge(Candidate& candidate) {
    trials_.progress.expect(1);
    trials_.progress.begin("trying " + candidate.description() + ", by packets");
    std::optional<double> ratio;
    double unseen = 1, most = kNoLimit;
    for (auto shape = shapes_.begin(); !ratio && left_ > 0 && shape + 1 != shapes_.end(); ++shape) {
      unseen = isWhole(*shape) ? 1 : kOnSmaller;
      most = kTie * bestJudged() / (candidate.predicted_s * unseen);
      ratio = packetsOverLinks(*shape, candidate, most);
    }
    trials_.progress.done();
    if (!ratio) {
      ratio = candidate.unseen;
      unseen = isWhole(shapes_.back()) ? 1 : kOnSmaller;
    } else if (*ratio > most) {  // it goes on
      candidate.unseen = unseen * *ratio;
      return;
    }
    candidate.by_packets = true;
    candidate.predicted_s *= *ratio;
    candidate.unseen = unseen;
  }

  static double busiest(const model::SimulateResult& result) {
    double load = 0;
    for (const model::LinkUse& link : result.links)
      load = std::max(load, link.bytes);
    return load;
  }

  /// The ratio of packets' time to links' time; on a smaller shape for so many bytes that a link
  /// carries as much for each message that a node sends, so that both weigh the same. A simulation
  /// that comes to more than `most` ends there. Nothing: no such program, or too much work.
  std::optional<double> packetsOverLinks(Smaller& shape, const Candidate& candidate, double most) {
    const auto program = llvm::expectedToOptional(programOf(shape.programs, candidate));
    if (!program) return std::nullopt;
    const ScheduleView schedule = (*program)->schedule.view();
    const Topology& topology = shape.stand_in.topology;
    model::SimulateOptions options{.bytes = trials_.bytes};
    const auto simulate = [&] {
      return llvm::expectedToOptional(model::simulate(schedule, shape.stand_in.machine, options));
    };
    auto links = simulate();
    double load = links ? busiest(*links) : 0;
    if (load > 0 && !isWhole(shape) && candidate.stand_in.empty()) {
      options.bytes *= candidate.load_bytes / static_cast<double>(candidate.messages) /
                       (load / static_cast<double>(links->messages));
      links = simulate();
      load = links ? busiest(*links) : 0;
    }
    if (!links || load == 0) return std::nullopt;
    const model::PacketParameters& router = *trials_.machine.router;
    const double hops =
        load / (router.packet - router.header) * topology.sites() * 2 * topology.dimensions();
    const double messages =
        kHopsOfMessage * static_cast<double>(links->messages) * topology.sites();
    const bool is_all = hops + messages <= kMostWork;
    const double share = std::min((kMostWork - 2 * messages) / 1.5 / hops, 1.0);
    if (!is_all && (&shape != &shapes_.back() || share <= 0)) return std::nullopt;
    left_ -= is_all ? hops + messages : kMostWork;
    const auto packets = [&](double of_bytes) -> std::optional<double> {
      const model::ProgramOptions sample{of_bytes * options.bytes,
                                         *elementBytesFor(trials_.spec, trials_.bytes)};
      model::PacketOptions packet_options;
      packet_options.parameters = router;
      if (is_all) packet_options.most_s = most * links->makespan_s;
      const auto result = llvm::expectedToOptional(
          model::simulateProgram(schedule, shape.stand_in.machine, sample, packet_options));
      if (!result) return std::nullopt;
      return result->makespan_s / links->makespan_s;
    };
    if (is_all) return packets(1);
    // The times of two shares of the bytes are extrapolated linearly to all bytes.
    const std::optional<double> less = packets(share / 2), more = packets(share);
    if (!less || !more) return std::nullopt;
    return *more + (*more - *less) * 2 * (1 / share - 1);
  }

  Trials& trials_;
  double left_ = kMostWorkOfAll;
  double worst_ = 1;            // ratio so far
  std::deque<Smaller> shapes_;  // the largest first
};

}  // namespace

void judgeByPackets(Trials& trials) {
  // The packet simulator serves nodes of one rank, undamaged.
  const Topology& topology = trials.spec.topology;
  const bool has_packets = trials.machine.router && !topology.isDamaged() && !topology.hasCores();
  if (trials.isBeyondWork(has_packets ? kWorkOfPackets : 0)) return;
  if (has_packets && elementBytesFor(trials.spec, trials.bytes)) PacketJudge(trials).run();
}

}  // namespace torc::compiler
