// The judgement of the best candidates packet by packet.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/choice/stand_in.h"
#include "compiler/choice/trials.h"
#include "model/packets/packet_simulator.h"
#include "model/simulator/simulator.h"

namespace torc::compiler {
namespace {

// How far links may put the best of an algorithm behind the best of all, and any candidate behind
// what packets make of the best, for it to be judged.
constexpr double kFarBehind = 1.35, kBehind = 1.5;
// What one may cost on a shape, and all together, in hops of packets, some 4 million a second; as
// many as a message takes.
constexpr double kMostWork = 1.4e7, kMostWorkOfAll = 4.2e7;
constexpr double kHopsOfMessage = 8;
// What may not have been seen on a smaller shape.
constexpr double kOnSmaller = 1.1;
// Nodes of the shapes.
constexpr std::uint64_t kMostNodes = 512, kFewestNodes = 64;

/// Whether routers are known, and what the packet simulator serves: nodes of one rank, undamaged.
bool isJudged(const Trials& trials) {
  const Topology& topology = trials.spec.topology;
  return trials.machine.router && !topology.isDamaged() && !topology.hasCores() &&
         elementBytesFor(trials.spec, trials.bytes);
}

/// Judges candidates on the machine, or where these are too much on smaller ones.
class PacketJudge {
 public:
  PacketJudge(Trials& trials, Progress* progress)
      : trials_(trials),
        progress_(progress),
        is_whole_(trials.spec.topology.sites() <= kMostNodes) {
    std::array<bool, kMaxAxes> all{};
    all.fill(true);
    const Topology& topology = trials.spec.topology;
    if (is_whole_) shapes_.emplace_back(StandIn{trials.machine, topology}, trials.spec.collective);
    for (std::uint64_t most = kMostNodes; most >= kFewestNodes; most /= 2) {
      auto smaller = standInFor(topology, trials.machine, all, most);
      if (!smaller || (!shapes_.empty() &&
                       smaller->topology.sites() >= shapes_.back().stand_in.topology.sites()))
        continue;
      shapes_.emplace_back(*std::move(smaller), trials.spec.collective);
    }
  }

  /// What packets make of it on the smallest of the shapes holds until it is judged.
  void estimate(Candidate& candidate) {
    const double left = left_;
    candidate.unseen = 1;  // of an earlier estimate
    const std::optional<Ratio> ratio = packetsOverLinks(shapes_.back(), candidate);
    left_ = left;  // it is little
    if (!ratio) return;
    worst_ = std::max(worst_, ratio->value);
    candidate.unseen = kOnSmaller * ratio->value;
  }

  /// Whether it could be judged. What packets make of it holds for others of its algorithm until
  /// they are judged themselves.
  bool judge(Candidate& candidate) {
    if (left_ <= 0) return false;
    if (progress_ != nullptr) {
      progress_->expect(1);
      progress_->begin("trying " + candidate.description() + ", by packets");
    }
    std::optional<Ratio> ratio;
    for (auto shape = shapes_.begin(); shape != shapes_.end() && !ratio; ++shape)
      ratio = packetsOverLinks(*shape, candidate);
    if (progress_ != nullptr) progress_->done();
    if (!ratio) return false;
    const double estimated = candidate.unseen;
    candidate.by_packets = true;
    candidate.predicted_s *= ratio->value;
    worst_ = std::max(worst_, ratio->value);
    candidate.unseen = ratio->is_whole ? 1 : kOnSmaller;
    if (!ratio->is_whole) on_smaller_.push_back({&candidate, ratio->value});
    for (Candidate& other : trials_.choice.candidates) {
      if (other.algorithm == candidate.algorithm && !other.by_packets)
        other.unseen *= ratio->value / estimated;
    }
    if (!ratio->is_whole) return true;
    for (auto& [other, value] : on_smaller_) {
      if (other->algorithm != candidate.algorithm || value >= ratio->value) continue;
      other->predicted_s *= ratio->value / value;
      value = ratio->value;
    }
    return true;
  }

  /// What packets took longer than links, at most; 1 at least.
  double worst() const { return worst_; }

 private:
  static double busiest(const model::SimulateResult& result) {
    double load = 0;
    for (const model::LinkUse& link : result.links)
      load = std::max(load, link.bytes);
    return load;
  }

  struct Ratio {
    double value;
    bool is_whole;  // of the machine itself
  };

  /// How many times as long packets take as links say; on a smaller shape for so many bytes that a
  /// link carries as much for each message that a node sends, so that both weigh the same. Nothing:
  /// it cannot be had, or another shape has to be taken.
  std::optional<Ratio> packetsOverLinks(Smaller& shape, const Candidate& candidate) {
    auto program = programOf(shape.programs, candidate);
    if (!program) {
      consumeError(program.takeError());
      return std::nullopt;
    }
    const ScheduleView schedule = (*program)->schedule.view();
    const Topology& topology = shape.stand_in.topology;
    model::SimulateOptions options;
    options.bytes = trials_.bytes;
    const bool is_whole = is_whole_ && &shape == &shapes_.front();
    auto links = model::simulate(schedule, shape.stand_in.machine, options);
    double load = links ? busiest(*links) : 0;
    if (load > 0 && !is_whole && candidate.stand_in.empty()) {
      options.bytes *= candidate.load_bytes / static_cast<double>(candidate.messages) /
                       (load / static_cast<double>(links->messages));
      links = model::simulate(schedule, shape.stand_in.machine, options);
      load = links ? busiest(*links) : 0;
    }
    if (!links || load == 0) {
      consumeError(links.takeError());
      return std::nullopt;
    }
    const model::PacketParameters& router = *trials_.machine.router;
    const double hops =
        load / (router.packet - router.header) * topology.sites() * 2 * topology.dimensions();
    const double messages =
        kHopsOfMessage * static_cast<double>(links->messages) * topology.sites();
    if (messages > kMostWork) return std::nullopt;
    const bool is_all = hops + messages <= kMostWork;
    if (!is_all && &shape != &shapes_.back()) return std::nullopt;
    left_ -= is_all ? hops + messages : kMostWork + messages;
    // A smaller shape has less to wait for: there packets take as much longer at least as they did
    // for others of the algorithm.
    const double least = std::max(1.0, candidate.unseen);
    const auto packets = [&](double bytes) -> std::optional<double> {
      model::ProgramOptions sample;
      sample.bytes = bytes;
      sample.element_bytes = *elementBytesFor(trials_.spec, trials_.bytes);
      model::PacketOptions packet_options;
      packet_options.parameters = router;
      auto result =
          model::simulateProgram(schedule, shape.stand_in.machine, sample, packet_options);
      if (result) return result->makespan_s;
      consumeError(result.takeError());
      return std::nullopt;
    };
    if (is_all) {
      const std::optional<double> all = packets(options.bytes);
      if (!all) return std::nullopt;
      const double ratio = *all / links->makespan_s;
      return Ratio{is_whole ? ratio : std::max(ratio, least), is_whole};
    }
    // In proportion to what twice as many bytes take longer.
    const double share = kMostWork / 1.5 / hops;
    const std::optional<double> less = packets(share / 2 * options.bytes),
                                more = packets(share * options.bytes);
    if (!less || !more) return std::nullopt;
    const double all = *more + (*more - *less) * 2 * (1 / share - 1);
    return Ratio{std::max(all / links->makespan_s, least), false};
  }

  Trials& trials_;
  Progress* const progress_;
  double left_ = kMostWorkOfAll;
  double worst_ = 1;                                       // ratio so far
  std::vector<std::pair<Candidate*, double>> on_smaller_;  // judged so, and the ratio
  const bool is_whole_;                                    // whether the largest is the machine
  std::deque<Smaller> shapes_;                             // the largest first
};

}  // namespace

void judgeByPackets(Trials& trials, Progress* progress) {
  if (!isJudged(trials)) return;
  PacketJudge judge(trials, progress);
  std::vector<Candidate*> rows;
  for (Candidate& candidate : trials.choice.candidates) {
    if (candidate.refusal.empty()) rows.push_back(&candidate);
  }
  const auto faster = [](const Candidate* a, const Candidate* b) { return isFaster(*a, *b); };
  llvm::stable_sort(rows, faster);
  const double limit = rows.empty() ? 0 : kFarBehind * rows.front()->cautiousSeconds();
  for (Candidate* candidate : rows) {
    if (!candidate->by_packets && candidate->predicted_s < limit) judge.estimate(*candidate);
  }
  for (;;) {
    llvm::erase_if(rows, [](const Candidate* candidate) { return candidate->by_packets; });
    if (rows.empty()) break;
    Candidate& next = **llvm::min_element(rows, faster);
    if (next.cautiousSeconds() > kBehind * trials.bestSeconds() || !judge.judge(next)) break;
  }
  // What could not be estimated is taken to do as badly as any.
  for (Candidate* candidate : rows) {
    if (!candidate->by_packets && candidate->unseen == 1) candidate->unseen = judge.worst();
  }
}

}  // namespace torc::compiler
