// The C API for a running job: the positions of its ranks on the torus, and statistics.
#include <memory>

#include "runtime/api/api.h"
#include "runtime/api/torc_job.h"
#include "runtime/api/torc_statistics.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "support/message.h"

using namespace torc;
using namespace torc::runtime;

struct torc_statistics {
  pmpi::JobStatistics counts;
};

namespace {

Status take(torc_statistics** result) {
  if (result == nullptr) return nullArgument("statistics");
  *result = nullptr;
  const pmpi::Engine* engine = pmpi::engine;
  if (engine == nullptr || engine->statistics == nullptr) {
    return {StatusCode::kUnsupported,
            "nothing is counted; TORC_LIBRARY and TORC_STATS must be set, and MPI be initialised"};
  }
  auto made = std::make_unique<torc_statistics>();
  made->counts = engine->statistics->snapshot({});
  *result = made.release();
  return {};
}

Status query(const torc_statistics* statistics, std::size_t number, torc_statistics_row* result) {
  if (result == nullptr) return nullArgument("row");
  torc_statistics_row& row = *result = {};
  if (statistics == nullptr) return nullArgument("statistics");
  const auto& rows = statistics->counts.calls;
  if (number >= rows.size()) {
    return {StatusCode::kInvalidArgument,
            message("no row ", number, " (there are ", rows.size(), ")")};
  }
  const pmpi::CallRow& from = rows[number];
  row.served = from.service == pmpi::Service::kServed;
  row.strict = from.service == pmpi::Service::kShouldBeServed;
  row.function = from.function.c_str();
  row.communicator = from.communicator.c_str();
  row.datatype = from.datatype.c_str();
  row.operation = from.operation.c_str();
  row.by = from.by.c_str();
  row.calls = from.calls;
  row.bytes = from.bytes;
  row.seconds = from.seconds;
  row.least_seconds = from.least_seconds;
  row.most_seconds = from.most_seconds;
  return {};
}

}  // namespace

int torc_statistics_take(torc_statistics** statistics) {
  return apiCall(__func__, [&] { return take(statistics); });
}

void torc_statistics_free(torc_statistics* statistics) {
  delete statistics;
}

size_t torc_statistics_rows(const torc_statistics* statistics) {
  return statistics == nullptr ? 0 : statistics->counts.calls.size();
}

int torc_statistics_query(const torc_statistics* statistics, size_t number,
                          torc_statistics_row* row) {
  return apiCall(__func__, [&] { return query(statistics, number, row); });
}

int torc_job_place(int* axis_count, int sizes[8], int coordinates[8]) {
  return apiCall(__func__, [&]() -> Status {
    if (axis_count == nullptr || sizes == nullptr || coordinates == nullptr)
      return nullArgument("an argument");
    *axis_count = 0;
    const pmpi::Engine* engine = pmpi::engine;
    if (engine == nullptr || engine->library == nullptr) {
      return {StatusCode::kUnsupported,
              "torc is off; TORC_LIBRARY must be set, and MPI be initialised"};
    }
    const JobMapping& job = engine->library->job;
    const Coordinates at =
        job.topology.coordinatesOfSite(job.siteOf(static_cast<std::int32_t>(engine->world_rank)));
    static_assert(kMaxAxes == 8);
    *axis_count = static_cast<int>(job.topology.axis_count);
    for (std::uint32_t i = 0; i < job.topology.axis_count; ++i) {
      sizes[i] = static_cast<int>(job.topology.axes[i].size);
      coordinates[i] = static_cast<int>(at[i]);
    }
    return {};
  });
}
