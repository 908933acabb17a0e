// Collectives whose receivers provide more room than the sent data, which MPI forbids but some
// programs do:
//
//   room CALL:WHO[,WHO]...
//
// WHO provides room for twice as many integers as are in a block: `all` ranks, `one`, the root of a
// gather, one for the `block` of one sender; with `less` the last rank sends half as many. Few
// integers and many, contiguous and with gaps, in all forms: each rank prints whether the blocks
// are right, and the memory beside them unchanged.
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/alike/told.h"
#include "tests/runtime/pmpi/mpi_calls/collectives.h"

namespace {

using mpi_calls::Form;

constexpr int kNothing = -7;

int rank, size, count;
std::string who;
std::vector<int> peers;
int bad, beside;

int sent(int from) {
  return who == "less" && from == size - 1 ? count / 2 : count;
}

int roomFor(int from, int to) {
  const bool more =
      who == "all" || (who == "one" && to == 0) || (who == "block" && from == size - 1 && to == 0);
  return more ? 2 * count : count;
}

int valueOf(int from, int to, int i) {
  return 100000 * from + 10000 * to + i % 9973;
}

/// In one form, of elements of `unit` integers that lie `stride` apart.
void tryCall(const mpi_calls::Collective& collective, MPI_Comm comm, Form form, int unit,
             int stride) {
  MPI_Datatype apart, type;
  MPI_Type_vector(unit, 1, stride, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, static_cast<MPI_Aint>(sizeof(int)) * stride * unit, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&apart);
  const bool to_all = !collective.sendsEach();
  const int block = 4 * (count + 2), words = block * static_cast<int>(peers.size() + 1);
  std::vector<int> in(words), out(words, kNothing), whole = out;
  mpi_calls::Arguments arguments;
  auto& numbers = arguments.narrow;
  arguments.in = in.data();
  arguments.out = out.data();
  arguments.in_type = MPI_INT;
  arguments.type = type;
  arguments.comm = comm;
  numbers.in_count = sent(rank);
  numbers.count = roomFor(0, rank) / unit;  // of a gather to rank 0, which has one count for all
  arguments.in_types.assign(peers.size(), MPI_INT);
  arguments.types.assign(peers.size(), type);
  for (int b = 0; b < static_cast<int>(peers.size()); ++b) {
    const int in_place = to_all ? 0 : collective.uneven ? block * b : sent(rank) * b;
    const int place = collective.uneven ? block * b : b * numbers.count * unit * stride;
    numbers.in_counts.push_back(sent(rank));
    numbers.counts.push_back(roomFor(peers[b], rank) / unit);
    const int bytes = collective.each_type ? static_cast<int>(sizeof(int)) : 1;
    numbers.in_displacements.push_back(in_place * bytes);
    numbers.displacements.push_back(collective.each_type ? place * bytes : place / (unit * stride));
    for (int i = 0; i < sent(rank); ++i)
      in[in_place + i] = valueOf(rank, to_all ? 0 : peers[b], i);
    for (int i = 0; i < sent(peers[b]) && (!collective.isRooted() || rank == 0); ++i)
      whole[place + stride * i] = valueOf(peers[b], to_all ? 0 : rank, i);
  }
  arguments.large.in_displacements.assign(numbers.in_displacements.begin(),
                                          numbers.in_displacements.end());
  arguments.large.displacements.assign(numbers.displacements.begin(), numbers.displacements.end());
  MPI_Request request = MPI_REQUEST_NULL;
  int code = collective.call(form, arguments, &request);
  if (code == MPI_SUCCESS && form == Form::kPersistent) code = MPI_Start(&request);
  if (code == MPI_SUCCESS && form != Form::kBlocking) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && form == Form::kPersistent) MPI_Request_free(&request);
  const bool keeps = !collective.is({"Allgather", "Allgatherv"});  // MPI does not
  for (int i = 0; i < words; ++i) {
    bad += whole[i] != kNothing && out[i] != whole[i];
    beside += whole[i] == kNothing && out[i] != kNothing && keeps;
  }
  if (code != MPI_SUCCESS)
    line("%s of %d: error class %d\n", collective.stem, count, class_of(code));
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Comm grid;
  const int periodic = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  // MPICH 4.0.2's persistent collectives are faulty: without torc others stand for them.
  const Form last = std::getenv("TORC_LIBRARY") != nullptr ? Form::kPersistent : Form::kNonblocking;
  for (const int integers : {21000, 6}) {
    count = integers;
    for (int i = argc - 1; i > 0; --i) {
      std::istringstream words(argv[i]);
      std::string name;
      std::getline(words, name, ':');
      const mpi_calls::Collective& collective = mpi_calls::collectiveCalled(name);
#ifdef OPEN_MPI
      // 4.1.4 itself waits for ever where a rank has another count than others.
      if (name == "Neighbor_alltoall") continue;
#endif
      MPI_Comm comm = collective.isOfNeighbours() ? grid : MPI_COMM_WORLD;
      peers.assign(collective.isOfNeighbours() ? 2 : size, 0);
      for (int r = 0; r < static_cast<int>(peers.size()); ++r)
        peers[r] = r;
      if (collective.isOfNeighbours()) MPI_Cart_shift(grid, 0, 1, &peers[0], &peers[1]);
      while (std::getline(words, who, ',')) {
        bad = beside = 0;
        for (const Form form : {Form::kBlocking, Form::kNonblocking, last}) {
          tryCall(collective, comm, form, 1, 1);
          tryCall(collective, comm, form, 1, 2);
          tryCall(collective, comm, form, 2, 2);
        }
        line("%s of %d, %s: %d bad, %d beside\n", name.c_str(), count, who.c_str(), bad, beside);
      }
    }
  }
  print_lines();
  MPI_Comm_free(&grid);
  return MPI_Finalize();
}
