// Calls that MPI refuses on one rank, whose error handler leaves them by longjmp or by an exception
// (the argument); the other ranks omit them, or make them, and the refused call is repeated. Later
// calls on the communicator are right.
#include <csetjmp>
#include <cstring>

#include "told.h"

namespace {

struct Left {};

std::jmp_buf place;
bool throws = false;
int handled = 0;

void leave(MPI_Comm*, int*, ...) {
  ++handled;
  if (throws) throw Left();
  std::longjmp(place, 1);
}

/// Makes a call that the handler leaves.
template <typename Call>
void refused(const char* what, Call call) {
  handled = 0;
  if (throws) {
    try {
      call();
    } catch (const Left&) {
    }
  } else if (setjmp(place) == 0) {
    call();
  }
  line("%s: handlers %d\n", what, handled);
}

MPI_Comm comm;
int rank, size;

/// Calls that are right, by all ranks.
void follow(const char* what) {
  int in = rank + 1, sum = 0, numbers[16] = {}, first = rank == 0 ? 42 : 0;
  MPI_Request request;
  MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&first, 1, MPI_INT, 0, comm);
  MPI_Iallreduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_MAX, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allgather(&rank, 1, MPI_INT, numbers, 1, MPI_INT, comm);
  line("after %s: %d %d %d %d\n", what, sum, first, in, numbers[size - 1]);
}

void run() {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  int in = 1, out = 0;
  MPI_Request request;
  follow("nothing");
  if (rank == 1) {
    refused("Allreduce", [&] { MPI_Allreduce(&in, &out, 1, none, MPI_SUM, comm); });
    refused("Bcast", [&] { MPI_Bcast(&in, 1, none, 0, comm); });
    refused("Iallreduce", [&] { MPI_Iallreduce(&in, &out, 1, none, MPI_SUM, comm, &request); });
  }
  follow("calls of one rank");
  refused("Allreduce of all", [&] { MPI_Allreduce(&in, &out, 1, none, MPI_SUM, comm); });
  follow("calls of all ranks");
  for (int root = 0; root < size; ++root) {
    if (rank == root) {
      refused("Reduce", [&] { MPI_Reduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, root, comm); });
    }
    MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, root, comm);
    if (rank == root) line("Reduce once more: %d\n", out);
    follow("a call made up");
  }
}

}  // namespace

int main(int argc, char** argv) {
  throws = argc > 1 && std::strcmp(argv[1], "throw") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  run();
  print_lines();
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
