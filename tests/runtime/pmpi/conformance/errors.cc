// Wrong arguments give MPI's own errors: the class that the function itself (by its PMPI_ name)
// gives, through the communicator's error handler, once. And afterwards everything works.

#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/fixture.h"
#include "tests/runtime/pmpi/mpi4_names.h"

namespace conformance {
namespace {

int handled = 0;
MPI_Comm handled_on = MPI_COMM_NULL;

void countErrors(MPI_Comm* comm, int* /*code*/, ...) {
  ++handled;
  handled_on = *comm;
}

int classOf(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

struct WrongCall {
  const char* name;
  std::function<int(MPI_Comm)> call;
  std::function<int(MPI_Comm)> mpi;
};

// The same call by both names of a function.
#define WRONG(name, function, ...)                                    \
  {                                                                   \
    name, [=](MPI_Comm comm) { return MPI_##function(__VA_ARGS__); }, \
        [=](MPI_Comm comm) { return PMPI_##function(__VA_ARGS__); }   \
  }

std::vector<WrongCall> wrongCalls() {
  static double in[64], out[64];
  static int counts[64], displacements[64];
  static MPI_Request request;
  for (int i = 0; i < 64; ++i) {
    counts[i] = 1;
    displacements[i] = i;
  }
  MPI_Request* const r = &request;
  double* const a = in;
  double* const b = out;
  std::vector<WrongCall> calls = {
      // No negative counts: MPICH 4.0.2 does not look at them, and aborts in the midst of things.
      WRONG("no datatype, nonblocking", Iallreduce, a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, comm, r),
      WRONG("no datatype, persistent", Allreduce_init, a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, comm,
            MPI_INFO_NULL, r),
      WRONG("no datatype", Allreduce, a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, comm),
      WRONG("no operation", Allreduce, a, b, 1, MPI_DOUBLE, MPI_OP_NULL, comm),
      WRONG("an operation not for the datatype", Allreduce, a, b, 1, MPI_DOUBLE, MPI_BAND, comm),
      WRONG("in place as result", Allreduce, a, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, comm),
      WRONG("no communicator", Allreduce, a, b, 1, MPI_DOUBLE, MPI_SUM,
            (static_cast<void>(comm), MPI_COMM_NULL)),
      WRONG("blocks and no datatype", Reduce_scatter, a, b, counts, MPI_DATATYPE_NULL, MPI_SUM,
            comm),
      WRONG("a block and no operation", Reduce_scatter_block, a, b, 1, MPI_DOUBLE, MPI_OP_NULL,
            comm),
      WRONG("blocks and no operation", Ireduce_scatter, a, b, counts, MPI_DOUBLE, MPI_OP_NULL, comm,
            r),
      WRONG("no receive datatype", Allgather, a, 1, MPI_DOUBLE, b, 1, MPI_DATATYPE_NULL, comm),
      WRONG("no send datatype", Allgatherv, a, 1, MPI_DATATYPE_NULL, b, counts, displacements,
            MPI_DOUBLE, comm),
  };
#if MPI_VERSION >= 4
  calls.push_back(
      WRONG("no datatype, large count", Allreduce_c, a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
#endif
#ifndef OPEN_MPI  // which does not look at one element for the first, nor at all for the second
  calls.push_back(WRONG("the same buffer twice", Allreduce, a, a, 1, MPI_DOUBLE, MPI_SUM, comm));
  calls.push_back(WRONG("no buffer", Allreduce, nullptr, b, 1, MPI_DOUBLE, MPI_SUM, comm));
#endif
  return calls;
}

void tryAll(MPI_Comm comm, const std::string& where, bool counting) {
  for (const WrongCall& wrong : wrongCalls()) {
    const std::string name = where + ": " + wrong.name;
    handled = 0;
    const int expected = classOf(wrong.mpi(comm));
    const int expected_handled = handled;
    const MPI_Comm expected_on = handled_on;
    handled = 0;
    handled_on = MPI_COMM_NULL;
    const int found = classOf(wrong.call(comm));
    check(expected != MPI_SUCCESS && found == expected,
          name + ": error class " + std::to_string(found) + ", MPI's " + std::to_string(expected));
    if (!counting) continue;
    check(handled == expected_handled, name + ": error handler called " + std::to_string(handled) +
                                           " times, by MPI " + std::to_string(expected_handled));
    if (handled > 0) check(handled_on == expected_on, name + ": the handler's communicator");
  }
}

void works(MPI_Comm comm, const std::string& where) {
  double one = 1, sum = 0;
  int size;
  MPI_Comm_size(comm, &size);
  checkCall(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm), where);
  check(sum == size, where + ": a right call after wrong ones");
}

TEST_F(Conformance, Errors) {
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  // A null communicator is the business of MPI_COMM_WORLD's or MPI_COMM_SELF's handler.
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF, dup})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  tryAll(MPI_COMM_WORLD, "MPI_ERRORS_RETURN", false);
  works(MPI_COMM_WORLD, "MPI_COMM_WORLD");

  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(countErrors, &handler);
  MPI_Comm_set_errhandler(dup, handler);
  tryAll(dup, "the user's handler", true);
  check(handled == 1, "a wrong call on the duplicate is told to its handler");
  works(dup, "duplicate");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&dup);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

}  // namespace
}  // namespace conformance
