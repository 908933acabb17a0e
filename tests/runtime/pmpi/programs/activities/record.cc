#include "tests/runtime/pmpi/programs/activities/record.h"

#include <cstdio>
#include <cstdlib>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/checks.h"
#include "tests/runtime/pmpi/mpi_calls/random.h"

namespace programs {

using mpi_calls::mix;

Record& record() {
  thread_local Record own;
  return own;
}

void addHash(int call, uint64_t hash) {
  record().hash += mix(record().program, record().thread, call, hash);
}

void fail(int call, const std::string& text) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "random_programs: seed %llu, program %d, thread %d, call %d, rank %d: %s\n",
               static_cast<unsigned long long>(record().seed), record().program, record().thread,
               call, rank, text.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void check(int code, int call, const std::string& text) {
  record().call = call;
  mpi_calls::checkCall(code, text);
}

}  // namespace programs
