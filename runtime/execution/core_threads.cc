// Core threads: one queue under one lock. A part takes microseconds, the lock tens of nanoseconds.
#include "runtime/execution/core_threads.h"

#include <algorithm>
#include <csignal>
#include <sched.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace torc::runtime {
namespace {

// Polls without work, of some tens of nanoseconds each, before a thread sleeps: the tasks of a
// round follow each other faster than a thread wakes up.
constexpr unsigned kLooksBeforeSleep = 2000;

inline void pauseCore() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

int coresOfProcess() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

CoreThreads::CoreThreads(unsigned wanted) {
  threads_.reserve(wanted);
  // Signal handlers of the program must run on its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (threads_.size() < wanted)
      threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // At a limit of the system: uses the threads created so far.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CoreThreads::~CoreThreads() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    has_tasks_ = true;
  }
  given_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void CoreThreads::give(CoreTasks& owner, CoreTask& task) {
  task.owner_ = &owner;
  task.next_ = nullptr;
  task.begun_ = task.done_ = 0;
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    (first_ != nullptr ? last_->next_ : first_) = &task;
    last_ = &task;
    has_tasks_.store(true, std::memory_order_relaxed);
    wakes = asleep_ > 0;
  }
  if (wakes) task.parts > 1 ? given_.notify_all() : given_.notify_one();
}

bool CoreThreads::help() {
  if (!has_tasks_.load(std::memory_order_relaxed)) return false;
  std::unique_lock lock(mutex_);
  if (first_ == nullptr) return false;
  doNext(lock);
  return true;
}

void CoreThreads::work() {
  std::unique_lock lock(mutex_);
  while (waitForTask(lock))
    doNext(lock);
}

/// Waits for a task; false: the threads must end.
bool CoreThreads::waitForTask(std::unique_lock<std::mutex>& lock) {
  while (first_ == nullptr && !ends_) {
    lock.unlock();
    for (unsigned looks = 0;
         looks < kLooksBeforeSleep && !has_tasks_.load(std::memory_order_relaxed); ++looks) {
      pauseCore();
    }
    lock.lock();
    if (first_ != nullptr || ends_) break;
    ++asleep_;
    given_.wait(lock, [&] { return first_ != nullptr || ends_; });
    --asleep_;
  }
  return !ends_;
}

/// Runs the next part of the first task, without the lock.
void CoreThreads::doNext(std::unique_lock<std::mutex>& lock) {
  CoreTask& task = *first_;
  CoreTasks& owner = *task.owner_;
  const std::uint32_t part = task.begun_++;
  if (task.begun_ == task.parts) {
    first_ = task.next_;
    has_tasks_.store(first_ != nullptr || ends_, std::memory_order_relaxed);
  }
  ++owner.running_;
  lock.unlock();
  owner.doPart(task, part);
  lock.lock();
  --owner.running_;
  if (++task.done_ < task.parts) return;
  task.next_ = owner.finished_;
  owner.finished_ = &task;
  owner.has_finished_.store(true, std::memory_order_relaxed);
}

CoreTask* CoreThreads::takeFinished(CoreTasks& owner) {
  const std::lock_guard lock(mutex_);
  owner.has_finished_.store(false, std::memory_order_relaxed);
  return std::exchange(owner.finished_, nullptr);
}

void CoreThreads::withdraw(CoreTasks& owner) {
  std::unique_lock lock(mutex_);
  CoreTask** link = &first_;
  last_ = nullptr;
  while (*link != nullptr) {
    if ((*link)->owner_ == &owner) {
      *link = (*link)->next_;
    } else {
      last_ = *link;
      link = &last_->next_;
    }
  }
  has_tasks_.store(first_ != nullptr || ends_, std::memory_order_relaxed);
  while (owner.running_ > 0) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  owner.finished_ = nullptr;
  owner.has_finished_.store(false, std::memory_order_relaxed);
}

}  // namespace torc::runtime
