// A queue of tasks for several threads; a task may add further ones.
#ifndef TORC_SUPPORT_WORK_QUEUE_H_
#define TORC_SUPPORT_WORK_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace torc {

class WorkQueue {
 public:
  using Task = std::function<void()>;

  /// Appends a task; started work is finished before new work.
  void add(Task task);
  /// Prepends the next part of started work.
  void addNext(Task task);

  /// Runs the tasks in `threads` >= 1 threads, including this one, until none is left. If the
  /// system provides fewer threads, these run all tasks; within a task of another queue, this one.
  void run(unsigned threads);

  /// Drops the tasks that have not started.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  unsigned running_ = 0;  // tasks
};

}  // namespace torc

#endif  // TORC_SUPPORT_WORK_QUEUE_H_
