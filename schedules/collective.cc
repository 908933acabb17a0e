// The table of collectives.
#include "schedules/collective.h"

namespace torc {
namespace {

constexpr CollectiveRow kRows[kCollectiveCount] = {
    {
        .name = "allreduce",
        .result = Result::kSum,
        .mpi = {"MPI_Allreduce", "MPI_Barrier", ""},
    },
    {
        .name = "reduce_scatter",
        .out = Holds::kOwn,
        .result = Result::kSum,
        .layout = Layout::kBlockMajor,
        .in_place = InPlace::kStart,
        .ordered = Collective::kAllreduce,
        .mpi = {"MPI_Reduce_scatter", "MPI_Reduce_scatter_block", ""},
    },
    {
        .name = "allgather",
        .in = Holds::kOwn,
        .layout = Layout::kBlockMajor,
        .in_place = InPlace::kOwnBlock,
        .mpi = {"MPI_Allgather", "MPI_Allgatherv", ""},
    },
    {
        .name = "broadcast",
        .in_elsewhere = Holds::kNothing,
        .rootless = Collective::kAllreduce,
        .mpi = {"MPI_Bcast", "", ""},
    },
    {
        .name = "alltoall",
        .blocks = BlockSpace::kPair,
        .in = Holds::kOwn,
        .out = Holds::kOwn,
        .layout = Layout::kBlockMajor,
        .in_place = InPlace::kSwapped,
        .mpi = {"MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"},
    },
    {
        .name = "reduce",
        .out_elsewhere = Holds::kNothing,
        .result = Result::kSum,
        .rootless = Collective::kAllreduce,
        .ordered = Collective::kAllreduce,
        .mpi = {"MPI_Reduce", "", ""},
    },
    {
        .name = "scatter",
        .in_elsewhere = Holds::kNothing,
        .out = Holds::kOwn,
        .layout = Layout::kBlockMajor,
        .in_place = InPlace::kOwnResult,
        .rootless = Collective::kReduceScatter,
        .mpi = {"MPI_Scatter", "MPI_Scatterv", ""},
    },
    {
        .name = "gather",
        .in = Holds::kOwn,
        .out_elsewhere = Holds::kNothing,
        .layout = Layout::kBlockMajor,
        .in_place = InPlace::kOwnBlock,
        .rootless = Collective::kAllgather,
        .mpi = {"MPI_Gather", "MPI_Gatherv", ""},
    },
    {
        .name = "scan",
        .result = Result::kSumUpToOwn,
        .mpi = {"MPI_Scan", "", ""},
    },
    {
        .name = "exscan",
        .result = Result::kSumBeforeOwn,
        .mpi = {"MPI_Exscan", "", ""},
    },
    {
        .name = "neighbor_allgather",
        .blocks = BlockSpace::kNeighbour,
        .in = Holds::kOwn,
        .out = Holds::kEachNeighbour,
        .layout = Layout::kBlockMajor,
        .in_place = InPlace::kNothing,
        .mpi = {"MPI_Neighbor_allgather", "MPI_Neighbor_allgatherv", ""},
    },
    {
        .name = "neighbor_alltoall",
        .blocks = BlockSpace::kNeighbour,
        .in = Holds::kEachNeighbour,
        .out = Holds::kEachNeighbour,
        .layout = Layout::kBlockMajor,
        .in_place = InPlace::kNothing,
        .mpi = {"MPI_Neighbor_alltoall", "MPI_Neighbor_alltoallv", "MPI_Neighbor_alltoallw"},
    },
};

}  // namespace

const CollectiveRow& rowOf(Collective collective) {
  return kRows[static_cast<int>(collective)];
}

std::span<const CollectiveRow> collectiveRows() {
  return kRows;
}

namespace {

/// Lower-case letters only, without MPI's prefix.
std::string lettersOf(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_' && c != '-') letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return letters.starts_with("mpi") ? letters.substr(3) : letters;
}

}  // namespace

std::optional<Collective> collectiveNamed(std::string_view name) {
  const std::string letters = lettersOf(name);
  for (int i = 0; i < kCollectiveCount; ++i) {
    if (lettersOf(kRows[i].name) == letters || lettersOf(kRows[i].mpi[0]) == letters)
      return static_cast<Collective>(i);
  }
  return std::nullopt;
}

std::string collectiveNames(std::string_view last, std::string_view between) {
  std::string names;
  for (int i = 0; i < kCollectiveCount; ++i) {
    names += i == 0 ? std::string_view() : i + 1 == kCollectiveCount ? last : between;
    names += kRows[i].name;
  }
  return names;
}

}  // namespace torc
