// Unseen start: its warning at the end of the process.
#include "runtime/pmpi/process/unseen_start.h"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include <mpi.h>

#include "runtime/pmpi/process/launched.h"
#include "support/files.h"

namespace torc::runtime::pmpi {
namespace {

bool has_started = false;
const pid_t own_process = getpid();

std::string_view variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

/// Objects of torc may be destroyed by now: none is used.
[[gnu::destructor]] void sayUnseen() {
  // A forked child is not a rank.
  if (has_started || getpid() != own_process) return;
  if (variable("TORC_LIBRARY").empty() || variable("TORC_DISABLE") == "1") return;
  const Launched launched = launchedAs();
  int initialised = 0;
  PMPI_Initialized(&initialised);
  if (!initialised || launched.rank != 0 || launched.ranks == 1) return;
  writeToStderr(
      "torc: warning: MPI_Init was called past libtorc_pmpi.so, as by dlsym in MPI's own library; "
      "torc has served nothing\n");
}

}  // namespace

void noteStart() {
  has_started = true;
}

}  // namespace torc::runtime::pmpi
