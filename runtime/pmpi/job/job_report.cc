// Reports of a job: its set-up and statistics.
#include <ctime>

#include <mpi.h>

#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/job/job.h"
#include "runtime/pmpi/process/start.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/transport/mpi_status.h"
#include "support/columns.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// For a job without torc that asks for statistics.
struct Off {
  std::string why;
  StatisticsOutput output;
};
const Off* off = nullptr;

JobDescription describeJob() {
  const torc_library& library = *engine->library;
  const Settings& settings = engine->settings;
  JobDescription job;
  job.command = commandLine();
  job.library = settings.library;
  job.machine = library.index.machine;
  job.partition =
      message(library.job.topology.shape(), ", ", settings.mapping.empty() ? "order " : "mapping ",
              settings.mapping.empty() ? library.job.topology.orderString() : settings.mapping);
  return job;
}

RankFacts countRank() {
  RankFacts facts;
  EngineLock lock;
  facts.schedules = engine->library->cache.files();
  facts.schedule_bytes = engine->library->cache.bytes();
  facts.memory_limit = engine->settings.memory;
  facts.calls_found = engine->call_memory.hits();
  facts.plans_made = engine->call_memory.misses();
  facts.call_bytes = engine->call_memory.mostBytes();
  facts.cache_limit = engine->settings.cache;
  facts.put_bytes = engine->context.sent.put;
  facts.mpi_bytes = engine->context.sent.mpi;
  for (CommunicatorState* state : engine->states) {
    if (!state->isSetUp()) continue;
    const HostSegment* segment = state->geometry().segment.get();
    if (segment == nullptr) continue;
    if (segment->me() == 0) ++facts.segments;
    facts.segment_bytes += segment->bytesReserved();
  }
  facts.setup_seconds = engine->settingUp.seconds();
  facts.load_seconds = engine->loading.seconds();
  return facts;
}

void tell(JobDescription job, const JobStatistics& statistics, const StatisticsOutput& output) {
  job.id = batchJob();
  job.host = hostName();
  job.end = std::time(nullptr);
  const bool is_json = output.form == StatisticsOutput::Form::kJson;
  const std::string file = fromStart(expandPlaceholders(output.file, job.id, job.host));
  const std::string text =
      is_json ? statisticsJson(job, statistics) : statisticsTable(job, statistics);
  const Status status =
      is_json && !file.empty() ? appendLine(text, file) : writeStatistics(text, file);
  if (!status.ok()) warnOnce(0, status.message(), status.message());
}

void writeOff(const Off& why_off, int ranks) {
  JobDescription job;
  job.command = commandLine();
  job.off = why_off.why;
  JobStatistics none;
  none.ranks = static_cast<std::uint64_t>(ranks);
  tell(job, none, why_off.output);
}

}  // namespace

void saySetUp() {
  if (!tells(Verbosity::kSetUp)) return;
  const JobDescription job = describeJob();
  const int ranks = commSize(MPI_COMM_WORLD);
  EngineLock lock;
  say(Verbosity::kSetUp, commRank(MPI_COMM_WORLD),
      message(ranks, ranks == 1 ? " rank on " : " ranks on ", job.partition, ", served from ",
              job.library, " (machine ", job.machine, "); set up in ",
              formatted("%.1f", engine->settingUp.seconds() * 1e3), " ms"));
}

void rememberOff(const Settings& settings, const std::string& why) {
  if (settings.statistics.isWanted()) off = new Off{why, settings.statistics};
}

void printOff(const Settings& settings, const std::string& why, int ranks) {
  if (settings.statistics.isWanted()) writeOff({why, settings.statistics}, ranks);
}

void printStatistics() {
  if (engine == nullptr) {
    if (off != nullptr && commRank(MPI_COMM_WORLD) == 0) {
      writeOff(*off, commSize(MPI_COMM_WORLD));
    }
    return;
  }
  if (!engine->settings.statistics.isWanted()) return;
  // Torc has freed its own communicator if the program has used all that MPI has.
  StatusOr<JobStatistics> all =
      mergeStatistics(engine->statistics->snapshot(countRank()),
                      engine->meetings != MPI_COMM_NULL ? engine->meetings : MPI_COMM_WORLD);
  if (!all.ok()) {
    warnOnce(all.status().message(), all.status().message());
  } else if (commRank(MPI_COMM_WORLD) == 0) {
    findLateRanks(*all);
    findMeasuredTimes(*all, engine->library->index);
    tell(describeJob(), *all, engine->settings.statistics);
  }
}

}  // namespace torc::runtime::pmpi
