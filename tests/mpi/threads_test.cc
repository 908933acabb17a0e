// One context used by several threads in turns, under a lock, as the interposer does.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/collectives/call_cache.h"
#include "runtime/collectives/collective.h"
#include "tests/mpi/mapped_job.h"

namespace torc::runtime {
namespace {

using Threads = MappedTest;

/// A thread's communicator, and what it finds wrong: GoogleTest is for the main thread.
struct Member {
  std::unique_ptr<torc_geometry> geometry;
  std::unique_ptr<torc_schedule> schedule;
  std::unique_ptr<CallCache> cache;
  int wrong_results = 0, wrong_messages = 0, failures = 0;
};

struct Shared {
  std::mutex lock;
  torc_context* context = nullptr;
};

std::int32_t value(int rank, int thread, int call, std::int64_t element) {
  return static_cast<std::int32_t>(rank * 1000003 + thread * 10007 + call * 101 + element);
}

void callAgainAndAgain(Shared& shared, Member& member, int thread, int calls) {
  std::mt19937 random(static_cast<unsigned>(thread));  // the same on all ranks
  for (int call = 0; call < calls; ++call) {
    const std::int64_t count = 1 + static_cast<std::int64_t>(random() % 4000);
    std::vector<std::int32_t> in(static_cast<std::size_t>(count)), out(in.size(), -1);
    for (std::int64_t i = 0; i < count; ++i)
      in[static_cast<std::size_t>(i)] = value(worldRank(), thread, call, i);
    CallArguments arguments;
    arguments.in = in.data();
    arguments.out = out.data();
    arguments.count = count;
    arguments.type = MPI_INT32_T;
    arguments.op = MPI_SUM;
    std::optional<torc_collective> running;
    TagRange tags;
    {
      const std::lock_guard<std::mutex> held(shared.lock);
      tags = member.geometry->one_shot_tags.rangeOf(
          TagSpace::hashOf(0, static_cast<std::uint64_t>(call)), member.schedule->tag_count);
      Call checked;
      const bool is_right = check(arguments, worldRank(), worldSize(), checked).ok();
      StatusOr<PersistentPlan*> acquired = member.cache->acquire(member.schedule.get(), checked);
      if (!is_right || !acquired.ok()) {
        ++member.failures;
        return;
      }
      running.emplace(*acquired);
      running->bindTags(tags);
      member.failures += torc_collective_start(&*running) != TORC_OK;
      // A failure of this thread, while others fail and succeed.
      member.failures += torc_collective_start(thread % 2 == 0 ? nullptr : &*running) == TORC_OK;
    }
    for (bool done = false; !done; std::this_thread::yield()) {
      const std::lock_guard<std::mutex> held(shared.lock);
      member.failures += torc_context_advance(shared.context, nullptr) != TORC_OK;
      done = !running->active;
    }
    const std::string message = torc_error_message();
    member.wrong_messages +=
        message != (thread % 2 == 0 ? "torc_collective_start: collective is NULL"
                                    : "torc_collective_start: a round is under way");
    for (std::int64_t i = 0; i < count; ++i) {
      std::int32_t sum = 0;
      for (int rank = 0; rank < worldSize(); ++rank)
        sum += value(rank, thread, call, i);
      member.wrong_results += out[static_cast<std::size_t>(i)] != sum;
    }
    const std::lock_guard<std::mutex> held(shared.lock);
    member.cache->release(running->plan);
  }
}

TEST_F(Threads, AContextUnderALockServesThemAll) {
  constexpr int kThreads = 3;
  mapRanks({});
  Shared shared;
  shared.context = context_;
  CallMemory memory(100000);  // small, so that threads drive out each other's calls
  std::vector<Member> members(kThreads);
  for (Member& member : members) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    auto geometry = torc_geometry::over(context_, comm, *geometry_->topology, {}, geometry_->hosts);
    ASSERT_TRUE(geometry.ok());
    member.geometry = std::move(*geometry);
    auto bound = torc_schedule::bind(member.geometry.get(), schedule("allreduce")->file);
    ASSERT_TRUE(bound.ok());
    member.schedule = std::move(*bound);
    member.cache = std::make_unique<CallCache>(member.geometry.get(), &memory);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { callAgainAndAgain(shared, members[t], t, 40); });
  for (std::thread& thread : threads)
    thread.join();
  for (const Member& member : members) {
    EXPECT_EQ(member.wrong_results, 0);
    EXPECT_EQ(member.wrong_messages, 0);
    EXPECT_EQ(member.failures, 0);
    EXPECT_EQ(member.cache->running(), 0u);
  }
}

}  // namespace
}  // namespace torc::runtime
