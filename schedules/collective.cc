// The rows.
#include "schedules/collective.h"

namespace torc {
namespace {

constexpr CollectiveRow kRows[kCollectiveCount] = {
    {"allreduce",
     BlockSpace::kNode,
     Holds::kWhole,
     Holds::kWhole,
     Result::kSum,
     Layout::kPartMajor,
     CountOf::kVector,
     InPlace::kVector,
     {"MPI_Allreduce", ""}},
    {"reduce_scatter",
     BlockSpace::kNode,
     Holds::kWhole,
     Holds::kOwn,
     Result::kSum,
     Layout::kBlockMajor,
     CountOf::kBlock,
     InPlace::kStart,
     {"MPI_Reduce_scatter", "MPI_Reduce_scatter_block"}},
    {"allgather",
     BlockSpace::kNode,
     Holds::kOwn,
     Holds::kWhole,
     Result::kMoved,
     Layout::kBlockMajor,
     CountOf::kBlock,
     InPlace::kOwnBlock,
     {"MPI_Allgather", "MPI_Allgatherv"}},
};

}  // namespace

const CollectiveRow& rowOf(Collective collective) {
  return kRows[static_cast<int>(collective)];
}

std::span<const CollectiveRow> collectiveRows() {
  return kRows;
}

std::optional<Collective> collectiveNamed(std::string_view name) {
  for (int i = 0; i < kCollectiveCount; ++i) {
    if (kRows[i].name == name) return static_cast<Collective>(i);
  }
  return std::nullopt;
}

std::string collectiveNames(std::string_view last) {
  std::string names;
  for (int i = 0; i < kCollectiveCount; ++i) {
    names += i == 0 ? std::string_view() : i + 1 == kCollectiveCount ? last : ", ";
    names += kRows[i].name;
  }
  return names;
}

}  // namespace torc
