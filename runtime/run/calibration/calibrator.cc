#include "runtime/run/calibration/calibrator.h"

#include <algorithm>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/nodes.h"
#include "runtime/run/calibration/node_probe.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "runtime/transport/yielding_wait.h"

namespace torc::runtime {
namespace {

constexpr int kBatches = kSimulated ? 1 : 5;   // of all experiments
constexpr int kMostRepetitions = 1000;         // in a batch
constexpr int kAttempts = kSimulated ? 1 : 3;  // with one unexpected message
constexpr std::size_t kLeastLong = 4096;       // bytes of the longer message
constexpr std::size_t kMostLong = std::size_t{4} << 20;
constexpr std::size_t kTimesLonger = 4;                     // compared with the shorter one
constexpr std::size_t kCachedBytes = 8192;                  // of an array: three fit into 32 KiB
constexpr std::size_t kArrayBytes = std::size_t{64} << 20;  // in memory, on a host
constexpr std::size_t kLeastArrayBytes = std::size_t{1} << 20;
/// If a receive takes less than this share of the whole message's time, the data were already
/// there.
constexpr double kThere = 0.75;

}  // namespace

Calibrator::Calibrator(const JobGrid& grid, const HostRanks& hosts, double seconds)
    : grid_(grid),
      topology_(grid.topology()),
      dimensions_(static_cast<std::uint32_t>(topology_.dimensions())),
      hosts_(hosts),
      seconds_(seconds),
      probe_(MPI_COMM_WORLD, hosts.oversubscribed, kMostLong) {
  rank_ = commRank(MPI_COMM_WORLD);
  at_ = grid.coordinatesOf(rank_);
  has_links_ = !topology_.hasCores() || at_[topology_.axis_count - 1] == 0;
}

NodeMeasurement Calibrator::measure() {
  forRounds([this](std::uint32_t axis, LinkEnd end, int peer) { addLink(axis, end, peer); });
  for (std::uint32_t axis = 0; axis < dimensions_; ++axis)
    addDistance(axis);
  addAllLinks();
  addSends();
  chooseSizes();
  const double slice = seconds_ / static_cast<double>(kBatches * experiments_.size());
  const double end = MPI_Wtime() + seconds_;
  for (int batch = 0; batch < kBatches; ++batch) {
    for (Experiment& experiment : experiments_)
      run(experiment, slice);
    int is_over = MPI_Wtime() > end ? 1 : 0;
    broadcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_over != 0) break;
  }
  for (const Experiment& experiment : experiments_) {
    // A node measures a link in one of the rounds of its axis.
    if (!experiment.medians.empty()) *experiment.result = experiment.medians.median();
  }
  // Ranks of one host put into shared memory (//runtime/transport/put), where no send runs ahead.
  if (kSimulated || hosts_.count < commSize(MPI_COMM_WORLD)) measureThresholds();
  measureNode();
  return measured_;
}

LinkEnd Calibrator::endIn(std::uint32_t axis, int round) const {
  return has_links_ ? linkEnd(topology_.axes[axis], at_[axis], round) : LinkEnd::kNone;
}

void Calibrator::addMessages(double& result, LinkEnd end, int peer, Size out, Size in) {
  add(result, [=, this](int count) {
    const bool is_swap = out == in && out != nullptr;
    Samples seconds;
    if (end == LinkEnd::kLow || (end == LinkEnd::kHigh && is_swap)) {
      seconds = probe_.ask({&peer, 1}, bytesOf(out), bytesOf(in), count);
    } else if (end == LinkEnd::kHigh) {
      probe_.answer(peer, bytesOf(out), bytesOf(in), count);
    }
    return end == LinkEnd::kLow ? seconds : Samples();
  });
}

void Calibrator::addLink(std::uint32_t axis, LinkEnd end, int peer) {
  constexpr Size kSmall = nullptr, kShort = &MeasuredSizes::shorter, kLong = &MeasuredSizes::longer;
  LinkMeasurement& link = measured_.links[axis];
  addMessages(link.small_s, end, peer, kSmall, kSmall);
  addMessages(link.up.short_s, end, peer, kShort, kSmall);
  addMessages(link.up.long_s, end, peer, kLong, kSmall);
  addMessages(link.down.short_s, end, peer, kSmall, kShort);
  addMessages(link.down.long_s, end, peer, kSmall, kLong);
  addMessages(link.both.short_s, end, peer, kShort, kShort);
  addMessages(link.both.long_s, end, peer, kLong, kLong);
}

void Calibrator::addDistance(std::uint32_t axis) {
  const std::int32_t steps = farthest(topology_.axes[axis]);
  if (steps < 2) return;
  const bool asks = has_links_ && at_[axis] == 0, answers = has_links_ && at_[axis] == steps;
  const LinkEnd end = asks ? LinkEnd::kLow : answers ? LinkEnd::kHigh : LinkEnd::kNone;
  const int peer = asks ? neighbour(axis, steps) : answers ? neighbour(axis, -steps) : -1;
  addMessages(measured_.links[axis].distant_s, end, peer, nullptr, nullptr);
}

void Calibrator::addAllLinks() {
  std::vector<int> peers;
  forRounds([&](std::uint32_t, LinkEnd end, int peer) {
    if (end != LinkEnd::kNone) peers.push_back(peer);
  });
  const auto addSize = [&](double& result, Size size) {
    add(result, [=, this](int count) {
      return peers.empty() ? Samples() : probe_.ask(peers, bytesOf(size), bytesOf(size), count);
    });
  };
  addSize(measured_.all.short_s, &MeasuredSizes::all_shorter);
  addSize(measured_.all.long_s, &MeasuredSizes::all_longer);
}

/// On the first axis that has links.
void Calibrator::addSends() {
  std::uint32_t axis = 0;
  while (linkRounds(topology_.axes[axis]) == 0)
    ++axis;
  const LinkEnd end = endIn(axis, 0);
  const int peer = this->peer(axis, end);
  add(measured_.send_s, [=, this](int count) {
    if (end == LinkEnd::kLow) return probe_.send(peer, count);
    if (end == LinkEnd::kHigh) probe_.takeSent(peer, count);
    return Samples();
  });
}

/// The longest message that fits twice into an experiment's share of a batch, on the slowest link.
void Calibrator::chooseSizes() {
  const double most = seconds_ / static_cast<double>(2 * kBatches * experiments_.size());
  std::size_t bytes = kLeastLong;
  for (bool is_slow = false; bytes < kMostLong && !is_slow;) {
    double slowest = 0;
    forRounds([&](std::uint32_t, LinkEnd end, int peer) {
      if (end == LinkEnd::kLow) {
        slowest = std::max(slowest, probe_.ask({&peer, 1}, bytes, kSmallMessage, 1).median());
      } else if (end == LinkEnd::kHigh) {
        probe_.answer(peer, bytes, kSmallMessage, 1);
      }
    });
    is_slow = 2 * largestOfAll(slowest) > most;
    if (!is_slow) bytes *= 2;
  }
  const auto links = static_cast<std::size_t>(linksOfNode(topology_));
  sizes_.longer = static_cast<double>(bytes);
  sizes_.shorter = static_cast<double>(bytes / kTimesLonger);
  sizes_.all_longer = static_cast<double>(bytes / links);
  sizes_.all_shorter = static_cast<double>(bytes / links / kTimesLonger);
}

void Calibrator::run(Experiment& experiment, double slice) {
  barrier(MPI_COMM_WORLD);
  if (experiment.count == 0) {
    const double start = MPI_Wtime();
    const Samples first = experiment.repeat(1);
    const double one = largestOfAll(MPI_Wtime() - start) / 2;  // includes the untimed one
    const double fitting = slice / std::max(one, 1e-7) - 1;
    experiment.count =
        kSimulated ? 1 : static_cast<int>(std::clamp<double>(fitting, 1, kMostRepetitions));
    if (experiment.count == 1) {
      if (!first.empty()) experiment.medians.add(first.median());
      return;
    }
    barrier(MPI_COMM_WORLD);
  }
  const Samples seconds = experiment.repeat(experiment.count);
  if (!seconds.empty()) experiment.medians.add(seconds.median());
}

/// On each axis between the pairs of its first round; a node keeps the minimum over its axes.
void Calibrator::measureThresholds() {
  for (std::uint32_t axis = 0; axis < dimensions_; ++axis) {
    barrier(MPI_COMM_WORLD);
    if (linkRounds(topology_.axes[axis]) == 0) continue;
    const LinkEnd end = endIn(axis, 0);
    if (end == LinkEnd::kHigh) probe_.serveUnexpected(peer(axis, end));
    if (end != LinkEnd::kLow) continue;
    measureThresholds(peer(axis, end), measured_.links[axis].small_s);
    probe_.endUnexpected(peer(axis, end));
  }
}

void Calibrator::measureThresholds(int peer, double small_s) {
  // Disturbances make a send late, never early.
  const auto isAtOnce = [&](std::size_t bytes) {
    bool is_at_once = false;
    for (int i = 0; i < kAttempts && !is_at_once; ++i)
      is_at_once = probe_.sendUnexpected(peer, bytes).is_at_once;
    return is_at_once;
  };
  Samples receiving;
  const auto isAhead = [&](std::size_t bytes) {
    receiving = Samples();
    Samples whole;
    for (int i = 0; i < kAttempts; ++i) {
      const auto sent = probe_.sendUnexpected(peer, bytes);
      receiving.add(sent.receive_s);
      whole.add(sent.answered_s - small_s / 2);
    }
    return receiving.median() < kThere * whole.median();
  };
  const auto largest = static_cast<std::size_t>(sizes_.longer);
  std::size_t most = 0, too_many = largest + 1;
  for (std::size_t bytes = kSmallMessage; bytes <= largest && bytes < too_many; bytes *= 2)
    (isAtOnce(bytes) ? most : too_many) = bytes;
  while (too_many - most > 1) {
    const std::size_t middle = (most + too_many) / 2;
    (isAtOnce(middle) ? most : too_many) = middle;
  }
  std::size_t ahead = most;
  while (ahead >= kSmallMessage && !isAhead(ahead))
    ahead /= 2;
  if (ahead < kSmallMessage) ahead = 0;
  if (ahead > 0) {
    (void)isAhead(kSmallMessage);
    measured_.receive_s = receiving.median();
  }
  const auto keepLeast = [](double& kept, std::size_t bytes) {
    kept = std::min(kept, static_cast<double>(bytes));
  };
  keepLeast(measured_.at_once_bytes, most);
  keepLeast(measured_.ahead_bytes, ahead);
}

void Calibrator::measureNode() {
  if (kSimulated) return;  // time does not pass while a core computes
  const StatusOr<std::vector<int>> nodes = dedicated::findNodes();
  barrier(MPI_COMM_WORLD);
  if (nodes.ok() && (*nodes)[static_cast<std::size_t>(rank_)] == rank_) {
    measured_.reduce_s = secondsPerByte(kCachedBytes);
    measured_.memory_alone = 3 / secondsPerByte(kArrayBytes);  // each byte counts three times
  }
  barrier(MPI_COMM_WORLD);
  const std::size_t share = kArrayBytes / static_cast<std::size_t>(hosts_.count);
  measured_.memory_share = 3 / secondsPerByte(std::max(kLeastArrayBytes, share));
  barrier(MPI_COMM_WORLD);
}

double Calibrator::largestOfAll(double mine) const {
  allreduce(&mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

}  // namespace torc::runtime
