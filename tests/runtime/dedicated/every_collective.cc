// A program that knows nothing of dedicated ranks: collectives that these take, in every form, on
// several communicators, of lengths that go in one message and in two.
#include <cstddef>
#include <cstdio>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi4_names.h"

namespace {

int failures = 0;

void expect(bool holds, const char* what, int count) {
  if (holds) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (++failures <= 20) std::printf("rank %d, %d elements: wrong: %s\n", rank, count, what);
}

struct Ranks {
  explicit Ranks(MPI_Comm given) : comm(given) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  MPI_Comm comm;
  int rank = 0, size = 1;
};

using Vector = std::vector<double>;

/// Element `i` of what a rank contributes.
double element(int rank, int i) {
  return rank + i;
}
double sumOf(int size, int i) {
  return size * (size - 1) / 2.0 + static_cast<double>(i) * size;
}

template <typename Wanted>
void expectAll(const Vector& values, const char* what, Wanted wanted) {
  bool holds = true;
  for (std::size_t i = 0; i < values.size(); ++i)
    holds = holds && values[i] == wanted(static_cast<int>(i));
  expect(holds, what, static_cast<int>(values.size()));
}

Vector contribution(const Ranks& ranks, int count) {
  Vector values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)] = element(ranks.rank, i);
  return values;
}

void reductions(const Ranks& ranks, int count) {
  const Vector in = contribution(ranks, count);
  Vector out(in.size());
  MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, ranks.comm);
  expectAll(out, "allreduce", [&](int i) { return sumOf(ranks.size, i); });
  for (int root = 0; root < ranks.size; ++root) {
    out.assign(in.size(), -1);
    MPI_Reduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, root, ranks.comm);
    expectAll(out, "reduce", [&](int i) { return ranks.rank == root ? sumOf(ranks.size, i) : -1; });
  }
  Vector whole(in.size() * static_cast<std::size_t>(ranks.size));
  for (std::size_t i = 0; i < whole.size(); ++i)
    whole[i] = element(ranks.rank, static_cast<int>(i));
  MPI_Reduce_scatter_block(whole.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, ranks.comm);
  expectAll(out, "reduce_scatter_block",
            [&](int i) { return sumOf(ranks.size, ranks.rank * count + i); });
  std::vector<int> counts(static_cast<std::size_t>(ranks.size));
  int before = 0;
  for (int rank = 0; rank < ranks.size; ++rank) {
    counts[static_cast<std::size_t>(rank)] = rank % 3 == 1 ? 0 : count / (1 + rank % 2);
    if (rank < ranks.rank) before += counts[static_cast<std::size_t>(rank)];
  }
  Vector part(static_cast<std::size_t>(counts[static_cast<std::size_t>(ranks.rank)]));
  MPI_Reduce_scatter(whole.data(), part.data(), counts.data(), MPI_DOUBLE, MPI_SUM, ranks.comm);
  expectAll(part, "reduce_scatter", [&](int i) { return sumOf(ranks.size, before + i); });
}

void exchanges(const Ranks& ranks, int count) {
  const Vector in = contribution(ranks, count);
  Vector all(in.size() * static_cast<std::size_t>(ranks.size)), each(all.size()), got(all.size());
  MPI_Allgather(in.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, ranks.comm);
  expectAll(all, "allgather", [&](int i) { return element(i / count, i % count); });
  for (std::size_t i = 0; i < each.size(); ++i)
    each[i] = element(1000 * ranks.rank, static_cast<int>(i));
  MPI_Alltoall(each.data(), count, MPI_DOUBLE, got.data(), count, MPI_DOUBLE, ranks.comm);
  const auto exchanged = [&](int i) {
    return element(1000 * (i / count), ranks.rank * count + i % count);
  };
  expectAll(got, "alltoall", exchanged);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, each.data(), count, MPI_DOUBLE, ranks.comm);
  expectAll(each, "alltoall in place", exchanged);

  // Gaps are the program's.
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  Vector gaps(2 * in.size(), -1);
  if (ranks.rank == 0) {
    for (std::size_t i = 0; i < in.size(); ++i)
      gaps[2 * i] = in[i];
  }
  MPI_Bcast(gaps.data(), 1, column, 0, ranks.comm);
  expectAll(gaps, "bcast of a column", [](int i) { return i % 2 == 0 ? element(0, i / 2) : -1; });
  MPI_Type_free(&column);
  MPI_Barrier(ranks.comm);
}

/// Several at a time.
void nonblocking(const Ranks& ranks, int count) {
  const Vector in = contribution(ranks, count);
  Vector most(in.size()), sum = in, sent(in.size(), ranks.rank == ranks.size - 1 ? 7 : 0);
  MPI_Request requests[4];
  MPI_Iallreduce(in.data(), most.data(), count, MPI_DOUBLE, MPI_MAX, ranks.comm, &requests[0]);
  MPI_Iallreduce(MPI_IN_PLACE, sum.data(), count, MPI_DOUBLE, MPI_SUM, ranks.comm, &requests[1]);
  MPI_Ibcast(sent.data(), count, MPI_DOUBLE, ranks.size - 1, ranks.comm, &requests[2]);
  MPI_Ibarrier(ranks.comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  expectAll(most, "iallreduce", [&](int i) { return element(ranks.size - 1, i); });
  expectAll(sum, "iallreduce in place", [&](int i) { return sumOf(ranks.size, i); });
  expectAll(sent, "ibcast", [](int) { return 7; });
}

/// More than dedicated ranks have room for at a time; some ranks are far ahead of others.
void manyAtOnce(const Ranks& ranks, int count) {
  constexpr int kCalls = 40;
  std::vector<Vector> in, out;
  std::vector<MPI_Request> requests(kCalls, MPI_REQUEST_NULL);
  for (int call = 0; call < kCalls; ++call) {
    in.emplace_back(static_cast<std::size_t>(count), ranks.rank + call);
    out.emplace_back(static_cast<std::size_t>(count));
  }
  for (int call = 0; call < kCalls; ++call) {
    const auto at = static_cast<std::size_t>(call);
    MPI_Iallreduce(in[at].data(), out[at].data(), count, MPI_DOUBLE, MPI_SUM, ranks.comm,
                   &requests[at]);
    // So that servers have room again before the next ones come.
    if (call == kCalls / 2 && ranks.rank % 2 == 0) {
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
  }
  MPI_Waitall(kCalls, requests.data(), MPI_STATUSES_IGNORE);
  for (int call = 0; call < kCalls; ++call) {
    expectAll(out[static_cast<std::size_t>(call)], "one of many at once",
              [&](int) { return sumOf(ranks.size, call); });
  }
}

void persistent(const Ranks& ranks, int count) {
  Vector in(static_cast<std::size_t>(count)), out(in.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, ranks.comm, MPI_INFO_NULL,
                     &request);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < count; ++i)
      in[static_cast<std::size_t>(i)] = element(ranks.rank, i + round);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expectAll(out, "persistent allreduce", [&](int i) { return sumOf(ranks.size, i + round); });
  }
  MPI_Request_free(&request);
}

void everything(MPI_Comm comm) {
  const Ranks ranks(comm);
  for (const int count : {1, 100, 3000}) {
    reductions(ranks, count);
    exchanges(ranks, count);
    nonblocking(ranks, count);
    persistent(ranks, count);
    manyAtOnce(ranks, count);
  }
  struct {
    double value;
    int index;
  } pair = {static_cast<double>(ranks.rank % 3), ranks.rank}, most = {-1, -1};
  MPI_Allreduce(&pair, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  const int wanted = ranks.size < 3 ? ranks.size - 1 : 2;
  expect(most.value == wanted && most.index == wanted, "maxloc", 1);
}

void addAll(void* in, void* out, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i)
    static_cast<int*>(out)[i] += static_cast<int*>(in)[i];
}

/// What dedicated ranks do not know, among what they do.
void ownOperation(const Ranks& ranks) {
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create(&addAll, 1, &own);
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, own, ranks.comm);
  expect(sum == ranks.size, "allreduce by an operation of the program", 1);
  MPI_Op_free(&own);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const Ranks world(MPI_COMM_WORLD);
  everything(MPI_COMM_WORLD);
  ownOperation(world);

  // The first call on a communicator may be one that does not block.
  MPI_Comm copy = MPI_COMM_NULL, grid = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  int one = 1, sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sum == world.size, "the first call on a copy", 1);

  // Communicators that come and go, and that meet at servers in different orders.
  for (int round = 0; round < 8; ++round) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, (world.rank + round) % 2, -world.rank, &part);
    ownOperation(Ranks(part));
    reductions(Ranks(part), 10);
    nonblocking(Ranks(part), 10);
    MPI_Comm_free(&part);
  }
  int sizes[2] = {0, 0};
  const int periods[2] = {1, 1};
  MPI_Dims_create(world.size, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  everything(grid);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&copy);

  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world.rank == 0) std::printf("%d ranks, %d failures\n", world.size, all);
  MPI_Finalize();
  return all != 0;
}
