// Calls of many signatures, each repeated until its trial ends, alternating with other calls: sums
// of several sizes, in place and not, operations that do not commute, rooted collectives from and
// to changing roots, all others, on MPI_COMM_WORLD, a copy of it and its pairs of ranks; a
// signature with a few calls now and the rest much later; nonblocking calls active meanwhile. Every
// byte is checked.
//
//   first_calls CALLS
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/checks.h"

namespace mpi_calls {
namespace {

Shape shapeOf(const char* stem, Form form, int64_t count, int turn) {
  Shape shape = simpleShape(collectiveCalled(stem), form, count);
  shape.key = static_cast<uint64_t>(turn);
  shape.root = turn;
  return shape;
}

void sum(const Communicator& on, int64_t count, int turn) {
  Shape shape = shapeOf("Allreduce", Form::kBlocking, count, turn);
  shape.in_place = turn % 3 == 0;
  Call(shape, on).run();
}

void run(int calls) {
  const Communicator world{"MPI_COMM_WORLD", MPI_COMM_WORLD};
  Communicator copy{"a copy"}, pair{"two ranks"};
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy.handle);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair.handle);
  MPI_Comm_size(pair.handle, &size);
  for (int turn = 0; turn < calls; ++turn) {
    // Under way while others are tried, on the same communicator and on another one.
    Call on_copy(shapeOf("Allreduce", Form::kNonblocking, 1, turn), copy);
    Call on_world(shapeOf("Allreduce", Form::kNonblocking, 1, turn), world);
    on_copy.start();
    sum(world, 1, turn);
    sum(world, 300, turn);
    on_world.start();
    sum(copy, 700, turn);
    for (const char* stem : {"Bcast", "Reduce", "Gather", "Scatter"})
      Call(shapeOf(stem, Form::kBlocking, 5, turn), world).run();
    for (Call* call : {&on_copy, &on_world}) {
      MPI_Wait(&call->request(), MPI_STATUS_IGNORE);
      call->verify();
    }
    // A size of which there are few calls at first, and the others at the end.
    if (turn < 5 || turn >= calls / 2) sum(world, 17, turn);
    if (turn % 8 == 0) sum(world, 20000, turn);
    for (const char* stem : {"Allreduce", "Scan"}) {
      Shape ordered = shapeOf(stem, Form::kBlocking, 1, turn);
      ordered.reduction = {Meaning::kUserFunction, Layout::contiguous(3, Kind::kUint32)};
      Call(ordered, world).run();
    }
    // Of pairs whose counts differ nobody knows the size: not tried, but served as ever.
    for (const char* stem :
         {"Alltoall", "Allgatherv", "Reduce_scatter_block", "Alltoallv", "Barrier"})
      Call(shapeOf(stem, Form::kBlocking, 3, turn), world).run();
    // Only some ranks have these two between their other calls.
    for (int i = 0; i < 2 && size == 2 && rank < 2; ++i)
      sum(pair, 40, turn + i);
  }
  MPI_Comm_free(&pair.handle);
  MPI_Comm_free(&copy.handle);
}

}  // namespace
}  // namespace mpi_calls

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  mpi_calls::run(std::atoi(argv[1]));
  const int status = mpi_calls::summarize("first_calls");
  MPI_Finalize();
  return status;
}
