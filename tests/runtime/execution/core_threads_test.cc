// Core threads execute every part once, return all withdrawn parts, and change no bit.
#include "runtime/execution/core_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/execution/inprocess_job.h"
#include "runtime/reductions/reduction.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::runtime {
namespace {

/// Counts how often each part is done.
class CountedTasks : public CoreTasks {
 public:
  CountedTasks(std::uint32_t tasks, std::uint32_t parts) : times_(tasks * parts), parts_(parts) {
    for (std::uint32_t id = 0; id < tasks; ++id)
      this->tasks.emplace_back(id, parts);
  }
  void doPart(const CoreTask& task, std::uint32_t part) override {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    ++times_[task.id * parts_ + part];
  }
  /// Of all parts: the least and the most times that one was done.
  std::pair<int, int> times() const {
    const auto [least, most] = std::ranges::minmax_element(times_);
    return {*least, *most};
  }

  std::vector<CoreTask> tasks;

 private:
  std::vector<std::atomic<int>> times_;
  std::uint32_t parts_;
};

void giveAll(CoreThreads& threads, CountedTasks& owner) {
  for (CoreTask& task : owner.tasks)
    threads.give(owner, task);
}

TEST(CoreThreads, EveryPartIsDoneOnce) {
  CoreThreads threads(3);
  EXPECT_EQ(threads.count(), 3u);
  CountedTasks one(5, 7), other(40, 1);
  for (int round = 1; round < 4; ++round) {
    giveAll(threads, one);
    giveAll(threads, other);
    std::vector<int> finished(5);
    unsigned of_one = 0, of_other = 0;
    while (of_one < 5 || of_other < 40) {
      of_one += threads.collect(one, [&](std::uint32_t id) { ++finished[id]; });
      of_other += threads.collect(other, [](std::uint32_t) {});
      threads.help();
    }
    EXPECT_EQ(finished, std::vector<int>(5, 1));
    EXPECT_EQ(one.times(), std::pair(round, round));
    EXPECT_EQ(other.times(), std::pair(round, round));
    EXPECT_FALSE(threads.help());
    // Long enough that threads sleep.
    if (round == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(CoreThreads, NothingIsDoneOnceItIsWithdrawn) {
  CoreThreads threads(2);
  // Until it is withdrawn before all is done.
  for (int round = 0, least = 1; least > 0; ++round) {
    ASSERT_LT(round, 100) << "all is done before it is withdrawn";
    CountedTasks one(20, 10), other(20, 1);
    giveAll(threads, one);
    giveAll(threads, other);
    threads.withdraw(one);
    const auto withdrawn = one.times();
    least = withdrawn.first;
    EXPECT_LE(withdrawn.second, 1);
    for (unsigned count = 0; count < 20;)
      count += threads.collect(other, [](std::uint32_t) {});
    EXPECT_EQ(one.times(), withdrawn);
    EXPECT_EQ(threads.collect(one, [](std::uint32_t) {}), 0u);
    EXPECT_EQ(other.times(), std::pair(1, 1));
  }
}

Counts vectorOf(std::uint64_t elements) {
  Counts counts;
  counts.count = elements;
  return counts;
}

/// The same numbers for the same seed, whose sum is another in another order.
void fill(InProcessJob& job, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    const std::span<std::byte> in = job.in(rank);
    for (std::size_t at = 0; at < in.size(); at += sizeof(double)) {
      const double number = draw(random);
      std::memcpy(in.data() + at, &number, sizeof(number));
    }
  }
}

TEST(CoreThreads, BitsAreThoseOfOneCore) {
  CoreThreads threads(2);
  for (const Schedule& schedule :
       {samples::multicolorAllreduce("3x2"), samples::segmentedAllreduce(4)}) {
    for (const Delivery delivery : {Delivery::kRendezvous, Delivery::kAdversarial}) {
      const auto make = [&](CoreThreads* cores) {
        JobOptions options;
        options.delivery = delivery;
        options.seed = 5;
        options.element_bytes = sizeof(double);
        options.reducer = {reductionKernel(ElementKind::kDouble, ReduceOp::kSum), nullptr};
        options.cores = cores;
        return std::move(*InProcessJob::create(schedule.view(), vectorOf(500'001), options));
      };
      const std::unique_ptr<InProcessJob> alone = make(nullptr), shared = make(&threads);
      for (unsigned round = 0; round < 3; ++round) {
        for (InProcessJob* job : {alone.get(), shared.get()}) {
          fill(*job, round);
          const Status status = job->run();
          ASSERT_TRUE(status.ok()) << status.message();
        }
        for (std::int32_t rank = 0; rank < alone->ranks(); ++rank)
          EXPECT_TRUE(std::ranges::equal(alone->out(rank), shared->out(rank)));
      }
    }
  }
}

// Copies that adjoin become one, which a thread does: who waits for the second waits for that.
TEST(CoreThreads, JoinedCopiesAreWaitedFor) {
  samples::ScheduleWriter writer(Collective::kAllgather, "2");
  const std::uint32_t part = writer.color("X", 1, 1, 2);
  const Box own = samples::boxOf(Interval::relative(0));
  const Box other = samples::boxOf(Interval::relative(1));
  const std::uint32_t up = writer.shift(0, 1);
  std::uint32_t copies[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    copies[i] = writer.add(writer.stream(part + i),
                           samples::copy(writer.out(part + i, own), writer.in(part + i, own)));
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    writer.add(i, samples::recv(writer.out(part + i, other), up));
    writer.add(i, samples::send(writer.out(part + i, own), up), {copies[i]});
  }
  const Schedule schedule = writer.take();
  CoreThreads threads(1);
  JobOptions options;
  options.element_bytes = sizeof(double);
  options.cores = &threads;
  for (unsigned round = 0; round < 20; ++round) {
    auto job = InProcessJob::create(schedule.view(), vectorOf(1'000'000), options);
    ASSERT_TRUE(job.ok()) << job.status().message();
    fill(**job, round);
    ASSERT_TRUE((*job)->run().ok());
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      for (std::int32_t from = 0; from < 2; ++from) {
        const std::span<std::byte> block = (*job)->in(from);
        EXPECT_TRUE(std::ranges::equal(
            (*job)->out(rank).subspan(static_cast<std::size_t>(from) * block.size(), block.size()),
            block));
      }
    }
  }
}

// What a program has made of its own may know nothing of threads.
TEST(CoreThreads, FunctionsOfTheProgramStayWithTheCaller) {
  static std::atomic<int> elsewhere;
  static std::thread::id caller;
  caller = std::this_thread::get_id();
  elsewhere = 0;
  const auto add = [](void* dst, const void* a, const void* b, std::size_t count, const void*) {
    if (std::this_thread::get_id() != caller) ++elsewhere;
    reductionKernel(ElementKind::kDouble, ReduceOp::kSum)(dst, a, b, count, nullptr);
  };
  CoreThreads threads(2);
  JobOptions options;
  options.element_bytes = sizeof(double);
  options.reducer = {add, &elsewhere};
  options.cores = &threads;
  const Schedule schedule = samples::multicolorAllreduce("3x2");
  auto job = InProcessJob::create(schedule.view(), vectorOf(500'001), options);
  ASSERT_TRUE(job.ok());
  fill(**job, 1);
  EXPECT_TRUE((*job)->run().ok());
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
}  // namespace torc::runtime
