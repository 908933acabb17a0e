#include "runtime/run/sub_torus_boxes.h"

#include "runtime/api/torc.h"
#include "runtime/job/contenders.h"
#include "runtime/job/schedule_load.h"
#include "runtime/run/world/job_world.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime {

SubTorusBoxes::~SubTorusBoxes() {
  for (auto& [file, schedule] : schedules_)
    (void)torc_schedule_free(schedule);
  (void)torc_geometry_destroy(geometry_);
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

Status SubTorusBoxes::make(torc_library& library, std::uint32_t number) {
  const LibrarySubTorus& sub_torus = library.index.sub_tori[number];
  const Topology& partition = library.job.topology;
  const int rank = commRank(MPI_COMM_WORLD);
  const Coordinates at = partition.coordinatesOfSite(library.job.siteOf(rank));
  int color = 0;
  for (std::uint32_t axis = 0; axis < partition.axis_count; ++axis) {
    const auto extent = static_cast<std::int32_t>(sub_torus.extents[axis]);
    const auto size = static_cast<std::int32_t>(partition.axes[axis].size);
    color = color * (size / extent + 1) + at[axis] / extent;
  }
  MPI_Comm box = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, color, rank, &box);
  const Recognition found = library.recognise(box);
  const bool is_whole = found.ok() && found.sub_torus == number;
  MPI_Allreduce(&is_whole, &is_anywhere_, 1, MPI_CXX_BOOL, MPI_LOR, MPI_COMM_WORLD);
  if (!is_whole) {
    MPI_Comm_free(&box);
    return {};
  }
  comm_ = box;
  return apiStatus(torc_geometry_recognise(&library, box, &geometry_));
}

StatusOr<torc_schedule*> SubTorusBoxes::load(std::uint32_t shape, Collective collective,
                                             std::uint32_t file) {
  if (!isIn()) return nullptr;
  for (const auto& [held, schedule] : schedules_) {
    if (held == file) return schedule;
  }
  const LibraryEntry entry = entryOfContender(shape, collective, file);
  StatusOr<torc_schedule*> schedule = loadNow(*geometry_, entry);
  if (schedule.ok()) schedules_.emplace_back(file, *schedule);
  return schedule;
}

}  // namespace torc::runtime
