#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/job/library.h"
#include "runtime/run/modes.h"
#include "runtime/run/tuned_copy.h"
#include "runtime/run/tuner.h"
#include "runtime/run/world/job_world.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime {
namespace {

Status tuneLibrary(const RunOptions& options, torc_library& library) {
  const int rank = commRank(MPI_COMM_WORLD);
  std::optional<TunedCopy> copy;
  Status status;
  if (rank == 0) {
    StatusOr<TunedCopy> made = TunedCopy::create(options.output);
    status = made.ok() ? Status() : made.status();
    if (made.ok()) copy.emplace(std::move(*made));
  }
  if (status = agreed(status); !status.ok()) return status;
  Tuner tuner(options, library);
  if (status = tuner.measure(); !status.ok()) return status;
  const LibraryIndex index =
      tuner.tunedIndex(describeJob(library.job.topology, library.hosts.oversubscribed));
  if (rank == 0) status = copy->publish(options.tune, index);
  if (status = agreed(status); !status.ok()) return status;
  if (rank == 0) {
    const auto mpis = std::ranges::count(index.tuned, kMpisOwn, &LibraryEntry::file);
    std::printf("%s: %zu of %zu sizes measured; %zu ranges, %lld of them MPI's own\n",
                options.output.c_str(), tuner.done(), tuner.all(), index.tuned.size(),
                static_cast<long long>(mpis));
  }
  return {};
}

}  // namespace

Status tune(const RunOptions& options) {
  torc_context* context = nullptr;
  torc_library* library = nullptr;
  torc_library_options where = {};
  where.directory = options.tune.c_str();
  if (!options.torus.empty()) where.torus = options.torus.c_str();
  if (!options.order.empty()) where.order = options.order.c_str();
  if (!options.mapping.empty()) where.mapping = options.mapping.c_str();
  Status status = apiStatus(torc_context_create(&context));
  if (status.ok()) {
    status = apiStatus(torc_library_open(context, MPI_COMM_WORLD, &where, &library));
  }
  if (status.ok()) status = tuneLibrary(options, *library);
  (void)torc_library_close(library);
  (void)torc_context_destroy(context);
  return status;
}

}  // namespace torc::runtime
