// The job: starts and stops torc.
#include "runtime/pmpi/job/job.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

#include <mpi.h>

#include "runtime/api/api.h"
#include "runtime/api/torc.h"
#include "runtime/job/trace_job.h"
#include "runtime/pmpi/dedicated/dedicated_job.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/inside_mpi.h"
#include "runtime/pmpi/engine/progress_thread.h"
#include "runtime/pmpi/process/pending_calls.h"
#include "runtime/pmpi/process/presence.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/process/settings_agreement.h"
#include "runtime/pmpi/process/start.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/trace/trace.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/which_mpi.h"
#include "support/message.h"
#include "support/setting_values.h"

namespace torc::runtime::pmpi {
namespace {

/// Callback of the attribute that holds a communicator's state: the communicator is being freed.
int deleteState(MPI_Comm, int, void* state, void*) {
  // MPI may free a communicator late, inside any of its functions, torc's own calls included.
  if (engine != nullptr) engine->abandon(static_cast<CommunicatorState*>(state));
  return MPI_SUCCESS;
}

LibraryOptions libraryOptions(const Settings& settings) {
  LibraryOptions options;
  options.directory = fromStart(settings.library);
  options.torus = settings.torus;
  options.order = settings.order;
  options.mapping = fromStart(settings.mapping);
  options.machine = settings.machine;
  options.memory_limit = settings.memory;
  return options;
}

/// Whether collectives of this rank may be pending during other waits. Dedicated ranks always make
/// nonblocking calls.
bool mayHavePending(const Settings& settings) {
  return settings.dedicated.kind != DedicatedRanks::Kind::kNone || importsNonblockingCollectives();
}

bool hasMpisThreads() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// The engine without its communicators; or the reason why not, the same on all ranks. No other
/// thread can access it yet, so that no lock is needed.
StatusOr<std::unique_ptr<Engine>> makeEngine(const Settings& settings, bool crowded,
                                             bool has_nonblocking) TORC_NO_THREAD_SAFETY_ANALYSIS {
  auto made = std::make_unique<Engine>(settings);
  made->has_nonblocking = has_nonblocking;
  made->world_rank = commRank(MPI_COMM_WORLD);
  // The host's load found here counts until geometries have their own.
  if (crowded) ++made->context.oversubscribed_geometries;
  made->context.transport = settings.transport;
  if (const int cores = made->context.useCores(settings.cores);
      cores < static_cast<int>(settings.cores)) {
    say(Verbosity::kHints, made->world_rank,
        message("TORC_CORES=", settings.cores, ", but rank 0 may run on ", cores,
                cores == 1 ? " core" : " cores"));
  }
  oversubscribed.store(crowded);
  // Each rank needs this: the ranks agree on it with the library.
  const Status handles = has_nonblocking ? made->handles.open() : Status();
  StatusOr<std::unique_ptr<torc_library>> library =
      torc_library::open(&made->context, MPI_COMM_WORLD, libraryOptions(settings), handles);
  if (!library.ok()) {
    made->handles.close();
    return library.status();
  }
  made->library = std::move(*library);
  MPI_Request request = MPI_REQUEST_NULL;
  waitFor(PMPI_Comm_idup(MPI_COMM_WORLD, &made->meetings, &request), &request);
  PMPI_Comm_set_errhandler(made->meetings, MPI_ERRORS_RETURN);
  // MPICH 4.0.2's MPI_Comm_create_group crashes if the communicator's group was never requested.
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(made->meetings, &group);
  PMPI_Group_free(&group);
  made->notices.open(made->meetings);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &deleteState, &made->keyval, nullptr);
  openNames(made->names);
  return made;
}

/// Reports why torc is off; under TORC_STRICT that ends the job.
void fail(int rank, bool strict, const std::string& why) {
  if (!strict) {
    warnOnce(rank, why, why + "; torc is off");
    return;
  }
  // The first abort ends the other ranks: rank 0 aborts, after its message.
  if (rank == 0) complainAndAbort(why);
  PMPI_Barrier(MPI_COMM_WORLD);
}

/// The engine, the same on all ranks; or nullptr: torc is off, and the reason has been printed.
/// Sets the agreed settings, if the ranks have agreed.
std::unique_ptr<Engine> agreeOnEngine(Settings& job_settings) {
  const int rank = commRank(MPI_COMM_WORLD);
  const OwnSettings read = readOwnSettings(environ);
  const Settings& own = read.reading.settings;
  const HostPresence presence = lookAtHost();
  if (presence.without != 0) {
    // The other ranks cannot agree: this rank's own settings count.
    if (presence.speaks && !own.disable) {
      const std::string why =
          message("process ", presence.without,
                  " is a rank without libtorc_pmpi.so: LD_PRELOAD must name it on all ranks");
      if (own.strict) complainAndAbort(why);
      warnOnce(why, why + "; torc is off");
    }
    return nullptr;
  }
  waitForRanks(MPI_COMM_WORLD, presence.speaks);

  const bool has_pending = mayHavePending(own);
  const bool can_watch =
      hasMpisThreads() ? own.progress != ProgressMode::kCalls : hasProgressHook();
  const AgreedSettings agreed =
      agreeSettings(read, MPI_COMM_WORLD, {has_pending, has_pending && !can_watch});
  const Settings& settings = agreed.settings;
  configureReport(settings.verbosity, rank);
  for (const std::string& warning : agreed.warnings)
    warnOnce(rank, warning, warning);
  for (const std::string& hint : agreed.hints)
    say(Verbosity::kHints, rank, hint);
  for (const std::string& note : agreed.notes)
    say(Verbosity::kSetUp, rank, note);
  const auto off = [&](const std::string& why) {
    rememberOff(settings, why);
    return nullptr;
  };
  if (!agreed.fault.empty()) {
    fail(rank, agreed.strict, agreed.fault);
    return off(agreed.fault);
  }
  if (settings.disable) return nullptr;
  job_settings = settings;
  const int size = commSize(MPI_COMM_WORLD);
  if (settings.library.empty()) {
    if (size > 1 && settings.dedicated.kind == DedicatedRanks::Kind::kNone) {
      say(Verbosity::kHints, rank,
          "TORC_LIBRARY is not set, so that MPI serves all calls; `torc launch mpiexec ...` sets "
          "it");
    }
    return off("TORC_LIBRARY is not set");
  }
  // Tools that come with a program, and are started without mpiexec in its environment.
  if (size == 1) return off("the job has one rank");
  const auto [has_nonblocking, must_meet] = agreed.any_flags;
  StatusOr<std::unique_ptr<Engine>> made =
      makeEngine(settings, presence.ranks > static_cast<int>(std::thread::hardware_concurrency()),
                 has_nonblocking);
  if (!made.ok()) {
    fail(rank, settings.strict, made.status().message());
    return off(made.status().message());
  }
  if (const bool explains = tells(Verbosity::kCalls); settings.statistics.isWanted() || explains) {
    (*made)->statistics = std::make_unique<Statistics>(explains);
  }
  (*made)->follows_mpis = (*made)->statistics != nullptr || settings.tune;
  meets_before_calls.store(must_meet);
  return std::move(*made);
}

/// Opens the trace before communicators are set up, which it records.
void openTrace() {
  const Settings& settings = engine->settings;
  if (settings.trace.empty()) return;
  const auto [form, file] = splitForm(settings.trace);
  const std::string path = message(form, form.empty() ? "" : ":", fromStart(std::string(file)));
  if (torc_trace_open(&engine->context, MPI_COMM_WORLD, path.c_str(), settings.trace_events) !=
      TORC_OK) {
    warnOnce(engine->world_rank, "trace", message("TORC_TRACE: ", torc_error_message()));
    return;
  }
  const JobMapping& job = engine->library->job;
  engine->trace()->setCoordinates(traceCoordinates(
      job.topology, job.topology.coordinatesOfSite(job.siteOf(engine->world_rank))));
}

void closeTrace() {
  if (engine->trace() == nullptr) return;
  std::uint64_t dropped = 0;
  if (torc_trace_close(&engine->context, &dropped) != TORC_OK) {
    warnOnce(engine->world_rank, "trace", message("TORC_TRACE: ", torc_error_message()));
  } else if (dropped > 0) {
    say(Verbosity::kHints, engine->world_rank,
        message(engine->settings.trace, ": ", dropped,
                " events found no room and were dropped; TORC_LIMITS=trace_events=N makes more"));
  }
}

/// Incomplete operations are awaited, whether or not the program is at fault.
bool isBusy() {
  EngineLock lock;
  return std::ranges::any_of(engine->states, &CommunicatorState::isBusy);
}

/// Chooses the threads that make progress, and whether torc locks.
void setThreads(int program_level) {
  const ProgressMode mode = engine->settings.progress;
  const bool has_program_threads = program_level == MPI_THREAD_MULTIPLE;
  program_has_threads.store(has_program_threads);
  const bool has_mpis_threads = hasMpisThreads();
  has_threads.store(has_program_threads);
  const int idle =
      has_program_threads && (engine->has_nonblocking || mode == ProgressMode::kThread) ? 1 : 0;
  idle_attention.store(idle);
  attention.store(idle);
  if (!has_mpis_threads && engine->has_nonblocking) mpi_looks.store(addProgressHook());
  if (mode != ProgressMode::kCalls && has_mpis_threads) {
    thread_use.store(mode == ProgressMode::kThread ? ThreadUse::kAlways : ThreadUse::kInside);
  } else if (mode == ProgressMode::kThread) {
    warnOnce("progress thread",
             "TORC_PROGRESS=thread: no thread can be started beside MPI's; "
             "torc makes progress inside MPI calls only");
  }
  if (mode == ProgressMode::kThread) wakeProgressThread();
}

/// Torc serves calls from here on.
void startEngine(std::unique_ptr<Engine> made, int program_level) {
  const double began = PMPI_Wtime();
  engine = made.release();
  openTrace();
  oversubscribed.store(engine->library->hosts.oversubscribed);
  const Status ready = attempt([&]() -> Status {
    CommunicatorState* world = CommunicatorState::attach(MPI_COMM_WORLD);
    return world->reason() == Reason::kServed ? world->setUp(nullptr) : Status();
  });
  // The other ranks may be ready, and cannot learn of this failure.
  if (!ready.ok()) complainAndAbort(ready.message());
  {
    EngineLock lock;
    engine->settingUp.add(PMPI_Wtime() - began - engine->settingUp.seconds());
  }
  saySetUp();
  setThreads(program_level);
  torc_is_on.store(true);
}

}  // namespace

bool wantsThreadLevel() {
  const Settings settings = readOwnSettings(environ).reading.settings;
  if (settings.disable || settings.library.empty()) return false;
  if (settings.progress != ProgressMode::kWait) return settings.progress == ProgressMode::kThread;
  return mayHavePending(settings) && !hasProgressHook() &&
         !(kLocksErrorHandlers && importsErrorHandlers());
}

void startJob(int program_level) {
  Settings settings;
  if (std::unique_ptr<Engine> made = agreeOnEngine(settings); made != nullptr) {
    startEngine(std::move(made), program_level);
  }
  splitJob(settings, endJob);
}

void endJob() {
  endDedicated();
  if (!torc_is_on.load()) {
    printStatistics();
    return;
  }
  {
    EngineLock lock;
    engine->tellRefused();
    engine->is_ending = true;
    for (CommunicatorState* state : engine->states)
      state->history().answerAsks();
  }
  progressUntil([] { return !isBusy(); });
  // Not on MPI_COMM_WORLD, where failed calls of the program may still be active in MPI.
  meet(engine->meetings);
  {
    EngineLock lock;
    engine->notices.stop();
  }
  meet(engine->meetings);
  stopProgressThread();
  removeProgressHook();
  mpi_looks.store(false);
  torc_is_on.store(false);
  attention.store(0);
  idle_attention.store(0);
  meets_before_calls.store(false);
  persistent_handles.store(0);
  printStatistics();
  closeTrace();
  {
    EngineLock lock;
    engine->destroyAll();
    engine->notices.close();
    if (engine->meetings != MPI_COMM_NULL) PMPI_Comm_free(&engine->meetings);
    engine->handles.close();
    PMPI_Comm_free_keyval(&engine->keyval);
    PMPI_Comm_free_keyval(&engine->names);
    engine->library.reset();
  }
  // Attributes of remaining communicators are ignored from now on: see deleteState.
  delete std::exchange(engine, nullptr);
}

}  // namespace torc::runtime::pmpi
