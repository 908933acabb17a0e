#include "compiler/commands/simulate_packets.h"

#include <chrono>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/algorithms/alltoall/two_phase.h"
#include "compiler/progress.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "model/bounds/bounds.h"
#include "model/packets/heat.h"

namespace torc::compiler {
namespace {

using namespace llvm::cl;

constexpr double kMiB = 1 << 20;

/// Announces the memory on stderr, and shows how far it is.
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
  static constexpr double kWorthSaying = 5e7;  // hops: some ten seconds

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

/// Shares of time in which the links of each direction were busy.
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
      rows.push_back({{"link", std::string(1, axis.name) + (down == 0 ? '+' : '-'), "      link"},
                      {"busy_share",
                       busy * result.tick_s / (links * result.makespan_s),
                       "  busy %",
                       {"%.2f", 100}}});
    }
  }
  out << tableText(rows);
}

}  // namespace

PacketFlags::PacketFlags(SubCommand& command, OptionCategory& category)
    : packets_(
          "packets", sub(command), cat(category),
          desc("Simulate packet by packet, in the routers of a torus (docs/research/packets.md)")),
      traffic_("traffic", value_desc("kind"), sub(command), cat(category),
               desc("With --packets, instead of FILE: an all-to-all that is adaptive, "
                    "deterministic, throttled, two-phase or virtual-mesh")),
      torus_("torus", value_desc("shape"), sub(command), cat(category),
             desc("With --traffic: the partition")),
      pair_bytes_("pair-bytes", value_desc("N"), sub(command), cat(category), init("240"),
                  desc("With --traffic: bytes from every node to every other (default 240)")),
      settings_("packet-settings", value_desc("name=value,..."), sub(command), cat(category),
                desc("With --packets: parameters that are not the machine's")),
      seed_("seed", value_desc("N"), sub(command), cat(category), init("1"),
            desc("With --traffic: of the random orders (default 1)")),
      most_packets_("most-packets", value_desc("N"), sub(command), cat(category), init("0"),
                    desc("With --traffic: packets that a node sends of its own before it stops "
                         "(default: all)")),
      memory_("memory-limit", value_desc("N"), sub(command), cat(category), init("8G"),
              desc("With --packets: what needs more memory is refused (default 8G)")),
      heat_("heat", value_desc("file.svg"), sub(command), cat(category),
            desc("With --packets: draw what links and queues did, over time")),
      list_("list-packet-settings", sub(command), cat(category),
            desc("Print the parameters of --packets, with the source of each")) {}

llvm::Error PacketFlags::check(bool has_file) const {
  const Option* with_packets[] = {&traffic_, &settings_, &memory_, &heat_};
  const Option* with_traffic[] = {&torus_, &pair_bytes_, &seed_, &most_packets_};
  for (const Option* option : with_packets) {
    if (option->getNumOccurrences() > 0 && !packets_) {
      return makeError("simulate: --" + option->ArgStr + " goes with --packets");
    }
  }
  for (const Option* option : with_traffic) {
    if (option->getNumOccurrences() > 0 && !hasTraffic()) {
      return makeError("simulate: --" + option->ArgStr + " goes with --traffic");
    }
  }
  if (hasTraffic() && has_file) return makeError("simulate: a file or --traffic, not both");
  return llvm::Error::success();
}

int PacketFlags::listSettings() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  const model::PacketParameters parameters;
  for (const model::PacketParameterRow& row : model::packetParameterRows()) {
    out << llvm::left_justify(llvm::StringRef(row.name), 16)
        << llvm::right_justify(formatted("%g", parameters.*(row.member)), 8) << ' '
        << llvm::left_justify(llvm::StringRef(row.unit), 8) << ' ' << llvm::StringRef(row.meaning)
        << "; " << llvm::StringRef(row.source) << '\n';
  }
  return printOutput(text);
}

llvm::Expected<model::PacketOptions> PacketFlags::optionsFor(const model::Machine& machine) const {
  model::PacketOptions options;
  options.parameters = machine.router.value_or(options.parameters);
  if (llvm::Error error = model::applyPacketSettings(settings_, options.parameters)) return error;
  if (llvm::Error error = model::checkPacketParameters(options.parameters)) return error;
  llvm::Expected<std::uint64_t> memory = parseSize(memory_, "--memory-limit");
  if (!memory) return memory.takeError();
  options.most_memory = static_cast<double>(*memory);
  return options;
}

int PacketFlags::simulateTraffic(const std::string& machine, Form form) const {
  model::AlltoallOptions alltoall;
  llvm::Expected<model::AlltoallStrategy> strategy = model::parseAlltoallStrategy(traffic_);
  if (!strategy) return wrongUsage("--traffic: " + llvm::toString(strategy.takeError()));
  alltoall.strategy = *strategy;
  llvm::Expected<std::uint64_t> bytes = parseSize(pair_bytes_, "--pair-bytes");
  if (!bytes) return wrongUsage(llvm::toString(bytes.takeError()));
  if (*bytes == 0) return wrongUsage("--pair-bytes takes at least 1");
  alltoall.bytes = static_cast<double>(*bytes);
  if (llvm::StringRef(seed_).getAsInteger(10, alltoall.seed)) {
    return wrongUsage("--seed takes a number, not '" + seed_ + "'");
  }
  if (llvm::StringRef(most_packets_).getAsInteger(10, alltoall.most_packets)) {
    return wrongUsage("--most-packets takes a number, not '" + most_packets_ + "'");
  }
  if (alltoall.most_packets > 0 && *strategy == model::AlltoallStrategy::kVirtualMesh) {
    return wrongUsage("--most-packets: a virtual mesh waits for all packets");
  }
  if (torus_.empty()) return wrongUsage("--traffic: which shape? --torus 8x8x8");
  llvm::Expected<Target> target =
      readTarget(torus_, "", machine.empty() ? kDefaultMachine : llvm::StringRef(machine));
  if (!target) return optionFault(target.takeError());
  llvm::Expected<model::PacketOptions> options = optionsFor(target->machine);
  if (!options) return wrongUsage(llvm::toString(options.takeError()));
  if (target->topology.sites() > 1) alltoall.linear = linearDimension(target->topology);
  const std::string what = std::string(name(*strategy)) + " all-to-all on " +
                           target->topology.shape() + ", " + sizeText(*bytes) + " a pair";
  const auto begin = std::chrono::steady_clock::now();
  llvm::Expected<model::PacketResult> result = [&] {
    const Watch watch(what, *options);
    return model::simulateAlltoall(target->topology, target->machine, alltoall, *options);
  }();
  if (!result) return inputFault(result.takeError());
  if (!heat_.empty()) {
    const std::string svg = model::heatSvg(target->topology, options->parameters, *result, what);
    if (llvm::Error error = writeOutput(heat_, svg)) return inputFault(std::move(error));
  }
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double peak_s = model::alltoallPeakSeconds(target->topology, target->machine,
                                                   options->parameters, alltoall.bytes);
  // In a steady state a node receives from all others what it sends.
  const double nodes = static_cast<double>(result->nodes);
  const double steady = result->steady_rate * peak_s / (nodes * (nodes - 1) * alltoall.bytes);
  Record record = {{"traffic", std::string(name(*strategy))},
                   {"torus", target->topology.shape()},
                   {"machine", target->machine.name},
                   {"pair_bytes", *bytes}};
  add(*result, record);
  record.insert(record.end(), {{"peak_s", peak_s},
                               {"steady_share_of_peak", steady},
                               {"most_held", result->most_held},
                               {"wall_s", wall_s}});
  return printReport({record}, form, [&](llvm::raw_ostream& out) {
    out << what << ", machine " << target->machine.name << ": " << result->packets << " packets, "
        << result->packet_hops << " packet hops\n"
        << "makespan " << microsText(result->makespan_s) << ", peak " << microsText(peak_s);
    if (alltoall.most_packets == 0) {
      out << ": " << formatted("%.1f", 100 * peak_s / result->makespan_s) << " % of peak";
    }
    out << "; steady " << formatted("%.1f", 100 * steady) << " %\n";
    printLinks(target->topology, *result, out);
  });
}

int PacketFlags::simulateFile(const ScheduleView& schedule, const model::Machine& machine,
                              const SizeRange& sizes, Form form) const {
  llvm::Expected<model::PacketOptions> options = optionsFor(machine);
  if (!options) return wrongUsage(llvm::toString(options.takeError()));
  if (!heat_.empty() && sizes.lowest != sizes.highest) {
    return wrongUsage("--heat draws one size, not a range");
  }
  std::vector<Record> rows;
  std::optional<model::PacketResult> last;
  const std::string what = std::string(rowOf(schedule.collective).name) + " on " +
                           schedule.topology.shape() + ", machine " + machine.name;
  for (const std::uint64_t size : sizes.sizes()) {
    model::ProgramOptions program;
    program.bytes = static_cast<double>(size);
    llvm::Expected<model::PacketResult> result = [&] {
      const Watch watch(what + ", " + sizeText(size), *options);
      return model::simulateProgram(schedule, machine, program, *options);
    }();
    if (!result) return inputFault(result.takeError());
    if (!heat_.empty()) {
      const std::string svg = model::heatSvg(schedule.topology, options->parameters, *result,
                                             what + ", " + sizeText(size));
      if (llvm::Error error = writeOutput(heat_, svg)) return inputFault(std::move(error));
    }
    const double bound_s =
        model::lowerBound(machine, {rowOf(schedule.collective), program.bytes}).bound_s;
    Record& record = rows.emplace_back(Record{{"collective", rowOf(schedule.collective).name},
                                              {"torus", schedule.topology.shape()},
                                              {"machine", machine.name},
                                              {"bytes", size, "     bytes", kSize}});
    add(*result, record);
    record.push_back({"bound_s", bound_s, "    bound us", kMicros});
    record.push_back(
        {"", bound_s > 0 ? Json(result->makespan_s / bound_s) : Json(), "   ratio", kRatio});
    record.push_back({"", result->packets, " packets"});
    record.push_back({"", result->packet_hops, "packet hops"});
    last = std::move(*result);
  }
  return printReport(rows, form, [&](llvm::raw_ostream& out) {
    out << what << ", packet by packet\n" << tableText(rows);
    if (rows.size() == 1) printLinks(schedule.topology, *last, out);
  });
}

}  // namespace torc::compiler
