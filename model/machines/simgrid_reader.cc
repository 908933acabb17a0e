// SimGrid's platform XML (simgrid.dtd, version 4): of one <cluster topology="TORUS">, as
// src/kernel/routing/TorusZone.cpp wires it: hosts count along the first dimension fastest, with
// one link to the next host of each dimension. Everything else that carries messages is refused by
// name.
#include <algorithm>
#include <expat.h>
#include <optional>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "model/machines/foreign.h"
#include "model/machines/machine_ranges.h"
#include "support/message.h"

namespace torc::model {
namespace {

/// A unit's name, and how many bytes/s or seconds it is.
struct Unit {
  llvm::StringLiteral name;
  double size;
};
constexpr Unit kTimes[] = {{"w", 604800}, {"d", 86400}, {"h", 3600},  {"m", 60},    {"s", 1},
                           {"ms", 1e-3},  {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
constexpr Unit kPrefixes[] = {{"", 1},        {"k", 1e3},     {"M", 1e6},     {"G", 1e9},
                              {"T", 1e12},    {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10},
                              {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50},
                              {"Ei", 0x1p60}};

std::optional<double> unitSize(llvm::ArrayRef<Unit> units, llvm::StringRef name) {
  const Unit* unit = llvm::find_if(units, [&](const Unit& one) { return one.name == name; });
  if (unit == units.end()) return std::nullopt;
  return unit->size;
}

/// Bytes/s of "125MBps" or "1Gbps".
std::optional<double> bandwidthUnit(llvm::StringRef name) {
  if (name.empty()) return 1.0;
  if (name.consume_back("Bps")) return unitSize(kPrefixes, name);
  if (!name.consume_back("bps")) return std::nullopt;
  const std::optional<double> bits = unitSize(kPrefixes, name);
  return bits ? std::optional(*bits / 8) : std::nullopt;
}
std::optional<double> timeUnit(llvm::StringRef name) {
  return name.empty() ? 1.0 : unitSize(kTimes, name);
}

/// How many hosts "0-63,70" names; 0: not a radical.
std::uint64_t hostsOf(llvm::StringRef radical) {
  std::uint64_t count = 0;
  llvm::SmallVector<llvm::StringRef> ranges;
  radical.split(ranges, ',');
  for (const llvm::StringRef range : ranges) {
    const auto [low, high] = range.split('-');
    std::uint32_t first = 0, last = 0;
    if (low.getAsInteger(10, first)) return 0;
    last = first;
    if (range.contains('-') && high.getAsInteger(10, last)) return 0;
    if (last < first) return 0;
    count += std::uint64_t{last} - first + 1;
  }
  return count;
}

class PlatformReader {
 public:
  explicit PlatformReader(llvm::StringRef origin)
      : origin_(origin), parser_(XML_ParserCreate(nullptr)) {
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, &onStart, nullptr);
    XML_SetEntityDeclHandler(parser_, &onEntity);
  }
  ~PlatformReader() { XML_ParserFree(parser_); }
  PlatformReader(const PlatformReader&) = delete;
  PlatformReader& operator=(const PlatformReader&) = delete;

  llvm::Expected<Machine> read(llvm::StringRef text) {
    const bool parsed = XML_Parse(parser_, text.data(), static_cast<int>(text.size()),
                                  /*isFinal=*/1) == XML_STATUS_OK;
    if (!parsed && fault_.empty()) {
      refuse(llvm::Twine("is no XML that can be read: ") +
             XML_ErrorString(XML_GetErrorCode(parser_)));
    }
    if (!machine_ && fault_.empty()) refuse("has no <cluster topology=\"TORUS\">");
    if (!fault_.empty()) return foreignFault(origin_, fault_line_, fault_);
    return std::move(*machine_);
  }

 private:
  using Attributes = const XML_Char**;

  static void onStart(void* self, const XML_Char* name, Attributes attributes) {
    auto& reader = *static_cast<PlatformReader*>(self);
    if (reader.fault_.empty()) reader.start(name, attributes);
  }
  static void onEntity(void* self, const XML_Char* name, int, const XML_Char*, int, const XML_Char*,
                       const XML_Char*, const XML_Char*, const XML_Char*) {
    static_cast<PlatformReader*>(self)->refuse(llvm::Twine("declares the entity '") + name +
                                               "', which no machine needs");
  }

  /// The first fault counts.
  void refuse(const llvm::Twine& what) {
    if (!fault_.empty()) return;
    fault_ = what.str();
    fault_line_ = XML_GetCurrentLineNumber(parser_);
    XML_StopParser(parser_, XML_FALSE);
  }

  void start(llvm::StringRef name, Attributes attributes) {
    const bool is_root = !std::exchange(has_root_, true);
    if (is_root && name == "algo") return refuse("is an MSCCL schedule, no machine (torc import)");
    if (is_root != (name == "platform")) {
      return refuse("<" + name + "> stands where <platform> is expected");
    }
    // Zones alone join what is in them; settings and properties are of the simulator.
    if (llvm::is_contained({"platform", "zone", "AS", "config", "prop"}, name)) return;
    if (name != "cluster") {
      return refuse("<" + name + "> describes no torus: of a platform one <cluster " +
                    "topology=\"TORUS\"> is read");
    }
    if (machine_) return refuse("has a second <cluster>");
    cluster(attributes);
  }

  static llvm::StringRef find(Attributes attributes, llvm::StringRef name,
                              llvm::StringRef otherwise = "") {
    for (; *attributes != nullptr; attributes += 2) {
      if (name == attributes[0]) return attributes[1];
    }
    return otherwise;
  }

  /// "50us" of an attribute; refuses what is none, or outside.
  double quantity(Attributes attributes, llvm::StringRef name,
                  std::optional<double> (*unit)(llvm::StringRef), double lowest, double highest,
                  llvm::StringRef example) {
    const llvm::StringRef value = find(attributes, name).trim();
    const std::size_t end = std::min(value.find_last_of("0123456789.") + 1, value.size());
    double number = 0;
    const std::optional<double> size = unit(value.drop_front(end).trim());
    const bool is_number = end > 0 && !value.take_front(end).getAsDouble(number) && size;
    number *= size.value_or(0);
    if (!is_number || !(number >= lowest && number <= highest)) {
      refuse("<cluster>: " + name + " is " + inQuotes(value) + "; allowed: as " + example + ", " +
             message(lowest, " to ", highest));
    }
    return number + 0.0;  // no negative zero
  }

  void cluster(Attributes attributes) {
    if (const llvm::StringRef topology = find(attributes, "topology", "FLAT");
        topology != "TORUS") {
      return refuse("<cluster>: topology is " + inQuotes(topology) + ", not TORUS");
    }
    if (!find(attributes, "limiter_link").empty()) {
      return refuse(
          "<cluster>: limiter_link bounds what a node sends on all links at a time, which "
          "no machine of torc's does");
    }
    const llvm::StringRef sharing = find(attributes, "sharing_policy", "SPLITDUPLEX");
    if (!llvm::is_contained({"SPLITDUPLEX", "FULLDUPLEX", "SHARED"}, sharing)) {
      return refuse("<cluster>: sharing_policy is " + inQuotes(sharing) +
                    "; allowed: SPLITDUPLEX, SHARED");
    }
    MachineDimension dimension;
    dimension.width = 1;
    dimension.bandwidth =
        quantity(attributes, "bw", bandwidthUnit, kMinBandwidth, kMaxBandwidth, "125MBps");
    if (sharing == "SHARED") dimension.bandwidth /= 2;
    dimension.latency = quantity(attributes, "lat", timeUnit, 0, kMaxSeconds, "50us");

    const llvm::StringRef parameters = find(attributes, "topo_parameters");
    Machine machine =
        foreignMachine(origin_, "SimGrid cluster " + inQuotes(find(attributes, "id")));
    llvm::SmallVector<llvm::StringRef> sizes;
    parameters.split(sizes, ',');
    std::uint64_t nodes = 1;
    for (const llvm::StringRef size : sizes) {
      if (size.trim().getAsInteger(10, dimension.size) || dimension.size < 1 ||
          (nodes *= dimension.size) > kMaxNodes || sizes.size() > kMaxDimensions) {
        return refuse("<cluster>: topo_parameters is " + inQuotes(parameters) + "; allowed: 1 to " +
                      llvm::Twine(kMaxDimensions) + " sizes, as 4,4,4, of " +
                      llvm::Twine(kMaxNodes) + " nodes in all");
      }
      machine.dimensions.push_back(dimension);
    }
    const llvm::StringRef radical = find(attributes, "radical");
    if (hostsOf(radical) != nodes) {
      return refuse("<cluster>: radical " + inQuotes(radical) + " does not name the " +
                    llvm::Twine(nodes) + " hosts of the torus");
    }
    machine.sources = {
        {"dimensions.bandwidth",
         sharing == "SHARED" ? "half of bw: sharing_policy SHARED, one link for both directions"
                             : "bw: per link and direction"},
        {"dimensions.latency", "lat: per link"},
        {"dimensions.size", "topo_parameters: the first dimension counts fastest"},
        {"dimensions.width", "SimGrid: one link per pair, also where a dimension has two nodes"},
    };
    machine_ = std::move(machine);
  }

  llvm::StringRef origin_;
  XML_Parser parser_;
  std::string fault_;
  std::size_t fault_line_ = 0;
  bool has_root_ = false;
  std::optional<Machine> machine_;
};

}  // namespace

llvm::Expected<Machine> readSimgridPlatform(llvm::StringRef text, llvm::StringRef origin) {
  return PlatformReader(origin).read(text);
}

}  // namespace torc::model
