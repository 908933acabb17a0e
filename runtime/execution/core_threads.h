// Core threads: threads that reduce and copy for the executors of a process, beside the calling
// threads (TORC_CORES). So additions of different colors run on separate cores while the caller
// moves messages, as in the multi-core version of the bucket algorithms (Jain and Sabharwal,
// section 5). Only the caller calls MPI.
//
// Work consists of tasks, each with parts that any thread may do, in any order. The owner of a task
// may read its memory once the task has been collected or withdrawn.
#ifndef TORC_RUNTIME_EXECUTION_CORE_THREADS_H_
#define TORC_RUNTIME_EXECUTION_CORE_THREADS_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/non_copyable.h"

namespace torc::runtime {

class CoreTasks;

/// A task of `parts` parts; its owner provides the memory, and reuses it in the next round.
class CoreTask {
 public:
  CoreTask(std::uint32_t work_id, std::uint32_t part_count) : id(work_id), parts(part_count) {}

  std::uint32_t id;
  std::uint32_t parts;

 private:
  friend class CoreThreads;
  CoreTasks* owner_ = nullptr;
  CoreTask* next_ = nullptr;
  std::uint32_t begun_ = 0, done_ = 0;  // numbers of parts
};

/// An owner of tasks. It outlives them: see CoreThreads::withdraw.
class CoreTasks {
 public:
  /// Does one part, on any thread; parts of all given tasks may run at the same time.
  virtual void doPart(const CoreTask& task, std::uint32_t part) = 0;

 protected:
  ~CoreTasks() = default;

 private:
  friend class CoreThreads;
  CoreTask* finished_ = nullptr;           // a list
  std::atomic<bool> has_finished_{false};  // can be tested without the lock
  std::uint32_t running_ = 0;              // number of parts
};

class CoreThreads : NonCopyable {
 public:
  /// Starts `wanted` threads, or as many as the system allows.
  explicit CoreThreads(unsigned wanted);
  /// Precondition: no task is left.
  ~CoreThreads();

  std::size_t count() const { return threads_.size(); }

  /// Queues `task`, which must be new or collected.
  void give(CoreTasks& owner, CoreTask& task);

  /// Does a part on the calling thread; false: no part is waiting.
  bool help();

  /// Calls done(id) for each finished task of the owner; returns their number.
  template <typename Done>
  unsigned collect(CoreTasks& owner, const Done& done) {
    if (!owner.has_finished_.load(std::memory_order_relaxed)) return 0;
    unsigned count = 0;
    for (CoreTask* task = takeFinished(owner); task != nullptr; ++count) {
      CoreTask* next = task->next_;  // `done` may give the task again
      done(task->id);
      task = next;
    }
    return count;
  }

  /// Removes all tasks of an owner; waits for their running parts.
  void withdraw(CoreTasks& owner);

 private:
  void work();
  bool waitForTask(std::unique_lock<std::mutex>& lock);
  void doNext(std::unique_lock<std::mutex>& lock);
  CoreTask* takeFinished(CoreTasks& owner);

  std::mutex mutex_;
  std::condition_variable given_;
  CoreTask* first_ = nullptr;  // with parts that have not begun
  CoreTask* last_ = nullptr;
  std::atomic<bool> has_tasks_{false};  // can be tested without the lock; also set to end the
                                        // threads
  unsigned asleep_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

/// The cores that this process may run on.
int coresOfProcess();

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_EXECUTION_CORE_THREADS_H_
