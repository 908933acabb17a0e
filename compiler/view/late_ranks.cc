#include "compiler/view/late_ranks.h"

#include <algorithm>
#include <numeric>

#include "support/columns.h"

namespace torc::compiler {

LastArrival lastOf(std::vector<std::pair<double, int>> arrivals) {
  std::ranges::sort(arrivals);
  const auto [last, rank] = arrivals.back();
  return {rank, last - arrivals[(arrivals.size() - 1) / 2].first};
}

int LateRanks::latest() const {
  return std::ranges::max_element(delays_, {},
                                  [](const auto& entry) {
                                    return std::accumulate(entry.second.begin(), entry.second.end(),
                                                           0.0);
                                  })
      ->first;
}

std::size_t LateRanks::callsOf(int rank) const {
  const auto found = delays_.find(rank);
  return found == delays_.end() ? 0 : found->second.size();
}

double LateRanks::medianOf(int rank) const {
  if (callsOf(rank) == 0) return 0;
  std::vector<double> sorted = delays_.at(rank);
  std::ranges::sort(sorted);
  return sorted[(sorted.size() - 1) / 2];
}

std::string LateRanks::text(const std::string& calls) const {
  std::size_t all = 0;
  for (const auto& [rank, delays] : delays_)
    all += delays.size();
  return "last in " + std::to_string(callsOf(latest())) + " of " + std::to_string(all) + ' ' +
         calls + ", " + formatted("%.3g ms", 1e3 * medianOf(latest())) + " after the median";
}

}  // namespace torc::compiler
