#include "tests/runtime/pmpi/programs/activities/groups.h"

#include <algorithm>
#include <memory>
#include <string>

#include "tests/runtime/pmpi/programs/random/record.h"

namespace programs {
namespace {

/// A call on 64-bit numbers, blocking or not.
class GroupExchange : public Activity {
 public:
  GroupExchange(int number, std::string name, size_t sent, size_t received)
      : Activity(number),
        in(sent),
        out(received, kUntouched),
        expected(out),
        name_(std::move(name)) {}

  static constexpr uint64_t kUntouched = 0x5555;
  std::vector<uint64_t> in, out, expected;

  void finish() override {
    const auto [at, other] = std::mismatch(out.begin(), out.end(), expected.begin());
    if (at != out.end())
      fail(number(), name_ + " is wrong at element " + std::to_string(at - out.begin()));
    for (const uint64_t value : out)
      addHash(number(), value);
  }
  std::string describe() const override { return name_; }

 private:
  std::string name_;
};

/// One of two halves of a communicator, and what they are to each other.
struct Half {
  MPI_Comm between = MPI_COMM_NULL;
  int rank = 0;
  std::vector<int> own, others;  // ranks of the communicator
  bool is_first = false;
};

Half cut(const Communicator& communicator, bool by_parity, int number) {
  Half half;
  const int size = communicator.size();
  const auto sideOf = [&](int rank) { return by_parity ? rank % 2 : rank < size / 2 ? 0 : 1; };
  const int side = sideOf(communicator.rank);
  for (int rank = 0; rank < size; ++rank)
    (sideOf(rank) == side ? half.own : half.others).push_back(rank);
  MPI_Comm local;
  check(MPI_Comm_split(communicator.handle, side, communicator.rank, &local), number,
        "MPI_Comm_split");
  MPI_Comm_rank(local, &half.rank);
  half.is_first = side == 0;
  check(
      MPI_Intercomm_create(local, 0, communicator.handle, half.others.front(), 1001, &half.between),
      number, "MPI_Intercomm_create");
  MPI_Comm_free(&local);
  return half;
}

/// `way`: which collective. `key`: its data.
void call(const Half& half, int way, bool waits_later, int count, uint64_t key, int number,
          Pending& pending) {
  const auto value = [&](int rank, int64_t i) { return mix(key, rank, i); };
  const int me = half.own[half.rank];
  const size_t others = half.others.size();
  const auto start = [&](const char* name, size_t sent, size_t received) {
    auto exchange = std::make_unique<GroupExchange>(
        number, std::string(name) + " between two groups", sent, received);
    for (size_t i = 0; i < sent; ++i)
      exchange->in[i] = value(me, static_cast<int64_t>(i));
    return exchange;
  };
  std::unique_ptr<GroupExchange> exchange;
  int code = MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Comm comm = half.between;
  if (way == 0) {
    exchange = start("MPI_Allreduce", count, count);
    std::fill(exchange->expected.begin(), exchange->expected.end(), 0);
    for (const int rank : half.others)
      for (int i = 0; i < count; ++i)
        exchange->expected[i] += value(rank, i);
    code = waits_later ? MPI_Iallreduce(exchange->in.data(), exchange->out.data(), count,
                                        MPI_UINT64_T, MPI_SUM, comm, &request)
                       : MPI_Allreduce(exchange->in.data(), exchange->out.data(), count,
                                       MPI_UINT64_T, MPI_SUM, comm);
  } else if (way == 1) {
    exchange = start("MPI_Allgather", count, count * others);
    for (size_t other = 0; other < others; ++other)
      for (int i = 0; i < count; ++i)
        exchange->expected[other * count + i] = value(half.others[other], i);
    code = waits_later ? MPI_Iallgather(exchange->in.data(), count, MPI_UINT64_T,
                                        exchange->out.data(), count, MPI_UINT64_T, comm, &request)
                       : MPI_Allgather(exchange->in.data(), count, MPI_UINT64_T,
                                       exchange->out.data(), count, MPI_UINT64_T, comm);
  } else if (way == 2) {
    // Rank 0 of the first half has the data: MPICH 4.0.2's MPI_Ibcast knows no other root.
    exchange = start("MPI_Bcast", 0, count);
    const bool is_root = half.is_first && half.rank == 0;
    const int root = !half.is_first ? 0 : is_root ? MPI_ROOT : MPI_PROC_NULL;
    for (int i = 0; i < count; ++i) {
      if (is_root || !half.is_first)
        exchange->expected[i] = value(half.is_first ? me : half.others[0], i);
      if (is_root) exchange->out[i] = exchange->expected[i];
    }
    code = waits_later ? MPI_Ibcast(exchange->out.data(), count, MPI_UINT64_T, root, comm, &request)
                       : MPI_Bcast(exchange->out.data(), count, MPI_UINT64_T, root, comm);
  } else {
    exchange = start("MPI_Barrier", 0, 0);
    code = waits_later ? MPI_Ibarrier(comm, &request) : MPI_Barrier(comm);
  }
  check(code, number, exchange->describe());
  exchange->request = request;
  if (waits_later)
    pending.add(std::move(exchange));
  else
    exchange->finish();
}

}  // namespace

void talkBetweenHalves(Random& common, const Communicator& communicator, int number,
                       Pending& pending) {
  const bool by_parity = common.chance(50);
  struct Drawn {
    int way;
    bool waits_later;
    int count;
    uint64_t key;
  };
  std::vector<Drawn> calls(common.between(1, 3));
  for (Drawn& one : calls)
    one = {common.below(4), common.chance(50), common.between(1, 400), common.next()};
  if (!communicator.hasMe() || communicator.size() < 2) return;
  Half half = cut(communicator, by_parity, number);
  for (const Drawn& one : calls)
    call(half, one.way, one.waits_later, one.count, one.key, number, pending);
  check(MPI_Comm_free(&half.between), number, "MPI_Comm_free between two groups");
}

void tellNeighbors(Random& common, const Communicator& communicator, int number, Pending& pending) {
  const bool waits_later = common.chance(50);
  const int count = common.between(1, 400);
  const uint64_t key = common.next();
  if (!communicator.hasMe() || !communicator.is_grid) return;
  const auto value = [&](int rank, int i) { return mix(key, rank, i); };
  auto exchange =
      std::make_unique<GroupExchange>(number, "MPI_Neighbor_allgather", count, 4 * count);
  for (int i = 0; i < count; ++i)
    exchange->in[i] = value(communicator.rank, i);
  for (int dimension = 0; dimension < 2; ++dimension) {
    int neighbors[2];
    MPI_Cart_shift(communicator.handle, dimension, 1, &neighbors[0], &neighbors[1]);
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < count && neighbors[side] != MPI_PROC_NULL; ++i)
        exchange->expected[(2 * dimension + side) * count + i] = value(neighbors[side], i);
  }
  uint64_t* in = exchange->in.data();
  uint64_t* out = exchange->out.data();
  const MPI_Comm comm = communicator.handle;
  check(waits_later
            ? MPI_Ineighbor_allgather(in, count, MPI_UINT64_T, out, count, MPI_UINT64_T, comm,
                                      &exchange->request)
            : MPI_Neighbor_allgather(in, count, MPI_UINT64_T, out, count, MPI_UINT64_T, comm),
        number, exchange->describe());
  if (waits_later)
    pending.add(std::move(exchange));
  else
    exchange->finish();
}

}  // namespace programs
