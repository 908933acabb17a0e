#include "linalg/grid/choose_grid.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <tuple>

#include "linalg/failure.h"

namespace torc::linalg {

GridSizes chooseGrid(int processes, const GridCost& words, const GridCost& bytes, double memory) {
  if (processes < 1)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, std::to_string(processes) + " processes: 1 or more"};
  auto best = std::make_tuple(std::numeric_limits<double>::infinity(), 0, 0);
  double least = std::numeric_limits<double>::infinity();
  GridSizes least_sizes, chosen;
  bool found = false;
  for (int layers = 1; std::int64_t{layers} * layers * layers <= processes; ++layers) {
    if (processes % layers != 0) continue;
    const int layer = processes / layers;
    for (int rows = 1; rows <= layer; ++rows) {
      if (layer % rows != 0) continue;
      const GridSizes sizes = {rows, layer / rows, layers};
      const double needed = bytes(sizes);
      if (needed < least) {
        least = needed;
        least_sizes = sizes;
      }
      if (memory > 0 && needed > memory) continue;
      const auto cost = std::make_tuple(words(sizes), layers, std::abs(rows - sizes.columns));
      if (!found || cost < best) {
        found = true;
        best = cost;
        chosen = sizes;
      }
    }
  }
  if (!found)
    throw Failure{TORC_LINALG_ERR_MEMORY,
                  std::to_string(processes) + " processes need " +
                      std::to_string(static_cast<std::int64_t>(least)) +
                      " bytes each at least, on " + std::to_string(least_sizes.rows) + "x" +
                      std::to_string(least_sizes.columns) + "x" +
                      std::to_string(least_sizes.layers) + "; " +
                      std::to_string(static_cast<std::int64_t>(memory)) + " are given"};
  return chosen;
}

}  // namespace torc::linalg
