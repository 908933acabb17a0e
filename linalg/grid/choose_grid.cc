#include "linalg/grid/choose_grid.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <tuple>

namespace torc::linalg {

Status chooseGrid(int processes, const GridCost& words, const GridCost& bytes, double memory,
                  GridSizes* chosen) {
  if (processes < 1)
    return failure(TORC_LINALG_ERR_ARGUMENT, std::to_string(processes) + " processes: 1 or more");
  auto best = std::make_tuple(std::numeric_limits<double>::infinity(), 0, 0);
  double least = std::numeric_limits<double>::infinity();
  GridSizes least_sizes;
  bool found = false;
  for (int layers = 1; std::int64_t{layers} * layers * layers <= processes; ++layers) {
    if (processes % layers != 0) continue;
    const int layer = processes / layers;
    for (int rows = 1; rows <= layer; ++rows) {
      if (layer % rows != 0) continue;
      const int columns = layer / rows;
      const double needed = bytes(rows, columns, layers);
      if (needed < least) {
        least = needed;
        least_sizes = {rows, columns, layers};
      }
      if (memory > 0 && needed > memory) continue;
      const auto cost =
          std::make_tuple(words(rows, columns, layers), layers, std::abs(rows - columns));
      if (!found || cost < best) {
        found = true;
        best = cost;
        *chosen = {rows, columns, layers};
      }
    }
  }
  if (!found)
    return failure(TORC_LINALG_ERR_MEMORY,
                   std::to_string(processes) + " processes need " +
                       std::to_string(static_cast<std::int64_t>(least)) +
                       " bytes each at least, on " + std::to_string(least_sizes.rows) + "x" +
                       std::to_string(least_sizes.columns) + "x" +
                       std::to_string(least_sizes.layers) + "; " +
                       std::to_string(static_cast<std::int64_t>(memory)) + " are given");
  return {};
}

}  // namespace torc::linalg
