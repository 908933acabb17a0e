// The C API for the positions of a job's ranks on the torus.
#include "runtime/api/api.h"
#include "runtime/api/torc_job.h"
#include "runtime/pmpi/engine/engine.h"

using namespace torc::runtime;

int torc_job_place(int* axis_count, int sizes[8], int coordinates[8]) {
  if (axis_count == nullptr || sizes == nullptr || coordinates == nullptr)
    return report(nullArgument("torc_job_place: an argument"));
  *axis_count = 0;
  const pmpi::Engine* engine = pmpi::engine;
  if (engine == nullptr || engine->library == nullptr) {
    return report({torc::StatusCode::kUnsupported,
                   "torc_job_place: torc is off; TORC_LIBRARY must be set, and MPI be "
                   "initialised"});
  }
  const torc::JobMapping& job = engine->library->job;
  const torc::Coordinates at =
      job.topology.coordinatesOfSite(job.siteOf(static_cast<std::int32_t>(engine->world_rank)));
  static_assert(torc::kMaxAxes == 8);
  *axis_count = static_cast<int>(job.topology.axis_count);
  for (std::uint32_t i = 0; i < job.topology.axis_count; ++i) {
    sizes[i] = static_cast<int>(job.topology.axes[i].size);
    coordinates[i] = static_cast<int>(at[i]);
  }
  return TORC_OK;
}
