// Collective calls that MPI refuses on all ranks, in every form: the reports of each, and their
// handlers. Later calls work.
#include <cstdio>

#include <mpi.h>

#include "tests/runtime/pmpi/alike/told.h"
#include "tests/runtime/pmpi/mpi_calls/collectives.h"

namespace {

using mpi_calls::Arguments;
using mpi_calls::Collective;
using mpi_calls::Form;

MPI_Comm own;
double in[16], out[16];

/// What is wrong, of reductions or of others alone where it says so.
const struct {
  const char* what;
  void (*spoil)(Arguments&);
  bool of_reductions = true, of_others = true, of_buffers = false;
} faults[] = {
    // No negative counts: MPICH 4.0.2 does not look at them, and aborts in the midst of things.
    {"no datatype", [](Arguments& a) { a.type = MPI_DATATYPE_NULL; }},
    {"no send datatype", [](Arguments& a) { a.in_type = MPI_DATATYPE_NULL; }, false},
    {"no operation", [](Arguments& a) { a.op = MPI_OP_NULL; }, true, false},
    {"an operation not for the datatype", [](Arguments& a) { a.op = MPI_BAND; }, true, false},
    {"no communicator", [](Arguments& a) { a.comm = MPI_COMM_NULL; }},
    {"in place as result", [](Arguments& a) { a.out = MPI_IN_PLACE; }, true, false, true},
    {"the same buffer twice", [](Arguments& a) { a.in = a.out; }, true, false, true},
    {"no buffer", [](Arguments& a) { a.in = nullptr; }, true, false, true},
};

void refuse(const Collective& collective, Form form, bool wide) {
  Arguments right;
  right.wide = wide;
  right.in = in;
  right.out = out;
  right.in_type = right.type = MPI_DOUBLE;
  right.op = MPI_SUM;
  right.comm = own;
  const auto fill = [](auto& numbers) {
    numbers.in_count = numbers.count = 1;
    numbers.in_counts = numbers.counts = {1, 1};
    numbers.in_displacements = numbers.displacements = {0, 1};
  };
  fill(right.narrow);
  fill(right.large);
  for (const auto& fault : faults) {
    if (!(collective.reduces() ? fault.of_reductions : fault.of_others)) continue;
      // Open MPI does not look for them.
#ifdef OPEN_MPI
    if (fault.of_buffers) continue;
#endif
    if (fault.of_buffers && !collective.is({"Allreduce"})) continue;
    Arguments wrong = right;
    fault.spoil(wrong);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = collective.call(form, wrong, &request);
    line("%s: ", collective.name(form, wide).c_str());
    told(fault.what, code);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int one = 1, sum = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  count_errors(own);
  // A null communicator is the business of its handler, or of MPI_COMM_WORLD's.
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (const Collective& collective : mpi_calls::collectives()) {
    const bool is_everyones = !collective.isBarrier() && !collective.isRooted();
    if (!is_everyones || collective.isOfNeighbours() || collective.each_type) continue;
    for (const Form form : mpi_calls::kForms)
      for (int wide = 0; wide <= (MPI_VERSION >= 4); ++wide)
        refuse(collective, form, wide == 1);
  }
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  line("sum %d\n", sum);
  print_lines();
  MPI_Comm_free(&own);
  return MPI_Finalize();
}
