// Tables 1 to 4 and figures 1 to 7 of "Performance Analysis and Optimization of All-to-all
// Communication on the Blue Gene/L Supercomputer" (Kumar and Heidelberger) from the packet
// simulator (model/packets): published value, ours, difference. Writes FOLDER/NAME.csv and prints
// the tables.
//
// Long messages have no start-ups and software headers here: the program adds them. On up to 64
// nodes an all-to-all of 400 packets a pair, on up to 256 nodes one of 40, runs from start to end.
// On larger partitions nodes send their first packets in random order, and the rate is that between
// 30 and 70 % of all arrivals: in a steady state it does not depend on the number of later packets.
// If the two halves of that time differ by more than 3 %, twice as many packets are sent, and twice
// as many again; over 4096 nodes also if the rate differs from the run before.
//
// Tables of partitions of at most 4096 nodes, and the figures; if `large`, of the other partitions.
//
// torc's schedules are compiled and run from start to end, as in torc simulate --packets.
//
//   bazel run -c opt //studies/papers:alltoall-bgl -- FOLDER [PART...]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/alltoall/two_phase.h"
#include "compiler/compile.h"
#include "model/machines/machine.h"
#include "model/packets/packet_simulator.h"
#include "studies/papers/figures.h"

namespace torc::studies {
namespace {

constexpr double kHopsOfRun = 1.2e7;  // approximate packet hops of a steady run
constexpr double kLeastPackets = 300, kMostPackets = 4000;  // of a node in the first steady run
constexpr double kSettled = 0.03;                           // tolerance of rates
constexpr double kMostCompiledBytes = 128 << 10;  // of a node, by torc's schedules in figures
constexpr double kCompiledBytes = 960;            // of a pair, by torc's schedules: 4 packets
constexpr double kMostWhole = 256;                // nodes of partitions with runs from start to end
constexpr double kWholeBytes = 9600;              // of a pair: 40 packets
constexpr double kFewNodes = 64;        // up to which the run is ten times as long: ends count less
constexpr double kMostNodes = 4096;     // of partitions without `large`
constexpr double kAlpha = 450 / 700e6;  // s, section 3
constexpr double kBeta = 6.48e-9;       // s/byte, section 3
constexpr double kMessageAlpha = 1.7e-6, kGamma = 1.6e-9, kProto = 8, kSoftwareHeader = 48;

using Strategy = model::AlltoallStrategy;

struct Partition {
  explicit Partition(const std::string& shape)
      : machine(take(model::partitionOf(take(model::findMachine("bgl")), shape))),
        topology(take(model::topologyOf(machine))),
        nodes(static_cast<double>(topology.sites())) {}

  /// Mean hops between two nodes.
  double hops() const {
    double sum = 0;
    for (const model::MachineDimension& it : machine.dimensions)
      sum += it.torus ? it.size / 4.0 : it.size / 3.0;
    return sum;
  }

  model::Machine machine;
  Topology topology;
  double nodes;
};

/// Payload rate of a run: of the middle of its arrivals, and of the halves of that.
struct Rate {
  double bytes_per_s = 0;
  double drift = 0;  // of the second half against the first
};

Rate middleRate(const model::PacketResult& result) {
  double all = 0;
  for (const model::PacketSample& sample : result.samples.all)
    all += static_cast<double>(sample.delivered);
  const double marks[] = {0.3, 0.5, 0.7};
  double sums[3] = {}, times[3] = {};
  double sum = 0;
  std::size_t next = 0;
  for (const model::PacketSample& sample : result.samples.all) {
    sum += static_cast<double>(sample.delivered);
    while (next < 3 && sum >= marks[next] * all) {
      sums[next] = sum;
      times[next++] = static_cast<double>(sample.end) * result.tick_s;
    }
  }
  const auto rate = [&](int from, int to) {
    return (sums[to] - sums[from]) / (times[to] - times[from]);
  };
  return {rate(0, 2), rate(1, 2) / rate(0, 1) - 1};
}

/// The runs, each made once.
class Runs {
 public:
  explicit Runs(bool large) : large_(large) {}

  bool isLarge() const { return large_; }
  bool serves(const Partition& on) const { return large_ == (on.nodes > kMostNodes); }

  /// Share of the peak of long messages.
  double longShare(const std::string& shape, Strategy strategy) {
    const std::string key = shape + ' ' + std::string(name(strategy));
    const auto found = shares_.find(key);
    if (found != shares_.end()) return found->second;
    const Partition on(shape);
    const model::PacketParameters parameters = longMessages();
    if (on.nodes <= kMostWhole) {
      const double bytes = kWholeBytes * (on.nodes <= kFewNodes ? 10 : 1);
      const double peak_s = model::alltoallPeakSeconds(on.topology, on.machine, parameters, bytes);
      return shares_[key] = peak_s / run(on, strategy, bytes, 0, parameters).makespan_s;
    }
    const double peak_s =
        model::alltoallPeakSeconds(on.topology, on.machine, parameters, kLongBytes);
    const double share = steadyRate(on, strategy, kLongBytes, parameters) * peak_s /
                         (on.nodes * (on.nodes - 1) * kLongBytes);
    return shares_[key] = share;
  }

  /// Seconds of one of torc's schedules for `bytes` a pair; `is_long`: run like long messages.
  double compiledSeconds(const std::string& shape, const char* algorithm, double bytes,
                         bool is_long) {
    const Partition on(shape);
    const compiler::Algorithm* found = take(compiler::findAlgorithm(algorithm));
    passes::PassManagerOptions passes;
    passes.verify_each = false;
    const ir::Program program = take(compiler::compile({Collective::kAlltoall, on.topology}, *found,
                                                       compiler::pipelineOf(*found, {}), passes));
    model::ProgramOptions options;
    options.bytes = bytes * on.nodes;
    options.element_bytes = 1;
    model::PacketOptions packets;
    if (is_long) packets.parameters = longMessages();
    const auto begin = std::chrono::steady_clock::now();
    const model::PacketResult result =
        take(model::simulateProgram(program.schedule.view(), on.machine, options, packets));
    count(on, algorithm, bytes, begin, result);
    return result.makespan_s;
  }

  /// The rate of two-phase with credits, relative to that without, and the most packets that a node
  /// held for forwarding in either run.
  struct Credits {
    double rate = 0;
    std::uint64_t held = 0, held_without = 0;
  };
  Credits credits(const std::string& shape, double every, double window) {
    const Partition on(shape);
    model::PacketParameters parameters = longMessages();
    const double packets =
        std::clamp(kHopsOfRun / (on.nodes * on.hops()), kLeastPackets, kMostPackets);
    const model::PacketResult without =
        run(on, Strategy::kTwoPhase, kLongBytes, packets, parameters);
    parameters.credit_every = every;
    parameters.credit_window = window;
    const model::PacketResult with = run(on, Strategy::kTwoPhase, kLongBytes, packets, parameters);
    return {middleRate(with).bytes_per_s / middleRate(without).bytes_per_s, with.most_held,
            without.most_held};
  }

  /// Seconds of an all-to-all of `bytes` a pair. Up to 1024 nodes it is run; otherwise its first
  /// packets have the rate of their own steady state, and the rest that of long messages.
  double seconds(const std::string& shape, Strategy strategy, double bytes,
                 double software_header = kSoftwareHeader) {
    const Partition on(shape);
    model::PacketParameters parameters;
    parameters.software_header = software_header;
    if (on.nodes <= 1024 || strategy == Strategy::kVirtualMesh)
      return run(on, strategy, bytes, 0, parameters).makespan_s;
    const double first = std::min(bytes, parameters.packet - parameters.software_header);
    // The time of a packet depends on its chunks.
    const double chunks = std::ceil(
        std::max(first + parameters.software_header, parameters.smallest) / parameters.chunk);
    const std::string key =
        shape + ' ' + std::string(name(strategy)) + ' ' + std::to_string(chunks);
    if (!first_s_.contains(key)) {
      first_s_[key] =
          on.nodes * (on.nodes - 1) * first / steadyRate(on, strategy, first, parameters);
    }
    double time = first_s_[key];
    if (bytes > first) {
      time += model::alltoallPeakSeconds(on.topology, on.machine, parameters, bytes - first) /
              longShare(shape, strategy);
    }
    return time;
  }

  double wall_s = 0;
  double hops = 0;

 private:
  static constexpr double kLongBytes = 1 << 20;

  static model::PacketParameters longMessages() {
    model::PacketParameters parameters;
    parameters.alpha = 0;
    parameters.software_header = parameters.header;
    return parameters;
  }

  /// Bytes/s of a run whose rate has settled, or of the longest run.
  double steadyRate(const Partition& on, Strategy strategy, double bytes,
                    const model::PacketParameters& parameters) {
    double packets = std::clamp(kHopsOfRun / (on.nodes * on.hops()), kLeastPackets, kMostPackets);
    const bool is_large = on.nodes > kMostNodes;
    double before = 0;
    for (int doublings = is_large ? 2 : 1;; --doublings, packets *= 2) {
      const Rate rate = middleRate(run(on, strategy, bytes, packets, parameters));
      const bool is_other = is_large && std::abs(rate.bytes_per_s / before - 1) > kSettled;
      if (doublings == 0 || (std::abs(rate.drift) <= kSettled && !is_other))
        return rate.bytes_per_s;
      before = rate.bytes_per_s;
    }
  }

  void count(const Partition& on, const std::string& what, double bytes,
             std::chrono::steady_clock::time_point begin, const model::PacketResult& result) {
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    wall_s += took;
    hops += static_cast<double>(result.packet_hops);
    std::fprintf(stderr, "%-9s %-17s %8.0f bytes: %6.1f s, %.2f million packet hops a second\n",
                 on.topology.shape().c_str(), what.c_str(), bytes, took,
                 static_cast<double>(result.packet_hops) / took / 1e6);
  }

  model::PacketResult run(const Partition& on, Strategy strategy, double bytes, double packets,
                          const model::PacketParameters& parameters) {
    model::AlltoallOptions alltoall;
    alltoall.strategy = strategy;
    alltoall.bytes = bytes;
    alltoall.most_packets = static_cast<std::uint32_t>(packets);
    alltoall.linear = compiler::linearDimension(on.topology);
    model::PacketOptions options;
    options.parameters = parameters;
    const auto begin = std::chrono::steady_clock::now();
    model::PacketResult result =
        take(model::simulateAlltoall(on.topology, on.machine, alltoall, options));
    count(on, std::string(name(strategy)), bytes, begin, result);
    return result;
  }

  const bool large_;
  std::map<std::string, double> shares_, first_s_;
};

struct Published {
  const char* shape;
  double value;
};

/// Percentages of peak, published and ours.
void shareTable(Runs& runs, const char* title, Strategy strategy,
                const std::vector<Published>& rows) {
  std::printf("\n%s\n\n", title);
  printHeads({"partition", "published %", "here %", "difference"});
  for (const Published& row : rows) {
    if (!runs.serves(Partition(row.shape))) continue;
    const double share = 100 * runs.longShare(row.shape, strategy);
    std::printf("| %s | %.1f | %.1f | %+.1f |\n", row.shape, row.value, share, share - row.value);
  }
}

/// Table 3 by torc's compiled schedules, on two of its partitions.
void compiledShares(Runs& runs) {
  std::printf(
      "\nTable 3 by torc's schedules, 960 bytes a pair from beginning to end, %% of peak\n\n");
  printHeads({"partition", "two-phase, published", "packet by packet", "two-phase",
              "rotated-two-phase", "direct"});
  const Published rows[] = {{"8x8x8", 77.2}, {"8x8x16", 97.9}};
  for (const Published& row : rows) {
    const Partition on(row.shape);
    const double peak_s = model::alltoallPeakSeconds(on.topology, on.machine,
                                                     model::PacketParameters(), kCompiledBytes);
    std::printf("| %s | %.1f | %.1f |", row.shape, row.value,
                100 * runs.longShare(row.shape, Strategy::kTwoPhase));
    for (const char* algorithm : {"two-phase", "rotated-two-phase", "direct"}) {
      std::printf(" %.1f |",
                  100 * peak_s / runs.compiledSeconds(row.shape, algorithm, kCompiledBytes, true));
    }
    std::printf("\n");
  }
}

/// The cost of credits, and the packets that they bound.
void creditTable(Runs& runs) {
  std::printf("\nSection 5. Two-phase with credits, long messages\n\n");
  printHeads({"partition", "credit every", "at most of one node", "rate over that without",
              "held at most", "without credits"});
  for (const char* shape : {"8x8x8", "8x8x16"}) {
    for (const double window : {10.0, 20.0, 40.0}) {
      const Runs::Credits credits = runs.credits(shape, 10, window);
      std::printf("| %s | 10 | %.0f | %.3f | %llu | %llu |\n", shape, window, credits.rate,
                  static_cast<unsigned long long>(credits.held),
                  static_cast<unsigned long long>(credits.held_without));
    }
  }
}

/// Table 4, milliseconds.
void latencies(Runs& runs) {
  struct Row {
    const char* shape;
    double two_phase, direct;
  };
  const Row rows[] = {{"8x8x8", 0.81, 0.52},
                      {"8x8x16", 1.64, 1.25},
                      {"16x16x16", 7.5, 4.7},
                      {"8x32x16", 8.1, 12.4},
                      {"32x32x16", 35.9, 65.2}};
  std::printf("\nTable 4. One byte, ms\n\n");
  printHeads({"partition", "two-phase, published", "here", "AR, published", "here",
              "torc's half-planes", "virtual-mesh"});
  for (const Row& row : rows) {
    if (!runs.serves(Partition(row.shape))) continue;
    if (runs.isLarge()) {
      std::printf("| %s | %.2f | %.2f | %.2f | %.2f | | |\n", row.shape, row.two_phase,
                  1e3 * runs.seconds(row.shape, Strategy::kTwoPhase, 1), row.direct,
                  1e3 * runs.seconds(row.shape, Strategy::kAdaptive, 1));
      continue;
    }
    std::printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", row.shape, row.two_phase,
                1e3 * runs.seconds(row.shape, Strategy::kTwoPhase, 1), row.direct,
                1e3 * runs.seconds(row.shape, Strategy::kAdaptive, 1),
                1e3 * runs.compiledSeconds(row.shape, "half-planes", 1, false),
                1e3 * runs.compiledSeconds(row.shape, "virtual-mesh", 1, false));
  }
}

/// Figures 1 and 2: AR over sizes, with equation 3.
void overSizes(Runs& runs, const std::string& folder, const char* file_name, const char* title,
               const char* shape, double longest) {
  const Partition on(shape);
  std::printf("\n%s, ms\n\n", title);
  printHeads({"bytes", "peak (equation 2)", "prediction (equation 3)", "here"});
  const CsvFile file(folder, file_name);
  std::fprintf(file, "bytes,equation 3,peak,here\n");
  for (double bytes = 1; bytes <= 4096; bytes *= bytes < 4 ? 16 : 4) {
    const double load = on.nodes * longest / 8;
    const double peak = load * bytes * kBeta;
    const double model = on.nodes * kAlpha + load * (bytes + kSoftwareHeader) * kBeta;
    const double here = runs.seconds(shape, Strategy::kAdaptive, bytes);
    std::printf("| %.0f | %.3f | %.3f | %.3f |\n", bytes, 1e3 * peak, 1e3 * model, 1e3 * here);
    std::fprintf(file, "%.0f,%.6g,%.6g,%.6g\n", bytes, model, peak, here);
  }
}

/// Figure 3: bytes/s sent by a node, in one packet and in long messages. A packet has 240 bytes of
/// payload (section 3.1), and so no software header beside the network's 16 bytes.
void throughput(Runs& runs, const std::string& folder) {
  std::printf("\nFigure 3. AR, MB/s of a node\n\n");
  printHeads({"partition", "peak", "one packet (240 bytes)", "long messages"});
  const CsvFile file(folder, "03");
  std::fprintf(file, "partition,peak,one packet,long messages\n");
  for (const char* shape : {"8x8x8", "8x8x16", "8x16x16", "16x16x16", "8x32x16"}) {
    const Partition on(shape);
    const double sent = 1e-6 * (on.nodes - 1);
    const double peak =
        sent / model::alltoallPeakSeconds(on.topology, on.machine, model::PacketParameters(), 1);
    const double one =
        240 * sent / runs.seconds(shape, Strategy::kAdaptive, 240, /*software_header=*/16);
    const double many = peak * runs.longShare(shape, Strategy::kAdaptive);
    std::printf("| %s | %.1f | %.1f | %.1f |\n", shape, peak, one, many);
    std::fprintf(file, "%s,%.4g,%.4g,%.4g\n", shape, peak, one, many);
  }
}

/// Figure 4: direct strategies. Values are from the text; 0: it gives none.
void strategies(Runs& runs, const std::string& folder) {
  struct Row {
    const char* shape;
    double adaptive;
    const char* deterministic;
  };
  const Row rows[] = {{"8x8x8", 99.0, "less than AR"},
                      {"16x8x8", 0, "more than 90"},
                      {"8x16x8", 0, "less than 16x8x8"},
                      {"8x8x16", 81.0, "less than 16x8x8"},
                      {"8x16x16", 86, "67"},
                      {"8x32x16", 77, "86"}};
  std::printf("\nFigure 4. Direct strategies, long messages, %% of peak\n\n");
  printHeads({"partition", "AR, published", "AR", "DR, published", "DR", "throttled"});
  const CsvFile file(folder, "04");
  std::fprintf(file, "partition,AR,DR,throttled\n");
  for (const Row& row : rows) {
    const double adaptive = 100 * runs.longShare(row.shape, Strategy::kAdaptive);
    const double deterministic = 100 * runs.longShare(row.shape, Strategy::kDeterministic);
    // The text gives throttling on 1024 nodes only.
    const bool is_throttled = Partition(row.shape).nodes == 1024;
    const double throttled =
        is_throttled ? 100 * runs.longShare(row.shape, Strategy::kThrottled) : 0;
    const std::string published = row.adaptive > 0 ? std::to_string(row.adaptive).substr(0, 4) : "";
    std::printf("| %s | %s | %.1f | %s | %.1f |", row.shape, published.c_str(), adaptive,
                row.deterministic, deterministic);
    if (is_throttled)
      std::printf(" %.1f |\n", throttled);
    else
      std::printf(" |\n");
    std::fprintf(file, "%s,%.4g,%.4g,%.4g\n", row.shape, adaptive, deterministic, throttled);
  }
}

/// Figures 5 and 6, and 7 if `longest` is not 8: the virtual mesh compared with the others.
void shortMessages(Runs& runs, const std::string& folder, const char* file_name, const char* title,
                   const char* shape, double rows, double columns, double longest,
                   const std::vector<double>& sizes) {
  const Partition on(shape);
  std::printf("\n%s, ms\n\n", title);
  printHeads({"bytes", "equation 4", "virtual mesh", "AR", "two-phase", "AR over mesh",
              "two-phase over mesh", "torc's half-planes", "torc's two-phase"});
  const CsvFile file(folder, file_name);
  std::fprintf(file,
               "bytes,equation 4,virtual mesh,AR,two-phase,torc: half-planes,torc: two-phase\n");
  for (const double bytes : sizes) {
    const double model = (rows + columns) * kMessageAlpha +
                         2 * on.nodes * (bytes + kProto) * (longest / 8 * kBeta + kGamma);
    const double mesh = runs.seconds(shape, Strategy::kVirtualMesh, bytes);
    const double direct = runs.seconds(shape, Strategy::kAdaptive, bytes);
    const double two_phase = runs.seconds(shape, Strategy::kTwoPhase, bytes);
    std::printf("| %.0f | %.3f | %.3f | %.3f | %.3f | %.2f | %.2f |", bytes, 1e3 * model,
                1e3 * mesh, 1e3 * direct, 1e3 * two_phase, direct / mesh, two_phase / mesh);
    std::fprintf(file, "%.0f,%.6g,%.6g,%.6g,%.6g", bytes, model, mesh, direct, two_phase);
    for (const char* algorithm : {"half-planes", "two-phase"}) {
      if (bytes * on.nodes > kMostCompiledBytes) {
        std::printf(" |");
        std::fprintf(file, ",");
        continue;
      }
      const double seconds = runs.compiledSeconds(shape, algorithm, bytes, false);
      std::printf(" %.3f |", 1e3 * seconds);
      std::fprintf(file, ",%.6g", seconds);
    }
    std::printf("\n");
    std::fprintf(file, "\n");
  }
}

int run(const std::string& folder, llvm::ArrayRef<std::string> parts) {
  const bool large = llvm::is_contained(parts, "large");
  const auto isWanted = [&](const char* part) {
    return parts.empty() || (large && parts.size() == 1) || llvm::is_contained(parts, part);
  };
  Runs runs(large);
  if (isWanted("table1") && !large) {
    shareTable(runs, "Table 1. AR, symmetric partitions, long messages", Strategy::kAdaptive,
               {{"8", 98.2},
                {"16", 97.7},
                {"8x8", 98.7},
                {"16x16", 99.7},
                {"8x8x8", 99.0},
                {"16x16x16", 99.0}});
  }
  if (isWanted("table2")) {
    shareTable(runs, "Table 2. AR, other partitions (m: mesh), long messages", Strategy::kAdaptive,
               {{"8x2m", 91.8},
                {"8x4m", 89.0},
                {"8x16", 85.7},
                {"8x32", 84.0},
                {"8x8x2m", 90.1},
                {"8x8x4m", 87.7},
                {"8x8x16", 81.0},
                {"8x16x16", 87.0},
                {"8x32x16", 73.3},
                {"16x32x16", 71.0},
                {"32x32x16", 73.6},
                {"40x32x16", 72.0}});
  }
  if (isWanted("table3")) {
    shareTable(runs, "Table 3. Two-phase, long messages", Strategy::kTwoPhase,
               {{"8x8x8", 77.2},
                {"16x8x8", 99.0},
                {"8x16x8", 98.9},
                {"8x8x16", 97.9},
                {"16x16x8", 97.5},
                {"16x8x16", 97.4},
                {"8x16x16", 97.2},
                {"8x32x16", 99.5},
                {"16x16x16", 96.1},
                {"16x32x16", 99.8},
                {"32x16x16", 99.8},
                {"32x32x16", 96.8},
                {"40x32x16", 99.5}});
  }
  if (isWanted("table4")) latencies(runs);
  if (!large) {
    if (isWanted("compiled")) compiledShares(runs);
    if (isWanted("credits")) creditTable(runs);
    if (isWanted("figure1")) overSizes(runs, folder, "01", "Figure 1. AR on 8x8x8", "8x8x8", 8);
    if (isWanted("figure2"))
      overSizes(runs, folder, "02", "Figure 2. AR on 16x16x16", "16x16x16", 16);
    if (isWanted("figure3")) throughput(runs, folder);
    if (isWanted("figure4")) strategies(runs, folder);
    if (isWanted("figure6")) {
      shortMessages(runs, folder, "06", "Figures 5 and 6. Short messages on 8x8x8", "8x8x8", 32, 16,
                    8, {1, 8, 16, 32, 48, 64, 128, 256});
    }
    if (isWanted("figure7")) {
      shortMessages(runs, folder, "07", "Figure 7. Short messages on 8x32x16", "8x32x16", 128, 32,
                    32, {8, 32, 64});
    }
  }
  std::fprintf(stderr, "all of it: %.0f s, %.0f million packet hops, %.2f million a second\n",
               runs.wall_s, runs.hops / 1e6, runs.hops / runs.wall_s / 1e6);
  return 0;
}

}  // namespace
}  // namespace torc::studies

int main(int argc, char** argv) {
  if (argc < 2) torc::studies::quit("usage: alltoall-bgl FOLDER [PART...]");
  return torc::studies::run(argv[1], std::vector<std::string>(argv + 2, argv + argc));
}
