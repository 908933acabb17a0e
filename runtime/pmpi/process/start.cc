// Start: the folder is read when the library is loaded, before the program's first statement.
#include "runtime/pmpi/process/start.h"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include <mpi.h>

#include "support/files.h"

namespace torc::runtime::pmpi {
namespace {

const char* start_folder = nullptr;

[[gnu::constructor]] void rememberStart() {
  start_folder = getcwd(nullptr, 0);
}

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

std::string fromStart(const std::string& path) {
  if (path.empty() || path.front() == '/' || start_folder == nullptr) return path;
  return std::string(start_folder) + '/' + path;
}

void noteStart() {
  has_started = true;
}

}  // namespace torc::runtime::pmpi
