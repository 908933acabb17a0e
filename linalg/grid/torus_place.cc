#include "linalg/grid/torus_place.h"

#include <algorithm>
#include <dlfcn.h>

namespace torc::linalg {
namespace {

/// torc_job_place of runtime/api/torc_job.h, available if torc is preloaded.
using JobPlace = int(int*, int*, int*);

struct Place {
  int axes = 0;  // 0: unknown
  std::array<int, kMostAxes> at = {};
};

Place ownPlace() {
  static auto* const ask = reinterpret_cast<JobPlace*>(dlsym(RTLD_DEFAULT, "torc_job_place"));
  Place place;
  std::array<int, kMostAxes> sizes = {};
  if (ask != nullptr && ask(&place.axes, sizes.data(), place.at.data()) != 0) place.axes = 0;
  return place;
}

}  // namespace

bool assignAxes(const int* extents, int axes, const GridSizes& grid, AxisRoles* roles) {
  int choices = 1;
  for (int i = 0; i < axes; ++i)
    choices *= 3;
  const std::array<int, 3> wanted = {grid.columns, grid.rows, grid.layers};
  int fewest = kMostAxes + 1;
  for (int choice = 0; choice < choices; ++choice) {
    // The choice in digits, that of the first axis most significant: columns come first.
    std::array<std::int64_t, 3> nodes = {1, 1, 1};
    std::array<int, 3> count = {};
    AxisRoles these = {};
    for (int axis = axes - 1, rest = choice; axis >= 0; --axis, rest /= 3) {
      const int role = extents[axis] == 1 ? 0 : rest % 3;
      these[static_cast<std::size_t>(axis)] = static_cast<AxisRole>(role);
      nodes[static_cast<std::size_t>(role)] *= extents[axis];
      count[static_cast<std::size_t>(role)] += extents[axis] > 1 ? 1 : 0;
    }
    const int shared = *std::max_element(count.begin(), count.end());
    if (!std::equal(nodes.begin(), nodes.end(), wanted.begin()) || shared >= fewest) continue;
    fewest = shared;
    *roles = these;
  }
  return fewest <= kMostAxes;
}

bool placeOnTorus(MPI_Comm comm, const GridSizes& grid, std::array<int, 3>* place) {
  const Place own = ownPlace();
  // The box: maximal coordinates, and minimal ones negated.
  std::array<int, 2 * kMostAxes + 2> box = {};
  box[2 * kMostAxes] = own.axes;
  box[2 * kMostAxes + 1] = -own.axes;
  for (std::size_t i = 0; i < kMostAxes; ++i) {
    box[2 * i] = own.at[i];
    box[2 * i + 1] = -own.at[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, box.data(), static_cast<int>(box.size()), MPI_INT, MPI_MAX, comm);
  if (own.axes == 0 || box[2 * kMostAxes] != -box[2 * kMostAxes + 1]) return false;
  std::array<int, kMostAxes> extents = {};
  std::int64_t nodes = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(own.axes); ++i) {
    extents[i] = box[2 * i] + box[2 * i + 1] + 1;
    nodes *= extents[i];
  }
  int size = 0;
  MPI_Comm_size(comm, &size);
  AxisRoles roles = {};
  // No two ranks of a job are on one node: with as many ranks as nodes they fill the box.
  if (nodes != size || !assignAxes(extents.data(), own.axes, grid, &roles)) return false;
  std::array<int, 3> stride = {1, 1, 1};
  *place = {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(own.axes); ++i) {
    const auto role = static_cast<std::size_t>(roles[i]);
    (*place)[role] += (own.at[i] + box[2 * i + 1]) * stride[role];
    stride[role] *= extents[i];
  }
  return true;
}

}  // namespace torc::linalg
