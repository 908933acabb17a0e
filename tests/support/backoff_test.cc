// Backoff: a wait beside a computing thread sleeps; a wait on an idle core does not.
#include "support/backoff.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace torc {
namespace {

/// How often the thread has slept.
long sleeps() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

void stayOnFirstCore() {
  cpu_set_t allowed, first;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  CPU_ZERO(&first);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++core)
    if (CPU_ISSET(core, &allowed)) CPU_SET(core, &first);
  ASSERT_EQ(sched_setaffinity(0, sizeof(first), &first), 0);
}

TEST(BackoffTest, NapsBesideOneThatComputes) {
  std::thread waiter([] {
    stayOnFirstCore();
    std::atomic<bool> ends{false};
    std::thread computes([&] {  // on the same core
      while (!ends.load(std::memory_order_relaxed)) {
      }
    });
    const long before = sleeps();
    // Without naps this has no end.
    for (Backoff wait; sleeps() < before + 10;)
      wait.afterLook();
    ends.store(true);
    computes.join();
  });
  waiter.join();
}

TEST(BackoffTest, FirstLooksOfAWaitSpin) {
  const long before = sleeps();
  Backoff wait;
  for (unsigned look = 0; look < 1'000'000; ++look)
    wait.afterLook(1'000'000);
  EXPECT_EQ(sleeps(), before);
}

}  // namespace
}  // namespace torc
