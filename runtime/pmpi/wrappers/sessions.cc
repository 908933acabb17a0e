// Wrapper of MPI_Session_init. torc serves programs that call MPI_Init, be it after they have begun
// with sessions. Whether one does is known when it makes a communicator without it, which torc does
// not serve; and that it never has, when the process ends.
#include "runtime/pmpi/wrappers/sessions.h"

#include <cstdlib>
#include <string>
#include <unistd.h>

#include <mpi.h>

#include "runtime/pmpi/job/job_report.h"
#include "runtime/pmpi/process/settings_agreement.h"
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

/// This process among those that the program began with.
struct Membership {
  int rank = 0, ranks = 1;
};

Mutex mutex;
// That has begun with a session; a child of it tells nothing.
pid_t process TORC_GUARDED_BY(mutex) = 0;
// As that session has said.
Membership membership TORC_GUARDED_BY(mutex);

/// As long as there is no MPI_COMM_WORLD: this process's own.
const Settings& ownSettings() {
  static const Settings& settings = *new Settings(readOwnSettings(environ).reading.settings);
  return settings;
}

/// Whether MPI_Init has been called, which sessions do not count as.
bool hasWorld() {
  int flag = 0;
  PMPI_Initialized(&flag);
  return flag != 0;
}

Membership membershipIn(MPI_Group group) {
  Membership found;
  PMPI_Group_rank(group, &found.rank);
  PMPI_Group_size(group, &found.ranks);
  return found;
}

/// Whether a program of so many ranks would be served if it had called MPI_Init.
bool isMissed(int ranks) {
  return !ownSettings().disable && !ownSettings().library.empty() && ranks > 1;
}

/// Why torc is off, where it is not disabled.
const char* whyOff(int ranks) {
  if (ownSettings().library.empty()) return "TORC_LIBRARY is not set";
  return ranks == 1 ? "the job has one rank" : kBySessions;
}

/// What it reads has been set before it was registered, and stays. A child of fork might wait for
/// the lock for ever.
void tellAtExit() TORC_NO_THREAD_SAFETY_ANALYSIS {
  if (process != getpid() || hasWorld() || membership.rank != 0 || ownSettings().disable) return;
  printOff(ownSettings(), whyOff(membership.ranks), membership.ranks);
}

/// Local, as all of this file: ranks may make sessions that others do not.
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
  const Membership members = membershipIn(group);
  if (!isMissed(members.ranks)) return MPI_SUCCESS;
  if (!ownSettings().strict) {
    warnOnce(members.rank, kBeforeInit, kBeforeInit);
    return MPI_SUCCESS;
  }
  if (members.rank == 0) complain(kBeforeInit);
  // MPI calls handlers of the program's own with a communicator, of which there is none.
  if (!endsJob(handler)) return MPI_ERR_OTHER;
  // MPI_Abort needs one, too. The launcher ends the job with the first rank: the one that speaks.
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
