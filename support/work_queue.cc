// Runs tasks of a queue in several threads.
#include "support/work_queue.h"

#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace torc {

namespace {

thread_local bool is_in_task = false;

}  // namespace

void WorkQueue::add(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_one();
}

void WorkQueue::addNext(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_front(std::move(task));
  changed_.notify_one();
}

void WorkQueue::stop() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
}

void WorkQueue::run(unsigned threads) {
  std::vector<std::thread> others;
  try {
    while (others.size() + 1 < threads && !is_in_task)
      others.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // No further threads are available.
  }
  work();
  for (std::thread& other : others)
    other.join();
}

void WorkQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    // A running task may add others.
    changed_.wait(lock, [this] { return !tasks_.empty() || running_ == 0; });
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    const bool was_in_task = std::exchange(is_in_task, true);
    task();
    is_in_task = was_in_task;
    lock.lock();
    if (--running_ == 0) changed_.notify_all();
  }
}

}  // namespace torc
