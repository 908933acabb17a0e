#include "runtime/run/calibration/job_grid.h"

#include <cstddef>
#include <utility>
#include <vector>

#include <mpi.h>

#include "runtime/run/world/job_world.h"
#include "runtime/service/agreement.h"
#include "runtime/transport/mpi_status.h"
#include "schedules/format/file.h"
#include "schedules/sub_torus/mapping.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

/// Collective: rank 0 reads the file.
StatusOr<RankMap> readMapping(const Topology& topology, const std::string& path, int ranks) {
  std::vector<std::byte> bytes;
  Status status;
  if (commRank(MPI_COMM_WORLD) == 0) {
    StatusOr<std::vector<std::byte>> file = readFile(path);
    status = file.status();
    if (file.ok()) bytes = std::move(*file);
  }
  Agreement agreement;
  agreement.open(MPI_COMM_WORLD);
  if (status = agreed(status); !status.ok()) return status;
  if (status = agreed(agreement.broadcast(bytes)); !status.ok()) return status;
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  StatusOr<RankSites> sites = parseMapping(topology, text, path);
  if (!sites.ok()) return sites.status();
  if (Status fits = checkMapping(topology, *sites, static_cast<std::uint64_t>(ranks), path);
      !fits.ok()) {
    return fits;
  }
  return RankMap::fromTable(std::move(*sites));
}

}  // namespace

StatusOr<JobGrid> JobGrid::make(const std::string& shape, const std::string& order,
                                const std::string& mapping) {
  const int ranks = commSize(MPI_COMM_WORLD);
  if (!order.empty() && !mapping.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "--order and --mapping contradict each other: each says where ranks lie");
  }
  const StatusOr<Topology> topology =
      parseTopology(shape.empty() ? std::to_string(ranks) : shape, order);
  if (!topology.ok()) return topology.status();
  if (topology->ranks() != static_cast<std::uint64_t>(ranks)) {
    return Status(StatusCode::kMismatch,
                  message("--torus ", topology->shape(), " has ", topology->ranks(),
                          " places for ranks, the job has ", ranks, " ranks"));
  }
  JobGrid grid;
  grid.topology_ = *topology;
  if (mapping.empty()) return grid;
  StatusOr<RankMap> map = readMapping(*topology, mapping, ranks);
  if (!map.ok()) return map.status();
  grid.map_ = std::move(*map);
  return grid;
}

std::int32_t JobGrid::rankFrom(const Coordinates& at, std::uint32_t axis,
                               std::int32_t steps) const {
  Coordinates shift{};
  shift[axis] = steps;
  const std::int32_t there = topology_.neighbour(at, shift);
  return there < 0 ? -1 : map_.toCommunicator(there);
}

}  // namespace torc::runtime
