// Small blocking calls repeated many times, whose plans torc caches: with other buffers each time,
// between other calls, with late ranks, and with buffers that MPI refuses.

#include <cstdint>
#include <unistd.h>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/fixture.h"

namespace conformance {
namespace {

/// Sums of `count` numbers, with buffers at `in` and `out`.
void sum(const Communicator& on, std::int64_t* in, std::int64_t* out, int count, int turn) {
  int rank, size;
  MPI_Comm_rank(on.handle, &rank);
  MPI_Comm_size(on.handle, &size);
  for (int i = 0; i < count; ++i)
    in[i] = std::int64_t{rank} * (i + 1) + turn;
  MPI_Allreduce(in == out ? MPI_IN_PLACE : in, out, count, MPI_INT64_T, MPI_SUM, on.handle);
  bool right = true;
  for (int i = 0; i < count; ++i)
    right = right &&
            out[i] == std::int64_t{size} * (size - 1) / 2 * (i + 1) + std::int64_t{size} * turn;
  check(right, (on.name + ": a sum in turn " + std::to_string(turn)).c_str());
}

/// Every collective, its buffers anew each time.
void allRepeated(const Communicator& on) {
  for (int i = 0; i < kCollectiveCount; ++i) {
    for (int turn = 0; turn < 6; ++turn) {
      Shape shape = simpleShape(collectives()[i], Form::kBlocking, 50);
      shape.root = turn / 3;  // each root three times in a row
      Call(shape, on).run();
    }
  }
}

/// Two counts, two communicators, in place or not, as a solver would have them.
void inTurns(const std::vector<Communicator>& communicators) {
  std::vector<std::int64_t> memory(64);
  for (int turn = 0; turn < 300; ++turn) {
    for (const Communicator& on : communicators) {
      if (!on.hasMe() || on.is_inter) continue;
      std::int64_t* const in = memory.data() + turn % 7;
      std::int64_t* const out = turn % 3 == 0 ? in : memory.data() + 40 + turn % 5;
      sum(on, in, out, 1, turn);
      sum(on, in, out, 9, turn);
    }
  }
}

/// While nonblocking calls of the same communicator are under way.
void besideOthers(const Communicator& on) {
  for (int turn = 0; turn < 40; ++turn) {
    std::int64_t mine[2] = {turn, 0}, ours[2] = {}, in[4], out[4];
    MPI_Request requests[2];
    MPI_Iallreduce(mine, ours, 1, MPI_INT64_T, MPI_SUM, on.handle, &requests[0]);
    sum(on, in, out, 4, turn);
    MPI_Iallreduce(mine + 1, ours + 1, 1, MPI_INT64_T, MPI_SUM, on.handle, &requests[1]);
    sum(on, in, out, 4, turn + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int size;
    MPI_Comm_size(on.handle, &size);
    check(ours[0] == std::int64_t{size} * turn && ours[1] == 0, "a call beside repeated ones");
  }
}

/// One rank after another comes late: the others have to wait as long as it takes.
void lateRanks(const Communicator& on) {
  int rank, size;
  MPI_Comm_rank(on.handle, &rank);
  MPI_Comm_size(on.handle, &size);
  std::int64_t in[3], out[3];
  for (int turn = 0; turn < 4 * size; ++turn) {
    if (turn % size == rank) usleep(turn % 2 == 0 ? 300 : 3000);
    sum(on, in, out, 3, turn);
  }
}

/// What MPI refuses it refuses the hundredth time too, and goes on.
void refused(const Communicator& on) {
  MPI_Comm_set_errhandler(on.handle, MPI_ERRORS_RETURN);
  std::int64_t in[5], out[5];
  for (int turn = 0; turn < 10; ++turn) {
    for (int i = 0; i < 5; ++i)
      sum(on, in, out, 5, i);
    int error_class = MPI_SUCCESS;
#ifdef OPEN_MPI  // which does not look for buffers
    const int no_type = MPI_Allreduce(in, out, 5, MPI_DATATYPE_NULL, MPI_SUM, on.handle);
    MPI_Error_class(no_type, &error_class);
    check(error_class != MPI_SUCCESS, "no datatype is refused");
    const int none = MPI_Allreduce(in, out, 5, MPI_INT64_T, MPI_OP_NULL, on.handle);
    MPI_Error_class(none, &error_class);
    check(error_class == MPI_ERR_OP, "no operation is refused");
#else
    const int same = MPI_Allreduce(in, in, 5, MPI_INT64_T, MPI_SUM, on.handle);
    MPI_Error_class(same, &error_class);
    check(error_class == MPI_ERR_BUFFER, "one buffer for both is refused");
    const int none = MPI_Allreduce(in, nullptr, 5, MPI_INT64_T, MPI_SUM, on.handle);
    MPI_Error_class(none, &error_class);
    check(error_class == MPI_ERR_BUFFER, "no buffer is refused");
#endif
  }
}

void manyTimes(const Communicator& on) {
  std::int64_t in[1], out[1];
  int size;
  MPI_Comm_size(on.handle, &size);
  const int turns =
      size == 2 ? 70000 : 2000;  // past 16 bits; where ranks share cores they wait long
  for (int turn = 0; turn < turns; ++turn)
    sum(on, in, out, 1, turn % 1000);
}

TEST_F(Conformance, Repeated) {
  std::vector<Communicator> communicators = makeCommunicators(gridOfWorld());
  const Communicator& world = communicators.front();
  allRepeated(world);
  inTurns(communicators);
  besideOthers(world);
  lateRanks(world);
  manyTimes(world);
  // What is kept goes with the communicator.
  for (int turn = 0; turn < 20; ++turn) {
    Communicator copy{"a copy", MPI_COMM_NULL, true};
    MPI_Comm_dup(world.handle, &copy.handle);
    std::int64_t in[2], out[2];
    for (int i = 0; i < 4; ++i)
      sum(copy, in, out, 2, i);
    if (turn == 0) refused(copy);
    MPI_Comm_free(&copy.handle);
  }
  freeCommunicators(communicators);
}

}  // namespace
}  // namespace conformance
