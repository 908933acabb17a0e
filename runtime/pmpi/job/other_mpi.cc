// A process whose program uses another MPI than this library was built with: handles have another
// size, so no call can even be passed on. It ends with an explanation before the program begins.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

#include "runtime/transport/which_mpi.h"

namespace torc::pmpi {
namespace {

/// Whether this process is rank 0, by what launchers say before MPI can be asked.
bool isFirstRank() {
  for (const char* name : {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(name); rank != nullptr) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

[[gnu::constructor]] void refuseOtherMpi() {
  if (dlsym(RTLD_DEFAULT, kSymbolOfOtherMpi) == nullptr) return;
  if (isFirstRank()) {
    std::fprintf(stderr, "torc: error: this libtorc_pmpi.so is for %s, and the program uses %s\n",
                 kThisMpi, kOtherMpi);
  } else {
    // The launcher ends all ranks when the first one has ended, which must be the one that speaks.
    sleep(1);
  }
  _exit(1);
}

}  // namespace
}  // namespace torc::pmpi
