// libFuzzer target: a shape in the first line, its damage in the second, and a mapping file after
// them. An accepted mapping gives every rank a live node of its own.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "schedules/sub_torus/mapping.h"
#include "schedules/topology/damage.h"
#include "schedules/topology/topology.h"

using torc::parseMapping;
using torc::parseTopology;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto nextLine = [&] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  auto topology = parseTopology(nextLine());
  const std::string_view dead = nextLine();
  if (!topology.ok()) return 0;
  if (const auto node = torc::parseDeadNode(*topology, dead); node.ok()) {
    if (!topology->addDeadNode(*node).ok()) return 0;
  }
  const auto sites = parseMapping(*topology, text, "map");
  if (!sites.ok()) {
    const std::string& fault = sites.status().message();
    if (!fault.starts_with("map:") || fault.size() > 1000 || fault.find('\n') != fault.npos)
      abort();
    return 0;
  }
  std::set<std::int32_t> seen;
  for (const std::int32_t site : *sites) {
    if (site < 0 || static_cast<std::uint64_t>(site) >= topology->sites()) std::abort();
    if (!seen.insert(site).second) std::abort();
    if (topology->isDead(topology->coordinatesOfSite(site))) std::abort();
  }
  for (const std::uint64_t ranks : {sites->size(), sites->size() + 1})
    (void)torc::checkMapping(*topology, *sites, ranks, "map").ok();
  return 0;
}
