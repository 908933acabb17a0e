// The executor on the in-process transport: results, order, restarts, failures.
#include "runtime/execution/executor.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/execution/inprocess_job.h"
#include "runtime/reductions/reduction.h"
#include "tests/runtime/execution/checked_job.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::runtime {
namespace {

template <typename T>
std::span<T> as(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

std::unique_ptr<InProcessJob> makeJob(const Schedule& schedule, const Counts& counts,
                                      const JobOptions& options) {
  StatusOr<std::unique_ptr<InProcessJob>> job =
      InProcessJob::create(schedule.view(), counts, options);
  EXPECT_TRUE(job.ok()) << job.status().message();
  return job.ok() ? std::move(*job) : nullptr;
}

TEST(Executor, SignalsPassWithAndWithoutData) {
  const Schedule schedule = samples::signalledAllgather(4);
  CheckedCall call;
  for (const Delivery delivery :
       {Delivery::kRendezvous, Delivery::kEager, Delivery::kAdversarial}) {
    for (const std::uint64_t count : {0u, 3u}) {
      call.delivery = delivery;
      call.count = count;
      EXPECT_EQ(runChecked(schedule.view(), call), "");
    }
  }
}

TEST(Executor, AllgathervPlacesBlocksAtDisplacements) {
  const std::vector<std::uint64_t> counts = {3, 0, 5, 1};
  const std::vector<std::uint64_t> displacements = {10, 0, 0, 7};
  JobOptions options;
  options.element_bytes = 2;
  auto job = makeJob(samples::meshAllgather(4),
                     {.count = 0, .per_rank = counts, .displacements = displacements}, options);
  ASSERT_NE(job, nullptr);
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    std::ranges::fill(as<std::uint16_t>(job->in(rank)), static_cast<std::uint16_t>(rank + 1));
  }
  ASSERT_TRUE(job->run().ok());
  const std::vector<std::uint16_t> expected = {3, 3, 3, 3, 3, 0, 0, 4, 0, 0, 1, 1, 1};
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const std::span<std::uint16_t> out = as<std::uint16_t>(job->out(rank));
    EXPECT_EQ(std::vector<std::uint16_t>(out.begin(), out.end()), expected) << "rank " << rank;
  }
}

TEST(Executor, FloatSumsAreTheSameBitsOnAllRanksAndInTenRounds) {
  JobOptions options;
  options.delivery = Delivery::kAdversarial;
  options.element_bytes = sizeof(float);
  options.reducer = {reductionKernel(ElementKind::kFloat, ReduceOp::kSum), nullptr};
  auto job = makeJob(samples::multicolorAllreduce("3x4", 2),
                     {.count = 1000, .per_rank = {}, .displacements = {}}, options);
  ASSERT_NE(job, nullptr);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> values(-1e6f, 1e6f);
  for (std::int32_t rank = 0; rank < job->ranks(); ++rank) {
    for (float& value : as<float>(job->in(rank)))
      value = values(random);
  }
  std::vector<std::byte> first;
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(job->run().ok());
    if (round == 0) first.assign(job->out(0).begin(), job->out(0).end());
    for (std::int32_t rank = 0; rank < job->ranks(); ++rank) {
      ASSERT_TRUE(std::ranges::equal(job->out(rank), first))
          << "rank " << rank << ", round " << round;
    }
  }
}

TEST(Executor, TheAdversaryFindsAMissingDependence) {
  // Without dependences a ring sends blocks before it has received them.
  Schedule schedule = samples::ringAllreduce(4);
  for (Operation& operation : schedule.operations)
    operation.dependence_count = 0;
  CheckedCall call;
  call.count = 64;
  call.delivery = Delivery::kAdversarial;
  for (call.seed = 0; call.seed < 20; ++call.seed)
    EXPECT_NE(runChecked(schedule.view(), call), "") << call.seed;
}

// Programs by hand: two ranks, one element each way.

FlatRegion region(FlatProgram& program, Buffer buffer, std::uint64_t offset, std::uint64_t length) {
  program.extents.push_back({offset, length});
  return {buffer, static_cast<std::uint32_t>(program.extents.size()) - 1, 1, length};
}

FlatProgram exchange(std::int32_t rank, bool receive_after_send, std::uint64_t received = 4) {
  FlatProgram program;
  program.rank = rank;
  program.in_elements = 4;
  program.out_elements = received;
  program.tag_count = 1;
  FlatOperation send;
  send.kind = OperationKind::kSend;
  send.peer = 1 - rank;
  send.source = 10;
  send.a = region(program, Buffer::kIn, 0, 4);
  FlatOperation recv;
  recv.kind = OperationKind::kRecv;
  recv.peer = 1 - rank;
  recv.source = 11;
  recv.dst = region(program, Buffer::kOut, 0, received);
  if (receive_after_send) {
    program.dependences.push_back(0);
    recv.dependence_count = 1;
  }
  program.operations = {send, recv};
  return program;
}

Status runTwo(const FlatProgram& a, const FlatProgram& b, Delivery delivery) {
  JobOptions options;
  options.delivery = delivery;
  auto job = InProcessJob::create(std::vector<FlatProgram>{a, b}, options);
  return job.ok() ? (*job)->run() : job.status();
}

TEST(Executor, AScheduleThatNeedsBufferingStandsStillWithoutIt) {
  const FlatProgram a = exchange(0, true), b = exchange(1, true);
  EXPECT_TRUE(runTwo(a, b, Delivery::kEager).ok());
  const Status status = runTwo(a, b, Delivery::kRendezvous);
  EXPECT_EQ(status.code(), StatusCode::kTransport);
  EXPECT_EQ(status.message(),
            "no rank can go on: operation 10 of rank 0 is not complete, nor are those of 1 other "
            "ranks");
}

TEST(Executor, LengthsThatDifferAreReported) {
  for (const Delivery delivery :
       {Delivery::kRendezvous, Delivery::kEager, Delivery::kAdversarial}) {
    const Status status = runTwo(exchange(0, false), exchange(1, false, 3), delivery);
    EXPECT_EQ(status.code(), StatusCode::kMismatch);
    EXPECT_EQ(status.message(),
              "message from rank 0 to rank 1, tag 0: 4 bytes sent, 3 bytes expected");
  }
}

TEST(Executor, ATagUsedTwiceIsReported) {
  FlatProgram a = exchange(0, false);
  a.operations.push_back(a.operations[0]);
  a.operations.back().source = 12;
  const Status status = runTwo(a, exchange(1, false), Delivery::kRendezvous);
  EXPECT_EQ(status.message(),
            "rank 0: message from rank 0 to rank 1, tag 0: the tag is used twice");
}

TEST(Executor, APeerOutsideTheJobIsReported) {
  FlatProgram a = exchange(0, false);
  a.operations[0].peer = 7;
  EXPECT_EQ(runTwo(a, exchange(1, false), Delivery::kRendezvous).code(),
            StatusCode::kInvalidArgument);
}

/// Runs the program of one rank, whose `in` is 1, 2, ..., and sums.
void expectOut(const FlatProgram& program, const std::vector<std::int32_t>& expected) {
  JobOptions options;
  options.element_bytes = sizeof(std::int32_t);
  options.reducer = {reductionKernel(ElementKind::kInt32, ReduceOp::kSum), nullptr};
  auto job = InProcessJob::create(std::vector<FlatProgram>{program}, options);
  ASSERT_TRUE(job.ok());
  const std::span<std::int32_t> in = as<std::int32_t>((*job)->in(0));
  std::iota(in.begin(), in.end(), 1);
  ASSERT_TRUE((*job)->run().ok());
  EXPECT_TRUE(std::ranges::equal(as<std::int32_t>((*job)->out(0)), expected));
}

TEST(Executor, CopiesAndReductionsFollowRunsOfDifferentLengths) {
  // out = in + scratch, where scratch is a copy of `in` rotated by two elements.
  FlatProgram program;
  program.in_elements = program.out_elements = program.scratch_elements = 6;
  auto runs = [&](Buffer buffer, std::vector<StridedExtent> extents) {
    const auto first = static_cast<std::uint32_t>(program.extents.size());
    program.extents.insert(program.extents.end(), extents.begin(), extents.end());
    return FlatRegion{buffer, first, static_cast<std::uint32_t>(extents.size()), 6};
  };
  FlatOperation copy;
  copy.kind = OperationKind::kCopy;
  copy.dst = runs(Buffer::kScratch, {{0, 3}, {3, 3}});
  copy.a = runs(Buffer::kIn, {{2, 4}, {0, 2}});
  FlatOperation reduce;
  reduce.kind = OperationKind::kReduce;
  reduce.dst = runs(Buffer::kOut, {{0, 1}, {1, 5}});
  reduce.a = runs(Buffer::kIn, {{0, 6}});
  reduce.b = runs(Buffer::kScratch, {{0, 2}, {2, 2}, {4, 2}});
  program.dependences = {0};
  reduce.dependence_count = 1;
  program.operations = {copy, reduce};
  expectOut(program, {4, 6, 8, 10, 6, 8});
}

TEST(Executor, CopiesOfAdjoiningMemoryAreJoinedWithoutHarm) {
  // out = in by three copies that adjoin, one that does not, and a sum that needs the second.
  FlatProgram program;
  program.in_elements = program.out_elements = 9;
  program.scratch_elements = 2;
  auto add = [&](OperationKind kind, FlatRegion dst, FlatRegion a, FlatRegion b = {}) {
    FlatOperation operation;
    operation.kind = kind;
    operation.dst = dst;
    operation.a = a;
    operation.b = b;
    program.operations.push_back(operation);
  };
  auto copy = [&](std::uint64_t to, std::uint64_t from, std::uint64_t length) {
    const FlatRegion dst = region(program, Buffer::kOut, to, length);
    add(OperationKind::kCopy, dst, region(program, Buffer::kIn, from, length));
  };
  copy(0, 0, 2);
  copy(2, 2, 2);
  copy(4, 4, 2);
  copy(6, 7, 2);  // adjoins in `out`, not in `in`
  const FlatRegion sum = region(program, Buffer::kScratch, 0, 2);
  add(OperationKind::kReduce, sum, region(program, Buffer::kOut, 2, 2),
      region(program, Buffer::kIn, 2, 2));
  program.operations.back().dependence_count = 1;
  program.dependences = {1, 4};
  const FlatRegion last = region(program, Buffer::kOut, 7, 2);
  add(OperationKind::kCopy, last, sum);
  program.operations.back().first_dependence = 1;
  program.operations.back().dependence_count = 1;
  expectOut(program, {1, 2, 3, 4, 5, 6, 8, 6, 8});
}

TEST(Executor, BuffersBeyondTheAddressSpaceAreRefused) {
  FlatProgram program;
  program.out_elements = std::uint64_t{1} << 62;
  InProcessNetwork network(1, Delivery::kRendezvous);
  Buffers buffers;
  buffers.element_bytes = 16;
  auto executor = Executor::create(program, buffers, {}, network.transport(0));
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().code(), StatusCode::kOverflow);
}

}  // namespace
}  // namespace torc::runtime
