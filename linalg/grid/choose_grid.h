// Chooses the grid for a number of processes: the one with the fewest words within the memory
// limit.
#ifndef TORC_LINALG_GRID_CHOOSE_GRID_H_
#define TORC_LINALG_GRID_CHOOSE_GRID_H_

#include <functional>
#include <tuple>

namespace torc::linalg {

struct GridSizes {
  int rows = 1, columns = 1, layers = 1;

  std::tuple<int, int, int> all() const { return {rows, columns, layers}; }
};

using GridCost = std::function<double(const GridSizes&)>;

/// Of all rows x columns x layers = processes with layers^3 <= processes, and at most `memory`
/// bytes of a process (0: no limit), the one with the fewest words; of equals, the one with fewer
/// layers, then the one nearer to square. TORC_LINALG_ERR_MEMORY if there is none, with the
/// smallest requirement.
GridSizes chooseGrid(int processes, const GridCost& words, const GridCost& bytes, double memory);

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_CHOOSE_GRID_H_
