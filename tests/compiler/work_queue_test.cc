// The queue of tasks that threads work off.
#include "compiler/work_queue.h"

#include <atomic>
#include <functional>

#include <gtest/gtest.h>

namespace torc::compiler {
namespace {

TEST(WorkQueue, RunsAllTasksAndThoseThatTheyAdd) {
  for (const unsigned threads : {1u, 2u, 7u}) {
    WorkQueue queue;
    std::atomic<int> count = 0;
    std::function<void(int)> task = [&](int depth) {
      ++count;
      for (int i = 0; depth > 0 && i < 3; ++i)
        queue.addNext([&task, depth] { task(depth - 1); });
    };
    for (int i = 0; i < 10; ++i)
      queue.add([&] { task(3); });
    queue.run(threads);
    EXPECT_EQ(count, 10 * (1 + 3 + 9 + 27)) << threads << " threads";
    queue.run(threads);  // nothing left
  }
}

TEST(WorkQueue, StopDropsWhatHasNotBegun) {
  WorkQueue queue;
  int count = 0;
  for (int i = 0; i < 5; ++i) {
    queue.add([&] {
      if (++count == 2) queue.stop();
    });
  }
  queue.run(1);
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace torc::compiler
