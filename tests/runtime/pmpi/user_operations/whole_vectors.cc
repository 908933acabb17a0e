// whole_vectors [cut]: a user-defined operation that relies on whole vectors of a predefined
// datatype, which MPI does not promise. It corrupts the sum if it gets less than a vector, or in a
// reduce_scatter less than blocks, once as a commutative operation and once as a non-commutative
// one. With `cut` the program fails unless some vector was cut.
#include <cstdio>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi4_names.h"

namespace {

using Vector = std::vector<double>;

int unit = 0;  // elements that belong together
int cuts = 0;  // times that an operation was given something else
int faults = 0;
int rank = 0, ranks = 1;

void add(void* in, void* out, int* count, MPI_Datatype*) {
  const auto* a = static_cast<const double*>(in);
  auto* b = static_cast<double*>(out);
  const bool is_whole = *count % unit == 0;
  if (!is_whole) ++cuts;
  for (int i = 0; i < *count; ++i)
    b[i] = is_whole ? b[i] + a[i] : -1;
}

/// The sum of rank + 1 over the first ranks.
double sumOf(int first) {
  return first * (first + 1) / 2.0;
}

void fail(const char* what, int count, int element) {
  if (faults++ < 3) std::printf("rank %d: %s of %d: element %d\n", rank, what, count, element);
}

void expectSum(const char* what, const Vector& got, int count, int first) {
  for (int i = 0; i < count; ++i) {
    if (got[static_cast<std::size_t>(i)] == sumOf(first) + first * (i % unit % 7)) continue;
    return fail(what, count, i);
  }
}

void sums(int count, MPI_Op op) {
  Vector in(static_cast<std::size_t>(count * ranks)), out = in;
  for (int i = 0; i < count * ranks; ++i)
    in[static_cast<std::size_t>(i)] = rank + 1 + i % count % 7;
  unit = count;
  const auto call = [&](auto function, auto... rest) {
    return function(in.data(), out.data(), count, MPI_DOUBLE, op, rest...);
  };
  MPI_Request request = MPI_REQUEST_NULL;

  call(MPI_Allreduce, MPI_COMM_WORLD);
  expectSum("MPI_Allreduce", out, count, ranks);
  out = in;
  MPI_Allreduce(MPI_IN_PLACE, out.data(), count, MPI_DOUBLE, op, MPI_COMM_WORLD);
  expectSum("MPI_Allreduce in place", out, count, ranks);
  call(MPI_Iallreduce, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expectSum("MPI_Iallreduce", out, count, ranks);
  call(MPI_Allreduce_init, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expectSum("MPI_Allreduce_init", out, count, ranks);
  }
  MPI_Request_free(&request);
  call(MPI_Reduce, ranks - 1, MPI_COMM_WORLD);
  if (rank == ranks - 1) expectSum("MPI_Reduce", out, count, ranks);
  call(MPI_Ireduce, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) expectSum("MPI_Ireduce", out, count, ranks);
  call(MPI_Scan, MPI_COMM_WORLD);
  expectSum("MPI_Scan", out, count, rank + 1);
  call(MPI_Exscan, MPI_COMM_WORLD);
  if (rank > 0) expectSum("MPI_Exscan", out, count, rank);
  call(MPI_Reduce_scatter_block, MPI_COMM_WORLD);
  expectSum("MPI_Reduce_scatter_block", out, count, ranks);
  std::vector<int> counts;
  for (int r = 0; r < ranks; ++r)
    counts.push_back(r % 2 == 1 ? 2 * count : r == ranks - 1 ? count : 0);
  MPI_Reduce_scatter(in.data(), out.data(), counts.data(), MPI_DOUBLE, op, MPI_COMM_WORLD);
  expectSum("MPI_Reduce_scatter", out, counts[static_cast<std::size_t>(rank)], ranks);
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_cut = count > 1 && std::string_view(arguments[1]) == "cut";
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op sum = MPI_OP_NULL, sum_in_order = MPI_OP_NULL;
  MPI_Op_create(add, 1, &sum);
  MPI_Op_create(add, 0, &sum_in_order);
  for (const int size : {5, 95, 1805, 34295, 137180}) {
    sums(size, sum);
    sums(size, sum_in_order);
  }
  MPI_Op_free(&sum);
  MPI_Op_free(&sum_in_order);
  int all_cuts = 0;
  MPI_Allreduce(&cuts, &all_cuts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (is_cut) return all_cuts == 0;
  return faults > 0 || all_cuts > 0;
}
