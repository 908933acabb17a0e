// Barriers, blocking, nonblocking and persistent: no rank leaves before the last one has arrived.
// Clocks are those of one host.

#include <chrono>
#include <functional>
#include <unistd.h>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/fixture.h"
#include "tests/runtime/pmpi/mpi4_names.h"

namespace conformance {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Each rank comes last once; when all have come is asked by another way.
void barrier(const Communicator& on, const char* form, const std::function<void()>& call) {
  int rank, size;
  MPI_Comm_rank(on.handle, &rank);
  MPI_Comm_size(on.handle, &size);
  for (int turn = 0; turn < size + 2; ++turn) {
    if (turn % size == rank) usleep(2000);
    double entered = now();
    call();
    const double left = now();
    MPI_Allreduce(MPI_IN_PLACE, &entered, 1, MPI_DOUBLE, MPI_MAX, on.handle);
    check(left >= entered, on.name + ": a rank is through " + form + " before the last has come");
  }
}

void allBarriers(const Communicator& on, bool has_persistent) {
  barrier(on, "MPI_Barrier", [&] { MPI_Barrier(on.handle); });
  barrier(on, "MPI_Ibarrier", [&] {
    MPI_Request request;
    MPI_Ibarrier(on.handle, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  barrier(on, "two of MPI_Ibarrier and a sum", [&] {
    MPI_Request requests[2];
    int one = 1, sum = 0, size = 0;
    MPI_Ibarrier(on.handle, &requests[0]);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, on.handle);
    MPI_Ibarrier(on.handle, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_size(on.handle, &size);
    check(sum == size, on.name + ": a sum between barriers");
  });
  if (!has_persistent) return;
  MPI_Request request;
  MPI_Barrier_init(on.handle, MPI_INFO_NULL, &request);
  barrier(on, "MPI_Barrier_init", [&] {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  MPI_Request_free(&request);
}

/// Many times, and what a rank has sent before is there.
void manyBarriers(const Communicator& on) {
  int rank, size;
  MPI_Comm_rank(on.handle, &rank);
  MPI_Comm_size(on.handle, &size);
  const int turns = size == 2 ? 3000 : 500;  // where ranks share cores they wait long
  for (int turn = 0; turn < turns; ++turn)
    MPI_Barrier(on.handle);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int here = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &here, 1, MPI_INT, from, 0, on.handle, MPI_STATUS_IGNORE);
  check(here == from, on.name + ": a message after barriers");
}

TEST_F(Conformance, Barriers) {
  std::vector<Communicator> communicators = makeCommunicators(gridOfWorld());
  for (const Communicator& on : communicators) {
    if (on.hasMe() && !on.is_inter) allBarriers(on, !isPlain());
  }
  manyBarriers(communicators.front());
  freeCommunicators(communicators);
}

}  // namespace
}  // namespace conformance
