#include <algorithm>
#include <cstdio>
#include <optional>
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
  LibraryOptions where;
  where.directory = options.tune;
  where.torus = options.torus;
  where.order = options.order;
  where.mapping = options.mapping;
  Status status = apiStatus(torc_context_create(&context));
  if (status.ok()) {
    const auto library = torc_library::open(context, MPI_COMM_WORLD, where);
    status = library.ok() ? tuneLibrary(options, **library)
                          : library.status().annotated("torc_library_open");
  }
  (void)torc_context_destroy(context);
  return status;
}

}  // namespace torc::runtime
