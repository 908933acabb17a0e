// Sub-torus boxes: all disjoint boxes of a job's partition with the extent of one of its sub-tori.
#ifndef TORC_RUNTIME_RUN_SUB_TORUS_BOXES_H_
#define TORC_RUNTIME_RUN_SUB_TORUS_BOXES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include <mpi.h>

#include "runtime/job/bound_schedule.h"
#include "runtime/job/library.h"
#include "runtime/non_copyable.h"
#include "support/status.h"

namespace torc::runtime {

class SubTorusBoxes : NonCopyable {
 public:
  ~SubTorusBoxes();

  /// Collective over MPI_COMM_WORLD, once. `number`: of a sub-torus of the index. Ranks in
  /// incomplete boxes, at the end of an axis or beside a dead node, belong to none. The library
  /// outlives this object.
  Status make(torc_library& library, std::uint32_t number);

  /// Whether some rank belongs to a box.
  bool isAnywhere() const { return is_anywhere_; }
  bool isIn() const { return comm_ != MPI_COMM_NULL; }
  /// Communicator of this rank's box; MPI_COMM_NULL without one.
  MPI_Comm comm() const { return comm_; }

  /// Collective over the box. The schedule in `file`, which serves `collective` on the sub-torus's
  /// shape; valid as long as this object. nullptr on ranks without a box.
  StatusOr<torc_schedule*> load(std::uint32_t shape, Collective collective, std::uint32_t file);

 private:
  bool is_anywhere_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  torc_geometry* geometry_ = nullptr;
  std::vector<std::pair<std::uint32_t, torc_schedule*>> schedules_;  // by file
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_SUB_TORUS_BOXES_H_
