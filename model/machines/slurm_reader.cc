// Reads Slurm's topology.yaml, topology.conf and slurm.conf, as far as they say where hosts lie
// (src/plugins/topology/torus3d, doc/man/man5/topology.yaml.5, src/plugins/topology/3d_torus).
#include <algorithm>
#include <array>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "model/machines/foreign.h"
#include "model/machines/slurm_machine.h"
#include "support/hostlist.h"

namespace torc::model {
namespace {

constexpr std::uint32_t kMostAlong = 65535;  // Slurm counts in 16 bits
using Tori = std::vector<SlurmTorus>;
using Dims = std::array<std::uint32_t, 3>;

llvm::Expected<std::vector<std::string>> expand(llvm::StringRef list, llvm::StringRef origin,
                                                std::size_t line, std::size_t most) {
  StatusOr<std::vector<std::string>> hosts = expandHostlist({list.data(), list.size()}, most);
  if (!hosts.ok()) return foreignFault(origin, line, hosts.status().message());
  return std::move(*hosts);
}

/// Reads the members of a topology.
class YamlReader {
 public:
  explicit YamlReader(llvm::StringRef origin) : origin_(origin) {}

  llvm::Expected<Tori> torus3d(const YamlNode& node) {
    Tori tori;
    llvm::Expected<const YamlNode*> list = member(node, "toruses");
    if (!list) return list.takeError();
    for (const YamlNode& one : (*list)->items) {
      llvm::Expected<SlurmTorus> torus = readTorus(one);
      if (!torus) return torus.takeError();
      tori.push_back(std::move(*torus));
    }
    return tori;
  }

  llvm::Expected<Tori> rings(const YamlNode& node) {
    Tori tori;
    llvm::Expected<const YamlNode*> list = member(node, "rings");
    if (!list) return list.takeError();
    for (const YamlNode& one : (*list)->items) {
      llvm::Expected<const YamlNode*> name = member(one, "ring");
      if (!name) return name.takeError();
      llvm::Expected<std::vector<std::string>> hosts = nodes(one, left_);
      if (!hosts) return hosts.takeError();
      left_ -= hosts->size();
      tori.push_back({.name = (*name)->text,
                      .line = one.line,
                      .sizes = {static_cast<std::uint32_t>(hosts->size())},
                      .hosts = std::move(*hosts)});
    }
    return tori;
  }

 private:
  llvm::Error fault(const YamlNode& node, const llvm::Twine& what) const {
    return foreignFault(origin_, node.line, what);
  }

  llvm::Expected<const YamlNode*> member(const YamlNode& node, llvm::StringRef key) const {
    const YamlNode* found = node.find(key);
    if (found == nullptr) return fault(node, "has no " + key + " where Slurm's topology needs it");
    return found;
  }

  llvm::Expected<std::vector<std::string>> nodes(const YamlNode& node, std::size_t most) const {
    llvm::Expected<const YamlNode*> list = member(node, "nodes");
    if (!list) return list.takeError();
    return expand((*list)->text, origin_, (*list)->line, most);
  }

  /// `{x: 4, y: 4, z: 2}` of a key.
  llvm::Expected<Dims> triple(const YamlNode& node, llvm::StringRef key,
                              std::uint32_t lowest) const {
    llvm::Expected<const YamlNode*> found = member(node, key);
    if (!found) return found.takeError();
    Dims dims{};
    constexpr llvm::StringLiteral kNames[] = {"x", "y", "z"};
    for (std::size_t i = 0; i < dims.size(); ++i) {
      llvm::Expected<const YamlNode*> number = member(**found, kNames[i]);
      if (!number) return number.takeError();
      if (llvm::StringRef((*number)->text).getAsInteger(10, dims[i]) || dims[i] < lowest ||
          dims[i] > kMostAlong) {
        return fault(**number, key + ": " + kNames[i] + " is " + inQuotes((*number)->text) +
                                   "; allowed: " + llvm::Twine(lowest) + " to " +
                                   llvm::Twine(kMostAlong));
      }
    }
    return dims;
  }

  llvm::Expected<SlurmTorus> readTorus(const YamlNode& node) {
    llvm::Expected<const YamlNode*> name = member(node, "name");
    if (!name) return name.takeError();
    llvm::Expected<Dims> dims = triple(node, "dims", 1);
    if (!dims) return dims.takeError();
    SlurmTorus torus{.name = (*name)->text,
                     .line = node.line,
                     .sizes = {dims->begin(), dims->end()},
                     .hosts = {}};
    const std::uint64_t places = std::uint64_t{(*dims)[0]} * (*dims)[1] * (*dims)[2];
    if (places > left_) {
      return fault(node, "torus " + inQuotes(torus.name) + ", " + torus.shape() + ": more than " +
                             llvm::Twine(kMostSlurmHosts) + " places in all");
    }
    left_ -= places;
    const YamlNode* regions = node.find("regions");
    if ((regions == nullptr) == (node.find("nodes") == nullptr)) {
      return fault(node, "torus " + inQuotes(torus.name) + " must have either nodes or regions");
    }
    torus.hosts.resize(places);
    if (regions == nullptr) {
      if (llvm::Error error = place(node, {}, *dims, torus)) return error;
      return torus;
    }
    for (const YamlNode& region : regions->items) {
      llvm::Expected<Dims> anchor = triple(region, "anchor", 0);
      if (!anchor) return anchor.takeError();
      llvm::Expected<Dims> extent = triple(region, "dims", 1);
      if (!extent) return extent.takeError();
      if (llvm::Error error = place(region, *anchor, *extent, torus)) return error;
    }
    return torus;
  }

  /// Puts the nodes of a torus or region, X fastest, into the box at `anchor`.
  llvm::Error place(const YamlNode& node, const Dims& anchor, const Dims& extent,
                    SlurmTorus& torus) const {
    for (std::size_t i = 0; i < anchor.size(); ++i) {
      if (anchor[i] + extent[i] > torus.sizes[i]) {
        return fault(node, "the region is not inside of " + torus.shape());
      }
    }
    llvm::Expected<std::vector<std::string>> hosts = nodes(node, torus.hosts.size());
    if (!hosts) return hosts.takeError();
    const std::size_t places = std::size_t{extent[0]} * extent[1] * extent[2];
    if (hosts->size() != places) {
      return fault(node, "nodes names " + llvm::Twine(hosts->size()) + " hosts for " +
                             llvm::Twine(places) + " places");
    }
    for (std::size_t i = 0; i < places; ++i) {
      const std::size_t x = anchor[0] + i % extent[0];
      const std::size_t y = anchor[1] + i / extent[0] % extent[1];
      const std::size_t z = anchor[2] + i / extent[0] / extent[1];
      std::string& host = torus.hosts[x + torus.sizes[0] * (y + torus.sizes[1] * z)];
      if (!host.empty()) return fault(node, "the region overlaps another one");
      host = std::move((*hosts)[i]);
    }
    return llvm::Error::success();
  }

  llvm::StringRef origin_;
  std::size_t left_ = kMostSlurmHosts;  // places that tori to come may have
};

/// The value of `key` in a line of `Key=Value` words; empty if there is none.
llvm::StringRef valueOf(llvm::StringRef line, llvm::StringRef key) {
  llvm::SmallVector<llvm::StringRef> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef word : words) {
    const auto [name, value] = word.split('=');
    if (name.equals_insensitive(key)) return value.trim('"');
  }
  return {};
}

/// The torus that the hosts' last letters, as many as a box has coordinates, are the places of.
llvm::Expected<SlurmTorus> torusOfNames(llvm::ArrayRef<std::string> hosts, std::size_t dimensions,
                                        std::size_t line, llvm::StringRef origin) {
  SlurmTorus torus{.name = "nodes", .line = line, .sizes = {}, .hosts = {}};
  torus.sizes.assign(dimensions, 1);
  for (const std::string& host : hosts) {
    const llvm::StringRef end = llvm::StringRef(host).take_back(dimensions);
    if (end.size() == dimensions &&
        llvm::all_of(end, [](char digit) { return base36Digit(digit) >= 0; })) {
      continue;
    }
    return foreignFault(
        origin, line,
        "host " + inQuotes(host) + " does not end in " + llvm::Twine(dimensions) + " coordinates");
  }
  const auto coordinate = [&](const std::string& host, std::size_t i) {
    return static_cast<std::uint32_t>(base36Digit(host[host.size() - dimensions + i]));
  };
  std::size_t places = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    for (const std::string& host : hosts)
      torus.sizes[i] = std::max(torus.sizes[i], coordinate(host, i) + 1);
    places *= torus.sizes[i];
  }
  if (places > kMostSlurmHosts) return foreignFault(origin, line, "the boxes are too far apart");
  torus.hosts.resize(places);
  for (const std::string& host : hosts) {
    std::size_t place = 0;
    for (std::size_t i = dimensions; i-- > 0;)
      place = place * torus.sizes[i] + coordinate(host, i);
    if (!torus.hosts[place].empty()) {
      return foreignFault(
          origin, line,
          "host " + inQuotes(host) + " is where " + inQuotes(torus.hosts[place]) + " is");
    }
    torus.hosts[place] = host;
  }
  return torus;
}

}  // namespace

bool isSlurmLine(llvm::StringRef line) {
  const llvm::StringRef key = line.take_while([](char c) { return llvm::isAlpha(c); });
  return !key.empty() && line.drop_front(key.size()).ltrim().starts_with("=");
}

bool isSlurmYaml(const YamlNode& root) {
  return root.isSequence() && !root.items.empty() && root.items[0].find("topology") != nullptr;
}

llvm::Expected<Tori> readSlurmYaml(const YamlNode& root, llvm::StringRef origin) {
  YamlReader reader(origin);
  Tori chosen;
  std::string others;
  for (const YamlNode& topology : root.items) {
    const YamlNode* name = topology.find("topology");
    if (name == nullptr) return foreignFault(origin, topology.line, "a topology without its name");
    const YamlNode* torus3d = topology.find("torus3d");
    const YamlNode* ring = topology.find("ring");
    if (torus3d == nullptr && ring == nullptr) {
      const auto kind = llvm::find_if(topology.keys, [](llvm::StringRef key) {
        return key == "tree" || key == "block" || key == "flat";
      });
      constexpr std::size_t kEnough = 100;  // letters
      if (others.size() > kEnough) continue;
      others += (others.empty() ? "" : ", ") + inQuotes(name->text) + " is " +
                (kind == topology.keys.end() ? "none" : *kind);
      continue;
    }
    llvm::Expected<Tori> tori = torus3d != nullptr ? reader.torus3d(*torus3d) : reader.rings(*ring);
    if (!tori) return tori.takeError();
    if (tori->empty()) return foreignFault(origin, topology.line, "a topology without a torus");
    const YamlNode* is_default = topology.find("cluster_default");
    if (is_default != nullptr && llvm::StringRef(is_default->text).equals_insensitive("true")) {
      return tori;
    }
    if (chosen.empty()) chosen = std::move(*tori);
  }
  if (!chosen.empty()) return chosen;
  return foreignFault(origin, root.line, "Slurm's topology without a torus3d or ring: " + others);
}

llvm::Expected<Tori> readSlurmLines(llvm::StringRef text, llvm::StringRef origin) {
  Tori rings;
  std::vector<std::string> named;  // hosts with coordinates in their names
  std::size_t dimensions = 0, first_line = 0, left = kMostSlurmHosts;
  for (std::size_t number = 1; !text.empty(); ++number) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.split('#').first.trim();
    for (const llvm::StringRef key : {"SwitchName", "BlockName"}) {
      if (valueOf(line, key).empty()) continue;
      return foreignFault(
          origin, number,
          key + ": " + (key == "SwitchName" ? "switches are" : "a block is") + " no torus");
    }
    if (const llvm::StringRef ring = valueOf(line, "RingName"); !ring.empty()) {
      llvm::Expected<std::vector<std::string>> hosts =
          expand(valueOf(line, "Nodes"), origin, number, left);
      if (!hosts) return hosts.takeError();
      left -= hosts->size();
      rings.push_back({.name = ring.str(),
                       .line = number,
                       .sizes = {static_cast<std::uint32_t>(hosts->size())},
                       .hosts = std::move(*hosts)});
    }
    const llvm::StringRef nodes = valueOf(line, "NodeName");
    const llvm::StringRef low = nodes.split('[').second.split('x').first;
    if (low.empty() || low.contains(']') || low.contains('-') || low.contains(',')) continue;
    llvm::Expected<std::vector<std::string>> hosts = expand(nodes, origin, number, left);
    if (!hosts) return hosts.takeError();
    left -= hosts->size();
    if (named.empty()) dimensions = low.size(), first_line = number;
    if (low.size() != dimensions || !nodes.ends_with("]") || nodes.count('[') != 1) {
      return foreignFault(origin, number,
                          "NodeName is " + inQuotes(nodes) + "; allowed: boxes of " +
                              llvm::Twine(dimensions) + " coordinates at the names' ends");
    }
    llvm::move(*hosts, std::back_inserter(named));
  }
  if (!rings.empty()) return rings;
  if (named.empty()) {
    return foreignFault(origin, 1,
                        "a file of Slurm's without a torus: neither RingName nor a box of "
                        "hosts, as NodeName=tux[000x733]");
  }
  llvm::Expected<SlurmTorus> torus = torusOfNames(named, dimensions, first_line, origin);
  if (!torus) return torus.takeError();
  return Tori{std::move(*torus)};
}

}  // namespace torc::model
