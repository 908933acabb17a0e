// A program without knowledge of dedicated ranks: the collectives that they serve, in every form,
// on several communicators, of lengths that need one message and two.
#include <memory>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/checks.h"
#include "tests/runtime/pmpi/mpi_calls/mpi_faults.h"

namespace {

using namespace mpi_calls;
using Calls = std::vector<std::unique_ptr<Call>>;

/// What a call is, for one on elements of another kind, or by another operation.
Shape with(Shape shape, const Reduction& reduction) {
  shape.reduction = reduction;
  return shape;
}

/// Each with each root, in place too, and with the gaps of the program.
void blocking(const Communicator& on, int64_t count) {
  int size = 1;
  MPI_Comm_size(on.handle, &size);
  for (int i = 0; i < kCollectiveCount; ++i) {
    const Collective& collective = collectives()[i];
    for (int turn = 0; turn < (collective.isRooted() ? size : 2); ++turn) {
      Shape shape = simpleShape(collective, Form::kBlocking, count);
      shape.root = turn;
      shape.key = static_cast<uint64_t>(turn);
      shape.in_place = collective.hasInPlace() && turn % 2 == 1;
      if (turn == 0) shape.spellings.push_back(Layout::resized(2, Kind::kDouble));
      avoidFaults(shape, false);
      Call(shape, on).run();
    }
  }
  Call(simpleShape(collectiveCalled("Barrier"), Form::kBlocking, 0), on).run();
}

void finish(Calls& calls) {
  for (const auto& call : calls) {
    checkCall(MPI_Wait(&call->request(), MPI_STATUS_IGNORE), "MPI_Wait");
    call->verify();
  }
}

/// Several at a time.
void nonblocking(const Communicator& on, int64_t count) {
  const auto nonblocking = [&](const char* stem) {
    return simpleShape(collectiveCalled(stem), Form::kNonblocking, count);
  };
  const Shape sum = nonblocking("Allreduce");
  Shape in_place = sum, last = nonblocking("Bcast");
  in_place.in_place = true;
  last.root = 11;  // of 12 ranks at most
  Calls calls;
  for (const Shape& shape : {with(sum, {Meaning::kMax, Layout::predefined(Kind::kDouble)}),
                             in_place, last, nonblocking("Barrier")}) {
    calls.push_back(std::make_unique<Call>(shape, on));
    calls.back()->start();
  }
  finish(calls);
}

/// More than dedicated ranks have room for at a time; some ranks are far ahead of others.
void manyAtOnce(const Communicator& on, int64_t count) {
  constexpr int kCalls = 40;
  int rank = 0;
  MPI_Comm_rank(on.handle, &rank);
  Calls calls;
  for (int i = 0; i < kCalls; ++i) {
    Shape shape = simpleShape(collectiveCalled("Allreduce"), Form::kNonblocking, count);
    shape.key = static_cast<uint64_t>(i);
    calls.push_back(std::make_unique<Call>(shape, on));
  }
  for (int i = 0; i < kCalls; ++i) {
    calls[i]->start();
    // So that servers have room again before the next ones come.
    if (i == kCalls / 2 && rank % 2 == 0) MPI_Wait(&calls[0]->request(), MPI_STATUS_IGNORE);
  }
  finish(calls);
}

void everything(const Communicator& on) {
  const Shape sum = simpleShape(collectiveCalled("Allreduce"), Form::kBlocking, 1);
  for (const int64_t count : {1, 100, 3000}) {
    blocking(on, count);
    nonblocking(on, count);
    manyAtOnce(on, count);
    Call persistent(simpleShape(*sum.collective, Form::kPersistent, count), on);
    for (int round = 0; round < 3; ++round)
      persistent.run();
  }
  Call(with(sum, {Meaning::kMaxLocation, Layout::predefined(Kind::kDoubleInt)}), on).run();
}

/// What dedicated ranks do not know, among what they do.
void ownOperation(const Communicator& on) {
  const Shape sum = simpleShape(collectiveCalled("Allreduce"), Form::kBlocking, 1);
  Call(with(sum, {Meaning::kUserSum, Layout::predefined(Kind::kUint32)}), on).run();
}

void run() {
  const Communicator world{"MPI_COMM_WORLD", MPI_COMM_WORLD};
  everything(world);
  ownOperation(world);

  // The first call on a communicator may be one that does not block.
  Communicator copy{"a copy"};
  MPI_Comm_dup(MPI_COMM_WORLD, &copy.handle);
  Call(simpleShape(collectiveCalled("Allreduce"), Form::kNonblocking, 1), copy).run();
  MPI_Comm_free(&copy.handle);

  // Communicators that come and go, and that meet at servers in different orders.
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 8; ++round) {
    Communicator part{"a part"};
    MPI_Comm_split(MPI_COMM_WORLD, (rank + round) % 2, -rank, &part.handle);
    ownOperation(part);
    blocking(part, 10);
    nonblocking(part, 10);
    MPI_Comm_free(&part.handle);
  }
  Communicator grid{"a grid"};
  int sizes[2] = {0, 0};
  const int periods[2] = {1, 1};
  MPI_Dims_create(size, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid.handle);
  everything(grid);
  MPI_Comm_free(&grid.handle);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  run();
  const int status = summarize("every_collective");
  MPI_Finalize();
  return status;
}
