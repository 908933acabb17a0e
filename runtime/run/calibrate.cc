#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/job/geometry.h"
#include "runtime/run/calibration/calibrator.h"
#include "runtime/run/calibration/derived_machine.h"
#include "runtime/run/calibration/job_grid.h"
#include "runtime/run/calibration/link_rounds.h"
#include "runtime/run/modes.h"
#include "runtime/run/world/job_world.h"
#include "runtime/service/agreement.h"
#include "runtime/transport/mpi_status.h"
#include "schedules/format/file.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

/// Whether a new file can be created there: checked before the measurements.
Status checkNewFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file >= 0) {
    ::close(file);
    ::unlink(path.c_str());
    return {};
  }
  if (errno == EEXIST) {
    return {StatusCode::kInvalidArgument,
            message("'", path, "' exists already; name a new file with --calibrate")};
  }
  return {StatusCode::kIo, message("cannot write '", path, "': ", std::strerror(errno))};
}

/// Collective. The measurements of all ranks, by rank, on rank 0.
std::vector<NodeMeasurement> gather(const NodeMeasurement& mine) {
  static_assert(std::is_trivially_copyable_v<NodeMeasurement>);
  std::vector<NodeMeasurement> all(
      commRank(MPI_COMM_WORLD) == 0 ? static_cast<std::size_t>(commSize(MPI_COMM_WORLD)) : 0);
  MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, 0, MPI_COMM_WORLD);
  return all;
}

Status calibrateGrid(const RunOptions& options, const JobGrid& grid, const HostRanks& hosts) {
  const int rank = commRank(MPI_COMM_WORLD);
  const std::string job = describeJob(grid.topology(), hosts.oversubscribed);
  if (rank == 0) {
    std::printf("# %s\n", job.c_str());
    if (hosts.oversubscribed) {
      std::printf("# ranks outnumber cores: times are those of waiting for one\n");
    }
    std::printf("# measuring, in about %g minutes\n", options.minutes);
    std::fflush(stdout);
  }
  Calibrator calibrator(grid, hosts, 60 * options.minutes);
  const std::vector<NodeMeasurement> all = gather(calibrator.measure());
  Status status;
  if (rank == 0) {
    const DerivedMachine machine = deriveMachine(
        grid.topology(), all, [&](std::int32_t of) { return grid.coordinatesOf(of); },
        calibrator.sizes());
    std::fputs(calibrationReport(machine).c_str(), stdout);
    const std::string text =
        machineText(machine, options.name, "Measured by torc-run --calibrate: " + job);
    status = writeFileAtomically(options.calibrate, std::as_bytes(std::span(text)));
    if (status.ok()) std::printf("%s: written\n", options.calibrate.c_str());
  }
  return agreed(status);
}

}  // namespace

Status calibrate(const RunOptions& options) {
  const int rank = commRank(MPI_COMM_WORLD), ranks = commSize(MPI_COMM_WORLD);
  if (ranks == 1) {
    return {StatusCode::kInvalidArgument, "--calibrate: one rank has no links to measure"};
  }
  const StatusOr<JobGrid> grid = JobGrid::make(options.torus, options.order, options.mapping);
  if (!grid.ok()) return grid.status();
  if (linksOfNode(grid->topology()) == 0) {
    return {StatusCode::kInvalidArgument,
            message("--torus ", grid->topology().shape(), ": one node has no links to measure")};
  }
  Status status = agreed(rank == 0 ? checkNewFile(options.calibrate) : Status());
  if (!status.ok()) return status;
  torc_context* context = nullptr;
  std::vector<std::uint64_t> names(static_cast<std::size_t>(ranks));
  Agreement agreement;
  agreement.open(MPI_COMM_WORLD);
  status = agreed(apiStatus(torc_context_create(&context)));
  if (status.ok()) {
    const StatusOr<HostRanks> hosts = countHostRanks(agreement, MPI_COMM_WORLD, names);
    status = hosts.ok() ? calibrateGrid(options, *grid, *hosts) : hosts.status();
  }
  (void)torc_context_destroy(context);
  return status;
}

}  // namespace torc::runtime
