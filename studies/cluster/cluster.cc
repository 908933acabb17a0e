// Reads the JSON of a cluster: every key is known and present, every number in a sensible range.
// The first fault is reported in one line: file, key, value.
#include "studies/cluster/cluster.h"

#include <cmath>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/Twine.h>

#include "ir/json/strict_reader.h"
#include "ir/make_error.h"
#include "schedules/format/file.h"
#include "studies/cluster/cluster_presets.h"

namespace torc::studies {
namespace {

/// A number of the description and its range, both ends included.
struct Number {
  llvm::StringRef key;
  double Cluster::*value;
  double lowest, highest;
  llvm::StringRef unit;
};
constexpr Number bytes(llvm::StringRef key, double Cluster::*value, double lowest = 0) {
  return {key, value, lowest, 1e15, "bytes"};
}
constexpr Number rate(llvm::StringRef key, double Cluster::*value) {
  return {key, value, 1, 1e18, "bytes/s"};
}
constexpr Number time(llvm::StringRef key, double Cluster::*value) {
  return {key, value, 0, 1000, "seconds"};
}
constexpr Number kNumbers[] = {
    bytes("cache", &Cluster::cache),
    rate("cached_copy", &Cluster::cached_copy),
    rate("memory_copy", &Cluster::memory_copy),
    rate("memory_bandwidth", &Cluster::memory_bandwidth),
    time("copy_overhead", &Cluster::copy_overhead),
    time("flag", &Cluster::flag),
    time("shared_overhead", &Cluster::shared_overhead),
    bytes("pio_limit", &Cluster::pio_limit),
    rate("pio_bandwidth", &Cluster::pio_bandwidth),
    bytes("pio_buffer", &Cluster::pio_buffer),
    time("send_overhead", &Cluster::send_overhead),
    time("receive_overhead", &Cluster::receive_overhead),
    time("match", &Cluster::match),
    time("message", &Cluster::message),
    time("connection", &Cluster::connection),
    rate("bus_bandwidth", &Cluster::bus_bandwidth),
    rate("bus_total", &Cluster::bus_total),
    rate("link_bandwidth", &Cluster::link_bandwidth),
    bytes("payload", &Cluster::payload, 1),
    bytes("header", &Cluster::header),
    time("latency", &Cluster::latency),
    time("switch_latency", &Cluster::switch_latency),
    bytes("buffered", &Cluster::buffered),
    bytes("eager_copy", &Cluster::eager_copy),
    bytes("rendezvous", &Cluster::rendezvous),
    bytes("switch_buffer", &Cluster::switch_buffer),
    bytes("bruck_limit", &Cluster::bruck_limit),
    bytes("direct_limit", &Cluster::direct_limit),
};

/// For numbers of the description and for counts.
struct Count {
  llvm::StringRef key;
  std::uint32_t Cluster::*value;
  std::uint32_t highest;
  std::uint32_t lowest = 1;
};
constexpr Count kCounts[] = {
    {"nodes", &Cluster::nodes, kMaxClusterNodes},
    {"cores", &Cluster::cores, kMaxClusterCores},
    {"leaf_nodes", &Cluster::leaf_nodes, kMaxClusterNodes},
    {"uplinks", &Cluster::uplinks, kMaxClusterNodes},
    {"placement", &Cluster::placement, 0xffffffffu, 0},
};

class ClusterReader : public ir::StrictReader {
 public:
  ClusterReader() : StrictReader(Faults::kWithValues) {}

  Cluster read(const ir::JsonNode& root);

 private:
  static std::string line(const ir::JsonNode& node) {
    std::string line;
    if (node.value().is_string()) line = node.value().get<std::string>();
    if (line.empty() || line.find_first_of("\r\n") != line.npos)
      fail(node, "must be one line of text, not " + ir::shownValue(node.value()));
    return line;
  }
  void sources(const ir::JsonNode& node);

  Cluster cluster_;
};

bool isKey(llvm::StringRef key) {
  return llvm::is_contained(clusterKeys(), key);
}

void ClusterReader::sources(const ir::JsonNode& node) {
  object(node);
  for (const auto& [key, value] : node.value().items()) {
    if (!isKey(key)) {
      fail(node, "names " + ir::shownName(key) + ", which is no number of a cluster");
    }
    cluster_.sources.emplace_back(key, line(node.member(key)));
  }
}

Cluster ClusterReader::read(const ir::JsonNode& root) {
  object(root);
  for (const auto& [key, value] : root.value().items()) {
    if (!isKey(key) && key != "name" && key != "description" && key != "sources") {
      fail(root, "unknown key " + ir::shownName(key));
    }
  }
  if (!root.has("name")) fail(root, "missing key 'name'");
  for (llvm::StringRef key : clusterKeys()) {
    if (!root.has(key)) fail(root, "missing key '" + key + "'");
  }
  cluster_.name = line(root.member("name"));
  if (root.has("description")) cluster_.description = line(root.member("description"));
  for (const Count& count : kCounts) {
    cluster_.*count.value =
        integer<std::uint32_t>(root.member(count.key), count.lowest, count.highest);
  }
  for (const Number& row : kNumbers)
    cluster_.*row.value = number(root.member(row.key), row.lowest, row.highest, row.unit);
  if (root.has("sources")) sources(root.member("sources"));
  return std::move(cluster_);
}

}  // namespace

llvm::ArrayRef<llvm::StringRef> clusterKeys() {
  static const std::vector<llvm::StringRef> keys = [] {
    std::vector<llvm::StringRef> listed;
    for (const Count& count : kCounts)
      listed.push_back(count.key);
    for (const Number& number : kNumbers)
      listed.push_back(number.key);
    return listed;
  }();
  return keys;
}

llvm::ArrayRef<llvm::StringRef> clusterPresets() {
  static const std::vector<llvm::StringRef> names = [] {
    std::vector<llvm::StringRef> listed;
    for (const model::Preset& preset : clusterDescriptions())
      listed.push_back(preset.name);
    return listed;
  }();
  return names;
}

llvm::Expected<Cluster> parseCluster(llvm::StringRef json, llvm::StringRef origin) {
  llvm::Expected<nlohmann::json> document = ir::parseJson(json, origin);
  if (!document) return llvm::make_error<model::MachineFault>(toString(document.takeError()));
  try {
    return ClusterReader().read(ir::JsonNode(*document));
  } catch (Thrown& fault) {
    return llvm::make_error<model::MachineFault>(origin + ": " + toString(std::move(fault.error)));
  }
}

llvm::Expected<Cluster> findCluster(llvm::StringRef name_or_path) {
  for (const model::Preset& preset : clusterDescriptions()) {
    if (preset.name == name_or_path) return parseCluster(preset.json, name_or_path);
  }
  const bool looks_like_path = name_or_path.contains('/') || name_or_path.contains('.');
  const StatusOr<std::vector<std::byte>> bytes = readFile(name_or_path.str());
  if (bytes.ok()) {
    const llvm::StringRef text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    return parseCluster(text, name_or_path);
  }
  if (looks_like_path) return llvm::make_error<model::MachineFault>(bytes.status().message());
  return makeError("unknown cluster '" + name_or_path + "'; there are " +
                   llvm::join(clusterPresets(), ", ") + ", or a file");
}

}  // namespace torc::studies
