// Figures 1 and 7 to 12 of "Improving communication performance in dense linear algebra via
// topology aware collectives" (Solomonik, Bhatele and Demmel, SC 2011): bandwidth over sizes or
// numbers of nodes. The text lacks the paper's measurements; this program computes its models
// (studies/logp/trees.h), the simulated times of torc's schedules, and the lower bound. Writes
// FOLDER/NAME.csv, in bytes/s, and prints the tables.
//
//   1         multicast of 1 MiB on 2 to 4096 nodes of Blue Gene/P
//   1-gemini  the same on a Cray XE6, on nodes anywhere
//   7, 8, 9   multicast on 8, 8x8 and 8x8x8 nodes of Blue Gene/P
//   10        reduction on the same nodes
//   11        multicast and reduction on a ring of 8, also in packets of 256 KiB
//   12        multicast on lines, planes and the whole of the exascale machine
//
//   bazel run -c opt //studies/papers:2.5d_collectives -- FOLDER        bash studies/papers/2.5d.sh
//   also draws
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Support/Error.h>

#include "compiler/choice/choice.h"
#include "model/bounds/bounds.h"
#include "model/machines/machine.h"
#include "studies/logp/placed_ranks.h"
#include "studies/logp/trees.h"
#include "studies/papers/figures.h"

namespace torc::studies {
namespace {

/// Bytes/s; std::nullopt without a point.
using Bandwidth = std::optional<double>;

/// A figure of bandwidths over bytes or nodes; the first curve is the reference for the others.
Table figureOf(const std::string& name, const std::string& title, const char* x_name,
               const std::vector<double>& x) {
  return Table::over(name, "Figure " + std::to_string(std::stoi(name)) + ". " + title, x_name, x);
}

/// A collective on a sub-torus of a machine.
class On {
 public:
  On(const char* collective, const char* machine, const char* shape)
      : row_(take(model::parseBoundedCollective(collective))),
        machine_(take(model::partitionOf(take(model::findMachine(machine)), shape))),
        torus_(logPTorusOf(machine_)),
        programs_({*collectiveNamed(collective), take(model::topologyOf(machine_))}) {}

  Bandwidth rectangular(double bytes) const {
    return bytes / (row_.reduces() ? rectangularReduction(torus_, bytes)
                                   : rectangularMulticast(torus_, bytes))
                       .seconds();
  }
  Bandwidth binomial(double bytes) const {
    return bytes /
           (row_.reduces() ? binomialReduction(torus_, bytes) : binomialMulticast(torus_, bytes))
               .seconds();
  }
  Bandwidth bound(double bytes) const {
    return bytes / model::lowerBound(machine_, {row_, bytes}).bound_s;
  }
  Bandwidth link() const { return 1 / torus_.gap; }

  /// Of the choice of `torc compile --bytes`.
  Bandwidth simulated(double bytes) {
    return bytes / take(compiler::choose(programs_, machine_, bytes, {})).best().predicted_s;
  }

  /// Of binomial trees, axis after axis, in the best number of parts, which share links.
  Bandwidth simulatedBinomial(double bytes) {
    compiler::ChoiceLimits limits;
    limits.algorithm = take(compiler::findAlgorithm("binomial"));
    double best = 0;
    for (const std::uint32_t chunks : {1, 4, 16, 64, 256}) {
      limits.chunks = chunks;
      const compiler::Choice choice = compiler::consider(programs_, machine_, bytes, limits);
      if (choice.best().refusal.empty()) best = std::max(best, bytes / choice.best().predicted_s);
    }
    return best;
  }

  /// Section 4.6's own ring: half of the vector each way, in packets that every node forwards
  /// whole, each a rendezvous (Eq. 3), one behind the other through all p - 1 hops; sums, if any,
  /// overlap. Our derivation: the paper gives no equation.
  Bandwidth ringInPackets(double bytes, double packet) const {
    const double half = bytes / 2;
    const double packets = std::ceil(half / packet);
    const double per_byte = row_.reduces() ? std::max(torus_.gap, torus_.summing) : torus_.gap;
    const double step = half / packets * per_byte + 3 * torus_.overhead + 3 * torus_.latency;
    return bytes / ((packets + torus_.nodes - 2) * step);
  }

 private:
  CollectiveRow row_;
  model::Machine machine_;
  LogPTorus torus_;
  compiler::CompileCache programs_;
};

/// Figure 1.
Table overNodes() {
  constexpr double kBytes = 1 << 20;
  // Partitions of Blue Gene/P in the paper: 2048 nodes are 8x8x32.
  const char* const tori[] = {"2",     "2x2",   "2x2x2", "4x2x2",  "4x4x2",  "4x4x4",
                              "8x4x4", "8x8x4", "8x8x8", "8x8x16", "8x8x32", "16x16x16"};
  const char* const meshes[] = {"2m",       "2mx2m",    "2mx2mx2m", "4mx2mx2m",
                                "4mx4mx2m", "4mx4mx4m", "8mx4mx4m", "8mx8mx4m"};
  auto at = [](auto& shapes, double nodes) {
    const auto i = static_cast<std::size_t>(std::log2(nodes)) - 1;
    return i < std::size(shapes) ? shapes[i] : nullptr;
  };
  auto on = [&](double nodes) { return On("broadcast", "bgp", at(tori, nodes)); };
  Table figure = figureOf("01", "Multicast of 1 MiB on Blue Gene/P", "nodes", sizes(2, 4096));
  figure.draw("bound", [&](double nodes) { return on(nodes).bound(kBytes); });
  figure.draw("rectangular", [&](double nodes) { return on(nodes).rectangular(kBytes); });
  figure.draw("rectangular (mesh)", [&](double nodes) -> Bandwidth {
    const char* shape = at(meshes, nodes);
    if (shape == nullptr) return {};
    return On("broadcast", "bgp", shape).rectangular(kBytes);
  });
  figure.draw("binomial", [&](double nodes) { return on(nodes).binomial(kBytes); });
  figure.draw("binomial (contention)",
              [&](double nodes) { return on(nodes).simulatedBinomial(kBytes); });
  figure.draw("torc (simulated)", [&](double nodes) { return on(nodes).simulated(kBytes); });
  return figure;
}

/// Figure 1's Cray XE6: NERSC's Hopper has Gemini routers of two nodes in a torus of 17x8x24. Nodes
/// of a job are drawn at random, and are ranks in the order of the torus, or in any.
Table overPlaces() {
  constexpr double kBytes = 1 << 20;
  constexpr int kDraws = 8, kHosts = 2;
  const model::Machine machine =
      take(model::partitionOf(take(model::findMachine("gemini")), "17x8x24"));
  const Topology torus = take(model::topologyOf(machine));
  const auto drawn = [&](double nodes, bool in_order) {
    double seconds = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::mt19937 random(static_cast<std::uint32_t>(draw));
      std::vector<std::uint32_t> hosts(kHosts * machine.nodes());
      std::iota(hosts.begin(), hosts.end(), 0);
      const auto job = hosts.begin() + static_cast<std::ptrdiff_t>(nodes);
      for (auto host = hosts.begin(); host != job; ++host)
        std::swap(*host, *(host + random() % (hosts.end() - host)));
      if (in_order) std::sort(hosts.begin(), job);
      std::vector<Coordinates> places;
      for (auto host = hosts.begin(); host != job; ++host)
        places.push_back(torus.coordinatesOf(static_cast<std::int32_t>(*host / kHosts)));
      seconds += placedBinomialMulticast(machine, places, kBytes);
    }
    return kDraws * kBytes / seconds;
  };
  Table figure = figureOf("01-gemini", "Multicast of 1 MiB on a Cray XE6, of binomial trees",
                          "nodes", sizes(2, 4096));
  figure.draw("stages alone", [&](double nodes) { return drawn(2, true) / std::log2(nodes); });
  figure.draw("ranks in order", [&](double nodes) { return drawn(nodes, true); });
  figure.draw("ranks in any order", [&](double nodes) { return drawn(nodes, false); });
  return figure;
}

/// Figures 7 to 9.
Table multicast(const char* name, const char* shape) {
  Table figure = figureOf(name, std::string("Multicast on ") + shape + " nodes of Blue Gene/P",
                          "bytes", sizes(1 << 10, 1 << 24));
  On on("broadcast", "bgp", shape);
  figure.draw("bound", [&](double bytes) { return on.bound(bytes); });
  figure.draw("rectangular", [&](double bytes) { return on.rectangular(bytes); });
  figure.draw("binomial", [&](double bytes) { return on.binomial(bytes); });
  figure.draw("binomial (contention)", [&](double bytes) { return on.simulatedBinomial(bytes); });
  figure.draw("torc (simulated)", [&](double bytes) { return on.simulated(bytes); });
  return figure;
}

/// Figure 10.
Table reductions() {
  Table figure = figureOf("10", "Reduction on Blue Gene/P", "bytes", sizes(1 << 10, 1 << 24));
  figure.draw("one link", [](double) { return On("reduce", "bgp", "8").link(); });
  for (const char* shape : {"8", "8x8", "8x8x8"}) {
    On on("reduce", "bgp", shape);
    const std::string where = std::string(" ") + shape;
    figure.draw("rectangular" + where, [&](double bytes) { return on.rectangular(bytes); });
    figure.draw("torc" + where, [&](double bytes) { return on.simulated(bytes); });
  }
  return figure;
}

/// Figure 11.
Table rings() {
  constexpr double kPacket = 256 << 10;
  Table figure = figureOf("11", "Ring of 8 nodes of Blue Gene/P", "bytes", sizes(1 << 14, 1 << 26));
  On multicast("broadcast", "bgp", "8"), reduction("reduce", "bgp", "8");
  figure.draw("one link", [&](double) { return multicast.link(); });
  figure.draw("rectangular reduction", [&](double bytes) { return reduction.rectangular(bytes); });
  figure.draw("packets of 256 KiB",
              [&](double bytes) { return reduction.ringInPackets(bytes, kPacket); });
  figure.draw("binomial reduction", [&](double bytes) { return reduction.binomial(bytes); });
  figure.draw("torc's multicast", [&](double bytes) { return multicast.simulated(bytes); });
  figure.draw("torc's reduction", [&](double bytes) { return reduction.simulated(bytes); });
  return figure;
}

/// Figure 12.
Table exascale() {
  Table figure =
      figureOf("12", "Multicast on the exascale machine", "bytes", sizes(1 << 16, 0x1p34));
  figure.draw("one link", [](double) { return On("broadcast", "exascale-2.5d", "64").link(); });
  const char* const shapes[] = {"64", "64x64", "64x64x64"};
  const auto where = [](int d) { return " " + std::to_string(d) + "D"; };
  for (int d = 1; d <= 3; ++d) {
    const On on("broadcast", "exascale-2.5d", shapes[d - 1]);
    figure.draw("rectangular" + where(d), [&](double bytes) { return on.rectangular(bytes); });
  }
  for (int d = 1; d <= 3; ++d) {
    const On on("broadcast", "exascale-2.5d", shapes[d - 1]);
    figure.draw("binomial" + where(d), [&](double bytes) { return on.binomial(bytes); });
  }
  // Planes would need more parts than are simulated before links, and not stages, are the limit.
  On line("broadcast", "exascale-2.5d", shapes[0]);
  figure.draw("binomial 1D (contention)",
              [&](double bytes) { return line.simulatedBinomial(bytes); });
  On whole("broadcast", "exascale-2.5d", shapes[2]);
  figure.draw("torc 3D (simulated)", [&](double bytes) { return whole.simulated(bytes); });
  return figure;
}

/// Both in MB/s.
void report(const std::string& folder, Table figure) {
  for (auto& [first, numbers] : figure.rows) {
    for (Bandwidth& number : numbers)
      if (number) *number *= 1e-6;
  }
  figure.write(folder, "%.1f");
}

int run(const std::string& folder) {
  report(folder, overNodes());
  report(folder, overPlaces());
  report(folder, multicast("07", "8"));
  report(folder, multicast("08", "8x8"));
  report(folder, multicast("09", "8x8x8"));
  report(folder, reductions());
  report(folder, rings());
  report(folder, exascale());
  return 0;
}

}  // namespace
}  // namespace torc::studies

int main(int argc, char** argv) {
  if (argc != 2) torc::studies::quit("usage: 2.5d_collectives FOLDER");
  return torc::studies::run(argv[1]);
}
