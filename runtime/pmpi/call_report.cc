// What is told of calls.
#include "runtime/pmpi/call_report.h"

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <unordered_set>

#include <mpi.h>

namespace torc::pmpi {
namespace {

constexpr const char* kFunctionNames[][3] = {
#define TORC_NAMES(Name, name, parameters, adapter) \
  {"MPI_" #Name, "MPI_I" #name, "MPI_" #Name "_init"},
    TORC_ALL_COLLECTIVES(TORC_NAMES)
#undef TORC_NAMES
};

}  // namespace

const char* functionName(CallId id, Form form) {
  return kFunctionNames[static_cast<std::size_t>(id)][static_cast<std::size_t>(form)];
}

void beginCall(CollectiveCall&) {}

void endCall(const CollectiveCall&, const LibraryEntry*) {}

void complain(const CollectiveCall& call, const std::string& text) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "torc: error: rank %d: %s: %s\n", rank, functionName(call.id, call.form),
               text.c_str());
}

void warnOnce(int rank, const std::string& text) {
  if (rank != 0) return;
  static std::mutex mutex;
  static std::unordered_set<std::string> told;
  const std::lock_guard lock(mutex);
  if (told.insert(text).second) std::fprintf(stderr, "torc: warning: %s\n", text.c_str());
}

}  // namespace torc::pmpi
