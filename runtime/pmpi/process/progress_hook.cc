// Progress hook of Open MPI: no public header declares it, but libopen-pal.so has had it since long
// before 4.1. MPICH has none.
#include "runtime/pmpi/process/progress_hook.h"

#include <dlfcn.h>

#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {
namespace {

using Hook = int (*)();

int change(const char* how, Hook hook) {
  const auto function = reinterpret_cast<int (*)(Hook)>(dlsym(RTLD_DEFAULT, how));
  return function == nullptr ? -1 : function(hook);
}

/// Open MPI expects the number of completed events; torc reports none.
int advanceBesideMpi() {
  if (underWay() > 0) advance();
  return 0;
}

bool is_added = false;

}  // namespace

bool hasProgressHook() {
  return dlsym(RTLD_DEFAULT, "opal_progress_register") != nullptr;
}

bool addProgressHook() {
  is_added = change("opal_progress_register", &advanceBesideMpi) == 0;
  return is_added;
}

void removeProgressHook() {
  if (is_added) change("opal_progress_unregister", &advanceBesideMpi);
  is_added = false;
}

}  // namespace torc::runtime::pmpi
