// Repeated blocking calls, in a program without nonblocking collectives: sums, a broadcast and an
// allgather, with other buffers each time; some have arguments that MPI refuses on all ranks.
// Prints the number of right calls of each on rank 0.
#include <cstdio>
#include <vector>

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  constexpr int kTurns = 40;
  std::vector<int> memory(64), all(static_cast<std::size_t>(size));
  int right[3] = {};
  for (int turn = 0; turn < kTurns; ++turn) {
    int* const in = memory.data() + turn % 5;
    int* const out = memory.data() + 30 + turn % 7;
    in[0] = rank + turn;
    in[1] = rank * turn;
    MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int ranks = size * (size - 1) / 2;
    right[0] += out[0] == ranks + size * turn && out[1] == ranks * turn ? 1 : 0;
    if (turn % 10 == 9) {  // nobody gets anything
      if (MPI_Allreduce(in, out, 2, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) == MPI_SUCCESS) return 1;
    }
    out[0] = rank == 1 ? 7 * turn : -1;
    MPI_Bcast(out, 1, MPI_INT, 1, MPI_COMM_WORLD);
    right[1] += out[0] == 7 * turn ? 1 : 0;
    MPI_Allgather(in, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    bool is_right = true;
    for (int r = 0; r < size; ++r)
      is_right = is_right && all[static_cast<std::size_t>(r)] == r + turn;
    right[2] += is_right ? 1 : 0;
  }
  int least[3] = {};
  MPI_Reduce(right, least, 3, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d %d %d\n", least[0], least[1], least[2]);
  MPI_Finalize();
  return 0;
}
