// How the ranks of a job are mapped: its partition among those of the library, by shape or number
// of ranks, and then an order of axes or a mapping file.
#include "schedules/library/job_mapping.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "support/message.h"

namespace torc {
namespace {

Status mismatch(const std::string& text) {
  return {StatusCode::kMismatch, text};
}

bool sameSizes(const Topology& a, const Topology& b) {
  if (a.axis_count != b.axis_count) return false;
  for (std::uint32_t i = 0; i < a.axis_count; ++i) {
    if (a.axes[i].size != b.axes[i].size || a.axes[i].kind != b.axes[i].kind) return false;
  }
  return true;
}

/// "4x4x4 (64 nodes), 8x4 (32 nodes)".
std::string listText(const LibraryIndex& index, const std::vector<std::uint32_t>& partitions) {
  constexpr std::size_t kMostShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(partitions.size(), kMostShown); ++i) {
    const Topology& topology = index.partitions[partitions[i]].topology;
    text += (i > 0 ? ", " : "") + topology.shape() + message(" (", topology.ranks(), " nodes)");
  }
  if (partitions.size() > kMostShown) text += message(", and ", partitions.size() - kMostShown);
  return text;
}

std::vector<std::uint32_t> partitionsLike(const LibraryIndex& index, const Topology* wanted) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < index.partitions.size(); ++i) {
    if (wanted == nullptr || sameSizes(index.partitions[i].topology, *wanted)) found.push_back(i);
  }
  return found;
}

StatusOr<std::uint32_t> choosePartition(const LibraryIndex& index, const PlacementOptions& options,
                                        std::uint64_t ranks) {
  std::vector<std::uint32_t> candidates = partitionsLike(index, nullptr);
  if (!options.torus.empty()) {
    const StatusOr<Topology> wanted = parseTopology(options.torus);
    if (!wanted.ok()) return wanted.status();
    const std::string all = listText(index, candidates);
    candidates = partitionsLike(index, &*wanted);
    if (candidates.empty()) {
      return mismatch(
          message("torus ", options.torus, " is no partition of the library, which has ", all));
    }
  }
  const auto nodes = [&](std::uint32_t i) { return index.partitions[i].topology.ranks(); };
  std::vector<std::uint32_t> fitting;
  std::ranges::copy_if(candidates, std::back_inserter(fitting),
                       [&](std::uint32_t i) { return nodes(i) == ranks; });
  // A mapping file may leave nodes out.
  if (fitting.empty() && !options.mapping.empty()) {
    std::ranges::copy_if(candidates, std::back_inserter(fitting),
                         [&](std::uint32_t i) { return nodes(i) > ranks; });
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) {
    return mismatch(
        message("the job has ", ranks, " ranks, ",
                options.torus.empty() ? "partitions of the library are " : "the torus is ",
                listText(index, candidates)));
  }
  return mismatch(message("the job's ", ranks,
                          " ranks fit several partitions: ", listText(index, fitting),
                          options.torus.empty() ? "; name its torus" : ""));
}

}  // namespace

std::int32_t JobMapping::siteOf(std::int32_t rank) const {
  if (!sites.empty()) return sites[static_cast<std::size_t>(rank)];
  return topology.dead_node_count == 0 ? rank : topology.siteOf(topology.coordinatesOf(rank));
}

StatusOr<Topology> withOrder(const Topology& topology,
                             const std::array<std::uint8_t, kMaxAxes>& order) {
  // The tables of damage are sorted by site, which the order numbers.
  Topology result = topology;
  result.order = order;
  result.dead_link_count = result.dead_node_count = 0;
  result.dead_link_table = {};
  result.dead_node_table = {};
  for (const Coordinates& node : topology.deadNodes()) {
    if (Status status = result.addDeadNode(node); !status.ok()) return status;
  }
  for (const DeadLink& link : topology.deadLinks()) {
    if (Status status = result.addDeadLink(link); !status.ok()) return status;
  }
  if (Status status = result.validate(); !status.ok()) return status;
  return result;
}

StatusOr<JobMapping> mapJob(const LibraryIndex& index, const PlacementOptions& options,
                            std::uint64_t ranks, const std::string& mapping_text) {
  if (!options.machine.empty() && options.machine != index.machine) {
    return mismatch(
        message("the library is for machine '", index.machine, "', not '", options.machine, "'"));
  }
  if (!options.order.empty() && !options.mapping.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  message("order '", options.order, "' and mapping file '", options.mapping,
                          "' contradict each other: each says where ranks lie"));
  }
  const StatusOr<std::uint32_t> partition = choosePartition(index, options, ranks);
  if (!partition.ok()) return partition.status();
  JobMapping job;
  job.partition = *partition;
  job.topology = index.partitions[*partition].topology;
  if (!options.order.empty()) {
    const auto order = parseOrder(job.topology, options.order);
    if (!order.ok()) return order.status();
    const StatusOr<Topology> ordered = withOrder(job.topology, *order);
    if (!ordered.ok()) return ordered.status();
    job.topology = *ordered;
  }
  if (options.mapping.empty()) return job;
  StatusOr<RankSites> sites = parseMapping(job.topology, mapping_text, options.mapping);
  if (!sites.ok()) return sites.status();
  Status fits = checkMapping(job.topology, *sites, ranks, options.mapping);
  if (!fits.ok()) return fits;
  job.sites = std::move(*sites);
  return job;
}

}  // namespace torc
