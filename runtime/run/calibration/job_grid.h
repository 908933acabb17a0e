// Job grid: the ranks of a job on the torus that the user has named.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_JOB_GRID_H_
#define TORC_RUNTIME_RUN_CALIBRATION_JOB_GRID_H_

#include <cstdint>
#include <string>

#include "runtime/job/rank_map.h"
#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc::runtime {

class JobGrid {
 public:
  /// Collective over MPI_COMM_WORLD. `shape` as for parseTopology, empty: a ring of all ranks;
  /// `order` and `mapping`, a file read by rank 0, as in torc_library_options. The error is the
  /// same on all ranks.
  static StatusOr<JobGrid> make(const std::string& shape, const std::string& order,
                                const std::string& mapping);

  const Topology& topology() const { return topology_; }
  Coordinates coordinatesOf(std::int32_t rank) const {
    return topology_.coordinatesOf(map_.toSchedule(rank));
  }
  /// The rank that is `steps` along an axis from `at`; -1 beyond the end of a mesh.
  std::int32_t rankFrom(const Coordinates& at, std::uint32_t axis, std::int32_t steps) const;

 private:
  Topology topology_;
  RankMap map_;  // ranks of the job to those of the topology
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_JOB_GRID_H_
