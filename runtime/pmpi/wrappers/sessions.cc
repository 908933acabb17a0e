// Wrapper of MPI_Session_init. torc serves programs that call MPI_Init, also after they have used
// sessions. It does not serve communicators that are created before MPI_Init; a warning then says
// so. For programs that never call it, the statistics say so at the end of the process.
#include "runtime/pmpi/wrappers/sessions.h"

#include <cstdlib>
#include <unistd.h>

#include "runtime/pmpi/job/job.h"
#include "runtime/pmpi/process/settings_agreement.h"
#include "runtime/pmpi/process/start.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/transport/which_mpi.h"
#include "settings/settings.h"
#include "support/mutex.h"

namespace torc::runtime::pmpi {
namespace {

constexpr const char* kBySessions = "the program uses MPI by sessions, without MPI_Init";
constexpr const char* kBeforeInit =
    "a communicator is made from a session's group before MPI_Init: until then torc serves no "
    "calls";

Mutex mutex;
// The process of the first session; a forked child of it reports nothing.
pid_t process TORC_GUARDED_BY(mutex) = 0;
// In the session's set of processes, as the first session reports it.
Launched membership TORC_GUARDED_BY(mutex);

/// Before MPI_COMM_WORLD exists: this process's own settings.
const Settings& ownSettings() {
  static const Settings& settings = *new Settings(readOwnSettings(environ).reading.settings);
  return settings;
}

/// Whether MPI_Init has been called; sessions alone do not count.
bool hasWorld() {
  int flag = 0;
  PMPI_Initialized(&flag);
  return flag != 0;
}

Launched membershipIn(MPI_Group group) {
  Launched found;
  PMPI_Group_rank(group, &found.rank);
  PMPI_Group_size(group, &found.ranks);
  return found;
}

/// Whether torc would serve a program of so many ranks after MPI_Init.
bool isMissed(int ranks) {
  return !ownSettings().disable && !ownSettings().library.empty() && ranks > 1;
}

/// Why torc is off, if it is not disabled.
const char* whyOff(int ranks) {
  if (ownSettings().library.empty()) return "TORC_LIBRARY is not set";
  return ranks == 1 ? "the job has one rank" : kBySessions;
}

/// Needs no lock: its data were set before it was registered, and never change. A forked child
/// might wait for the lock for ever.
void tellAtExit() TORC_NO_THREAD_SAFETY_ANALYSIS {
  if (process != getpid() || hasWorld() || membership.rank != 0 || ownSettings().disable) return;
  printOff(ownSettings(), whyOff(membership.ranks), membership.ranks);
}

/// Local, like all of this file: a session may exist on some ranks only.
void hasBegun(MPI_Session session) {
  const MutexLock lock(mutex);
  if (process != 0 || hasWorld()) return;
  process = getpid();
  MPI_Group group = MPI_GROUP_NULL;
  if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS) {
    membership = membershipIn(group);
    PMPI_Group_free(&group);
  }
  if (ownSettings().statistics.isWanted()) std::atexit(tellAtExit);
}

}  // namespace

int noteGroupBeforeInit(MPI_Group group, MPI_Errhandler handler) {
  if (group == MPI_GROUP_NULL || hasWorld()) return MPI_SUCCESS;
  const Launched members = membershipIn(group);
  if (!isMissed(members.ranks)) return MPI_SUCCESS;
  if (!ownSettings().strict) {
    warnOnce(members.rank, kBeforeInit, kBeforeInit);
    return MPI_SUCCESS;
  }
  if (members.rank == 0) complain(kBeforeInit);
  // MPI calls the program's handlers with a communicator, which does not exist here.
  if (!endsJob(handler)) return MPI_ERR_OTHER;
  // MPI_Abort needs one, too. The launcher ends the job with the first rank that exits, rank 0,
  // which prints the message.
  if (members.rank == 0) {
    letLauncherRead();
  } else {
    sleep(1);
  }
  std::exit(1);
}

}  // namespace torc::runtime::pmpi

extern "C" {

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const int code = PMPI_Session_init(info, handler, session);
  if (code == MPI_SUCCESS) torc::runtime::pmpi::hasBegun(*session);
  return code;
}

}  // extern "C"
