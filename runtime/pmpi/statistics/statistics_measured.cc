// Times found after merging: those of MPI's own functions, for comparison, and of waiting for late
// ranks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "runtime/pmpi/statistics/statistics.h"
#include "schedules/collective.h"

namespace torc::runtime::pmpi {
namespace {

/// The measured times of a schedule and of MPI for one collective on one shape at one size.
struct Pair {
  double own = 0, mpi = 0;
};

/// At the size nearest to `bytes`; zeros if no near size was measured.
Pair nearest(const LibraryIndex& index, std::uint32_t file, Collective collective, double bytes) {
  Pair found;
  double least = 1;  // in powers of two
  for (const LibraryMeasurement& own : index.measurements) {
    if (own.file != file || own.collective != collective || own.bytes == 0) continue;
    const double distance = std::abs(std::log2(bytes / static_cast<double>(own.bytes)));
    if (distance > least) continue;
    for (const LibraryMeasurement& mpi : index.measurements) {
      if (mpi.file != kMpisOwn || mpi.collective != collective || mpi.shape != own.shape ||
          mpi.bytes != own.bytes) {
        continue;
      }
      found = {own.seconds, mpi.seconds};
      least = distance;
    }
  }
  return found;
}

/// Whether each rank of a call of `function` waits for all others.
bool waitsForAll(std::string_view function) {
  return function == "MPI_Barrier" ||
         std::ranges::any_of(collectiveRows(), [&](const CollectiveRow& row) {
           return !row.isRooted() && !row.isPrefix() && !row.isOfNeighbours() &&
                  std::ranges::find(row.mpi, function) != row.mpi.end();
         });
}

}  // namespace

void findLateRanks(JobStatistics& statistics) {
  std::map<std::string_view, std::pair<std::uint64_t, std::uint64_t>> communicators;
  for (const CommunicatorRow& row : statistics.communicators) {
    auto& [used, members] = communicators[row.description];
    used += row.used;
    members += row.members;
  }
  for (CallRow& row : statistics.calls) {
    const auto [used, members] = communicators[row.communicator];
    if (waitsForAll(row.function) && row.ranks * used == members) {
      row.late_seconds =
          std::max(0.0, row.seconds - static_cast<double>(row.calls) * row.least_mean_seconds);
    }
  }
}

void findMeasuredTimes(JobStatistics& statistics, const LibraryIndex& index) {
  for (CallRow& row : statistics.calls) {
    if (row.service != Service::kServed || row.isRest() || row.calls == 0) continue;
    const auto tried = std::ranges::find_if(statistics.tuned, [&](const TunedRow& tuned) {
      return tuned.function == row.function && tuned.communicator == row.communicator &&
             tuned.by == row.by && std::bit_width(tuned.bytes) == row.size_class;
    });
    Pair pair;
    if (tried != statistics.tuned.end()) {
      pair = {tried->seconds, tried->mpi_seconds};
    } else if (row.bytes > 0) {
      const auto file = std::ranges::find(index.files, row.by, &LibraryFile::name);
      const auto collective = std::ranges::find_if(
          collectiveRows(), [&](const CollectiveRow& of) { return of.mpi[0] == row.function; });
      if (file == index.files.end() || collective == collectiveRows().end()) continue;
      pair = nearest(index, static_cast<std::uint32_t>(file - index.files.begin()),
                     static_cast<Collective>(collective - collectiveRows().begin()),
                     static_cast<double>(row.bytes) / static_cast<double>(row.calls));
    }
    if (pair.own <= 0 || pair.mpi <= 0) continue;
    row.measured_seconds = pair.own;
    row.measured_mpi_seconds = pair.mpi;
  }
}

}  // namespace torc::runtime::pmpi
