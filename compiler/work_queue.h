// A queue of tasks that threads work on; a task may add further ones.
#ifndef TORC_COMPILER_WORK_QUEUE_H_
#define TORC_COMPILER_WORK_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace torc::compiler {

class WorkQueue {
 public:
  using Task = std::function<void()>;

  /// At the end; what is begun is finished before what is not.
  void add(Task task);
  /// At the front: the next part of work that is begun.
  void addNext(Task task);

  /// Works on the tasks with `threads` threads, among them this one, until none is left. `threads`
  /// is at least 1; where the system gives fewer, those do it.
  void run(unsigned threads);

  /// Drops the tasks that have not begun.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  unsigned running_ = 0;  // tasks
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_WORK_QUEUE_H_
