// The table of intercepted collectives: which of them are collectives of schedules.
#include "runtime/pmpi/calls/intercepted_calls.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace torc::runtime::pmpi {
namespace {

constexpr std::string_view kNames[] = {
#define TORC_NAME(Name, name, parameters) "MPI_" #Name,
    TORC_ALL_COLLECTIVES(TORC_NAME)
#undef TORC_NAME
};

std::optional<Collective> collectiveOfMpi(std::string_view function) {
  const std::span<const CollectiveRow> rows = collectiveRows();
  const auto row = std::ranges::find_if(
      rows, [&](const CollectiveRow& one) { return std::ranges::count(one.mpi, function) > 0; });
  if (row == rows.end()) return std::nullopt;
  return static_cast<Collective>(row - rows.begin());
}

}  // namespace

std::array<std::optional<Collective>, kCallIds> collectivesOfCalls() {
  std::array<std::optional<Collective>, kCallIds> found;
  std::ranges::transform(kNames, found.begin(), collectiveOfMpi);
  return found;
}

}  // namespace torc::runtime::pmpi
