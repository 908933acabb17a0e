// Reads places of hosts from Slurm's topology.yaml, topology.conf and slurm.conf
// (src/plugins/topology/torus3d, doc/man/man5/topology.yaml.5, src/plugins/topology/3d_torus).
#include "model/machines/slurm_machine.h"

#include <algorithm>
#include <array>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Path.h>

#include "ir/json/document.h"
#include "ir/thrown.h"
#include "model/machines/foreign.h"
#include "support/hostlist.h"

namespace torc::model {
namespace {

constexpr std::uint32_t kMostAlong = 65535;  // Slurm counts in 16 bits
using Tori = std::vector<SlurmTorus>;
using Dims = std::array<std::uint32_t, 3>;

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

/// Reads files; the first fault is thrown.
class SlurmReader {
 public:
  explicit SlurmReader(llvm::StringRef origin) : origin_(origin) {}

  Tori readYaml(const YamlNode& root) {
    Tori chosen;
    std::string others;
    for (const YamlNode& topology : root.items) {
      const YamlNode* name = topology.find("topology");
      if (name == nullptr) fail(topology.line, "a topology without its name");
      if (topology.find("torus3d") == nullptr && topology.find("ring") == nullptr) {
        const auto kind = llvm::find_if(topology.keys, [](llvm::StringRef key) {
          return key == "tree" || key == "block" || key == "flat";
        });
        constexpr std::size_t kEnough = 100;  // letters
        if (others.size() > kEnough) continue;
        others += (others.empty() ? "" : ", ") + ir::shownName(name->text) + " is " +
                  (kind == topology.keys.end() ? "none" : *kind);
        continue;
      }
      Tori tori = readTopology(topology);
      if (tori.empty()) fail(topology.line, "a topology without a torus");
      const YamlNode* is_default = topology.find("cluster_default");
      const bool ends =
          is_default != nullptr && llvm::StringRef(is_default->text).equals_insensitive("true");
      if (ends || chosen.empty()) chosen = std::move(tori);
      if (ends) break;
    }
    if (chosen.empty()) fail(root.line, "Slurm's topology without a torus3d or ring: " + others);
    return chosen;
  }

  Tori readLines(llvm::StringRef text) {
    Tori tori;
    std::vector<std::string> named;  // hosts with coordinates in their names
    std::size_t dimensions = 0, first_line = 0;
    for (std::size_t number = 1; !text.empty(); ++number) {
      llvm::StringRef line;
      std::tie(line, text) = text.split('\n');
      line = line.split('#').first.trim();
      for (const llvm::StringRef key : {"SwitchName", "BlockName"}) {
        if (valueOf(line, key).empty()) continue;
        fail(number,
             key + ": " + (key == "SwitchName" ? "switches are" : "a block is") + " no torus");
      }
      if (const llvm::StringRef ring = valueOf(line, "RingName"); !ring.empty())
        tori.push_back(readRing(ring, valueOf(line, "Nodes"), number, number));
      const llvm::StringRef nodes = valueOf(line, "NodeName");
      const llvm::StringRef low = nodes.split('[').second.split('x').first;
      if (low.empty() || low.contains(']') || low.contains('-') || low.contains(',')) continue;
      std::vector<std::string> hosts = expand(nodes, number, left_);
      left_ -= hosts.size();
      if (named.empty()) dimensions = low.size(), first_line = number;
      if (low.size() != dimensions || !nodes.ends_with("]") || nodes.count('[') != 1) {
        fail(number, "NodeName is " + ir::shownName(nodes) + "; allowed: boxes of " +
                         llvm::Twine(dimensions) + " coordinates at the names' ends");
      }
      llvm::move(hosts, std::back_inserter(named));
    }
    if (!tori.empty()) return tori;
    if (named.empty()) {
      fail(1,
           "a file of Slurm's without a torus: neither RingName nor a box of "
           "hosts, as NodeName=tux[000x733]");
    }
    return {readNames(named, dimensions, first_line)};
  }

 private:
  [[noreturn]] void fail(std::size_t line, const llvm::Twine& what) const {
    throw Thrown{foreignFault(origin_, line, what)};
  }

  const YamlNode& member(const YamlNode& node, llvm::StringRef key) const {
    const YamlNode* found = node.find(key);
    if (found == nullptr) fail(node.line, "has no " + key + " where Slurm's topology needs it");
    return *found;
  }

  std::vector<std::string> expand(llvm::StringRef list, std::size_t line, std::size_t most) const {
    StatusOr<std::vector<std::string>> expanded = expandHostlist({list.data(), list.size()}, most);
    if (!expanded.ok()) fail(line, expanded.status().message());
    return std::move(*expanded);
  }

  SlurmTorus readRing(llvm::StringRef name, llvm::StringRef hosts, std::size_t line,
                      std::size_t line_of_hosts) {
    SlurmTorus ring{.name = name.str(),
                    .line = line,
                    .sizes = {},
                    .hosts = expand(hosts, line_of_hosts, left_)};
    left_ -= ring.hosts.size();
    ring.sizes = {static_cast<std::uint32_t>(ring.hosts.size())};
    return ring;
  }

  /// `{x: 4, y: 4, z: 2}` of a key.
  Dims readTriple(const YamlNode& node, llvm::StringRef key, std::uint32_t lowest) const {
    Dims dims{};
    constexpr llvm::StringLiteral kNames[] = {"x", "y", "z"};
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const YamlNode& number = member(member(node, key), kNames[i]);
      if (llvm::StringRef(number.text).getAsInteger(10, dims[i]) || dims[i] < lowest ||
          dims[i] > kMostAlong) {
        fail(number.line, key + ": " + kNames[i] + " is " + ir::shownName(number.text) +
                              "; allowed: " + llvm::Twine(lowest) + " to " +
                              llvm::Twine(kMostAlong));
      }
    }
    return dims;
  }

  SlurmTorus readTorus(const YamlNode& node) {
    const std::string& name = member(node, "name").text;
    const Dims dims = readTriple(node, "dims", 1);
    SlurmTorus torus{
        .name = name, .line = node.line, .sizes = {dims.begin(), dims.end()}, .hosts = {}};
    const std::uint64_t places = std::uint64_t{dims[0]} * dims[1] * dims[2];
    if (places > left_) {
      fail(node.line, "torus " + ir::shownName(torus.name) + ", " + torus.shape() + ": more than " +
                          llvm::Twine(kMostSlurmHosts) + " places in all");
    }
    left_ -= places;
    const YamlNode* regions = node.find("regions");
    if ((regions == nullptr) == (node.find("nodes") == nullptr)) {
      fail(node.line, "torus " + ir::shownName(torus.name) + " must have either nodes or regions");
    }
    torus.hosts.resize(places);
    if (regions == nullptr) {
      place(node, {}, dims, torus);
      return torus;
    }
    for (const YamlNode& region : regions->items) {
      const Dims anchor = readTriple(region, "anchor", 0);
      place(region, anchor, readTriple(region, "dims", 1), torus);
    }
    return torus;
  }

  /// Puts the nodes of a torus or region, X fastest, into the box at `anchor`.
  void place(const YamlNode& node, const Dims& anchor, const Dims& extent,
             SlurmTorus& torus) const {
    for (std::size_t i = 0; i < anchor.size(); ++i) {
      if (anchor[i] + extent[i] > torus.sizes[i])
        fail(node.line, "the region is not inside of " + torus.shape());
    }
    const YamlNode& list = member(node, "nodes");
    std::vector<std::string> hosts = expand(list.text, list.line, torus.hosts.size());
    const std::size_t places = std::size_t{extent[0]} * extent[1] * extent[2];
    if (hosts.size() != places) {
      fail(node.line, "nodes names " + llvm::Twine(hosts.size()) + " hosts for " +
                          llvm::Twine(places) + " places");
    }
    for (std::size_t i = 0; i < places; ++i) {
      const std::size_t x = anchor[0] + i % extent[0];
      const std::size_t y = anchor[1] + i / extent[0] % extent[1];
      const std::size_t z = anchor[2] + i / extent[0] / extent[1];
      std::string& host = torus.hosts[x + torus.sizes[0] * (y + torus.sizes[1] * z)];
      if (!host.empty()) fail(node.line, "the region overlaps another one");
      host = std::move(hosts[i]);
    }
  }

  /// The tori of a member of topology.yaml; none if it has neither a torus3d nor a ring.
  Tori readTopology(const YamlNode& topology) {
    Tori tori;
    if (const YamlNode* torus3d = topology.find("torus3d"); torus3d != nullptr) {
      for (const YamlNode& one : member(*torus3d, "toruses").items)
        tori.push_back(readTorus(one));
      return tori;
    }
    for (const YamlNode& one : member(*topology.find("ring"), "rings").items) {
      const std::string& name = member(one, "ring").text;
      const YamlNode& nodes = member(one, "nodes");
      tori.push_back(readRing(name, nodes.text, one.line, nodes.line));
    }
    return tori;
  }

  /// The torus with places in the last letters of the hosts' names, as many as a box has
  /// coordinates.
  SlurmTorus readNames(llvm::ArrayRef<std::string> hosts, std::size_t dimensions,
                       std::size_t line) const {
    SlurmTorus torus{.name = "nodes", .line = line, .sizes = {}, .hosts = {}};
    torus.sizes.assign(dimensions, 1);
    for (const std::string& host : hosts) {
      const llvm::StringRef end = llvm::StringRef(host).take_back(dimensions);
      if (end.size() == dimensions &&
          llvm::all_of(end, [](char digit) { return base36Digit(digit) >= 0; })) {
        continue;
      }
      fail(line, "host " + ir::shownName(host) + " does not end in " + llvm::Twine(dimensions) +
                     " coordinates");
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
    if (places > kMostSlurmHosts) fail(line, "the boxes are too far apart");
    torus.hosts.resize(places);
    for (const std::string& host : hosts) {
      std::size_t place = 0;
      for (std::size_t i = dimensions; i-- > 0;)
        place = place * torus.sizes[i] + coordinate(host, i);
      if (!torus.hosts[place].empty()) {
        fail(line, "host " + ir::shownName(host) + " is where " +
                       ir::shownName(torus.hosts[place]) + " is");
      }
      torus.hosts[place] = host;
    }
    return torus;
  }

  llvm::StringRef origin_;
  std::size_t left_ = kMostSlurmHosts;  // remaining limit of places
};

}  // namespace

bool isSlurmLine(llvm::StringRef line) {
  const llvm::StringRef key = line.take_while([](char c) { return llvm::isAlpha(c); });
  return !key.empty() && line.drop_front(key.size()).ltrim().starts_with("=");
}

bool isSlurmYaml(const YamlNode& root) {
  return root.isSequence() && !root.items.empty() && root.items[0].find("topology") != nullptr;
}

llvm::Expected<Tori> readSlurmYaml(const YamlNode& root, llvm::StringRef origin) {
  return caught([&] { return SlurmReader(origin).readYaml(root); });
}

llvm::Expected<Tori> readSlurmLines(llvm::StringRef text, llvm::StringRef origin) {
  return caught([&] { return SlurmReader(origin).readLines(text); });
}

std::string SlurmTorus::shape() const {
  std::string text;
  for (const std::uint32_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::vector<std::uint32_t> SlurmTorus::coordinatesOf(std::size_t place) const {
  std::vector<std::uint32_t> at;
  for (const std::uint32_t size : sizes) {
    at.push_back(static_cast<std::uint32_t>(place % size));
    place /= size;
  }
  return at;
}

llvm::Expected<Machine> slurmMachine(llvm::Expected<Tori> tori, llvm::StringRef origin) {
  if (!tori) return tori.takeError();
  const SlurmTorus& torus = tori->front();
  for (const SlurmTorus& other : *tori) {
    if (other.sizes == torus.sizes) continue;
    return foreignFault(origin, other.line,
                        "torus " + ir::shownName(other.name) + " is " + other.shape() + ", " +
                            ir::shownName(torus.name) + " is " + torus.shape() + ": which one?");
  }
  const Machine generic = llvm::cantFail(findMachine("generic"));
  Machine machine;
  machine.name = printable(llvm::sys::path::stem(origin));
  if (machine.name.empty()) machine.name = "machine";
  machine.description =
      printable("Slurm torus " + ir::shownName(torus.name) +
                (tori->size() > 1 ? " and " + std::to_string(tori->size() - 1) + " alike" : ""));
  machine.alpha = generic.alpha;
  machine.dimensions.assign(torus.sizes.size(), generic.dimensions.back());
  for (std::size_t i = 0; i < torus.sizes.size(); ++i)
    machine.dimensions[i].size = torus.sizes[i];
  for (std::size_t place = 0; place < torus.hosts.size(); ++place) {
    if (!torus.hosts[place].empty()) continue;
    if (machine.dead_nodes.size() == kMaxDeadNodes) {
      return foreignFault(origin, torus.line,
                          "torus " + ir::shownName(torus.name) + ", " + torus.shape() +
                              ", has more than " + llvm::Twine(kMaxDeadNodes) +
                              " places without a host");
    }
    llvm::copy(torus.coordinatesOf(place), machine.dead_nodes.emplace_back().begin());
  }
  machine.sources = {{"alpha", "estimate: as the machine generic"}};
  if (machine.damaged()) machine.sources.emplace_back("dead_nodes", "places without a host");
  machine.sources.emplace_back("dimensions.bandwidth",
                               "estimate: Slurm says nothing of links; as the machine generic");
  machine.sources.emplace_back("dimensions.size", "Slurm: torus " + ir::shownName(torus.name));
  llvm::Expected<Topology> topology = topologyOf(machine);
  if (!topology) return topology.takeError();
  if (const Status status = topology->validate(); !status.ok()) {
    return foreignFault(origin, torus.line, status.message());
  }
  return machine;
}

}  // namespace torc::model
