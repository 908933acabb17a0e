// The job: start and end of torc in it.
#include "runtime/pmpi/job.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

#include <mpi.h>

#include "runtime/pmpi/call_report.h"
#include "runtime/pmpi/communicator_state.h"
#include "runtime/pmpi/engine.h"
#include "runtime/pmpi/meeting.h"
#include "runtime/pmpi/presence.h"
#include "runtime/pmpi/progress.h"
#include "schedules/settings.h"

namespace torc::pmpi {
namespace {

/// Of the attribute that is a communicator's state: the communicator is being freed.
int deleteState(MPI_Comm, int, void* state, void*) {
  if (engine == nullptr) return MPI_SUCCESS;
  // MPI may free a communicator late, inside of any of its functions, torc's own calls included.
  if (inside_torc) {
    engine->abandon(static_cast<CommunicatorState*>(state));
  } else {
    EngineLock lock;
    engine->abandon(static_cast<CommunicatorState*>(state));
  }
  return MPI_SUCCESS;
}

LibraryOptions libraryOptions(const Settings& settings) {
  LibraryOptions options;
  options.directory = settings.library;
  options.torus = settings.torus;
  options.order = settings.order;
  options.mapping = settings.mapping;
  options.machine = settings.machine;
  options.memory_limit = settings.memory;
  return options;
}

/// The engine, complete but for the communicators; or why not, the same on all ranks.
StatusOr<std::unique_ptr<Engine>> makeEngine(const Settings& settings) {
  auto made = std::make_unique<Engine>(settings);
  StatusOr<std::unique_ptr<torc_library>> library =
      torc_library::open(&made->context, MPI_COMM_WORLD, libraryOptions(settings));
  if (!library.ok()) return library.status();
  made->library = std::move(*library);
  if (Status status = made->handles.open(); !status.ok()) return status;
  PMPI_Comm_dup(MPI_COMM_WORLD, &made->meetings);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &deleteState, &made->keyval, nullptr);
  return made;
}

/// Torc is on on all ranks, or off on all of them, after one line that says why.
Status agreeOnEngine(std::unique_ptr<Engine>& made) {
  const HostPresence presence = lookAtHost();
  if (presence.without != 0) {
    if (presence.speaks) {
      warnOnce(0, "process " + std::to_string(presence.without) +
                      " is a rank without libtorc_pmpi.so: LD_PRELOAD must name it on all ranks; "
                      "torc is off");
    }
    return {};
  }
  waitForRanks(MPI_COMM_WORLD, presence.speaks);
  const Settings settings = readSettings(SettingTexts(environ)).settings;
  if (settings.disable || settings.library.empty()) return {};
  StatusOr<std::unique_ptr<Engine>> result = makeEngine(settings);
  if (!result.ok()) return result.status();
  made = std::move(*result);
  return {};
}

/// Operations that are not complete, the program's fault or not, are waited for.
bool isBusy() {
  EngineLock lock;
  return std::ranges::any_of(engine->states,
                             [](const CommunicatorState* state) { return state->isBusy(); });
}

}  // namespace

bool wantsProgressThread() {
  return readSettings(SettingTexts(environ)).settings.progress == ProgressMode::kThread;
}

void startJob() {
  std::unique_ptr<Engine> made;
  if (Status status = agreeOnEngine(made); !status.ok()) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    warnOnce(rank, status.message());
  }
  if (made == nullptr) return;
  engine = made.release();
  oversubscribed.store(engine->library->hosts.oversubscribed);
  CommunicatorState::setUp(MPI_COMM_WORLD);
  CommunicatorState::setUp(MPI_COMM_SELF);
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) attention.fetch_add(1);
  torc_is_on.store(true);
}

void endJob() {
  if (!torc_is_on.load()) return;
  progressUntil([] { return !isBusy(); });
  meet(MPI_COMM_WORLD);
  torc_is_on.store(false);
  attention.store(0);
  persistent_handles.store(0);
  {
    EngineLock lock;
    engine->destroyAll();
    PMPI_Comm_free(&engine->meetings);
    engine->handles.close();
    PMPI_Comm_free_keyval(&engine->keyval);
    engine->library.reset();
  }
  // Attributes of communicators that live on lead nowhere: see deleteState.
  delete std::exchange(engine, nullptr);
}

}  // namespace torc::pmpi
