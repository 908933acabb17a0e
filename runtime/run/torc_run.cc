// torc-run: replays a schedule on MPI ranks, compares it with MPI's own collective, and prints a
// table like the OSU micro-benchmarks; or tunes a library, or calibrates a machine.
#include "runtime/run/torc_run.h"

#include <cstdint>
#include <cstdio>
#include <string>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/run/modes.h"
#include "runtime/run/torc_run_job.h"
#include "runtime/run/torc_run_options.h"
#include "runtime/run/world/job_world.h"
#include "runtime/transport/mpi_status.h"
#include "schedules/collective.h"
#include "support/hash.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::runtime {
namespace {

int g_rank = 0;

int fail(const std::string& message, int code) {
  if (g_rank == 0) std::fprintf(stderr, "torc-run: %s\n", message.c_str());
  return code;
}

/// The collective to call.
Collective collectiveOf(const RunOptions& options, const torc_schedule_info& info) {
  return options.collective.value_or(static_cast<Collective>(info.kind));
}

void printHeader(const RunOptions& options, const torc_schedule_info& info) {
  if (g_rank != 0) return;
  const CollectiveRow& row = rowOf(collectiveOf(options, info));
  std::string by;
  if (&row != &rowOf(static_cast<Collective>(info.kind))) by = std::string(" by ") + info.kind_name;
  std::printf("# %s%s on %s, %llu ranks; %s%s%s%s; bytes of the whole vector, times in us\n",
              std::string(row.name).c_str(), by.c_str(), info.shape,
              static_cast<unsigned long long>(info.nodes), options.type_name.c_str(),
              row.reduces() ? " " : "", row.reduces() ? options.op_name.c_str() : "",
              options.in_place ? ", in place" : "");
  std::printf("#%11s %6s %11s %11s %11s", "bytes", "iters", "torc", "min", "max");
  if (options.compare) std::printf(" %11s %7s", "MPI", "ratio");
  if (options.check) std::printf("  %s", "check");
  std::printf("\n");
}

/// One line of the table.
Status runSize(const RunOptions& options, Collective collective, torc_schedule* schedule,
               std::uint64_t bytes) {
  RunJob job(options, collective, schedule, bytes);
  RunTimes torc, mpi;
  int iterations = 0;
  Status status = job.prepare();
  if (status.ok() && options.check) status = job.check();
  if (status.ok()) {
    iterations = job.chooseIterations();
    status = job.time(iterations, torc, mpi);
  }
  if (status.ok() && options.check) status = job.checkAgain();
  if (!status.ok()) return status.annotated(message(bytes, " bytes"));
  if (g_rank != 0) return {};
  std::printf("%12llu %6d %11.2f %11.2f %11.2f", static_cast<unsigned long long>(bytes), iterations,
              torc.median, torc.least, torc.most);
  if (options.compare) std::printf(" %11.2f %7.3f", mpi.median, torc.median / mpi.median);
  if (options.check) std::printf("  ok");
  std::printf("\n");
  std::fflush(stdout);
  return {};
}

Status replay(const RunOptions& options) {
  torc_context* context = nullptr;
  torc_geometry* geometry = nullptr;
  torc_schedule* schedule = nullptr;
  torc_schedule_info info{};
  int code = torc_context_create(&context);
  bool traced = false;
  if (code == TORC_OK && !options.trace.empty()) {
    code = torc_trace_open(context, MPI_COMM_WORLD, options.trace.c_str(), options.trace_events);
    traced = code == TORC_OK;
  }
  if (code == TORC_OK)
    code = torc_geometry_create(context, MPI_COMM_WORLD, nullptr, nullptr, &geometry);
  if (code == TORC_OK) code = torc_schedule_load(geometry, options.schedule.c_str(), &schedule);
  if (code == TORC_OK) code = torc_schedule_query(schedule, &info);
  Status status = apiStatus(code);
  if (status.ok()) {
    printHeader(options, info);
    for (std::uint64_t bytes : runSizes(options)) {
      if (status.ok()) status = runSize(options, collectiveOf(options, info), schedule, bytes);
    }
  }
  if (traced) {
    std::uint64_t dropped = 0;
    const Status closed = apiStatus(torc_trace_close(context, &dropped));
    if (status.ok()) status = closed;
    if (dropped > 0 && g_rank == 0) {
      std::fprintf(stderr, "torc-run: %llu older events are not in the trace; --trace-events\n",
                   static_cast<unsigned long long>(dropped));
    }
  }
  (void)torc_schedule_free(schedule);
  (void)torc_geometry_destroy(geometry);
  (void)torc_context_destroy(context);
  return status;
}

/// Collective. Whether all ranks have the same arguments: otherwise some might wait without end.
bool haveSameArguments(int argc, char** argv) {
  std::uint64_t hash = 0;
  for (int i = 1; i < argc; ++i)
    hash = hashText(argv[i], hashNumbers(hash, i));
  std::uint64_t extremes[] = {hash, ~hash};
  MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return extremes[0] == ~extremes[1];
}

}  // namespace

int runTorcRun(int argc, char** argv) {
  g_rank = commRank(MPI_COMM_WORLD);
  if (!haveSameArguments(argc, argv)) return fail("the options differ between the ranks", 2);
  RunOptions options;
  if (Status parsed = options.parse(argc, argv); !parsed.ok()) return fail(parsed.message(), 2);
  if (!options.printed.empty()) {
    if (g_rank == 0) std::fputs(options.printed.c_str(), stdout);
    return 0;
  }
  Status status;
  if (options.dedicated_sweep) {
    status = sweepDedicated(options);
  } else if (!options.tune.empty()) {
    status = tune(options);
  } else if (!options.calibrate.empty()) {
    status = calibrate(options);
  } else {
    status = replay(options);
  }
  return status.ok() ? 0 : fail(status.message(), 1);
}

}  // namespace torc::runtime
