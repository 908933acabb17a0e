// Early ends: persistent requests freed, communicators left to MPI_Finalize, a collective called by
// MPI_Finalize itself, and the datatype passed to a program's operation. Handles freed while a call
// uses them: tests/runtime/pmpi/programs.
//
// MPICH 4.0.2's own persistent collectives give wrong results when started again.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/fixture.h"
#include "tests/runtime/pmpi/mpi4_names.h"

namespace conformance {
namespace {

Communicator reversed() {
  Communicator made{"reversed", MPI_COMM_NULL, true};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -torc::worldRank(), &made.handle);
  return made;
}

int width_key = MPI_KEYVAL_INVALID;
MPI_Datatype wide = MPI_DATATYPE_NULL;
bool saw_other_type = false;

void addWide(void* in, void* inout, int* length, MPI_Datatype* type) {
  void* width = nullptr;
  int found = 0;
  MPI_Type_get_attr(*type, width_key, &width, &found);
  if (*type != wide || !found) {
    saw_other_type = true;
    return;
  }
  for (int i = 0; i < *length * *static_cast<int*>(width); ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

/// An operation gets the program's own datatype, whose attributes a duplicate would lack.
void readDatatype(bool persistent) {
  int width = 3;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &width_key, nullptr);
  MPI_Type_contiguous(width, MPI_INT, &wide);
  MPI_Type_commit(&wide);
  MPI_Type_set_attr(wide, width_key, &width);
  MPI_Op op;
  MPI_Op_create(addWide, 1, &op);
  std::vector<int> in(300 * width, torc::worldRank()), out(in.size());
  const auto checkSums = [&](const char* what) {
    bool good = !saw_other_type;
    for (const int sum : out)
      good = good && sum == torc::worldSize() * (torc::worldSize() - 1) / 2;
    check(good, what);
    std::fill(out.begin(), out.end(), -1);
  };
  // Twice: the first call is laid out anew, the second takes its layout.
  for (int round = 0; round < 2; ++round) {
    MPI_Allreduce(in.data(), out.data(), 300, wide, op, MPI_COMM_WORLD);
    checkSums("an operation that asks for the attributes of its datatype");
  }
  if (persistent) {
    MPI_Request request;
    MPI_Allreduce_init(in.data(), out.data(), 300, wide, op, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    checkSums("a persistent reduction that asks for the attributes of its datatype");
    MPI_Request_free(&request);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&wide);
  MPI_Type_free_keyval(&width_key);
}

/// Persistent requests: never started; freed and made again; freed after the communicator.
void freeRequests() {
  for (int number = 0; number < kCollectiveCount; ++number) {
    Communicator communicator = reversed();
    {
      Call never(variousShape(number, Form::kPersistent, 40), communicator);
      never.prepare();
      Call often(variousShape(number + 1, Form::kPersistent, 41), communicator);
      for (int round = 0; round < 3; ++round)
        often.run();
      never.freeRequest();
      MPI_Comm_free(&communicator.handle);
      // A persistent request keeps what it needs of its communicator.
      often.start();
      MPI_Wait(&often.request(), MPI_STATUS_IGNORE);
      often.verify();
    }
  }
}

/// What MPI_Finalize calls first: the program may use MPI there.
int whenSelfEnds(MPI_Comm, int, void*, void*) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != torc::worldSize()) MPI_Abort(MPI_COMM_WORLD, 4);
  return MPI_SUCCESS;
}

TEST_F(Conformance, Lifetime) {
#ifdef OPEN_MPI
  if (isPlain())
    GTEST_SKIP()
        << "Open MPI 4.1.4's own nonblocking collectives crash when what they use is freed";
#endif
  const bool persistent = !isPlain();
  readDatatype(persistent);
  if (persistent) freeRequests();

  // Left to MPI_Finalize: a communicator never freed, used; and one freed, whose calls were
  // complete only later.
  Communicator kept = reversed();
  Call(variousShape(0, Form::kBlocking, 50), kept).run();
  Communicator freed = reversed();
  Call late(variousShape(0, Form::kNonblocking, 5000), freed);
  late.start();
  MPI_Comm_free(&freed.handle);
  MPI_Wait(&late.request(), MPI_STATUS_IGNORE);

  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, whenSelfEnds, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

}  // namespace
}  // namespace conformance
