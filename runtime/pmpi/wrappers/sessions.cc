// Wrappers of MPI_Session_init and MPI_Session_finalize. torc serves programs that call MPI_Init:
// one that uses MPI by sessions alone runs as without torc, and is told so, or under TORC_STRICT
// refused.
#include <cstdlib>
#include <mutex>
#include <string>
#include <unistd.h>

#include <mpi.h>

#include "runtime/pmpi/job/inside_mpi.h"
#include "runtime/pmpi/job/job_report.h"
#include "runtime/pmpi/statistics/report.h"
#include "schedules/settings.h"

using torc::readSettings;
using torc::Settings;
using torc::SettingTexts;
using torc::pmpi::complain;
using torc::pmpi::InsideMpi;
using torc::pmpi::printOff;
using torc::pmpi::warnOnce;

namespace {

constexpr const char* kBySessions = "the program uses MPI by sessions, without MPI_Init";

std::string servesNone() {
  return std::string(kBySessions) + ": torc serves none of its calls";
}

/// This process among those that the program began with.
struct Membership {
  int rank = 0, ranks = 1;
};

std::mutex mutex;  // of what follows
int open_sessions = 0;
Membership membership;  // as the last session has said, while there was no MPI_COMM_WORLD

/// As long as no MPI function has been called: this process's own.
const Settings& ownSettings() {
  static const Settings settings = readSettings(SettingTexts(environ)).settings;
  return settings;
}

/// Whether MPI_Init has been called, which sessions do not count as.
bool hasWorld() {
  int flag = 0;
  PMPI_Initialized(&flag);
  return flag != 0;
}

/// What the launcher says, while MPI cannot be asked. Where it says nothing there is one process;
/// of another launcher than MPICH's or PMIx's, every process takes itself for that.
Membership launchedAs() {
  const auto number = [](const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
  };
  if (std::getenv("PMI_RANK") != nullptr) return {number("PMI_RANK", 0), number("PMI_SIZE", 2)};
  if (std::getenv("PMIX_RANK") != nullptr) return {number("PMIX_RANK", 0), 2};
  return {};
}

/// Local, as all of this file: ranks may make sessions that others do not.
Membership membershipIn(MPI_Session session) {
  MPI_Group group = MPI_GROUP_NULL;
  Membership found = launchedAs();
  if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS) return found;
  PMPI_Group_rank(group, &found.rank);
  PMPI_Group_size(group, &found.ranks);
  PMPI_Group_free(&group);
  return found;
}

/// Whether a program of so many ranks would be served if it called MPI_Init.
bool isMissed(int ranks) {
  return !ownSettings().disable && !ownSettings().library.empty() && ranks > 1;
}

/// Under TORC_STRICT. MPI is not started at all: MPICH 4.0.2 crashes in MPI_Init when a session has
/// been its first use and is over, and the program may turn to MPI_Init now.
int refuse(MPI_Errhandler handler, MPI_Session* session) {
  if (launchedAs().rank == 0) complain(servesNone());
  // MPI_Abort needs a communicator. All ranks come here, and none waits for another.
  const bool fatal = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
  if (fatal) std::exit(1);
  // MPI calls handlers of the program's own with a session, of which there is none.
  *session = MPI_SESSION_NULL;
  return MPI_ERR_OTHER;
}

void hasBegun(MPI_Session session) {
  const std::lock_guard lock(mutex);
  ++open_sessions;
  if (hasWorld()) return;
  membership = membershipIn(session);
  if (isMissed(membership.ranks)) warnOnce(membership.rank, kBySessions, servesNone());
}

/// Why torc is off, where it is not disabled.
const char* whyOff(int ranks) {
  if (ownSettings().library.empty()) return "TORC_LIBRARY is not set";
  return ranks == 1 ? "the job has one rank" : kBySessions;
}

void hasEnded() {
  const std::lock_guard lock(mutex);
  if (--open_sessions > 0 || membership.rank != 0 || hasWorld() || ownSettings().disable) return;
  printOff(ownSettings(), whyOff(membership.ranks), membership.ranks);
}

}  // namespace

extern "C" {

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  if (!hasWorld() && ownSettings().strict && isMissed(launchedAs().ranks)) {
    return refuse(handler, session);
  }
  const int code = PMPI_Session_init(info, handler, session);
  if (code == MPI_SUCCESS) hasBegun(*session);
  return code;
}

int MPI_Session_finalize(MPI_Session* session) {
  const InsideMpi inside;
  const int code = PMPI_Session_finalize(session);
  if (code == MPI_SUCCESS) hasEnded();
  return code;
}

}  // extern "C"
