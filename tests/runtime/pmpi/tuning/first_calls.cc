// Calls of many signatures, each often enough that a trial of it comes to an end, in turns, with
// other calls between them: sums of several sizes, in place and not, operations that do not
// commute, rooted collectives from and to changing roots, all others, on MPI_COMM_WORLD, a copy of
// it and its pairs of ranks; a signature of which a few calls are made and the rest much later;
// nonblocking calls that are under way meanwhile. Every result is checked. Exit status 1: one was
// wrong.
//
//   first_calls CALLS
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <mpi.h>

namespace {

using Numbers = std::vector<std::int64_t>;

bool is_right = true;

void expect(bool right, const char* what, int turn) {
  if (right) return;
  if (is_right) std::fprintf(stderr, "first_calls: %s, turn %d: wrong result\n", what, turn);
  is_right = false;
}

/// A communicator, with this rank and the number of all.
struct On {
  MPI_Comm comm;
  int rank = 0, size = 1;

  explicit On(MPI_Comm of) : comm(of) {
    MPI_Comm_rank(of, &rank);
    MPI_Comm_size(of, &size);
  }
};

/// What a rank gives in this turn.
std::int64_t given(int rank, int turn, std::size_t i) {
  return 1000 * rank + 7 * turn + static_cast<std::int64_t>(i);
}

Numbers given(int rank, int turn, std::size_t count, std::size_t first) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = given(rank, turn, first + i);
  return numbers;
}

Numbers sum(int ranks, int turn, std::size_t count, std::size_t first = 0) {
  Numbers numbers(count);
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] += given(rank, turn, first + i);
  }
  return numbers;
}

void allreduce(const On& on, int count, int turn) {
  Numbers out = given(on.rank, turn, static_cast<std::size_t>(count), 0), in = out;
  const bool in_place = turn % 3 == 0;
  if (!in_place) out.assign(out.size(), -1);
  MPI_Allreduce(in_place ? MPI_IN_PLACE : in.data(), out.data(), count, MPI_INT64_T, MPI_SUM,
                on.comm);
  expect(out == sum(on.size, turn, out.size()), "MPI_Allreduce", turn);
}

// x -> a x + b, modulo 2^32: what comes first does.
struct Map {
  std::uint32_t a, b;
  bool operator==(const Map&) const = default;
};

Map after(Map first, Map second) {
  return {first.a * second.a, first.b * second.a + second.b};
}

void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const Map*>(in);
  auto* right = static_cast<Map*>(inout);
  for (int i = 0; i < *count; ++i)
    right[i] = after(left[i], right[i]);
}

void ordered(const On& on, MPI_Datatype type, MPI_Op op, int turn) {
  const auto map = [&](int rank) {
    return Map{static_cast<std::uint32_t>(2 * rank + 3), static_cast<std::uint32_t>(turn + rank)};
  };
  Map all = map(0), prefix = map(0);
  for (int rank = 1; rank < on.size; ++rank) {
    all = after(all, map(rank));
    if (rank <= on.rank) prefix = after(prefix, map(rank));
  }
  const Map in = map(on.rank);
  Map out = {};
  MPI_Allreduce(&in, &out, 1, type, op, on.comm);
  expect(out == all, "MPI_Allreduce in the order of ranks", turn);
  MPI_Scan(&in, &out, 1, type, op, on.comm);
  expect(out == prefix, "MPI_Scan in the order of ranks", turn);
}

void rooted(const On& on, int turn) {
  constexpr int kCount = 5;
  const int root = turn % on.size;
  const Numbers mine = given(on.rank, turn, kCount, 0);
  Numbers out = on.rank == root ? mine : Numbers(kCount, -1);
  MPI_Bcast(out.data(), kCount, MPI_INT64_T, root, on.comm);
  expect(out == given(root, turn, kCount, 0), "MPI_Bcast", turn);

  out.assign(kCount, -1);
  MPI_Reduce(mine.data(), out.data(), kCount, MPI_INT64_T, MPI_SUM, root, on.comm);
  if (on.rank == root) expect(out == sum(on.size, turn, kCount), "MPI_Reduce", turn);

  Numbers all(static_cast<std::size_t>(kCount * on.size), -1);
  MPI_Gather(mine.data(), kCount, MPI_INT64_T, all.data(), kCount, MPI_INT64_T, root, on.comm);
  for (int rank = 0; rank < on.size && on.rank == root; ++rank) {
    const Numbers block(all.begin() + rank * kCount, all.begin() + (rank + 1) * kCount);
    expect(block == given(rank, turn, kCount, 0), "MPI_Gather", turn);
  }
  all = given(root, turn, all.size(), 0);
  MPI_Scatter(all.data(), kCount, MPI_INT64_T, out.data(), kCount, MPI_INT64_T, root, on.comm);
  expect(out == given(root, turn, kCount, static_cast<std::size_t>(on.rank * kCount)),
         "MPI_Scatter", turn);
}

void exchanges(const On& on, int turn) {
  constexpr std::size_t kCount = 3;
  const auto ranks = static_cast<std::size_t>(on.size), me = static_cast<std::size_t>(on.rank);
  const Numbers mine = given(on.rank, turn, kCount * ranks, 0);
  Numbers all(kCount * ranks, -1);
  MPI_Alltoall(mine.data(), kCount, MPI_INT64_T, all.data(), kCount, MPI_INT64_T, on.comm);
  Numbers wanted;
  for (int rank = 0; rank < on.size; ++rank) {
    for (const std::int64_t number : given(rank, turn, kCount, kCount * me))
      wanted.push_back(number);
  }
  expect(all == wanted, "MPI_Alltoall", turn);

  // Rank r gives r + 1 numbers: the counts of ranks differ, and the whole is the same to all.
  std::vector<int> counts(ranks), places(ranks);
  std::iota(counts.begin(), counts.end(), 1);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  all.assign(static_cast<std::size_t>(places.back() + counts.back()), -1);
  MPI_Allgatherv(mine.data(), counts[me], MPI_INT64_T, all.data(), counts.data(), places.data(),
                 MPI_INT64_T, on.comm);
  wanted.clear();
  for (int rank = 0; rank < on.size; ++rank) {
    for (const std::int64_t number : given(rank, turn, static_cast<std::size_t>(rank + 1), 0))
      wanted.push_back(number);
  }
  expect(all == wanted, "MPI_Allgatherv", turn);

  Numbers own(kCount, -1);
  MPI_Reduce_scatter_block(mine.data(), own.data(), kCount, MPI_INT64_T, MPI_SUM, on.comm);
  expect(own == sum(on.size, turn, kCount, kCount * me), "MPI_Reduce_scatter_block", turn);

  // Of pairs whose counts differ nobody knows the size: not tried, but served as ever.
  std::vector<int> to(ranks, on.rank), to_places(ranks, 0);
  std::vector<int> from(ranks), from_places(ranks);
  std::iota(from.begin(), from.end(), 0);
  std::exclusive_scan(from.begin(), from.end(), from_places.begin(), 0);
  all.assign(ranks * ranks, -1);
  wanted = all;
  MPI_Alltoallv(mine.data(), to.data(), to_places.data(), MPI_INT64_T, all.data(), from.data(),
                from_places.data(), MPI_INT64_T, on.comm);
  for (int rank = 0; rank < on.size; ++rank) {
    for (int i = 0; i < rank; ++i) {
      wanted[static_cast<std::size_t>(from_places[static_cast<std::size_t>(rank)] + i)] =
          given(rank, turn, static_cast<std::size_t>(i));
    }
  }
  expect(all == wanted, "MPI_Alltoallv", turn);
  MPI_Barrier(on.comm);
}

void run(int calls) {
  const On world(MPI_COMM_WORLD);
  MPI_Comm copy = MPI_COMM_NULL, pair = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, world.rank / 2, world.rank, &pair);
  const On others(copy), two(pair);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&compose, 0, &op);
  constexpr int kLong = 20000;
  for (int turn = 0; turn < calls; ++turn) {
    // Under way while others are tried, on the same communicator and on another one.
    std::int64_t mine[2] = {turn, world.rank}, ours[2] = {-1, -1};
    MPI_Request requests[2];
    MPI_Iallreduce(&mine[0], &ours[0], 1, MPI_INT64_T, MPI_SUM, others.comm, &requests[0]);
    allreduce(world, 1, turn);
    allreduce(world, 300, turn);
    MPI_Iallreduce(&mine[1], &ours[1], 1, MPI_INT64_T, MPI_SUM, world.comm, &requests[1]);
    allreduce(others, 700, turn);
    rooted(world, turn);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(ours[0] == std::int64_t{world.size} * turn, "MPI_Iallreduce on a copy", turn);
    expect(ours[1] == std::int64_t{world.size} * (world.size - 1) / 2, "MPI_Iallreduce", turn);
    // A size of which there are few calls at first, and the others at the end.
    if (turn < 5 || turn >= calls / 2) allreduce(world, 17, turn);
    if (turn % 8 == 0) allreduce(world, kLong, turn);
    ordered(world, type, op, turn);
    exchanges(world, turn);
    // Only some ranks have these two between their other calls.
    if (two.size == 2 && world.rank < 2) allreduce(two, 40, turn);
    if (two.size == 2 && world.rank < 2) allreduce(two, 40, turn + 1);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Comm_free(&pair);
  MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run(std::atoi(argv[1]));
  MPI_Finalize();
  return is_right ? 0 : 1;
}
