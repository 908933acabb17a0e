#include <chrono>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/algorithms/alltoall/two_phase.h"
#include "compiler/command_line.h"
#include "compiler/commands/simulate.h"
#include "compiler/progress_line.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "model/bounds/bounds.h"

namespace torc::compiler {
namespace {

using namespace options;

constexpr std::string_view kPackets = "Packets";
constexpr double kMiB = 1 << 20;

/// Announces the memory on stderr, and shows the progress.
class Watch {
 public:
  Watch(std::string what, model::PacketOptions& options) : progress_(false) {
    options.announce = [this, what = std::move(what)](double bytes, double hops) {
      if (hops >= kWorthSaying) {
        llvm::errs() << what << ": " << formatted("%.4g", bytes / kMiB) << " MiB, "
                     << formatted("%.4g", hops) << " packet hops\n";
      }
      progress_.expect(1, hops);
      progress_.begin(what);
    };
    options.progress = [this](double hops) {
      progress_.advance(hops - seen_);
      seen_ = hops;
    };
  }

 private:
  static constexpr double kWorthSaying = 5e7;  // packet hops: some ten seconds

  Progress progress_;
  double seen_ = 0;
};

void add(const model::PacketResult& result, Record& record) {
  record.insert(record.end(), {{"makespan_s", result.makespan_s, " makespan us", kMicros},
                               {"steady_rate", result.steady_rate},
                               {"nodes", result.nodes},
                               {"packets", result.packets},
                               {"packet_hops", result.packet_hops}});
}

/// Prints the busy shares of time for links by direction.
void printLinks(const Topology& topology, const model::PacketResult& result,
                llvm::raw_ostream& out) {
  std::vector<Record> rows;
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Axis& axis = topology.axes[static_cast<std::size_t>(i)];
    if (axis.size == 1) continue;
    const double lines = static_cast<double>(topology.sites()) / axis.size;
    const double links = lines * (axis.isRing() ? axis.size : axis.size - 1);
    for (std::size_t down = 0; down < 2; ++down) {
      const auto busy =
          static_cast<double>(result.samples.busy[2 * static_cast<std::size_t>(i) + down]);
      rows.push_back({{"link", linkName(axis, down == 0), "      link"},
                      {"busy_share",
                       busy * result.tick_s / (links * result.makespan_s),
                       "  busy %",
                       {"%.2f", 100}}});
    }
  }
  out << tableText(rows);
}

}  // namespace

PacketFlags::PacketFlags(Command& command)
    : packets_(command,
               {kPackets, "packets", "", "Simulate packets in routers (docs/research/packets.md)"}),
      traffic_(command,
               {kPackets, "traffic", "adaptive|deterministic|throttled|two-phase|virtual-mesh",
                "Simulate this all-to-all, not FILE"}),
      torus_(command, {kPackets, "torus", "SHAPE", "With --traffic: the partition"}),
      pair_bytes_(command, {kPackets, "pair-bytes", "N",
                            "With --traffic: bytes from each node to each other", "240"}),
      seed_(command, {kPackets, "seed", "N", "With --traffic: seed of the random orders", "1"}, 0,
            kHighestCount),
      most_packets_(command,
                    {kPackets, "most-packets", "N",
                     "With --traffic: packets of a node under way; 0: all", "0"},
                    0, kHighestCount),
      settings_(command, {kPackets, "packet-settings", "NAME=N,...",
                          "Settings in the place of the machine's"}),
      memory_(command, {kPackets, "memory-limit", "N", "Most memory of the simulation", "8G"}),
      heat_(command, {kPackets, "heat", "FILE.svg", "Draw the use of links and queues over time"}),
      list_(command,
            {kPackets, "list-packet-settings", "", "List all settings with their sources"}) {}

void PacketFlags::check(bool has_file) const {
  const Option* with_packets[] = {&traffic_, &settings_, &memory_, &heat_};
  const Option* with_traffic[] = {&torus_, &pair_bytes_, &seed_, &most_packets_};
  for (const Option* option : with_packets) {
    if (option->isGiven() && !packets_)
      wrongUsage("simulate: " + option->shownName() + " goes with --packets");
  }
  for (const Option* option : with_traffic) {
    if (option->isGiven() && !hasTraffic())
      wrongUsage("simulate: " + option->shownName() + " goes with --traffic");
  }
  if (hasTraffic() && has_file) wrongUsage("simulate: a file or --traffic, not both");
}

int PacketFlags::listSettings() const {
  return printReport({}, {}, [](llvm::raw_ostream& out) {
    const model::PacketParameters parameters;
    for (const model::PacketParameterRow& row : model::packetParameterRows()) {
      out << llvm::left_justify(llvm::StringRef(row.name), 16)
          << llvm::right_justify(formatted("%g", parameters.*(row.member)), 8) << ' '
          << llvm::left_justify(llvm::StringRef(row.unit), 8) << ' ' << llvm::StringRef(row.meaning)
          << "; " << llvm::StringRef(row.source) << '\n';
    }
  });
}

model::PacketOptions PacketFlags::optionsFor(const model::Machine& machine) const {
  model::PacketOptions options;
  options.parameters = machine.router.value_or(options.parameters);
  orUsageFault(model::applyPacketSettings(settings_, options.parameters));
  orUsageFault(model::checkPacketParameters(options.parameters));
  options.most_memory = static_cast<double>(orUsageFault(parseSize(memory_, "--memory-limit")));
  return options;
}

model::PacketResult PacketFlags::simulated(
    const std::string& what, const Topology& topology, model::PacketOptions& options,
    llvm::function_ref<llvm::Expected<model::PacketResult>()> simulate) const {
  llvm::Expected<model::PacketResult> result = [&] {
    const Watch watch(what, options);
    return simulate();
  }();
  model::PacketResult made = orInputFault(std::move(result));
  if (!heat_.empty())
    orInputFault(writeOutput(heat_, model::heatSvg(topology, options.parameters, made, what)));
  return made;
}

int PacketFlags::simulateTraffic(const std::string& machine, Form form) const {
  model::AlltoallOptions alltoall;
  alltoall.strategy = static_cast<model::AlltoallStrategy>(traffic_.index());
  const std::uint64_t bytes = orUsageFault(parseSize(pair_bytes_, "--pair-bytes"));
  if (bytes == 0) wrongUsage("--pair-bytes takes at least 1");
  alltoall.bytes = static_cast<double>(bytes);
  alltoall.seed = seed_;
  alltoall.most_packets = most_packets_;
  if (alltoall.most_packets > 0 && alltoall.strategy == model::AlltoallStrategy::kVirtualMesh) {
    wrongUsage("--most-packets: a virtual mesh waits for all packets");
  }
  if (torus_.empty()) wrongUsage("--traffic: which shape? --torus 8x8x8");
  const Target target = orOptionFault(
      readTarget(torus_, "", machine.empty() ? kDefaultMachine : llvm::StringRef(machine)));
  model::PacketOptions options = optionsFor(target.machine);
  if (target.topology.sites() > 1) alltoall.linear = linearDimension(target.topology);
  const std::string what = std::string(name(alltoall.strategy)) + " all-to-all on " +
                           target.topology.shape() + ", " + sizeText(bytes) + " a pair";
  const auto begin = std::chrono::steady_clock::now();
  const model::PacketResult result = simulated(what, target.topology, options, [&] {
    return model::simulateAlltoall(target.topology, target.machine, alltoall, options);
  });
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double peak_s = model::alltoallPeakSeconds(target.topology, target.machine,
                                                   options.parameters, alltoall.bytes);
  // In a steady state each node receives from all others as much as it sends.
  const double nodes = static_cast<double>(result.nodes);
  const double steady = result.steady_rate * peak_s / (nodes * (nodes - 1) * alltoall.bytes);
  Record record = {{"traffic", std::string(name(alltoall.strategy))},
                   {"torus", target.topology.shape()},
                   {"machine", target.machine.name},
                   {"pair_bytes", bytes}};
  add(result, record);
  record.insert(record.end(), {{"peak_s", peak_s},
                               {"steady_share_of_peak", steady},
                               {"most_held", result.most_held},
                               {"wall_s", wall_s}});
  return printReport({record}, form, [&](llvm::raw_ostream& out) {
    out << what << ", machine " << target.machine.name << ": " << result.packets << " packets, "
        << result.packet_hops << " packet hops\n"
        << "makespan " << microsText(result.makespan_s) << ", peak " << microsText(peak_s);
    if (alltoall.most_packets == 0) {
      out << ": " << formatted("%.1f", 100 * peak_s / result.makespan_s) << " % of peak";
    }
    out << "; steady " << formatted("%.1f", 100 * steady) << " %\n";
    printLinks(target.topology, result, out);
  });
}

int PacketFlags::simulateFile(const ScheduleView& schedule, const model::Machine& machine,
                              const SizeRange& sizes, Form form) const {
  model::PacketOptions options = optionsFor(machine);
  if (!heat_.empty() && sizes.lowest != sizes.highest) {
    wrongUsage("--heat draws one size, not a range");
  }
  std::vector<Record> rows;
  model::PacketResult last;
  const std::string what = std::string(rowOf(schedule.collective).name) + " on " +
                           schedule.topology.shape() + ", machine " + machine.name;
  for (const std::uint64_t size : sizes.sizes()) {
    const model::ProgramOptions program{.bytes = static_cast<double>(size)};
    last = simulated(what + ", " + sizeText(size), schedule.topology, options,
                     [&] { return model::simulateProgram(schedule, machine, program, options); });
    const double bound_s =
        model::lowerBound(machine, {rowOf(schedule.collective), program.bytes}).bound_s;
    Record& record = rows.emplace_back(Record{{"collective", rowOf(schedule.collective).name},
                                              {"torus", schedule.topology.shape()},
                                              {"machine", machine.name},
                                              {"bytes", size, "     bytes", kSize}});
    add(last, record);
    record.push_back({"bound_s", bound_s, "    bound us", kMicros});
    record.push_back(
        {"", bound_s > 0 ? Json(last.makespan_s / bound_s) : Json(), "   ratio", kRatio});
    record.push_back({"", last.packets, " packets"});
    record.push_back({"", last.packet_hops, "packet hops"});
  }
  return printReport(rows, form, [&](llvm::raw_ostream& out) {
    out << what << ", packet by packet\n" << tableText(rows);
    if (rows.size() == 1) printLinks(schedule.topology, last, out);
  });
}

}  // namespace torc::compiler
