#include "tests/runtime/pmpi/programs/record.h"

#include <cstdio>
#include <cstdlib>

#include <mpi.h>

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
  if (code == MPI_SUCCESS) return;
  char message[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, message, &length);
  for (char& character : message)
    if (character == '\n') character = ' ';
  fail(call, text + ": " + message);
}

}  // namespace programs
