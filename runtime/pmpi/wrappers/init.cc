// Wrappers of MPI_Init, MPI_Init_thread and MPI_Finalize. Programs that use only sessions never
// call them, and torc stays off.
//
// If torc may need its progress thread, MPI is initialised with MPI_THREAD_MULTIPLE, and
// MPI_Init_thread returns the level that the program would have got without torc.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <mpi.h>

#include "runtime/pmpi/job/job.h"
#include "runtime/pmpi/process/start.h"
#include "runtime/pmpi/wrappers/layers.h"
#include "runtime/transport/which_mpi.h"

namespace torc::runtime::pmpi {
namespace {

/// The level reported to the program, if it differs from MPI's.
std::optional<int> program_level;

/// The level of MPI_Init, by name in MPICH's variable, by number in Open MPI's.
int levelOfInit() {
  const char* variable = std::getenv(kInitLevelVariable);
  const std::string_view text = variable != nullptr ? variable : "";
  if (text.ends_with("MULTIPLE") || text == "3") return MPI_THREAD_MULTIPLE;
  if (text.ends_with("SERIALIZED") || text == "2") return MPI_THREAD_SERIALIZED;
  if (text.ends_with("FUNNELED") || text == "1") return MPI_THREAD_FUNNELED;
  return MPI_THREAD_SINGLE;
}

int initWithThreads(int* argc, char*** argv, int required) {
  int provided = MPI_THREAD_SINGLE;
  const int code = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  if (code == MPI_SUCCESS) program_level = std::min(required, provided);
  return code;
}

int levelOfProgram() {
  int level = MPI_THREAD_SINGLE;
  if (!program_level) PMPI_Query_thread(&level);
  return program_level.value_or(level);
}

bool has_ended = false;

void end() {
  if (std::exchange(has_ended, true)) return;
  endJob();
}

int endWithSelf(MPI_Comm, int, void*, void*) {
  end();
  return MPI_SUCCESS;
}

/// Starts torc, right after MPI's initialisation.
int start(int code) {
  if (code != MPI_SUCCESS) return code;
  startJob(levelOfProgram());
  // A program may find MPI's own MPI_Finalize by dlsym. Then an attribute of MPI_COMM_SELF, which
  // MPI deletes first, ends torc.
  int keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &endWithSelf, &keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  PMPI_Comm_free_keyval(&keyval);
  return code;
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  if (void* others = leaveToLateOtherMpi("MPI_Init")) {
    return reinterpret_cast<decltype(&MPI_Init)>(others)(argc, argv);
  }
  noteStart();
  return start(wantsThreadLevel() ? initWithThreads(argc, argv, levelOfInit())
                                  : PMPI_Init(argc, argv));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (void* others = leaveToLateOtherMpi("MPI_Init_thread")) {
    return reinterpret_cast<decltype(&MPI_Init_thread)>(others)(argc, argv, required, provided);
  }
  noteStart();
  const int code = start(wantsThreadLevel() ? initWithThreads(argc, argv, required)
                                            : PMPI_Init_thread(argc, argv, required, provided));
  if (code == MPI_SUCCESS) *provided = levelOfProgram();
  return code;
}

int MPI_Query_thread(int* provided) {
  const int code = PMPI_Query_thread(provided);
  if (code == MPI_SUCCESS && program_level) *provided = *program_level;
  return code;
}

int MPI_Finalize() {
  end();
  return PMPI_Finalize();
}

}  // extern "C"

}  // namespace torc::runtime::pmpi
