// ASTRA-sim's analytical network (astra-network-analytical, common/network-parser): a building
// block for each dimension, the first one counting fastest; GB/s of 2^30 bytes per link and
// direction, ns per hop. Rings make a torus.
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "model/machines/foreign.h"
#include "model/machines/machine_ranges.h"
#include "support/message.h"

namespace torc::model {
namespace {

constexpr double kGigabyte = 1 << 30;  // bw_GBps_to_Bpns of its NetworkFunction.cc
constexpr llvm::StringLiteral kKeys[] = {"topology", "npus_count", "bandwidth", "latency"};

/// A number from `lowest` to `highest`, of which `scale` make the machine's unit.
llvm::Expected<double> readNumber(const YamlNode& node, llvm::StringRef what, double scale,
                                  double lowest, double highest, llvm::StringRef origin) {
  double number = 0;
  const bool is_number = node.isScalar() && !llvm::StringRef(node.text).getAsDouble(number);
  const double value = number * scale;
  if (is_number && value >= lowest && value <= highest) return value + 0.0;  // no negative zero
  return foreignFault(origin, node.line,
                      what + " is " + inQuotes(node.text) + "; allowed: a number from " +
                          message(lowest / scale, " to ", highest / scale));
}

}  // namespace

llvm::Expected<Machine> readAstraNetwork(const YamlNode& root, llvm::StringRef origin) {
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    if (llvm::is_contained(kKeys, root.keys[i])) continue;
    return foreignFault(
        origin, root.items[i].line,
        "key " + inQuotes(root.keys[i]) +
            " is not known in an ASTRA-sim network (topology, npus_count, bandwidth, latency)");
  }
  const YamlNode* lists[std::size(kKeys)];
  for (std::size_t i = 0; i < std::size(kKeys); ++i) {
    const YamlNode*& list = lists[i] = root.find(kKeys[i]);
    if (list == nullptr) {
      return foreignFault(origin, root.line, "an ASTRA-sim network without " + kKeys[i]);
    }
    const std::size_t count = list->items.size();
    if (!list->isSequence() || count < 1 || count > kMaxDimensions) {
      return foreignFault(
          origin, list->line,
          kKeys[i] + " must be a list of 1 to " + llvm::Twine(kMaxDimensions) + " dimensions");
    }
    if (count != lists[0]->items.size()) {
      return foreignFault(origin, list->line,
                          kKeys[i] + " has " + llvm::Twine(count) + " dimensions, topology has " +
                              llvm::Twine(lists[0]->items.size()));
    }
  }
  std::string blocks;
  Machine machine = foreignMachine(origin, "");
  std::uint64_t nodes = 1;
  for (std::size_t i = 0; i < lists[0]->items.size(); ++i) {
    const YamlNode &block = lists[0]->items[i], &size = lists[1]->items[i];
    if (block.text != "Ring") {
      return foreignFault(origin, block.line,
                          "dimension " + llvm::Twine(i + 1) + " is a " + inQuotes(block.text) +
                              "; a torus is made of Ring alone");
    }
    MachineDimension dimension;
    if (!size.isScalar() || llvm::StringRef(size.text).getAsInteger(10, dimension.size) ||
        dimension.size < 2 || (nodes *= dimension.size) > kMaxNodes) {
      return foreignFault(origin, size.line,
                          "npus_count is " + inQuotes(size.text) +
                              "; allowed: 2 and more, in all dimensions " + llvm::Twine(kMaxNodes) +
                              " nodes");
    }
    llvm::Expected<double> bandwidth = readNumber(lists[2]->items[i], "bandwidth", kGigabyte,
                                                  kMinBandwidth, kMaxBandwidth, origin);
    if (!bandwidth) return bandwidth.takeError();
    llvm::Expected<double> latency =
        readNumber(lists[3]->items[i], "latency", 1e-9, 0, kMaxSeconds, origin);
    if (!latency) return latency.takeError();
    dimension.bandwidth = *bandwidth;
    dimension.latency = *latency;
    dimension.width = 1;  // a ring of two has one link each way
    machine.dimensions.push_back(dimension);
    blocks += (i > 0 ? ", " : "") + block.text + " of " + size.text;
  }
  machine.description = "ASTRA-sim network: " + blocks;
  machine.sources = {
      {"dimensions.bandwidth", "bandwidth: per link and direction, in GB/s of 2^30 bytes"},
      {"dimensions.latency", "latency: per hop, in ns"},
      {"dimensions.size", "npus_count: the first dimension counts fastest"},
      {"dimensions.width", "ASTRA-sim: one link each way between two neighbours"},
  };
  return machine;
}

}  // namespace torc::model
