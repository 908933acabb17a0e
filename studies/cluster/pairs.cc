// Programs of pairs of cores: cores 0 to pairs - 1 of the first node and of the second.
#include "studies/cluster/pairs.h"

namespace torc::studies {
namespace {

constexpr std::uint64_t kWindow = 64;   // of the OSU benchmarks
constexpr std::uint64_t kWindows = 20;  // enough to make the first one negligible

/// The OSU tests of bandwidth: every sender sends a window, every receiver answers it.
class Windows : public ClusterProgram {
 public:
  Windows(std::uint32_t pairs, double bytes, bool both)
      : pairs_(pairs), bytes_(bytes), both_(both) {}

  std::uint32_t nodes() const override { return 2; }
  std::uint32_t coresPerNode() const override { return pairs_; }
  std::uint64_t rounds(std::uint32_t) const override { return 2 * kWindows; }
  Round round(std::uint32_t core, std::uint64_t index) const override {
    const bool answers = index % 2 == 1;
    const bool sends = both_ || (core < pairs_) != answers;
    const bool receives = both_ || (core < pairs_) == answers;
    const std::uint64_t count = answers ? 1 : kWindow;
    Round round;
    round.sends = sends ? count : 0;
    round.receives = receives ? count : 0;
    return round;
  }
  Message message(std::uint32_t core, std::uint64_t round, std::uint64_t) const override {
    const std::uint64_t connection = 1 + core % pairs_;
    return {(core + pairs_) % (2 * pairs_), true, round % 2 == 1 ? 0 : bytes_, connection,
            connection};
  }

 private:
  const std::uint32_t pairs_;
  const double bytes_;
  const bool both_;
};

/// One message there and one back.
class PingPong : public ClusterProgram {
 public:
  PingPong(std::uint32_t pairs, double bytes) : pairs_(pairs), bytes_(bytes) {}

  std::uint32_t nodes() const override { return 2; }
  std::uint32_t coresPerNode() const override { return pairs_; }
  std::uint64_t rounds(std::uint32_t) const override { return 2 * kWindows; }
  Round round(std::uint32_t core, std::uint64_t index) const override {
    Round round;
    ((core < pairs_) == (index % 2 == 0) ? round.sends : round.receives) = 1;
    return round;
  }
  Message message(std::uint32_t core, std::uint64_t, std::uint64_t) const override {
    const std::uint64_t connection = 1 + core % pairs_;
    return {(core + pairs_) % (2 * pairs_), true, bytes_, connection, connection};
  }

 private:
  const std::uint32_t pairs_;
  const double bytes_;
};

}  // namespace

double pairLatency(const Cluster& cluster, std::uint32_t pairs, double bytes) {
  return simulateCluster(cluster, PingPong(pairs, bytes)).seconds / (2 * kWindows);
}

PairRate pairRate(const Cluster& cluster, std::uint32_t pairs, double bytes, bool both_directions) {
  const ClusterRun run = simulateCluster(cluster, Windows(pairs, bytes, both_directions));
  const double messages =
      static_cast<double>(kWindow * kWindows) * pairs * (both_directions ? 2 : 1);
  return {messages / run.seconds, messages * bytes / run.seconds};
}

}  // namespace torc::studies
