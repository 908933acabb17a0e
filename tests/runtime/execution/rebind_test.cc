// Binding a persistent plan to other memory and another reduction is equivalent to making a new
// plan, and neither allocates memory while it runs.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/execution/inprocess_job.h"
#include "runtime/reductions/reduction.h"
#include "tests/runtime/allocation_counter.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::runtime {
namespace {

constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kBxor, ReduceOp::kMin};

Reducer reducerOf(ReduceOp op) {
  return {reductionKernel(ElementKind::kInt32, op), nullptr};
}

/// The same numbers for the same seed, whatever the memory.
void fill(InProcessJob& job, unsigned seed) {
  std::mt19937 random(seed);
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    for (std::byte& byte : job.in(rank))
      byte = static_cast<std::byte>(random());
  }
}

/// Compares everything that two jobs have written.
std::size_t differences(InProcessJob& a, InProcessJob& b) {
  std::size_t count = 0;
  for (std::int32_t rank = 0; rank < a.ranks(); ++rank)
    count += !std::ranges::equal(a.out(rank), b.out(rank));
  return count;
}

template <typename Make>
void expectRebindingEqualsMakingAnew(Make make, const std::string& what) {
  std::unique_ptr<InProcessJob> used = make(kOps[0]);
  ASSERT_NE(used, nullptr) << what;
  fill(*used, 0);
  ASSERT_TRUE(used->run().ok()) << what;
  for (unsigned round = 1; round < 4; ++round) {
    std::unique_ptr<InProcessJob> fresh = make(kOps[round]);
    fill(*fresh, round);
    const std::byte* before = used->out(0).data();
    used->rebind(reducerOf(kOps[round]));
    EXPECT_TRUE(used->out(0).empty() || used->out(0).data() != before) << what;
    fill(*used, round);
    const std::uint64_t allocations = allocationCount();
    const bool ran = used->run().ok() && fresh->run().ok();
    EXPECT_EQ(allocationCount(), allocations) << what;
    ASSERT_TRUE(ran) << what;
    EXPECT_EQ(differences(*used, *fresh), 0u) << what << ", round " << round;
  }
}

JobOptions options(ReduceOp op, Delivery delivery, bool in_place) {
  JobOptions options;
  options.delivery = delivery;
  options.in_place = in_place;
  options.element_bytes = sizeof(std::int32_t);
  options.reducer = reducerOf(op);
  return options;
}

TEST(Rebind, SchedulesOfAllKinds) {
  std::mt19937 random(1);
  for (const Schedule& schedule : samples::all()) {
    const CollectiveRow& kind = rowOf(schedule.collective);
    for (int trial = 0; trial < 6; ++trial) {
      std::vector<std::uint64_t> per_rank;
      Counts counts;
      counts.count = random() % 200;
      const bool may_differ =
          kind.layout == Layout::kBlockMajor && kind.blocks == BlockSpace::kNode;
      if (may_differ && trial % 2 == 1) {
        for (std::uint64_t rank = 0; rank < schedule.topology.ranks(); ++rank)
          per_rank.push_back(random() % 40);
        counts = {.count = 0, .per_rank = per_rank, .displacements = {}};
      }
      const bool in_place = trial >= 3 && kind.inPlaceAliases();
      const auto delivery = static_cast<Delivery>(trial % 3);
      auto make = [&](ReduceOp op) -> std::unique_ptr<InProcessJob> {
        auto job = InProcessJob::create(schedule.view(), counts, options(op, delivery, in_place));
        EXPECT_TRUE(job.ok()) << job.status().message();
        return job.ok() ? std::move(*job) : nullptr;
      };
      expectRebindingEqualsMakingAnew(make, schedule.name + ", trial " + std::to_string(trial));
    }
  }
}

/// A program of one rank: random reductions and copies between runs of all three buffers, each
/// behind the one before it.
FlatProgram randomProgram(std::mt19937& random) {
  constexpr std::uint64_t kElements = 60;
  FlatProgram program;
  program.in_elements = program.out_elements = program.scratch_elements = kElements;
  // Runs in random places of `buffer`, `elements` in all, none twice.
  auto runs = [&](Buffer buffer, std::uint64_t elements) {
    FlatRegion region{buffer, static_cast<std::uint32_t>(program.extents.size()), 0, elements};
    std::uint64_t at = random() % 4;
    for (std::uint64_t left = elements; left > 0; ++region.extent_count) {
      const std::uint64_t length = std::min<std::uint64_t>(left, 1 + random() % 5);
      program.extents.push_back({at, length});
      at += length + random() % 2;
      left -= length;
    }
    return region;
  };
  const Buffer sources[] = {Buffer::kIn, Buffer::kOut, Buffer::kScratch};
  for (std::uint32_t i = 0; i < 12; ++i) {
    FlatOperation operation;
    operation.source = i;
    operation.kind = random() % 2 == 0 ? OperationKind::kReduce : OperationKind::kCopy;
    const std::uint64_t elements = 1 + random() % 25;
    // What is read is apart from what is written.
    const Buffer to = random() % 2 == 0 ? Buffer::kOut : Buffer::kScratch;
    auto from = [&] {
      Buffer buffer = to;
      while (buffer == to)
        buffer = sources[random() % 3];
      return buffer;
    };
    operation.dst = runs(to, elements);
    operation.a = runs(from(), elements);
    if (operation.kind == OperationKind::kReduce) operation.b = runs(from(), elements);
    if (i > 0) {
      operation.first_dependence = static_cast<std::uint32_t>(program.dependences.size());
      operation.dependence_count = 1;
      program.dependences.push_back(i - 1);
    }
    program.operations.push_back(operation);
  }
  return program;
}

TEST(Rebind, RandomPrograms) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const std::vector<FlatProgram> programs = {randomProgram(random)};
    auto make = [&](ReduceOp op) -> std::unique_ptr<InProcessJob> {
      auto job = InProcessJob::create(programs, options(op, Delivery::kRendezvous, false));
      EXPECT_TRUE(job.ok()) << job.status().message();
      return job.ok() ? std::move(*job) : nullptr;
    };
    expectRebindingEqualsMakingAnew(make, "seed " + std::to_string(seed));
  }
}

TEST(Rebind, BindingAllocatesNothing) {
  if (!allocationsAreCounted()) GTEST_SKIP() << "a sanitizer has its own allocator";
  FlatProgram program;
  program.in_elements = program.out_elements = 4;
  program.extents = {{0, 4}, {0, 4}};
  FlatOperation copy;
  copy.kind = OperationKind::kCopy;
  copy.dst = {Buffer::kOut, 0, 1, 4};
  copy.a = {Buffer::kIn, 1, 1, 4};
  program.operations = {copy};
  std::int32_t in[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, out[2][4] = {};
  auto buffers = [&](int which) {
    Buffers buffers;
    buffers.in = reinterpret_cast<const std::byte*>(in[which]);
    buffers.out = reinterpret_cast<std::byte*>(out[which]);
    buffers.element_bytes = sizeof(std::int32_t);
    return buffers;
  };
  InProcessNetwork network(1, Delivery::kRendezvous);
  auto executor = Executor::create(program, buffers(0), {}, network.transport(0));
  ASSERT_TRUE(executor.ok());
  const std::uint64_t before = allocationCount();
  (*executor)->bind(buffers(1), {});
  const Progress progress = (*executor)->start();
  EXPECT_EQ(allocationCount(), before);
  EXPECT_EQ(progress, Progress::kDone);
  EXPECT_EQ(std::memcmp(out[1], in[1], sizeof(in[1])), 0);
  EXPECT_EQ(out[0][0], 0) << "the first memory is left alone";
  // The counter counts.
  void* volatile block = std::malloc(100);
  std::free(block);
  EXPECT_EQ(allocationCount(), before + 1);
}

}  // namespace
}  // namespace torc::runtime
