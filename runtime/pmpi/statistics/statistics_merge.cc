// Merges the statistics of all ranks up a binomial tree, so that no rank holds the rows of all.
#include <limits>

#include <mpi.h>

#include "runtime/pmpi/statistics/statistics.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {
namespace {

constexpr int kTag = 0;

Status send(const JobStatistics& statistics, int to, MPI_Comm comm) {
  const std::string bytes = statistics.bytes();
  // Rows are few: kMostCallRows of them take less than a megabyte.
  return mpiStatus(
      PMPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, kTag, comm),
      "sending statistics");
}

StatusOr<JobStatistics> receive(int from, MPI_Comm comm) {
  MPI_Status status;
  int length = 0;
  int code = PMPI_Probe(from, kTag, comm, &status);
  if (code == MPI_SUCCESS) code = PMPI_Get_count(&status, MPI_BYTE, &length);
  std::string bytes(static_cast<std::size_t>(length), '\0');
  if (code == MPI_SUCCESS) {
    code = PMPI_Recv(bytes.data(), length, MPI_BYTE, from, kTag, comm, MPI_STATUS_IGNORE);
  }
  if (code != MPI_SUCCESS) return mpiStatus(code, "receiving statistics");
  return JobStatistics::fromBytes(bytes);
}

}  // namespace

StatusOr<JobStatistics> mergeStatistics(const JobStatistics& mine, MPI_Comm comm) {
  const int rank = commRank(comm), size = commSize(comm);
  JobStatistics merged = mine;
  for (CallRow& row : merged.calls) {
    row.least_mean_seconds = row.seconds / static_cast<double>(row.calls);
    row.late_rank = static_cast<std::uint64_t>(rank);
  }
  for (int step = 1; step < size; step *= 2) {
    if ((rank & step) != 0) {
      if (Status status = send(merged, rank - step, comm); !status.ok()) return status;
      break;
    }
    if (rank + step >= size) continue;
    StatusOr<JobStatistics> others = receive(rank + step, comm);
    if (!others.ok()) return others.status();
    merged.merge(*others);
    if (step > std::numeric_limits<int>::max() / 2) break;
  }
  return merged;
}

}  // namespace torc::runtime::pmpi
